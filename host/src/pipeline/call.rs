//! The call in hand, or the message of a server, as plugins may ask about it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use http::HeaderMap;

use super::caller::Caller;
use super::handles::{Handles, Keeper};
use super::port::Requester;
use super::status::LiveStatus;
use crate::catalogue::{Hints, View, spelling};
use crate::protocol::{Document, Era, Field, Message, Method, Revision, scan};

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A call on its way to a server.
    FromClient,
    /// What a server sends toward the client.
    FromUpstream,
}

/// Everything that a hook may learn about one call. Built only when a plugin is going to be asked.
pub struct CallContext {
    /// Which way it goes.
    pub way: Way,
    /// Finds the call in the log.
    pub request_id: Arc<str>,
    /// Of a call that is sent again with the input that its server asked for: the request id of the first try.
    pub retry_of: Option<Arc<str>>,
    /// Name of the connector.
    pub connector: Arc<str>,
    /// Who calls.
    pub caller: Arc<Caller>,
    /// What the caller may see.
    pub view: Arc<View>,
    /// The message, after the edits of earlier policies.
    pub message: Message,
    /// Name or URI as the client sent it; empty for the message of a server.
    pub name: Arc<str>,
    /// Upstream and its own name for the thing; none for entries that a plugin still has to decide. A message of a server
    /// has the server's name and no other.
    pub target: Option<(Arc<str>, Arc<str>)>,
    /// Annotations of the tool after the operator's trust rules.
    pub hints: Hints,
    /// The revision that the client speaks.
    pub revision: Revision,
    /// Headers of the request without credentials.
    pub headers: Arc<HeaderMap>,
    /// Keyed hash of the session.
    pub session: Option<Arc<str>>,
    /// What earlier policies set; [`CallContext::attribute`] knows the documented keys besides.
    pub attributes: Vec<(Arc<str>, Arc<str>)>,
    /// Sends a request to an upstream as this caller, for plugins that were granted it.
    pub requester: Option<Arc<dyn Requester>>,
    /// Which caller got which id of a server.
    pub handles: Arc<Handles>,
    /// The status of the connector's servers, for the attribute `connector-status`, and which of their tools the router judges,
    /// for `guarded-tools`, and whether the call's server runs code.
    pub status: LiveStatus,
    /// The arguments, parsed at the first look into them.
    pub arguments: Arguments,
    /// Another spelling of the URI, made at the first look at it.
    pub spelling: OnceLock<Option<String>>,
}

/// Arguments that are parsed once, when a plugin first looks into them.
#[derive(Debug, Default)]
pub struct Arguments {
    document: OnceLock<Result<Document, String>>,
    read: AtomicBool,
}

impl CallContext {
    /// The caller as somebody who has ids of servers. Nobody can be told apart behind a modern request without identity.
    pub fn keeper(&self) -> Keeper<'_> {
        let strangers = self.caller.anonymous && self.revision.era() == Era::Modern;
        Keeper { caller: &self.caller.id, apart: !strangers }
    }

    /// JSON text of the arguments; an empty object where the call has none.
    pub fn arguments_json(&self) -> &str {
        self.arguments_text().unwrap_or("{}")
    }

    /// Length of the arguments' JSON text; 0 where the call has none.
    pub fn arguments_len(&self) -> usize {
        self.arguments_text().map_or(0, str::len)
    }

    /// Of a call its arguments, of a server's message all that it says.
    fn arguments_text(&self) -> Option<&str> {
        self.arguments.read.store(true, Ordering::Relaxed);
        match self.way {
            Way::FromClient => self.message.field(Field::Arguments),
            Way::FromUpstream => self.message.params(),
        }
    }

    /// Whether anybody asked about the arguments since this was last asked.
    pub(super) fn take_arguments_read(&self) -> bool {
        self.arguments.read.swap(false, Ordering::Relaxed)
    }

    /// The value of an attribute: of a documented key, or of one that an earlier policy set.
    pub fn attribute(&self, key: &str) -> Option<&str> {
        match key {
            "connector" => Some(&self.connector),
            "request-id" => Some(&self.request_id),
            "protocol-version" => Some(self.revision.as_str()),
            "era" => Some(match self.revision.era() {
                Era::Legacy => "legacy",
                Era::Modern => "modern",
            }),
            "connector-status" => self.status.text(&self.view),
            "runs-code" => {
                let (upstream, _) = self.target.as_ref()?;
                self.status.runs_code(&self.view, upstream).then_some("true")
            }
            "guarded-tools" => Some(self.status.guarded(&self.view)),
            "reference" => {
                let reference = self.message.field(Field::Ref)?;
                let of_template = scan::member(reference, "uri").is_some();
                Some(if of_template { "template" } else { "prompt" })
            }
            "functions" => {
                let (upstream, _) = self.target.as_ref()?;
                let catalogue = self.view.catalogue();
                let place = catalogue.upstreams.iter().position(|name| name == upstream)?;
                catalogue.functions_of(place)
            }
            "uri-normalised" => self.spelling.get_or_init(|| self.normalised()).as_deref(),
            _ => {
                let set = self.attributes.iter().find(|(known, _)| **known == *key);
                set.map(|(_, value)| &**value)
            }
        }
    }

    /// The normal spelling of the URI that a client named, where it wrote it in another way.
    fn normalised(&self) -> Option<String> {
        let is_uri = match self.message.method() {
            Method::ResourcesRead | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
                true
            }
            Method::Complete => {
                let reference = self.message.field(Field::Ref).unwrap_or_default();
                scan::member(reference, "uri").is_some()
            }
            _ => false,
        };
        if is_uri { spelling::normalised(&self.name) } else { None }
    }

    /// The arguments as a document; the error says why they cannot be read the same way by everybody.
    pub fn document(&self) -> Result<&Document, &str> {
        self.arguments.read.store(true, Ordering::Relaxed);
        self.arguments
            .document
            .get_or_init(|| {
                Document::parse(self.arguments_json()).map_err(|error| error.to_string())
            })
            .as_ref()
            .map_err(String::as_str)
    }
}

impl std::fmt::Debug for CallContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallContext")
            .field("request_id", &self.request_id)
            .field("connector", &self.connector)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
