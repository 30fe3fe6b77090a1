//! Characters that nobody sees, or that make others stand where they are not: with them a definition tells a model what it
//! does not tell a person. What real text needs of them is let through: joiners within scripts that join letters, and within
//! emoji; direction marks in text of a script that is written from right to left.

use std::collections::BTreeSet;

use crate::glyph::{
    is_control, is_direction, is_invisible, is_joiner, is_selector, is_tag, is_unseen,
};

/// So many different characters are told of one definition.
const TOLD: usize = 8;
/// Selectors of variants of Han characters and mathematical signs that one definition may have: there are so many different
/// ones that a row of them is a text of its own.
const VARIANTS: usize = 8;
/// Direction marks that one definition may have, for the same reason.
const MARKS: usize = 32;

/// The characters that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unseen {
    /// At most [`TOLD`] different ones.
    told: BTreeSet<char>,
    /// Selectors that were let through.
    variants: usize,
    /// Direction marks that were let through.
    marks: usize,
}

impl Unseen {
    /// Looks through a text of any length and form.
    pub(super) fn look(&mut self, text: &str) {
        if text.is_ascii() && !text.bytes().any(|byte| is_control(char::from(byte))) {
            return;
        }
        let all: Vec<char> = text.chars().collect();
        let leans_right = all.iter().any(|c| is_right_to_left(*c));
        let mut at = 0;
        while let Some(c) = all.get(at) {
            let around = Around { all: &all, at, leans_right };
            if is_tag(*c) {
                let run = around.run_of_tags();
                if !is_region(around.before(), run) {
                    for c in run {
                        self.add(*c);
                    }
                }
                at += run.len();
                continue;
            }
            if around.is_odd(*c) || self.is_one_too_many(*c) {
                self.add(*c);
            }
            at += 1;
        }
    }

    /// Counts what is let through only where there are few.
    fn is_one_too_many(&mut self, c: char) -> bool {
        if is_direction(c) {
            self.marks += 1;
            return self.marks > MARKS;
        }
        // The two that choose between picture and text stand in every text with emoji.
        if is_selector(c) && !matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{180b}'..='\u{180f}') {
            self.variants += 1;
            return self.variants > VARIANTS;
        }
        false
    }

    /// The same for a name, which is on one line.
    pub(super) fn look_at_name(&mut self, name: &str) {
        self.look(name);
        for c in name.chars().filter(|c| c.is_control()) {
            self.add(c);
        }
    }

    fn add(&mut self, c: char) {
        if self.told.len() < TOLD {
            self.told.insert(c);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// Each as `U+202E`.
    pub(super) fn names(&self) -> Vec<String> {
        self.told.iter().map(|c| format!("U+{:04X}", u32::from(*c))).collect()
    }
}

/// A character and what stands around it.
struct Around<'a> {
    all: &'a [char],
    at: usize,
    /// Whether the text has letters of a script that is written from right to left.
    leans_right: bool,
}

impl Around<'_> {
    fn before(&self) -> Option<char> {
        self.all.get(self.at.checked_sub(1)?).copied()
    }

    fn after(&self) -> Option<char> {
        self.all.get(self.at + 1).copied()
    }

    fn is_odd(&self, c: char) -> bool {
        if is_direction(c) {
            return !self.may_mark(c);
        }
        if is_joiner(c) {
            return !self.may_join(c);
        }
        if is_selector(c) {
            return !self.may_select(c);
        }
        is_control(c) || (is_invisible(c) && !self.parts_words(c))
    }

    /// The three marks that change no order by themselves, alone in text that has letters from right to left. Embeddings,
    /// overrides and isolates never.
    fn may_mark(&self, c: char) -> bool {
        let plain = matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}');
        plain && self.leans_right && !self.before().is_some_and(is_unseen)
    }

    /// Between letters of a script that joins them, or, of the joiner alone, between two emoji.
    fn may_join(&self, c: char) -> bool {
        let Some(before) = self.before() else { return false };
        let after = self.after();
        let within = joins(before) && !after.is_some_and(|c| is_joiner(c) || is_direction(c));
        let emoji = c == '\u{200d}'
            && (is_pictograph(before) || before == '\u{fe0f}')
            && after.is_some_and(is_pictograph);
        within || emoji
    }

    /// Behind a character that has variants, once.
    fn may_select(&self, c: char) -> bool {
        let Some(before) = self.before() else { return false };
        match c {
            '\u{fe0e}' | '\u{fe0f}' => {
                is_pictograph(before) || matches!(before, '0'..='9' | '#' | '*')
            }
            '\u{fe00}'..='\u{fe0d}' => {
                is_han(before)
                    || matches!(before, '\u{2200}'..='\u{22ff}' | '\u{2a00}'..='\u{2aff}')
            }
            '\u{180b}'..='\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
            _ => is_han(before),
        }
    }

    /// Zero-width spaces part words of scripts that have no spaces.
    fn parts_words(&self, c: char) -> bool {
        let part = |c: Option<char>| {
            c.is_some_and(|c| matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'))
        };
        c == '\u{200b}' && part(self.before()) && part(self.after())
    }

    /// The tags from here on, of which the first one stands here.
    fn run_of_tags(&self) -> &[char] {
        let rest = self.all.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|c| is_tag(**c)).count();
        rest.get(..length).unwrap_or_default()
    }
}

/// The flag of a region: the black flag, then tags: three to six letters or digits, and the end.
fn is_region(before: Option<char>, tags: &[char]) -> bool {
    let Some((end, region)) = tags.split_last() else { return false };
    let plain = |c: &char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    before == Some('\u{1f3f4}')
        && *end == '\u{e007f}'
        && (3..=6).contains(&region.len())
        && region.iter().all(plain)
}

/// Letters and vowel signs of scripts in which joiners change shapes: Arabic, Syriac, N'Ko, those of India and their
/// neighbours, Khmer, Mongolian.
fn joins(c: char) -> bool {
    let own = matches!(
        c,
        '\u{620}'..='\u{6ff}' | '\u{710}'..='\u{74f}' | '\u{750}'..='\u{77f}' | '\u{7ca}'..='\u{7f5}'
            | '\u{860}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}'
            | '\u{1820}'..='\u{18aa}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
    );
    own && !is_unseen(c)
}

/// Hebrew, Arabic, Syriac, Thaana, N'Ko and their neighbours.
fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{5d0}'..='\u{5f2}' | '\u{620}'..='\u{64a}' | '\u{66e}'..='\u{6d3}' | '\u{6fa}'..='\u{8c9}'
            | '\u{fb1d}'..='\u{fdfb}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3002}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff1f}' | '\u{20000}'..='\u{3fffd}')
}

/// Characters that are shown as pictures, as far as joiners and selectors stand beside them.
fn is_pictograph(c: char) -> bool {
    matches!(
        c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{21aa}'
            | '\u{231a}'..='\u{23ff}' | '\u{24c2}' | '\u{25aa}'..='\u{27bf}' | '\u{2934}'..='\u{2935}'
            | '\u{2b05}'..='\u{2b55}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}
