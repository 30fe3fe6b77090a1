//! The names that Python code uses.

use std::collections::BTreeSet;

/// The text is no Python that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotPython;

/// The names in the code; comments and strings do not count.
pub fn identifiers(code: &str) -> Result<BTreeSet<String>, NotPython> {
    let mut names = BTreeSet::new();
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '#' => while rest.next_if(|c| *c != '\n').is_some() {},
            '\'' | '"' => loop {
                match rest.next() {
                    None | Some('\n') => return Err(NotPython),
                    Some('\\') => drop(rest.next()),
                    Some(end) if end == c => break,
                    Some(_) => {}
                }
            },
            _ if c.is_alphanumeric() || c == '_' => {
                let mut name = String::from(c);
                while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                names.insert(name);
            }
            _ => {}
        }
    }
    Ok(names)
}
