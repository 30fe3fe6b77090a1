//! The harness of plugway's end-to-end tests: everything goes through the real binary, as a client would.
//!
//! - [`plugway`]: starts the binary with a configuration, waits until it is ready, reads its log, ends it.
//! - [`pipe`]: the same for `plugway stdio`, with the raw lines of its client.
//! - [`hub`]: configurations with guests, as tables.
//! - [`cutter`]: a way between client and plugway on which connections are lost.
//! - [`demo`]: the demo servers as upstreams, with their counters; [`asking`]: servers that ask their client.
//! - [`recorder`]: an upstream that keeps every call to the byte.
//! - [`metrics`]: what `GET /metrics` says of plugins.
//! - [`tokens`]: callers of `auth: static`; [`admin`]: a client of administration.
//! - [`rpc`]: a client of either era that shows every status, header and message.
//! - [`registry`]: servers that register themselves.
//! - [`replay`]: a server that answers by a recording, in JSON as [`exact`] as it was written.
//! - [`coder`]: a server that runs code, with its catalogue of functions.
//! - [`scripted`]: an upstream over HTTP whose answers the test decides.
//! - [`strict`]: a server that lets in whoever has a token, and offers something else to each.
//! - [`sighted`]: all that a caller is shown anywhere, and all that it may use.
//! - [`shelf`]: an upstream that serves files and gives links to them.
//! - [`scripted`]: an upstream over HTTP whose answers the test decides; [`code_server`]: one that runs code, as far as
//!   sessions, jobs and batches go.
//! - [`notices`]: what a session is told on its stream.
//! - [`http`]: exact bytes over a connection, for tables of bad input; ordinary requests.
//! - [`peers`]: the official clients and servers that `cargo xtask peers` installs.
//! - [`workbench`]: the servers and the router of agora-workbench, and real clients that are told line by line.
//! - [`conformance`]: the official conformance suite, run and graded.
//! - [`process`]: children of a process, memory, signals.
//! - [`audit`]: the lines of the audit.
//! - [`soak`]: what volume does to memory.
//! - [`dice`]: choices that look like chance.
//! - [`binary`], [`scratch`], [`wait`]: where programs are, temporary folders, bounded waiting.
//!
//! Nothing here sleeps for a guessed time: every wait has a condition, a name and a bound.

pub mod admin;
pub mod asking;
pub mod audit;
pub mod binary;
pub mod code_server;
pub mod coder;
pub mod conformance;
pub mod cutter;
pub mod demo;
pub mod dice;
pub mod exact;
pub mod faulty;
pub mod http;
pub mod hub;
mod log;
pub mod metrics;
pub mod notices;
pub mod peers;
pub mod pipe;
pub mod plugway;
pub mod process;
pub mod recorder;
pub mod registry;
pub mod replay;
pub mod rpc;
mod run;
pub mod scratch;
pub mod scripted;
pub mod shelf;
pub mod sighted;
pub mod soak;
pub mod strict;
pub mod tokens;
pub mod wait;
pub mod workbench;

pub use self::{
    coder::Coder,
    demo::{DemoHttp, demo_notes_path, fixture_path},
    dice::Dice,
    hub::{Guest, Hub},
    notices::Notices,
    pipe::Pipe,
    plugway::Plugway,
    recorder::Recorder,
    scripted::Scripted,
    shelf::Shelf,
};
