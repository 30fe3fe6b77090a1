//! What tests of several rooms play.

use std::sync::Arc;

use crate::catalogue::Shaped;
use crate::fault::{Code, Fault};
use crate::pipeline::CallContext;
use crate::pipeline::port::{ConnectorView, Outcome, Promise, Reply, Room, Router, Routing};

/// An answer that no test looks for.
pub(super) fn nothing<T>() -> Promise<'static, Result<T, Fault>> {
    Box::pin(async { Err(Fault::new(Code::Internal, "Nobody asks for this.")) })
}

/// A router that never shapes: names are the server's with its own name before them.
pub(super) struct NoRouter;

impl Router for NoRouter {
    fn name(&self) -> &'static str {
        "none"
    }
    fn generation(&self) -> u64 {
        0
    }
    fn room(&self) -> Room {
        Room { entries: usize::MAX, bytes: usize::MAX }
    }
    fn shape(&self, _: ConnectorView) -> Promise<'_, Result<Shaped, Fault>> {
        nothing()
    }
    fn route(&self, _: Arc<CallContext>) -> Promise<'_, Result<Routing, Fault>> {
        nothing()
    }
    fn answer(&self, _: Arc<CallContext>) -> Promise<'_, Result<Reply, Fault>> {
        nothing()
    }
    fn learns(&self, _: &str) -> bool {
        false
    }
    fn learn(&self, _: Arc<CallContext>, _: Outcome) -> Promise<'_, Result<(), Fault>> {
        nothing()
    }
    fn ready(&self) -> Promise<'_, Result<String, String>> {
        Box::pin(async { Ok(String::new()) })
    }
}
