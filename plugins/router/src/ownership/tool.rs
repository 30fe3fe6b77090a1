//! The tools of a code-execution server that are about ids.

use std::borrow::Cow;

use super::ids::Kind;

/// Tools whose answers name new ids, as globs over the servers' own names.
pub const TEACHING: [&str; 5] =
    ["execute_*_code", "*_execute_*_code", "*_parallel_execute", "*_check_batch", "*_check_job"];

/// What a tool does with ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `execute_{server}_code`, or `{word}_execute_{server}_code` of a connector: may go on in a session.
    Execute,
    /// `{server}_parallel_execute`: only makes ids.
    Parallel,
    /// `{server}_check_job`
    CheckJob,
    /// `{server}_check_batch`
    CheckBatch,
    /// `{server}_cancel_batch`
    CancelBatch,
    /// `{server}_list_sessions`
    ListSessions,
    /// `{server}_inspect_session`
    InspectSession,
    /// `{server}_get_session_info`
    SessionInfo,
    /// `{server}_close_session`
    CloseSession,
    /// `{server}_send`: may name a session of another server.
    Send,
}

/// Ends of the names that begin with the server's.
const AFTER: [(&str, Tool); 9] = [
    ("_parallel_execute", Tool::Parallel),
    ("_check_job", Tool::CheckJob),
    ("_check_batch", Tool::CheckBatch),
    ("_cancel_batch", Tool::CancelBatch),
    ("_list_sessions", Tool::ListSessions),
    ("_inspect_session", Tool::InspectSession),
    ("_get_session_info", Tool::SessionInfo),
    ("_close_session", Tool::CloseSession),
    ("_send", Tool::Send),
];

/// The argument that holds an id, and whose id it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What the id stands for.
    pub kind: Kind,
    /// Whether it is an id of the server that is sent to, rather than of the one that is called.
    pub anywhere: bool,
}

impl Tool {
    /// The tool of this own name, and what stands before the ends of the same server's other tools: its name, behind those
    /// of the connectors between. Only for servers that are known to run code.
    pub fn of(own: &str) -> Option<(Self, Cow<'_, str>)> {
        if let Some(server) = executed(own) {
            return Some((Self::Execute, server));
        }
        AFTER.into_iter().find_map(|(end, tool)| Some((tool, own.strip_suffix(end)?.into())))
    }

    /// Whether each call has to be judged.
    pub fn is_guarded(self) -> bool {
        self != Self::Parallel
    }

    /// Whether the router answers whatever the id is: these answers count the sessions of everybody.
    pub fn counts_sessions(self) -> bool {
        matches!(
            self,
            Self::ListSessions | Self::InspectSession | Self::SessionInfo | Self::CloseSession
        )
    }

    /// The id that it takes.
    pub fn argument(self) -> Option<Argument> {
        let (name, kind) = match self {
            Self::Execute => ("execution_session_id", Kind::Session),
            Self::CheckJob => ("job_id", Kind::Job),
            Self::CheckBatch | Self::CancelBatch => ("batch_id", Kind::Batch),
            Self::InspectSession | Self::SessionInfo | Self::CloseSession | Self::Send => {
                ("session_id", Kind::Session)
            }
            Self::Parallel | Self::ListSessions => return None,
        };
        Some(Argument { name, kind, anywhere: self == Self::Send })
    }
}

/// `server` of `execute_server_code`, and `word_server` of `word_execute_server_code`, as a connector calls it whose upstream
/// `word` has the former: that goes with `word_server_check_job`.
fn executed(own: &str) -> Option<Cow<'_, str>> {
    let stem = own.strip_suffix("_code")?;
    let (word, server) = match stem.strip_prefix("execute_") {
        Some(server) => ("", server),
        None => stem.rsplit_once("_execute_")?,
    };
    match (word, server) {
        (_, "") => None,
        ("", server) => Some(server.into()),
        (word, server) => Some([word, "_", server].concat().into()),
    }
}
