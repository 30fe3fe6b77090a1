//! What stands below the path of a connector besides MCP, and belongs to a room above this one.

use http::request::Parts;
use hyper::body::Incoming;

use super::reply::Reply;
use super::site::Site;
use crate::pipeline::port::Promise;

/// Answers requests at one path and at the paths of its items, one part below it.
pub trait Annex: Send + Sync {
    /// Answers a request; `item` is the last part of the path where it names one.
    fn answer<'a>(
        &'a self,
        site: &'a Site,
        item: Option<&'a str>,
        head: &'a Parts,
        body: Incoming,
    ) -> Promise<'a, Reply>;
}
