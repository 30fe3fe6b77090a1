//! Every bound of this room, with its reason. What an operator may change is a field of [`Limits`]; the rest is
//! constant.

use std::time::Duration;

/// An answer of at most so many bytes is handed on in one piece; larger ones stream. Most answers are a few KiB.
pub const WHOLE_ANSWER: usize = 64 * 1024;
/// Largest JSON answer: four times the largest event, far above what a model can read.
pub const ANSWER: usize = 64 * 1024 * 1024;
/// Largest file that a link of a server leads to: as much as agora-workbench 0.4.2 transfers of one object.
pub const FILE: usize = 256 * 1024 * 1024;
/// How long the whole of one may take: it goes to a person who waits for it.
pub const FILE_TIME: Duration = Duration::from_mins(10);
/// Largest event of a stream; the official SDKs have the same limit.
pub const EVENT: usize = 16 * 1024 * 1024;
/// How long the first event of a stream is waited for, before the client is told that it is one: most servers that
/// stream send the response and nothing else.
pub const FIRST_EVENT: Duration = Duration::from_millis(100);
/// How long a channel of HTTP+SSE may be unused: it ends with the session that it belongs to, which ends when idle.
pub const UNUSED: Duration = Duration::from_hours(24 * 365);
/// Longest line of a child's standard output; the official SDKs have the same limit.
pub const LINE: usize = 16 * 1024 * 1024;
/// How much of an error body is read: a JSON-RPC error is small, an error page is not read to its end.
pub const ERROR_BODY: usize = 64 * 1024;
/// Longest part of a child's diagnostic line that is logged.
pub const LOG_LINE: usize = 2 * 1024;
/// Diagnostic lines of one child that are logged in [`LOG_WINDOW`]; further ones are counted only.
pub const LOG_LINES: u32 = 50;
/// See [`LOG_LINES`].
pub const LOG_WINDOW: Duration = Duration::from_secs(10);
/// Pages that are read of one list: 400 tools at 10 a page are 40.
pub const PAGES: usize = 1_000;
/// Entries that are kept of one list.
pub const ITEMS: usize = 10_000;
/// Bytes that are kept of one list: 1,000 tools with large schemas are about 5 MiB.
pub const LIST: usize = 32 * 1024 * 1024;
/// Abandoned legacy calls that one upstream may still be answering; beyond it their connections are closed.
pub const DRAINS: usize = 256;
/// How long an abandoned legacy call may go on.
pub const DRAIN: Duration = Duration::from_mins(1);
/// How long a stream may stay open after its response, so that its connection can be used again.
pub const TAIL: Duration = Duration::from_secs(1);
/// Bytes of one abandoned answer that are read so that its connection can be used again; beyond it the connection is
/// closed.
pub const DRAIN_BYTES: usize = 1024 * 1024;
/// Answers to requests of one server that may be on their way at once; clients answer far fewer.
pub const REPLIES: usize = 256;
/// How long such an answer may take to arrive: it may be a large one, and the server may be busy.
pub const REPLY: Duration = Duration::from_secs(30);
/// Times in a row that a stream is asked for again which gives nothing, before its call fails.
pub const RESUMES: u32 = 5;
/// Idle connections kept for one upstream.
pub const IDLE_CONNECTIONS: usize = 512;
/// How long a connection stays idle: less than the 5 s after which Node.js and uvicorn close theirs, so that no
/// request is written into a connection that is being closed.
pub const IDLE_CONNECTION: Duration = Duration::from_secs(4);
/// Messages that wait for one child's standard input.
pub const WRITE_QUEUE: usize = 64;
/// Messages of a server that wait for one call's reader. A child of one client is read no further for a moment then; after
/// that, and of a child that several share, further notifications are dropped, further requests refused; the response never
/// is.
pub const NOTE_QUEUE: usize = 256;
/// How long that moment may be. A client that takes nothing for so long is not waited for again.
pub const ROOM: Duration = Duration::from_secs(5);
/// Calls in flight, the newest first, that are looked at for one whose client may be asked what a server asks.
pub const CANDIDATES: usize = 16;
/// Requests of a server of which is remembered with which call they went, so that their cancellation follows.
pub const ASKED: usize = 64;
/// How long the end of a session may take (`DELETE`, best effort).
pub const GOODBYE: Duration = Duration::from_secs(2);
/// How long a child has to end after its standard input closed.
pub const CHILD_GRACE: Duration = Duration::from_secs(2);
/// How long a supervisor has after SIGTERM: its own 2 s for the process group, and some for a busy machine.
pub const SUPERVISOR_GRACE: Duration = Duration::from_secs(6);
/// How long the processes below a supervisor have between SIGTERM and SIGKILL.
pub const TERM_GRACE: Duration = Duration::from_secs(2);
/// How long the last lines of an ended process may take to be read.
pub const LAST_LINES: Duration = Duration::from_secs(1);
/// How long a server may take to answer the probe of its era; then `initialize` is tried.
pub const PROBE: Duration = Duration::from_secs(3);
/// Bytes of a catalogue of functions (`GET /catalog`): a hundred functions are about 100 KiB.
pub const CATALOG: usize = 4 * 1024 * 1024;
/// How long such a catalogue may take; lists that were read count without it.
pub const CATALOG_TIME: Duration = Duration::from_secs(10);
/// After so long a server is read again whose catalogue of functions could not be read and never was.
pub const CATALOG_AGAIN: Duration = Duration::from_secs(15);
/// How long one page of a list may take.
pub const PAGE: Duration = Duration::from_secs(30);

/// Time between a failed check and the next one: a dead server is noticed within about a second.
pub const QUICK: Duration = Duration::from_millis(250);
/// Looks that requests of clients ask for are so far apart: a server that fails with every call is not asked for each.
pub const SUSPICION_GAP: Duration = Duration::from_millis(500);
/// Two reads of a catalogue are at least so far apart: a storm of `list_changed` costs two reads.
pub const READ_GAP: Duration = Duration::from_millis(200);
/// Shortest lifetime of a catalogue that a server may name (`ttlMs`).
pub const TTL_MIN: Duration = Duration::from_secs(1);
/// A connection that did not last so long makes the wait before the next one longer.
pub const STEADY: Duration = Duration::from_secs(1);
/// Wait before a stream of plugway's own is opened again; doubles up to [`STREAM_RETRY_MAX`] while streams do not last.
pub const STREAM_RETRY: Duration = Duration::from_secs(1);
/// See [`STREAM_RETRY`]; also the longest wait that a server may ask for (`retry`).
pub const STREAM_RETRY_MAX: Duration = Duration::from_mins(1);
/// Shortest wait that a server may ask for (`retry`).
pub const STREAM_RETRY_MIN: Duration = Duration::from_millis(100);
/// A stream that lasted so long was not in vain.
pub const STREAM_STEADY: Duration = Duration::from_secs(10);

/// How long a call waits for the catalogue to be read again whose headers the server refused.
pub const REREAD: Duration = Duration::from_secs(5);
/// Variants of one upstream's catalogue that are kept: clients with as many different capabilities.
pub const VARIANTS: usize = 8;
/// A variant that was asked for so recently makes no room for another: whoever invents capabilities makes a server be read
/// a few times a minute, and no more.
pub const VARIANT_USED: Duration = Duration::from_mins(1);
/// A variant for which a process has to be started is read again at most so often when everybody's catalogue changed.
pub const VARIANT_GAP: Duration = Duration::from_secs(1);
/// The same when that is as before: servers say that their lists changed whenever a session of theirs begins.
pub const VARIANT_GAP_UNCHANGED: Duration = Duration::from_secs(10);
/// Catalogues that are kept of one upstream for one caller each: what a server says to callers with credentials of their own
/// only. For one more the one makes room that was not used the longest, one of a caller who was refused first.
pub const CALLER_VARIANTS: usize = 256;
/// After so long a catalogue is forgotten whose caller does not come any more, and the caller's credential with it.
pub const CALLER_VARIANT_KEPT: Duration = Duration::from_mins(15);
/// The catalogue of a caller whose credential the server did not accept in a call is read again at most so often.
pub const DOUBT_GAP: Duration = Duration::from_secs(1);
/// A caller whose catalogue could not be read is tried again after so long, or once it comes with another credential.
pub const CALLER_AGAIN: Duration = Duration::from_secs(5);
/// Longest capabilities of a client that have a variant.
pub const VARIANT_CLAIMS: usize = 16 * 1024;

/// URIs that one party may be subscribed to at one server.
pub const SUBSCRIPTIONS: usize = 256;
/// Updates of resources that wait for one subscription's reader; one more ends its stream.
pub const UPDATES: usize = 128;
/// How often the session of a subscription is looked at, which nobody else uses.
pub const SUBSCRIPTION_CHECK: Duration = Duration::from_secs(30);
/// Subscriptions that are repeated at once when a session is opened again.
pub const RESUBSCRIBE_AT_ONCE: usize = 8;

/// Tasks of one child of which is remembered that somebody may ask for them.
pub const TASKS_KEPT: usize = 256;
/// How long a child is kept for a task of which nobody asked since: clients ask every few seconds, and a server may give a
/// task no end.
pub const TASK_KEPT: Duration = Duration::from_hours(1);

/// Bounds that an operator may change for one upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time to reach the server (TCP and TLS). Default 5 s.
    pub connect: Duration,
    /// Time to open a session over HTTP. Default 10 s.
    pub open: Duration,
    /// Time for a child to start and to answer `initialize`. Default 60 s: `npx` and `uvx` may download first.
    pub start: Duration,
    /// Time to read the whole catalogue. Default 30 s.
    pub catalogue: Duration,
    /// Time for a call from its first byte to the last one of its answer. Default 5 min. Does not apply to
    /// `subscriptions/listen`, whose stream is meant to stay.
    pub call: Duration,
    /// Time between two pieces of a JSON answer that has begun. Default 60 s. Event streams may be silent longer.
    pub stall: Duration,
    /// Sessions at this upstream at once. Default 4,096.
    pub sessions: usize,
    /// Child processes of this upstream at once, the one that reads the catalogue included. Default 16.
    pub children: usize,
    /// How long a request of nobody in particular waits for a free child. Default 10 s.
    pub child_wait: Duration,
    /// After how long without a call a child is stopped, unless it has a task that can still be asked for; a later call starts
    /// a new one, without the old state.
    /// Default 5 min.
    pub child_idle: Duration,
    /// Time between two checks that the server is alive. Default 30 s.
    pub check: Duration,
    /// Time that one check may take. Default 5 s.
    pub check_timeout: Duration,
    /// Failed checks in a row that make it away. Default 2.
    pub down_after: u32,
    /// Good checks in a row that bring it back, the connect itself counted. Default 1.
    pub up_after: u32,
    /// Time after which the catalogue is read again, unless the server names a shorter one. Default 5 min.
    pub refresh: Duration,
    /// Wait before the first attempt after a failure. Default 250 ms: a server that is just starting is found soon.
    pub retry_first: Duration,
    /// Wait before the second attempt; doubles from then on. Default 2 s.
    pub retry: Duration,
    /// Longest wait between attempts. Default 30 s.
    pub retry_max: Duration,
    /// Failed attempts in a row after which it is left alone until the operator asks for it. Default none.
    pub attempts: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            open: Duration::from_secs(10),
            start: Duration::from_mins(1),
            catalogue: Duration::from_secs(30),
            call: Duration::from_mins(5),
            stall: Duration::from_mins(1),
            sessions: 4_096,
            children: 16,
            child_wait: Duration::from_secs(10),
            child_idle: Duration::from_mins(5),
            check: Duration::from_secs(30),
            check_timeout: Duration::from_secs(5),
            down_after: 2,
            up_after: 1,
            refresh: Duration::from_mins(5),
            retry_first: Duration::from_millis(250),
            retry: Duration::from_secs(2),
            retry_max: Duration::from_secs(30),
            attempts: None,
        }
    }
}
