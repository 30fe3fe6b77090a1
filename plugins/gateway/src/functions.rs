//! What the lists of tools mean for the functions that code calls at a server.
//!
//! A function of a server's catalogue is named by the same lists as tools. An allow-list that names no function of a server
//! does not restrict its functions; one that names some restricts code to these.

use std::collections::HashSet;

use plugway_python_names::{find, words};

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

/// The functions of one server, each on a line: its name in the code, and with a tab before it the one that clients see, where
/// that is another.
#[derive(Debug, Clone, Copy, Default)]
pub struct Functions<'a>(pub &'a str);

impl<'a> Functions<'a> {
    /// Name in the code, shown name.
    fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pair = |line: &'a str| line.split_once('\t').unwrap_or((line, line));
        self.0.lines().map(pair).filter(|(own, _)| !own.is_empty())
    }

    /// Whether one of these patterns names one of them.
    pub fn are_named_by(self, patterns: &Patterns) -> bool {
        self.iter().any(|(own, shown)| either(patterns, own, shown))
    }
}

fn either(patterns: &Patterns, own: &str, shown: &str) -> bool {
    patterns.matches(own) || (own != shown && patterns.matches(shown))
}

/// The names that code for one server must not use.
#[derive(Debug)]
pub struct Banned<'a> {
    names: Vec<(&'a str, Ban)>,
    /// Whether the allow-list restricts the server's functions: then code has to be read to the letter.
    restricts: bool,
}

impl Banned<'_> {
    /// Whether it does not matter what code uses.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Judges code.
    pub fn judge(&self, code: &str) -> Result<(), CodeBan> {
        if self.is_empty() {
            return Ok(());
        }
        let wanted: HashSet<&str> = self.names.iter().map(|(name, _)| *name).collect();
        let used = match find(code, &wanted) {
            Ok(used) => used,
            Err(_) if self.restricts => return Err(CodeBan::Unreadable),
            Err(_) => {
                let mut words = words(code).ok_or(CodeBan::Unreadable)?;
                words.find_map(|word| wanted.get(word).copied())
            }
        };
        let Some(used) = used else { return Ok(()) };
        let ban = self.names.iter().find(|(name, _)| *name == used).map(|(_, ban)| *ban);
        Err(CodeBan::Function(used.to_owned(), ban.unwrap_or(Ban::Blocked)))
    }
}

impl Lists {
    /// Judges a function by its name in the code and its shown name. `restricts`: whether the allow-list names a function of its
    /// server.
    pub fn judge_function(&self, own: &str, shown: &str, restricts: bool) -> Result<(), Ban> {
        if either(&self.blocked, own, shown) {
            return Err(Ban::Blocked);
        }
        let allowed = || self.allowed.as_ref().is_none_or(|allowed| either(allowed, own, shown));
        if restricts && !allowed() { Err(Ban::NotAllowed) } else { Ok(()) }
    }

    /// What code for a server with these functions must not use: of a function that lists are against both names. Where none
    /// are known although the server runs code, the block-list's plain entries count as functions, so that a catalogue which
    /// cannot be read opens nothing.
    pub fn banned<'a>(&'a self, functions: Functions<'a>) -> Banned<'a> {
        let named = |allowed| functions.are_named_by(allowed);
        let restricts = self.allowed.as_ref().is_some_and(named);
        let mut names: Vec<(&str, Ban)> = Vec::new();
        for (own, shown) in functions.iter() {
            if let Err(ban) = self.judge_function(own, shown, restricts) {
                names.push((own, ban));
                if own != shown {
                    names.push((shown, ban));
                }
            }
        }
        if functions.iter().next().is_none() {
            let entries = self.blocked.exact().filter(|entry| !SHORT.contains(entry));
            names.extend(entries.map(|entry| (entry, Ban::Blocked)));
        }
        Banned { names, restricts }
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

    impl Lists {
        fn judge_code(&self, code: &str, functions: Functions<'_>) -> Result<(), CodeBan> {
            self.banned(functions).judge(code)
        }
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

    #[test]
    fn a_function_goes_by_both_of_its_names() {
        let functions = Functions("dock\tdocking\nfold\n");
        for entry in ["docking", "dock", "dock*"] {
            let blocked = lists(&[entry], None);
            assert_eq!(
                blocked.judge_code("dock(1)", functions),
                hit("dock", Ban::Blocked),
                "{entry}"
            );
            assert_eq!(blocked.judge_code("docking(1)", functions), hit("docking", Ban::Blocked));
            assert_eq!(blocked.judge_code("fold(1)", functions), Ok(()));
        }
        let allowed = lists(&[], Some(&["docking"]));
        assert_eq!(allowed.judge_code("dock(1)", functions), Ok(()));
        assert_eq!(allowed.judge_code("fold(1)", functions), hit("fold", Ban::NotAllowed));
    }

    #[test]
    fn what_python_reads_as_an_underscore_divides_no_name() {
        let lists = lists(&["compute_descriptors"], None);
        let functions = Functions("compute_descriptors\n");
        for wide in ['\u{fe33}', '\u{fe34}', '\u{fe4d}', '\u{fe4e}', '\u{fe4f}'] {
            let magic = format!("%time print(compute{wide}descriptors())");
            assert_eq!(lists.judge_code(&magic, functions), Err(CodeBan::Unreadable), "{wide}");
        }
    }
}
