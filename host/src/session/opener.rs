//! Who opens a session.

use std::sync::Arc;

use http::HeaderValue;

use crate::pipeline::Caller;

/// A client that sent `initialize`.
#[derive(Clone, Debug, Default)]
pub struct Opener<'a> {
    /// Who it is, where anybody was identified.
    pub caller: Option<Arc<Caller>>,
    /// What somebody else came with, where servers may say what they offer by it.
    pub credential: Option<&'a HeaderValue>,
}

impl From<Option<Arc<Caller>>> for Opener<'_> {
    fn from(caller: Option<Arc<Caller>>) -> Self {
        Self { caller, credential: None }
    }
}
