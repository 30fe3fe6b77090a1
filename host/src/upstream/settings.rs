//! What the operator says of one upstream.

use std::path::PathBuf;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use super::limits::Limits;
pub use crate::config::Asks;
use crate::outbound::{NoCertificates, OwnListeners};

/// Checked values; [`start`](fn@super::start) makes an upstream of them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The operator's name for the server; stands in logs and in sentences for clients.
    pub name: Arc<str>,
    /// The connector that it stands behind, for logs.
    pub connector: Arc<str>,
    /// How it is reached.
    pub transport: Transport,
    /// What every request to it carries; means nothing for a child process.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Origins under which it serves files besides its own; none where nobody said that it does. Means something for
    /// Streamable HTTP only.
    pub origins: Option<Vec<Arc<str>>>,
    /// Whose credential it gets.
    pub access: Access,
    /// Whether its catalogue of functions (`GET /catalog`) may be read; means nothing for anything but Streamable HTTP.
    pub catalog: bool,
    /// Where plugway itself listens, which is never dialled.
    pub own: OwnListeners,
    /// Who shares a child process; means nothing for HTTP.
    pub sharing: Sharing,
    /// What the server may ask of clients.
    pub asks: Asks,
    /// Bounds.
    pub limits: Limits,
}

/// Whose credential a server gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Nobody's.
    #[default]
    Open,
    /// plugway's: it is among the headers that every request carries.
    Plugways,
    /// The caller's, on the caller's requests.
    Callers {
        /// `Authorization` of what plugway asks for itself.
        own: Option<HeaderValue>,
    },
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Streamable HTTP.
    Http {
        /// An `http` or `https` URL without user name. One without a path, or with `/` alone, gets `/mcp`; any other
        /// path, `/mcp/` included, and any query are used exactly as they are.
        url: String,
    },
    /// HTTP+SSE of 2024-11-05.
    Sse {
        /// As for [`Transport::Http`].
        url: String,
    },
    /// A child process that speaks over its standard input and output.
    Stdio(Command),
}

/// The command of a child process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// A path, or a name that is looked up in `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment: nothing but this, and plugway's own `PATH` unless `PATH` is listed here. Without a `PATH`
    /// neither `npx` nor `uvx` nor a script that starts with `#!/usr/bin/env` can work.
    pub env: Vec<(String, String)>,
    /// Its working directory; plugway's own where none is given.
    pub directory: Option<PathBuf>,
}

/// Who shares a child process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Each client session has its own: nobody sees the state of somebody else.
    #[default]
    Session,
    /// One for everybody; for servers that keep no state.
    Connector,
}

/// Settings that cannot work.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unusable {
    /// The URL cannot be read.
    #[error(
        "{url:?} is not an http or https URL with a host, for example http://127.0.0.1:3000/mcp"
    )]
    Url {
        /// As it was given.
        url: String,
    },
    /// A secret that no header can carry.
    #[error("the value for the header {name} holds characters that no header can carry")]
    Header {
        /// Its name.
        name: HeaderName,
    },
    /// No command.
    #[error("the command of a stdio server must not be empty")]
    Program,
    /// The system's certificates cannot be read, and an `https` URL needs them.
    #[error(transparent)]
    Certificates(#[from] NoCertificates),
}
