//! Policies: what a caller sees, what a call may do, what comes back.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use super::Promise;
use crate::catalogue::{Catalogue, Entry, Sight};
use crate::fault::Fault;
use crate::pipeline::call::CallContext;
use crate::pipeline::caller::Caller;
use crate::pipeline::filters::Filters;

/// Which hooks a policy exports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each hook")]
pub struct PolicyHooks {
    /// `visibility`.
    pub visibility: bool,
    /// `admission`.
    pub admission: bool,
    /// `reviewing`.
    pub reviewing: bool,
    /// `inbound`.
    pub inbound: bool,
}

/// A refusal as the client gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// JSON-RPC code; none = a tool result with `isError`, else -32603.
    pub code: Option<i32>,
    /// One sentence that an agent can act on.
    pub message: String,
    /// Text shown instead of the message where a documented form must be kept.
    pub body: Option<String>,
    /// When to try again.
    pub retry_after: Option<Duration>,
    /// Which rule decided; for log and audit, never for the client.
    pub cause: Option<String>,
}

/// One change to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Set a header of the upstream request; the plugin room checked that the operator allows it.
    SetHeader(HeaderName, HeaderValue),
    /// Remove a header of the upstream request.
    RemoveHeader(HeaderName),
    /// Members to merge into the arguments (RFC 7396), as JSON text of an object.
    MergeArguments(String),
    /// An attribute that later hooks can read.
    SetAttribute(Arc<str>, Arc<str>),
}

/// What a person is to confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// What that person is told.
    pub text: String,
    /// Attributes to set, as by [`Edit::SetAttribute`].
    pub attributes: Vec<(Arc<str>, Arc<str>)>,
}

/// What `admit` decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Go on.
    Pass,
    /// Go on with changes.
    Edit(Vec<Edit>),
    /// Refuse.
    Reject(Rejection),
    /// JSON text of a result to answer with, without any upstream.
    Answer(String),
    /// Go on once the person at the client has confirmed the call.
    Confirm(Confirmation),
}

/// What `review` decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Review {
    /// Leave the result.
    Keep,
    /// JSON text of the result to give instead.
    Replace(String),
    /// Refuse.
    Reject(Rejection),
}

/// What `inbound` decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inbound {
    /// Leave the message.
    Pass,
    /// JSON text of the `params` to send instead.
    Replace(String),
    /// Refuse.
    Reject(Rejection),
}

/// What came back, as `review` may ask about it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// JSON text of the result or error member.
    pub body: Bytes,
    /// Whether it is a JSON-RPC error or a tool result with `isError`.
    pub is_error: bool,
    /// Microseconds from sending to the last byte.
    pub latency_us: u32,
}

/// Entries to judge, at most a thousand, or to explain, at most ten thousand.
#[derive(Clone, Debug)]
pub struct Page {
    /// The connector's name.
    pub connector: Arc<str>,
    /// The entries, each with the name of its upstream where one is fixed.
    pub entries: Vec<(Arc<Entry>, Option<Arc<str>>)>,
    /// Names of the upstreams that run code.
    pub run_code: Arc<[Arc<str>]>,
    /// What the entries stand in, where they are of a catalogue.
    pub catalogue: Option<Arc<Catalogue>>,
    /// What the request says about what is to be shown.
    pub filters: Option<Arc<Filters>>,
}

impl Page {
    /// One with nothing on it.
    pub fn empty(connector: Arc<str>) -> Self {
        let run_code = Arc::default();
        Self { connector, entries: Vec::new(), run_code, catalogue: None, filters: None }
    }

    /// A page of the same, with nothing on it yet.
    #[must_use]
    pub fn part(&self) -> Self {
        Self {
            connector: self.connector.clone(),
            entries: Vec::new(),
            run_code: self.run_code.clone(),
            catalogue: self.catalogue.clone(),
            filters: self.filters.clone(),
        }
    }

    /// The names in the code of all functions of that upstream, each with a line feed behind it.
    pub fn functions(&self, upstream: &str) -> Option<&str> {
        let catalogue = self.catalogue.as_ref()?;
        let place = catalogue.upstreams.iter().position(|name| **name == *upstream)?;
        catalogue.functions_of(place)
    }
}

/// One sight for each entry of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sights {
    /// In the order of the page.
    pub sights: Vec<Sight>,
    /// How long the judgement holds; none = until something changes.
    pub valid: Option<Duration>,
    /// A sentence for the client; the plugin room bounds it.
    pub notice: Option<String>,
}

/// How a policy understood one thing that the operator wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Understood {
    /// As the operator wrote it.
    pub entry: String,
    /// What it does, in one sentence.
    pub meaning: String,
    /// Places on the page of the things that it is about.
    pub matches: Vec<usize>,
}

/// A policy plugin in its place in a connector. A fault means that the call, or the message, is denied; where the operator chose
/// otherwise (`on_error`), the plugin room answers the decision that stands for the failure.
pub trait Policy: Send + Sync {
    /// The operator's name for the plugin.
    fn name(&self) -> &str;
    /// Which hooks it exports now.
    fn hooks(&self) -> PolicyHooks;
    /// Changes when a judgement made earlier may no longer hold (another generation of the plugin).
    fn generation(&self) -> u64;
    /// Which revision of the policy that is, in a few letters: another component or another configuration is another one.
    fn revision(&self) -> Arc<str> {
        "".into()
    }
    /// Whether the operator lets calls pass where the policy cannot judge (`on_error: allow`).
    fn fails_open(&self) -> bool {
        false
    }
    /// Whether it may read anything of a request where it judges what is visible. Only then are the functions below asked, and
    /// views told apart by what they name.
    fn reads_requests(&self) -> bool {
        false
    }
    /// Whether it may read this header there; the name is in lower case.
    fn may_read_header(&self, _name: &str) -> bool {
        false
    }
    /// Whether it may read this query parameter there.
    fn may_read_query(&self, _name: &str) -> bool {
        false
    }
    /// Judges a page of entries for a caller.
    fn visible(&self, caller: Arc<Caller>, page: Page) -> Promise<'_, Result<Sights, Fault>>;
    /// Judges a call before it goes on.
    fn admit(&self, call: Arc<CallContext>) -> Promise<'_, Result<Admission, Fault>>;
    /// Judges a result before it goes back.
    fn review(
        &self,
        call: Arc<CallContext>,
        outcome: Outcome,
    ) -> Promise<'_, Result<Review, Fault>>;
    /// Judges what a server sends toward the client.
    fn inbound(&self, _message: Arc<CallContext>) -> Promise<'_, Result<Inbound, Fault>> {
        Box::pin(async { Ok(Inbound::Pass) })
    }
    /// How it understood what the operator wrote, one for each entry in the same order for every page; none where it does not
    /// say. An empty page where no server was asked.
    fn understood(&self, _page: Page) -> Promise<'_, Result<Option<Vec<Understood>>, Fault>> {
        Box::pin(async { Ok(None) })
    }
    /// Whether the plugin is ready, and its sentence about it.
    fn ready(&self) -> Promise<'_, Result<String, String>>;
}
