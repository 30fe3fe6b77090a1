//! What the lists of tools mean for the functions that code calls at a server.
//!
//! A function of a server's catalogue is named by the same lists as tools. An allow-list that names no function of a server
//! does not restrict its functions; one that names some restricts code to these.

use plugway_python_names::{identifiers, words};

use crate::lists::{Ban, Lists, Patterns};
use crate::names::SHORT;

/// Why code is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeBan {
    /// It uses this function, which the lists are against.
    Function(String, Ban),
    /// It is no Python that could be read, and the lists depend on what it uses.
    Unreadable,
}

/// The names of the functions of one server, each on a line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Functions<'a>(pub &'a str);

impl<'a> Functions<'a> {
    fn iter(self) -> impl Iterator<Item = &'a str> {
        self.0.lines().filter(|name| !name.is_empty())
    }

    /// Whether one of these patterns names one of them.
    pub fn are_named_by(self, patterns: &Patterns) -> bool {
        self.iter().any(|name| patterns.matches(name))
    }
}

impl Lists {
    /// Judges a function. `restricts`: whether the allow-list names a function of its server.
    pub fn judge_function(&self, name: &str, restricts: bool) -> Result<(), Ban> {
        if self.blocked.matches(name) {
            return Err(Ban::Blocked);
        }
        let allowed = self.allowed.as_ref().is_none_or(|allowed| allowed.matches(name));
        if restricts && !allowed { Err(Ban::NotAllowed) } else { Ok(()) }
    }

    /// Judges code for a server with these functions. Where none are known although the server runs code, the block-list's
    /// plain entries count as functions, so that a catalogue which cannot be read opens nothing.
    pub fn judge_code(&self, code: &str, functions: Functions<'_>) -> Result<(), CodeBan> {
        let named = |allowed| functions.are_named_by(allowed);
        let restricts = self.allowed.as_ref().is_some_and(named);
        let mut banned: Vec<(&str, Ban)> = Vec::new();
        for name in functions.iter() {
            if let Err(ban) = self.judge_function(name, restricts) {
                banned.push((name, ban));
            }
        }
        if functions.iter().next().is_none() {
            let entries = self.blocked.exact().filter(|entry| !SHORT.contains(entry));
            banned.extend(entries.map(|entry| (entry, Ban::Blocked)));
        }
        if banned.is_empty() {
            return Ok(());
        }
        let used = match identifiers(code) {
            Ok(used) => used,
            Err(_) if restricts => return Err(CodeBan::Unreadable),
            Err(_) => words(code).ok_or(CodeBan::Unreadable)?,
        };
        match banned.into_iter().find(|(name, _)| used.contains(*name)) {
            Some((name, ban)) => Err(CodeBan::Function(name.to_owned(), ban)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTIONS: Functions<'_> = Functions("parse_molecule\ndock\nsend_report\n");
    /// No Python: the string does not end.
    const TORN: &str = "x = 'open\n";

    fn lists(blocked: &[&str], allowed: Option<&[&str]>) -> Lists {
        let owned = |list: &[&str]| list.iter().map(|&entry| entry.to_owned()).collect();
        Lists::checked("tools", owned(blocked), allowed.map(owned)).unwrap()
    }

    fn hit(name: &str, ban: Ban) -> Result<(), CodeBan> {
        Err(CodeBan::Function(name.to_owned(), ban))
    }

    #[test]
    fn blocked_functions_are_not_used() {
        let lists = lists(&["dock", "send_*"], None);
        assert_eq!(lists.judge_code("parse_molecule('dock')", FUNCTIONS), Ok(()));
        assert_eq!(lists.judge_code("dock(1)", FUNCTIONS), hit("dock", Ban::Blocked));
        assert_eq!(
            lists.judge_code("f = send_report", FUNCTIONS),
            hit("send_report", Ban::Blocked)
        );
        // What the server does not have is no function.
        assert_eq!(lists.judge_code("send_other()", FUNCTIONS), Ok(()));
    }

    #[test]
    fn an_allow_list_restricts_functions_where_it_names_some() {
        let some = lists(&[], Some(&["parse_molecule"]));
        assert_eq!(some.judge_code("parse_molecule('C')", FUNCTIONS), Ok(()));
        assert_eq!(some.judge_code("print(1)", FUNCTIONS), Ok(()));
        assert_eq!(
            some.judge_code("dock(parse_molecule())", FUNCTIONS),
            hit("dock", Ban::NotAllowed)
        );
        let none = lists(&[], Some(&["execute_code"]));
        assert_eq!(none.judge_code("dock(1)", FUNCTIONS), Ok(()));
        let both = lists(&["dock"], Some(&["*"]));
        assert_eq!(both.judge_code("dock(1)", FUNCTIONS), hit("dock", Ban::Blocked));
        assert_eq!(both.judge_code("send_report(1)", FUNCTIONS), Ok(()));
    }

    #[test]
    fn code_that_cannot_be_read_is_refused_or_searched() {
        let allowed = lists(&[], Some(&["parse_molecule"]));
        assert_eq!(allowed.judge_code(TORN, FUNCTIONS), Err(CodeBan::Unreadable));
        let blocked = lists(&["dock"], None);
        assert_eq!(blocked.judge_code(TORN, FUNCTIONS), Ok(()));
        let torn = format!("{TORN} # dock");
        assert_eq!(blocked.judge_code(&torn, FUNCTIONS), hit("dock", Ban::Blocked));
        let torn = format!("{TORN} docks");
        assert_eq!(blocked.judge_code(&torn, FUNCTIONS), Ok(()));
        let wide = format!("{TORN} \u{ff44}ock");
        assert_eq!(blocked.judge_code(&wide, FUNCTIONS), Err(CodeBan::Unreadable));
        // Nothing depends on what the code uses.
        assert_eq!(lists(&["execute_code"], None).judge_code(TORN, FUNCTIONS), Ok(()));
    }

    #[test]
    fn without_a_catalogue_plain_entries_count() {
        let lists = lists(&["dock", "parallel_execute", "send_*"], None);
        assert_eq!(lists.judge_code("dock(1)", Functions("")), hit("dock", Ban::Blocked));
        assert_eq!(lists.judge_code("parallel_execute(1)", Functions("")), Ok(()));
    }
}
