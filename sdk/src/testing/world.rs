//! What the fake host knows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::store::Store;
use crate::host::call::Way;
use crate::host::fetch::{Incoming, Outgoing};
use crate::host::log::Level;

/// One line that the plugin logged.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its level.
    pub level: Level,
    /// Its text.
    pub message: String,
    /// Its fields.
    pub fields: Vec<(String, String)>,
}

/// Who calls, for [`Host::as_caller`](super::Host::as_caller).
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// `caller.id`
    pub id: String,
    /// `caller.display`
    pub display: String,
    /// `caller.anonymous`
    pub anonymous: bool,
    /// `caller.tenant`
    pub tenant: Option<String>,
    /// `caller.client`
    pub client: Option<String>,
    /// `caller.has-scope`
    pub scopes: Vec<String>,
    /// `caller.claim`
    pub claims: BTreeMap<String, Value>,
}

/// The call in hand.
#[derive(Default)]
pub(super) struct Call {
    pub(super) from_upstream: bool,
    pub(super) method: String,
    pub(super) name: String,
    pub(super) target: Option<(String, String)>,
    pub(super) session: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) arguments: Option<Value>,
    pub(super) hints: BTreeMap<String, bool>,
    pub(super) attempt: u32,
    pub(super) retry_of: Option<String>,
    pub(super) deadline_ms: Option<u32>,
    pub(super) attributes: BTreeMap<String, String>,
}

impl Call {
    pub(super) fn way(&self) -> Way {
        if self.from_upstream { Way::FromUpstream } else { Way::FromClient }
    }
}

/// One answer for `outcome`.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) worker: Option<u32>,
    pub(super) failed: Option<String>,
    pub(super) body: Value,
}

/// One visible entry of the catalogue.
pub(super) struct Listed {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) json: String,
}

pub(super) struct Worker {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
}

/// Upstream, kind and id.
pub(super) type Handle = (String, String, String);

type Fetch = Box<dyn Fn(&Outgoing) -> Result<Incoming, String>>;
type Request = Box<dyn Fn(&str, &str, &str) -> Result<String, String>>;
type Send = Box<dyn Fn(&str, &str, &str) -> Result<String, String>>;

/// Everything, with answers of a host that has nothing until a test gives it something.
#[derive(Default)]
pub(super) struct World {
    pub(super) call: Call,
    pub(super) caller: Caller,
    pub(super) answers: Vec<Answer>,
    pub(super) document: String,
    pub(super) entries: Vec<Listed>,
    /// Kinds and names of entries whose servers are away.
    pub(super) away: Vec<(String, String)>,
    pub(super) generation: u32,
    pub(super) details: BTreeMap<(u32, String), String>,
    pub(super) query: BTreeMap<String, String>,
    pub(super) workers: BTreeMap<u32, Worker>,
    pub(super) workers_generation: u32,
    pub(super) store: Store,
    pub(super) random: u32,
    pub(super) lines: Vec<Line>,
    /// Whose each is.
    pub(super) handles: BTreeMap<Handle, String>,
    pub(super) loaded: Vec<String>,
    /// How many may be loaded; none where nothing is kept.
    pub(super) room: Option<u32>,
    pub(super) announced: Vec<String>,
    pub(super) fetch: Option<Fetch>,
    pub(super) request: Option<Request>,
    pub(super) send: Option<Send>,
}

/// The JSON text at a pointer.
pub(super) fn at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).map(Value::to_string)
}
