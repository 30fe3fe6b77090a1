//! The names of one thing: as clients see it, as its server calls it, and the short name that agora-workbench has for the
//! tools of servers that run code, whatever server's name stands in them.

/// Runs code: `execute_{server}_code`, and `execute_code` of a pool of servers.
pub const EXECUTE: &str = "execute_code";
/// Runs code once for each of its `inputs`: `{server}_parallel_execute`.
pub const PARALLEL: &str = "parallel_execute";
/// Moves a thing from one server to another: `{server}_send`.
pub const SEND: &str = "send";
/// Follow [`PARALLEL`], whose name covers them.
pub const BATCHES: [&str; 2] = ["check_batch", "cancel_batch"];

/// Every short name.
pub const SHORT: [&str; 13] = [
    EXECUTE,
    "check_job",
    PARALLEL,
    "check_batch",
    "cancel_batch",
    "list_sessions",
    "get_session_info",
    "inspect_session",
    "close_session",
    SEND,
    "search_tools",
    "plan_workflow",
    "load_skill",
];

/// Tools named `{verb}_{server}_{noun}`, and their short names. Before that stands what connectors put there.
const AROUND: [(&str, &str, &str); 4] = [
    ("execute", "_code", EXECUTE),
    ("search", "_tools", "search_tools"),
    ("plan", "_workflow", "plan_workflow"),
    ("load", "_skill", "load_skill"),
];

/// The names of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names<'a> {
    /// As clients see it; of a resource the URI.
    pub shown: &'a str,
    /// As its server calls it.
    pub own: &'a str,
    /// The reference's, for tools of servers that run code.
    pub short: Option<&'static str>,
}

impl Names<'_> {
    /// Whether one of them fulfils this.
    pub fn any(&self, fulfils: impl Fn(&str) -> bool) -> bool {
        let Self { shown, own, short } = *self;
        fulfils(shown)
            || (own != shown && fulfils(own))
            || short.is_some_and(|short| {
                fulfils(short) || (BATCHES.contains(&short) && fulfils(PARALLEL))
            })
    }
}

/// The short name of a tool, by the server's own name for it. Means something only where the server runs code.
pub fn short(own: &str) -> Option<&'static str> {
    if own == EXECUTE {
        return Some(EXECUTE);
    }
    let around = AROUND.into_iter().find(|(verb, noun, _)| is_around(own, verb, noun));
    if let Some((_, _, short)) = around {
        return Some(short);
    }
    let after = |short: &&str| {
        let before = own.strip_suffix(*short).and_then(|before| before.strip_suffix('_'));
        before.is_some_and(|server| !server.is_empty())
    };
    SHORT
        .into_iter()
        .filter(|short| AROUND.iter().all(|(_, _, around)| around != short))
        .find(after)
}

/// `{verb}_{server}{noun}`, or the same behind another name and `_`.
fn is_around(own: &str, verb: &str, noun: &str) -> bool {
    let Some(stem) = own.strip_suffix(noun) else { return false };
    let server = |rest: &str| rest.strip_prefix('_').is_some_and(|server| !server.is_empty());
    stem.strip_prefix(verb).is_some_and(server)
        || stem.match_indices(verb).any(|(place, _)| {
            let (before, rest) = stem.split_at(place);
            before.len() > 1 && before.ends_with('_') && rest.strip_prefix(verb).is_some_and(server)
        })
}

/// Whether a call of the tool counts as one for each of its `inputs`.
pub fn counts_inputs(own: &str) -> bool {
    own == PARALLEL
        || own.strip_suffix(PARALLEL).is_some_and(|before| before.ends_with('_'))
        || own.split('_').any(|word| word == "batch")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_servers_that_run_code_have_short_names() {
        for (own, wanted) in [
            ("execute_chem_code", EXECUTE),
            ("hub_execute_chem_code", EXECUTE),
            ("execute_code", EXECUTE),
            ("execute_plan_b_code", EXECUTE),
            ("chem_check_job", "check_job"),
            ("a_b_parallel_execute", PARALLEL),
            ("chem_check_batch", "check_batch"),
            ("chem_cancel_batch", "cancel_batch"),
            ("chem_list_sessions", "list_sessions"),
            ("chem_get_session_info", "get_session_info"),
            ("chem_inspect_session", "inspect_session"),
            ("chem_close_session", "close_session"),
            ("chem_send", SEND),
            ("search_chem_tools", "search_tools"),
            ("plan_chem_workflow", "plan_workflow"),
            ("load_chem_skill", "load_skill"),
            ("hub_load_chem_skill", "load_skill"),
        ] {
            assert_eq!(short(own), Some(wanted), "{own}");
            assert!(SHORT.contains(&wanted));
        }
    }

    #[test]
    fn other_tools_have_none() {
        for own in [
            "",
            "send",
            "_send",
            "execute__code",
            "execute_code_now",
            "executed_x_code",
            "search_tools",
            "research_chem_tools",
            "upload_chem_skill",
            "chem_resend",
            "load_skill",
            "xexecute_y_code",
        ] {
            assert_eq!(short(own), None, "{own}");
        }
    }

    #[test]
    fn the_parallel_tool_covers_its_batches() {
        let batch =
            Names { shown: "c_check_batch", own: "chem_check_batch", short: Some("check_batch") };
        for name in ["c_check_batch", "chem_check_batch", "check_batch", PARALLEL] {
            assert!(batch.any(|own| own == name), "{name}");
        }
        assert!(!batch.any(|own| own == "cancel_batch"));
        let job = Names { short: Some("check_job"), ..batch };
        assert!(!job.any(|own| own == PARALLEL));
    }

    #[test]
    fn calls_that_stand_for_many() {
        for own in ["chem_parallel_execute", "parallel_execute", "batch_run", "a_batch"] {
            assert!(counts_inputs(own), "{own}");
        }
        for own in ["unparallel_execute", "batches", "echo", "execute_chem_code"] {
            assert!(!counts_inputs(own), "{own}");
        }
    }
}
