//! Where calls leave their lines.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::HeaderMap;

use super::{Policy, Promise};
use crate::fault::{Code, Fault};
use crate::pipeline::caller::Caller;
use crate::pipeline::request::RequestId;
use crate::protocol::Message;

/// Takes what became of each call. Nothing here waits but what [`Auditor::call`] gives.
pub trait Auditor: Send + Sync {
    /// Why no call is served now: the operator wants none without a line, and none can be written.
    fn refuses(&self) -> Option<Fault>;
    /// Takes the line of a call. Some = there is no room; what waits for it, within a bound. A fault stands in the answer's place:
    /// the operator wants none without a line, and this one was lost.
    fn call(&self, record: &CallRecord<'_>) -> Option<Promise<'static, Result<(), Fault>>>;
    /// The same where nobody can wait: a line that finds no room is lost, and counted.
    fn call_now(&self, record: &CallRecord<'_>);
}

/// What was decided about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It was let through, whatever came of it.
    #[default]
    Allowed,
    /// A plugin refused it, or could not decide.
    Denied,
    /// A policy answered in the server's place.
    Answered,
    /// A person was asked about it, and nothing was called yet.
    Asked,
    /// It was let through after its caller confirmed it.
    Confirmed,
    /// There is no such thing for this caller.
    Unknown,
    /// plugway refused it before anybody was asked: it is not a call that could be made.
    Refused,
}

impl Verdict {
    /// The word in the line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Answered => "answered",
            Self::Asked => "asked",
            Self::Confirmed => "confirmed",
            Self::Unknown => "unknown",
            Self::Refused => "refused",
        }
    }

    /// What a fault says of it.
    pub(in crate::pipeline) fn of(code: Code) -> Option<Self> {
        match code {
            Code::Refused
            | Code::PluginTrap
            | Code::PluginTimeout
            | Code::PluginMemory
            | Code::PluginError
            | Code::PluginInvalid
            | Code::PluginBusy
            | Code::PluginAside
            | Code::NotConfirmed
            | Code::ConfirmationTimeout
            | Code::CannotConfirm => Some(Self::Denied),
            Code::UnknownName | Code::UnknownMethod => Some(Self::Unknown),
            Code::InvalidParams
            | Code::MissingMeta
            | Code::MissingCapability
            | Code::NotLoaded
            | Code::BadArguments
            | Code::HeaderMismatch
            | Code::AuditUnavailable => Some(Self::Refused),
            _ => None,
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// With a result.
    Ok,
    /// With a tool result that says that the tool failed (`isError`).
    ToolError,
    /// With an error of the protocol, by a server or a plugin.
    RpcError(i64),
    /// With a fault, which the client heard of.
    Fault(Code),
    /// The client gave it up by a notification.
    Cancelled,
    /// The client went away before the end; in the modern era that is how a request is given up.
    Abandoned,
}

/// A call that ended.
pub struct CallRecord<'a> {
    /// When it began.
    pub at: SystemTime,
    /// How long it took, until its answer was handed over.
    pub took: Duration,
    /// Finds it in the log and in the answer.
    pub request_id: RequestId,
    /// Of a plugin's call: the call that it was asked about.
    pub parent: Option<RequestId>,
    /// Of a call that is sent again with the input that its server asked for: the request id of the first try.
    pub retry_of: Option<&'a str>,
    /// Name of the connector.
    pub connector: &'a str,
    /// Who calls.
    pub caller: &'a Caller,
    /// Keyed hash of the session.
    pub session: Option<&'a str>,
    /// JSON text of `clientInfo`.
    pub client_info: Option<&'a str>,
    /// The request as the client sent it.
    pub message: &'a Message,
    /// Its headers without credentials.
    pub headers: &'a HeaderMap,
    /// JSON text of the arguments that went to the server, where they are others.
    pub sent: Option<&'a str>,
    /// The server that had it last.
    pub upstream: Option<&'a str>,
    /// What it is called there.
    pub own_name: Option<&'a str>,
    /// The policies of the connector, in order.
    pub policies: &'a [Arc<dyn Policy>],
    /// What was decided.
    pub verdict: Verdict,
    /// The plugin that refused or answered.
    pub decided_by: Option<&'a str>,
    /// Why, in words for the operator.
    pub reason: Option<&'a str>,
    /// What policies want to be told, one sentence after the other.
    pub notes: &'a str,
    /// How it ended.
    pub end: CallEnd,
    /// Bytes of the request.
    pub bytes_in: u64,
    /// Bytes of the messages that the client got.
    pub bytes_out: u64,
}

impl std::fmt::Debug for CallRecord<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallRecord")
            .field("request_id", &self.request_id)
            .field("verdict", &self.verdict)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}
