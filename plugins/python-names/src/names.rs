//! From code to the set of its names.

use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasher;

use unicode_normalization::UnicodeNormalization as _;

use super::lexer::Lexer;
use super::refusal::NotPython;

/// Bytes of code that are looked at.
const CODE_MAX: usize = 1 << 20;
/// Characters in names beyond ASCII that are composed: one may stand for eighteen.
const WIDE_MAX: usize = 64 << 10;

/// Every name in the code, keywords included, also those inside f-strings and t-strings; each in form NFKC, as Python compares
/// them. Comments and texts do not count.
pub fn identifiers(code: &str) -> Result<BTreeSet<String>, NotPython> {
    let mut names = BTreeSet::new();
    each(code, |name| {
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    })?;
    Ok(names)
}

/// Whether the code has one of these names, and which; quicker than to collect them all.
pub fn find<'a, S: BuildHasher>(
    code: &str,
    wanted: &HashSet<&'a str, S>,
) -> Result<Option<&'a str>, NotPython> {
    let longest = wanted.iter().map(|name| name.len()).max().unwrap_or_default();
    let mut found = None;
    each(code, |name| {
        if found.is_none() && name.len() <= longest {
            found = wanted.get(name).copied();
        }
    })?;
    Ok(found)
}

/// Tells of each name as often as it stands there.
fn each(code: &str, mut told: impl FnMut(&str)) -> Result<(), NotPython> {
    if code.len() > CODE_MAX {
        return Err(NotPython { line: 1, why: "code of more than 1 MiB is not looked at" });
    }
    let mut composed = String::new();
    let mut left = WIDE_MAX;
    let tell = |name: &str| {
        if name.is_ascii() {
            return told(name);
        }
        left = left.saturating_sub(name.chars().count());
        if left > 0 {
            composed.clear();
            composed.extend(name.nfkc().take(left));
            left = left.saturating_sub(composed.chars().count());
            told(&composed);
        }
    };
    Lexer::new(code, tell).run()?;
    if left == 0 {
        return Err(NotPython { line: 1, why: "too many characters beyond ASCII in names" });
    }
    Ok(())
}
