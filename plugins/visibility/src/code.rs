//! What the lists of an operator mean for code that a client hands to a server: what is not to be seen is not called either.
//!
//! What requests ask for narrows what they are shown, and is no lock: whoever asked may ask otherwise.

use plugway_python_names::{identifiers, words};

use crate::judge::{Details, FUNCTION, Judge, Thing};
use crate::lists::{About, Set};

/// Bytes of code that is looked at: so much is read in a fraction of the time that a plugin has.
const CODE_MAX: usize = 128 << 10;

/// Why code is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ban {
    /// It uses this function, which is not to be seen.
    Hidden(String),
    /// It is no Python that could be read, and nobody can tell what it uses.
    Unreadable,
}

/// Whether these lists can hide a function: functions have no tags.
pub fn matters(rules: &[Set]) -> bool {
    rules.iter().any(|set| !set.of(About::Tools).is_empty() || set.tags.enabled.is_some())
}

/// Judges code for a server with these functions, each on a line by its name in the code, behind which may stand a tab and another. Where none are known although the server runs code, the
/// disabled names that are no globs count as functions, so that a catalogue which cannot be read opens nothing.
pub fn judge(rules: &[Set], functions: &str, code: &str) -> Result<(), Ban> {
    let is_hidden = |name: &str| {
        let thing = Thing { kind: FUNCTION, name, tags: &[], serverless: false };
        !Judge { rules, asked: &[] }.shows(&thing, &Plain)
    };
    let known = || {
        let names = functions.lines().filter_map(|line| line.split('\t').next());
        names.filter(|name| !name.is_empty())
    };
    let disabled = || {
        let names = rules.iter().flat_map(|set| &set.of(About::Tools).disabled);
        names.map(String::as_str).filter(|name| !name.contains(['*', '?']))
    };
    let enables = |set: &Set| set.of(About::Tools).enabled.is_some() || set.tags.enabled.is_some();
    let read = if code.len() > CODE_MAX { None } else { identifiers(code).ok() };
    let used = match read.ok_or(()) {
        Ok(used) => used,
        // Nothing depends on what it uses.
        Err(()) if known().next().is_some() && !known().any(is_hidden) => return Ok(()),
        Err(()) if rules.iter().any(enables) => return Err(Ban::Unreadable),
        Err(()) if code.len() > CODE_MAX => return Err(Ban::Unreadable),
        Err(()) => words(code).ok_or(Ban::Unreadable)?.map(str::to_owned).collect(),
    };
    let mut hidden: Box<dyn Iterator<Item = &str>> = match known().next() {
        Some(_) => Box::new(known().filter(|name| used.contains(*name) && is_hidden(name))),
        None => Box::new(disabled().filter(|name| used.contains(*name))),
    };
    hidden.next().map_or(Ok(()), |name| Err(Ban::Hidden(name.to_owned())))
}

/// A function, of which nothing else is known.
struct Plain;

impl Details for Plain {
    fn name(&self) -> Option<String> {
        None
    }

    fn origin(&self) -> String {
        String::new()
    }

    fn is_local(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use plugway_sdk::prelude::{Admission as _, Admit};
    use plugway_sdk::testing::{Host, plugin};
    use serde_json::{Value, json};

    use super::*;
    use crate::component::ByLists;
    use crate::config::Options;

    const FUNCTIONS: &str = "parse\ndock\nsend_report\n";
    /// No Python: the string does not end.
    const TORN: &str = "x = 'open\n";

    fn rules(config: &Value) -> Vec<Set> {
        let options: Options = serde_json::from_value(config.clone()).unwrap();
        options.checked().unwrap().sets
    }

    fn judged(config: &Value, code: &str) -> Result<(), Ban> {
        judge(&rules(config), FUNCTIONS, code)
    }

    fn hidden(name: &str) -> Result<(), Ban> {
        Err(Ban::Hidden(name.to_owned()))
    }

    #[test]
    fn what_is_hidden_is_not_called() {
        let disabled = &json!({"tools": {"disabled": ["dock", "send_*"]}});
        assert_eq!(judged(disabled, "parse('dock')  # dock"), Ok(()));
        assert_eq!(judged(disabled, "f = dock"), hidden("dock"));
        assert_eq!(judged(disabled, "f'{dock(1)}'"), hidden("dock"));
        assert_eq!(judged(disabled, "\u{ff44}ock(1)"), hidden("dock"));
        assert_eq!(judged(disabled, "send_report()"), hidden("send_report"));
        // No function of the server.
        assert_eq!(judged(disabled, "send_other()"), Ok(()));
        let enabled = &json!({"tools": {"enabled": ["parse"]}});
        assert_eq!(judged(enabled, "print(parse(1))"), Ok(()));
        assert_eq!(judged(enabled, "dock(parse(1))"), hidden("dock"));
        let also =
            json!({"tools": {"enabled": ["*"]}, "also": [{"tools": {"disabled": ["dock"]}}]});
        assert_eq!(judged(&also, "dock(1)"), hidden("dock"));
        assert_eq!(judged(&json!({"tags": {"enabled": ["safe"]}}), "parse(1)"), hidden("parse"));
    }

    #[test]
    fn code_that_cannot_be_read_is_refused_or_searched() {
        let enabled = &json!({"tools": {"enabled": ["parse"]}});
        let disabled = &json!({"tools": {"disabled": ["dock"]}});
        assert_eq!(judged(enabled, TORN), Err(Ban::Unreadable));
        assert_eq!(judged(disabled, TORN), Ok(()));
        assert_eq!(judged(disabled, &format!("{TORN} # dock")), hidden("dock"));
        assert_eq!(judged(disabled, &format!("{TORN} \u{ff44}ock")), Err(Ban::Unreadable));
        // Nothing depends on what it uses.
        assert_eq!(judged(&json!({"tools": {"enabled": ["*"]}}), TORN), Ok(()));
        assert_eq!(judged(&json!({"tools": {"disabled": ["other"]}}), TORN), Ok(()));
    }

    #[test]
    fn without_a_catalogue_disabled_names_count() {
        let rules = rules(&json!({"tools": {"disabled": ["dock", "send_*"]}}));
        assert_eq!(judge(&rules, "", "dock(1)"), hidden("dock"));
        assert_eq!(judge(&rules, "", "send_report(1)"), Ok(()));
    }

    #[test]
    fn the_refusal_names_nothing_and_says_why_to_the_log() {
        let ask = |config: &Value, host: &Host| {
            let policy: ByLists = plugin(&config.to_string()).unwrap();
            host.run(|| policy.admit()).unwrap()
        };
        let at = |functions: &str, runs: &str, code: Value| {
            let host = Host::new();
            host.caller("ann").call("tools/call", "execute_chem_code");
            host.target("chem", "execute_chem_code").arguments(json!({"code": code}));
            host.attribute("runs-code", runs).attribute("functions", functions);
            host
        };
        let config = json!({"tools": {"disabled": ["dock"]}});
        let Admit::Reject(refusal) = ask(&config, &at(FUNCTIONS, "true", json!("dock(1)"))) else {
            panic!("it passes");
        };
        let said = format!("{} {:?}", refusal.message, refusal.body);
        assert!(!said.contains("dock") && said.contains("unknown"), "{said}");
        assert!(refusal.cause.is_some_and(|cause| cause.contains("dock")));
        for (config, host) in [
            (json!({}), at(FUNCTIONS, "true", json!("dock(1)"))),
            (json!({"prompts": {"disabled": ["*"]}}), at(FUNCTIONS, "true", json!("dock(1)"))),
            (config.clone(), at(FUNCTIONS, "true", json!("parse(1)"))),
            (config.clone(), at(FUNCTIONS, "true", json!(7))),
            (config.clone(), at("", "false", json!("dock(1)"))),
        ] {
            assert!(matches!(ask(&config, &host), Admit::Pass), "{config}");
        }
        let unread = ask(&config, &at("", "true", json!("dock(1)")));
        assert!(matches!(unread, Admit::Reject(_)), "{unread:?}");
    }
}
