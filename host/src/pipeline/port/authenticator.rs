//! Who sends a request.

use std::sync::Arc;

use http::HeaderValue;

use super::Promise;
use crate::fault::Fault;
use crate::pipeline::caller::Caller;

/// Establishes the caller of a request.
pub trait Authenticator: Send + Sync {
    /// The caller that the value of `Authorization` stands for; none where the request has no credential. A credential
    /// that is not accepted is a fault: it never makes an anonymous caller.
    fn authenticate<'a>(
        &'a self,
        authorization: Option<&'a HeaderValue>,
    ) -> Promise<'a, Result<Option<Arc<Caller>>, Fault>>;
}
