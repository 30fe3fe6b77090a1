//! JSON text for people: a line for each member, and an escape for each character that nobody sees.

use std::fmt::Write as _;

use crate::glyph::hides;

/// The text as it is, but for what cannot be seen: that stands as `\u{202e}`, and a backslash as two, so that no two texts look
/// the same.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            c if hides(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Compact JSON text, with line ends and two spaces for each level. In strings stands an escape of JSON for what cannot be
/// seen: the value is the same.
pub(super) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut level, mut in_string, mut escaped) = (0_usize, false, false);
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            push_shown(c, &mut out);
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                if let Some(end) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    level += 1;
                    line(level, &mut out);
                }
            }
            '}' | ']' => {
                level = level.saturating_sub(1);
                line(level, &mut out);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(level, &mut out);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

fn line(level: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

fn push_shown(c: char, out: &mut String) {
    if !hides(c) {
        out.push(c);
        return;
    }
    let mut units = [0; 2];
    for unit in c.encode_utf16(&mut units) {
        // Writing to a string cannot fail.
        write!(out, "\\u{unit:04x}").unwrap_or_default();
    }
}
