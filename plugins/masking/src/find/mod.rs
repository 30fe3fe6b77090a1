//! Finds what is to be masked in a text, in one pass: almost every byte begins nothing and is stepped over; a byte of
//! [`Sign`] is part of everything of some kinds, which then look around it.
//!
//! Reading order: [`bytes`] are the questions that all of them ask, [`tokens`] keys that say themselves whose they are, [`keyed`]
//! keys that stand behind a name, [`jwt`], [`pem`], [`card`], [`iban`], [`email`] and [`phone`] one kind each.

mod bytes;
mod card;
mod email;
mod iban;
mod jwt;
mod keyed;
mod pem;
mod phone;
mod tokens;

use bytes::Text;
use pem::Ends;

use crate::kind::{Kind, Kinds};

pub(crate) use card::is_card;

/// A part of a text that is to be masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// First byte.
    pub start: usize,
    /// The byte behind the last.
    pub end: usize,
    /// What it is.
    pub kind: Kind,
}

/// What a byte may be part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Nothing,
    Underscore,
    Dash,
    At,
    Assignment,
    CapitalI,
    CapitalJ,
    Digit,
    Plus,
    Bracket,
}

const SIGNS: [Sign; 256] = {
    let mut signs = [Sign::Nothing; 256];
    let mut byte: u8 = 0;
    loop {
        #[expect(clippy::indexing_slicing, reason = "a byte is an index of 256 signs")]
        {
            signs[byte as usize] = match byte {
                b'_' => Sign::Underscore,
                b'-' => Sign::Dash,
                b'@' => Sign::At,
                b'=' | b':' | b'%' => Sign::Assignment,
                b'I' => Sign::CapitalI,
                b'J' => Sign::CapitalJ,
                b'0'..=b'9' => Sign::Digit,
                b'+' => Sign::Plus,
                b'(' => Sign::Bracket,
                _ => Sign::Nothing,
            };
        }
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    signs
};

fn sign(byte: u8) -> Sign {
    SIGNS.get(usize::from(byte)).copied().unwrap_or(Sign::Nothing)
}

/// Everything of these kinds in the text, in its order; no two overlap. `key` is the name under which the whole text stands,
/// for keys that do not say themselves what they are.
pub fn find(text: &[u8], key: Option<&[u8]>, kinds: Kinds) -> Vec<Hit> {
    if let Some(kind) = key.and_then(|key| keyed::under(key, text)).filter(|kind| kinds.has(*kind))
    {
        return vec![Hit { start: 0, end: text.len(), kind }];
    }
    let text = Text(text);
    let mut hits: Vec<Hit> = Vec::new();
    let mut ends = Ends::default();
    let mut at = 0;
    while let Some(step) = text.from(at).iter().position(|byte| sign(*byte) != Sign::Nothing) {
        at += step;
        let sign = sign(text.at(at));
        let found = look(text, at, sign, &mut ends, kinds);
        match found {
            Some(hit) => {
                at = hit.end.max(at + 1);
                match hits.last_mut() {
                    Some(last) if hit.start < last.end => last.end = last.end.max(hit.end),
                    _ => hits.push(hit),
                }
            }
            None if sign == Sign::Digit => at = text.run(at, |byte| byte.is_ascii_digit()),
            None => at += 1,
        }
    }
    hits
}

/// What the byte at `at` is part of. Each looks at a bounded part of the text, or at one that is not looked at again.
fn look(text: Text<'_>, at: usize, sign: Sign, ends: &mut Ends, kinds: Kinds) -> Option<Hit> {
    let wanted = |hit: Option<Hit>| hit.filter(|hit| kinds.has(hit.kind));
    match sign {
        Sign::Nothing => None,
        Sign::Underscore => wanted(tokens::at_underscore(text, at)),
        Sign::Dash => {
            wanted(pem::at_dash(text, at, ends)).or_else(|| wanted(tokens::at_dash(text, at)))
        }
        Sign::At => wanted(email::at_sign(text, at)),
        Sign::Assignment => wanted(keyed::at_assignment(text, at)),
        Sign::CapitalI => wanted(tokens::at_capital_i(text, at)),
        Sign::CapitalJ => wanted(jwt::at_capital_j(text, at)),
        Sign::Digit => wanted(iban::at_digit(text, at))
            .or_else(|| wanted(card::at_digit(text, at)))
            .or_else(|| kinds.has(Kind::Phone).then(|| phone::at_digit(text, at)).flatten()),
        Sign::Plus => kinds.has(Kind::Phone).then(|| phone::at_plus(text, at)).flatten(),
        Sign::Bracket => kinds.has(Kind::Phone).then(|| phone::at_bracket(text, at)).flatten(),
    }
}
