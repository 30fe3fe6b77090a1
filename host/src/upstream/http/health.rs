//! `GET /health` at the origin of a server, where it exists.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::time::{Instant, timeout};

use super::body::{Pace, Source};
use super::endpoint::Endpoint;
use super::request::health;
use crate::upstream::failure::Failure;

const UNKNOWN: u8 = 0;
const PRESENT: u8 = 1;
const ABSENT: u8 = 2;

/// Whether the server has it, once that was seen.
#[derive(Debug)]
pub(super) struct Health(AtomicU8);

/// What was seen.
enum Seen {
    Well,
    /// It answers that it has no such thing.
    NoSuchThing,
    Ill(Failure),
}

impl Health {
    pub(super) fn new() -> Self {
        Self(AtomicU8::new(UNKNOWN))
    }

    /// Before a connect: fails when the server has it and is not well.
    pub(super) async fn before(&self, endpoint: &Arc<Endpoint>) -> Result<(), Failure> {
        if self.0.load(Ordering::Relaxed) == PRESENT {
            self.ask(endpoint).await?;
            return Ok(());
        }
        // Another version of the server may have it.
        self.0.store(UNKNOWN, Ordering::Relaxed);
        Ok(())
    }

    /// Whether it says that the server is well; false where the server does not have it.
    pub(super) async fn ask(&self, endpoint: &Arc<Endpoint>) -> Result<bool, Failure> {
        let known = self.0.load(Ordering::Relaxed);
        if known == ABSENT {
            return Ok(false);
        }
        // Half of a check's time: there must be some left to ask in another way.
        let limit = endpoint.limits.check_timeout / 2;
        let seen = timeout(limit, see(endpoint))
            .await
            .unwrap_or_else(|_elapsed| Seen::Ill(Failure::timeout(endpoint.name(), limit)));
        match seen {
            Seen::Well => {
                self.0.store(PRESENT, Ordering::Relaxed);
                Ok(true)
            }
            Seen::NoSuchThing => {
                self.0.store(ABSENT, Ordering::Relaxed);
                Ok(false)
            }
            // What never was well there may mean anything; the server's own answer counts.
            Seen::Ill(failure) if known == UNKNOWN && !failure.is_unreachable() => Ok(false),
            Seen::Ill(failure) => Err(failure),
        }
    }
}

async fn see(endpoint: &Arc<Endpoint>) -> Seen {
    let response = match endpoint.send(health(endpoint)).await {
        Ok(response) => response,
        Err(error) => return Seen::Ill(endpoint.failure(&error)),
    };
    let (parts, body) = response.into_parts();
    let limit = endpoint.limits.check_timeout;
    let pace = Pace { deadline: Some(Instant::now() + limit), call: limit, stall: None };
    let name = Arc::clone(endpoint.status.name());
    Source::new(body, name, pace, None).finish(&endpoint.drainer);
    if parts.status.is_success() {
        Seen::Well
    } else if parts.status.is_server_error() {
        let what = "says at /health that it is not well";
        Seen::Ill(Failure::broken(endpoint.name(), what).because(parts.status))
    } else {
        Seen::NoSuchThing
    }
}
