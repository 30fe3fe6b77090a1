//! From code to the set of its names.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

use super::lexer::Lexer;
use super::refusal::NotPython;

/// Bytes of code that are looked at.
const CODE_MAX: usize = 1 << 20;

/// Every name in the code, keywords included, also those inside f-strings and t-strings; each in form NFKC, as Python compares
/// them. Comments and texts do not count.
pub fn identifiers(code: &str) -> Result<BTreeSet<String>, NotPython> {
    if code.len() > CODE_MAX {
        return Err(NotPython { line: 1, why: "code of more than 1 MiB is not looked at" });
    }
    let mut names = BTreeSet::new();
    Lexer::new(code, |name| note(&mut names, name)).run()?;
    Ok(names)
}

fn note(names: &mut BTreeSet<String>, name: &str) {
    if name.is_ascii() {
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    } else {
        names.insert(name.nfkc().collect());
    }
}
