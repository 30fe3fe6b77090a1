//! An upstream: an MCP server behind a connector.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use tokio::sync::watch;

use super::{Answer, File, FileOrder, Promise};
use crate::catalogue::{Caching, Held};
use crate::fault::{Code, Fault};
use crate::pipeline::level::Level;
use crate::pipeline::party::{Party, PartyId};
use crate::protocol::{Message, Mirrored, Revision};

/// Whether an upstream can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It answered, and its catalogue was read.
    Connected,
    /// It does not answer now; another attempt is due.
    Reconnecting,
    /// It never answered, its attempts are used up, or the operator took it out.
    Disconnected,
}

impl Phase {
    /// The word in `/health` and the status tool.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Reconnecting => "reconnecting",
            Self::Disconnected => "disconnected",
        }
    }
}

/// What is known of an upstream at a moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Whether it can be used.
    pub phase: Phase,
    /// Since when.
    pub since: Instant,
    /// Failed attempts in a row.
    pub attempt: u32,
    /// When the next attempt is due.
    pub next_attempt: Option<Instant>,
    /// Whether its attempts are used up: none is due until somebody asks for one.
    pub given_up: bool,
    /// Why it is away, in one sentence for the operator.
    pub reason: Option<Arc<str>>,
    /// The class of that reason, which clients may read.
    pub why: Option<Code>,
    /// Whether the operator took it out: nothing is tried until it is put back.
    pub disabled: bool,
    /// What it offered when its catalogue was last read.
    pub offering: Option<Arc<Offering>>,
    /// Another number whenever [`Upstream::variant`] may give something else than before.
    pub variants: u64,
}

impl Snapshot {
    /// One of which nothing else is known.
    pub fn new(phase: Phase, since: Instant) -> Self {
        Self {
            phase,
            since,
            attempt: 0,
            next_attempt: None,
            given_up: false,
            reason: None,
            why: None,
            disabled: false,
            offering: None,
            variants: 0,
        }
    }

    /// Whether it had its chance: it answered, failed, or is not tried at all. Until then it is starting.
    pub fn was_tried(&self) -> bool {
        self.phase == Phase::Connected || self.attempt > 0 || self.disabled
    }
}

/// What an upstream offers, as it says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offering {
    /// The server's own name.
    pub server_name: Arc<str>,
    /// The revision that plugway speaks with it for the catalogue.
    pub revision: Option<Revision>,
    /// JSON text of its capabilities.
    pub capabilities: Arc<str>,
    /// Its instructions.
    pub instructions: Option<Arc<str>>,
    /// Whether it runs code: it lists a tool `execute_*_code`.
    pub runs_code: bool,
    /// JSON text of each tool.
    pub tools: Vec<Arc<str>>,
    /// JSON text of each prompt.
    pub prompts: Vec<Arc<str>>,
    /// JSON text of each resource.
    pub resources: Vec<Arc<str>>,
    /// JSON text of each resource template.
    pub templates: Vec<Arc<str>>,
    /// Further documents of the server for the router, by name: what `GET /catalog` says of the functions of a server that
    /// runs code (`catalog`, JSON text of an object), or why that could not be read (`catalog-unread`, a sentence).
    pub documents: Vec<(Arc<str>, Arc<str>)>,
    /// How long each of these lists counts, in this order; none where the server has no such list.
    pub caching: [Option<Caching>; 4],
    /// Arguments that travel in headers, too, by the server's own name of the tool; tools without any are not in it. None
    /// where the server takes no such headers.
    pub mirrored: BTreeMap<Arc<str>, Arc<[Mirrored]>>,
    /// Tools that the server offers and that are not among these.
    pub left_out: Vec<LeftOut>,
    /// What of it is held back (docs/decisions/0032). Such a thing stands in the lists under its own name, with the definition
    /// that was approved last, or with none but the name.
    pub held: Arc<Held>,
    /// A sentence for whoever comes without a credential of its own, where the server says to nobody else what it offers:
    /// then all of this is empty, and each caller has an offering of its own ([`Upstream::variant_of`]).
    pub veiled: Option<Arc<str>>,
}

/// A tool that a server offers and no client is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The server's own name for it, cut short where it is long.
    pub tool: Arc<str>,
    /// What is wrong with it, as a part of a sentence.
    pub reason: Arc<str>,
}

/// A caller with whose credential a server may be asked what it offers to that caller alone.
#[derive(Clone, Copy, Debug)]
pub struct Lender<'a> {
    /// Stands for the caller, and for nobody else.
    pub caller: &'a Arc<str>,
    /// `Authorization` as the caller came with it last; none leaves what is known of it.
    pub credential: Option<&'a HeaderValue>,
}

/// What an upstream offers to clients with certain capabilities.
#[derive(Clone, Debug)]
pub enum Variant {
    /// What it offers everybody, as far as is known.
    Everybodys,
    /// Something else.
    Own(Arc<Offering>),
    /// Nothing, for want of a credential that the server accepts: why, in a sentence for the caller.
    Unseen(Arc<str>),
}

/// One request for an upstream.
#[derive(Clone, Debug)]
pub struct Order {
    /// On whose behalf.
    pub party: Arc<Party>,
    /// The request as the client wrote it, after the edits of policies. Its id is kept.
    pub message: Message,
    /// The upstream's own name, to stand in place of `params.name` or `params.uri`; none leaves it.
    pub name: Option<Arc<str>>,
    /// Headers to send along: `Mcp-Param-*`, and those that policies set.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The client's `Authorization`, for upstreams that it is forwarded to.
    pub credential: Option<HeaderValue>,
}

/// What an operator may tell an upstream to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Try now, whatever the back-off says; a connected one is read again.
    Reconnect,
    /// Take it out: its sessions and children end, and nothing is tried.
    Disable,
    /// Put it back.
    Enable,
}

/// What is counted about an upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Sessions that plugway has there for its parties.
    pub sessions: u64,
    /// Child processes that run now.
    pub children: u64,
    /// Requests of clients that wait for the end of their answer.
    pub in_flight: u64,
    /// Event streams of plugway's own (`GET`, `subscriptions/listen`), opened since the start.
    pub streams_opened: u64,
    /// Of these, open now.
    pub streams_active: u64,
    /// Of these, ended.
    pub streams_closed: u64,
    /// How often the server said that it has no such stream (405).
    pub streams_unsupported: u64,
    /// How often its catalogue was read.
    pub catalogues_read: u64,
}

/// A named upstream.
pub trait Upstream: Send + Sync {
    /// The operator's name.
    fn name(&self) -> &Arc<str>;
    /// How it is reached: `http` or `stdio`.
    fn kind(&self) -> &'static str;
    /// What is known of it, and every change.
    fn watch(&self) -> watch::Receiver<Arc<Snapshot>>;
    /// Whether it may offer something else to clients with capabilities of their own than to plugway itself.
    fn varies(&self) -> bool;
    /// What it offers to clients with these capabilities (JSON text of an object); reads it where it was not read since the
    /// catalogue was. Who does not wait to the end finds it later: the reading goes on, and [`Snapshot::variants`] tells of
    /// its end. Where it cannot be read, everybody's counts until the catalogue is read again.
    fn variant<'a>(&'a self, capabilities: &'a str) -> Promise<'a, Variant>;
    /// Whether it may say what it offers to callers with credentials of their own only ([`Offering::veiled`]).
    fn lends(&self) -> bool;
    /// As [`Upstream::variant`], for one caller alone: where the server says nothing to others it is asked with the caller's
    /// credential, and what it says is nobody else's.
    fn variant_of<'a>(&'a self, capabilities: &'a str, lender: Lender<'a>) -> Promise<'a, Variant>;
    /// Sends a request over the party's own session, opening it at the first use. `subscriptions/listen` is answered with a
    /// stream that goes on when the server's own breaks off, in whatever era the server speaks; an error in it says that
    /// there is no such upstream any more.
    fn exchange(&self, order: Order) -> Promise<'_, Result<Answer, Fault>>;
    /// The origins under which it serves files beside its MCP endpoint, in lower case, such as `http://127.0.0.1:8000`; none
    /// where it gives no links to files: it does not run code, as far as is known, and nobody said that it gives some.
    fn origins(&self) -> Option<&Arc<[Arc<str>]>>;
    /// Such a file; none where there is none, or under another origin. Follows no redirect.
    fn file(&self, order: FileOrder) -> Promise<'_, Result<Option<File>, Fault>>;
    /// A request that this server makes of the party's client inside of a result (`inputRequests`), given as a JSON-RPC
    /// request: as the client gets it; none where the client is not asked. What comes as [`Incoming::Ask`] went through
    /// this before.
    ///
    /// [`Incoming::Ask`]: super::Incoming::Ask
    fn prepared(&self, party: &Arc<Party>, request: Bytes) -> Option<Message>;
    /// Sends a notification over the party's session, if it has one.
    fn notify(&self, party: PartyId, notification: Message) -> Promise<'_, ()>;
    /// Sends a notification of a client of the modern era to a server that speaks that era; to a child only where the party has
    /// one. Others have nothing of it. Takes a bounded time.
    fn tell(&self, order: Order) -> Promise<'_, ()>;
    /// Tells the server the level of the log messages that a party wants, where the party has a session; a later session is
    /// told by itself, as the party's outbox knows.
    fn set_level(&self, party: PartyId, level: Level) -> Promise<'_, ()>;
    /// The party is gone: ends its session.
    fn leave(&self, party: PartyId) -> Promise<'_, ()>;
    /// Does what the operator says; returns before it is done.
    fn control(&self, control: Control);
    /// What is counted about it.
    fn numbers(&self) -> Numbers;
    /// plugway stops, or the upstream is taken out of the configuration: ends every session and child within a bounded time.
    fn shut_down(&self) -> Promise<'_, ()>;
}
