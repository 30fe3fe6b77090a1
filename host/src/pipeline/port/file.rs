//! A file that a server serves beside its MCP endpoint.

use std::sync::Arc;

use http::HeaderValue;

use super::Body;

/// Which file is wanted.
#[derive(Clone, Debug)]
pub struct FileOrder {
    /// One of the upstream's own origins (`Upstream::origins`).
    pub origin: Arc<str>,
    /// The path there, encoded, without a query.
    pub path: Arc<str>,
    /// The client's `Authorization`, for upstreams that it is forwarded to.
    pub credential: Option<HeaderValue>,
    /// Whether everything but the content is wanted (`HEAD`).
    pub head: bool,
}

/// What the server has there. Nothing else of its answer counts.
#[derive(Debug)]
pub struct File {
    /// `Content-Type`.
    pub media_type: Option<HeaderValue>,
    /// How long the content is, where the server says so.
    pub length: Option<u64>,
    /// The content, within bounds of size and time; empty where it was not wanted.
    pub body: Body,
}
