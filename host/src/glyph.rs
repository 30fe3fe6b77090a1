//! Characters that nobody sees, or that change how others are seen: one table for all that shows or judges text of others.

/// C0 without tab and line ends, DEL and C1.
pub fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

/// What says in which direction text runs.
pub fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What joins the letters beside it, or parts them, without a shape.
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// What chooses a variant of the character before it.
pub fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}')
}

/// A letter without a shape, of which flags of regions are made.
pub fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Other characters without a shape: `Default_Ignorable_Code_Point`, separators of lines, the empty pattern of Braille, and
/// what is no character.
pub fn is_invisible(c: char) -> bool {
    u32::from(c) & 0xfffe == 0xfffe
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
                | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{2800}'
                | '\u{3164}' | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0080}'..='\u{e00ff}'
                | '\u{e01f0}'..='\u{e0fff}'
        )
}

/// Whether real text has no need of it but where others of its kind stand around.
pub fn is_unseen(c: char) -> bool {
    is_control(c)
        || is_direction(c)
        || is_invisible(c)
        || is_selector(c)
        || is_tag(c)
        || is_joiner(c)
}

/// Whether a letter is written as an escape wherever a person looks for what stands there: what is not seen, all control
/// characters, spaces that are none or look like one, signs that enclose others, and what has no meaning that all share
/// (Unicode 17, categories Cc, Cf, Zl, Zp, Zs, Co, Cn among the ignorable).
pub fn hides(c: char) -> bool {
    c.is_control()
        || is_unseen(c)
        || matches!(
            c,
            '\u{a0}' | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
                | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
                | '\u{e000}'..='\u{f8ff}' | '\u{fffc}'..='\u{ffff}' | '\u{110bd}' | '\u{110cd}'
                | '\u{13430}'..='\u{1345f}' | '\u{e0000}'..='\u{10ffff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unseen_hides_and_plain_text_does_not() {
        for c in ('\0'..=char::MAX).filter(|c| is_unseen(*c)) {
            assert!(hides(c), "{c:?}");
        }
        for c in "Größe 名 שלום 👍 ½\u{fffa}\u{2800}".chars() {
            assert_eq!(is_unseen(c), matches!(c, '\u{fffa}' | '\u{2800}'), "{c:?}");
        }
        for c in ['\u{a0}', '\u{3000}', '\n', '\u{fffd}', '\u{f0000}'] {
            assert!(hides(c) && !is_unseen(c), "{c:?}");
        }
    }
}
