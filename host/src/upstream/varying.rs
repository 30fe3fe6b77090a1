//! How what a server offers to clients with certain capabilities is read, whatever the server is reached by.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use http::HeaderValue;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::authored::Hello;
use super::failure::Failure;
use super::limits::DOUBT_GAP;
use super::permission::claimed;
use super::settings::Asks;
use super::status::Status;
use super::variants::{Read, Variant};
use crate::pipeline::port::{self, Lender, Offering, Phase, Promise};
use crate::protocol::{Era, Revision};

/// A server that may offer something else to clients with capabilities of their own.
pub(super) trait Varying: Send + Sync + 'static {
    /// What is published of it.
    fn status(&self) -> &Arc<Status>;
    /// What the operator lets it use of a client's capabilities.
    fn asks(&self) -> Asks;
    /// How often there was a reason to read variants again; a variant counts until the next one, or until everybody's
    /// catalogue is another one. `era` is the one in which plugway reads.
    fn reasons(&self, era: Option<Era>) -> u64;
    /// How long after the beginning of a reading the next one of the same variant may begin. `changed` says that everybody's
    /// catalogue is another one than it was then.
    fn gap(&self, era: Option<Era>, changed: bool) -> Duration;
    /// Cancelled when nothing is read any more.
    fn over(&self) -> CancellationToken;
    /// Reads what it offers to whoever says this hello, over a connection of plugway's own. `lent` is the credential of the
    /// only caller that it is read for; the era is found out with it.
    fn read(self: Arc<Self>, era: Option<Era>, hello: Hello, lent: Option<HeaderValue>) -> Reading;
}

/// What was read, once it is.
pub(super) type Reading = Promise<'static, Result<Offering, Failure>>;

/// What the server offers to clients with these capabilities (JSON text of an object).
pub(super) async fn offered<V: Varying>(
    server: &Arc<V>,
    tracker: &TaskTracker,
    capabilities: &str,
) -> port::Variant {
    let status = server.status();
    let claims = claimed(capabilities, server.asks());
    let claims = claims.as_deref().unwrap_or(capabilities);
    let Some((phase, everybodys)) = status.offering() else { return port::Variant::Everybodys };
    if everybodys.veiled.is_some() {
        return port::Variant::Everybodys;
    }
    let Some(variant) = status.variants.of(claims, Instant::now()) else {
        return port::Variant::Everybodys;
    };
    // One that is away is not asked: what it offered last counts, as it does for everybody.
    if phase == Phase::Connected {
        Box::pin(read(server, tracker, &variant, &everybodys)).await;
    }
    match variant.last() {
        Some(offering) if *offering != *everybodys => port::Variant::Own(offering),
        _ => port::Variant::Everybodys,
    }
}

/// What the server offers to one caller whose client has these capabilities: that is read with the caller's own credential
/// where the server says nothing without one.
pub(super) async fn offered_to<V: Varying>(
    server: &Arc<V>,
    tracker: &TaskTracker,
    capabilities: &str,
    lender: Lender<'_>,
) -> port::Variant {
    let status = server.status();
    let Some((phase, everybodys)) = status.offering() else { return port::Variant::Everybodys };
    let Some(veiled) = &everybodys.veiled else {
        return offered(server, tracker, capabilities).await;
    };
    let claims = claimed(capabilities, server.asks());
    let claims = claims.as_deref().unwrap_or(capabilities);
    let Some(variant) = status.lent.of(claims, lender, Instant::now()) else {
        return port::Variant::Unseen(veiled.clone());
    };
    if phase == Phase::Connected {
        Box::pin(read(server, tracker, &variant, &everybodys)).await;
    }
    match variant.last() {
        Some(offering) => port::Variant::Own(offering),
        None if phase == Phase::Connected => {
            port::Variant::Unseen(variant.why().unwrap_or_else(|| veiled.clone()))
        }
        None => port::Variant::Everybodys,
    }
}

/// Reads a variant, unless what was read still counts. However many ask at once, it is read once; the reading goes on when
/// nobody waits for it any more.
async fn read<V: Varying>(
    server: &Arc<V>,
    tracker: &TaskTracker,
    variant: &Arc<Variant>,
    everybodys: &Arc<Offering>,
) {
    let era = everybodys.revision.map(Revision::era);
    let (reasons, beside) = (server.reasons(era), Arc::downgrade(everybodys));
    let known = variant.slot.current();
    let changed = known.as_ref().is_none_or(|known| !Weak::ptr_eq(&known.beside, &beside));
    match known {
        Some(known) if known.reasons == reasons && !changed => return,
        Some(old) => variant.slot.forget(&old),
        None if variant.failed(server.status().reads(), Instant::now()) => return,
        None => {}
    }
    let now = Instant::now();
    let doubted = variant.is_doubted();
    let gap = if doubted { DOUBT_GAP } else { server.gap(era, changed) };
    let due = variant.began().map_or(now, |last| last + gap);
    let reading = Box::pin(reading(Arc::clone(server), Arc::clone(variant), era, due));
    let read = variant.slot.acquire(tracker, || reading);
    // What has to wait, and is no news for all, is waited for by nobody.
    let read =
        if due > now && !changed && !doubted { read.now_or_never() } else { Some(read.await) };
    if let Some(Err(failure)) = read {
        let status = server.status();
        if variant.lender.is_some() && failure.is_refusal() {
            let (upstream, reason) = (&**status.name(), &*failure.reason());
            tracing::debug!(upstream, reason, "a caller is shown nothing");
            return;
        }
        tracing::warn!(
            connector = &**status.connector(),
            upstream = &**status.name(),
            reason = &*failure.reason(),
            "what is offered to some clients could not be read"
        );
    }
}

/// A task of its own, and large.
async fn reading<V: Varying>(
    server: Arc<V>,
    variant: Arc<Variant>,
    era: Option<Era>,
    due: Instant,
) -> Result<Read, Failure> {
    let over = server.over();
    over.run_until_cancelled(sleep_until(due)).await.ok_or_else(Failure::stopping)?;
    variant.begins(Instant::now());
    let status = server.status();
    let (reads, reasons) = (status.reads(), server.reasons(era));
    let beside = status.offering().map(|(_, now)| Arc::downgrade(&now)).unwrap_or_default();
    let lent = variant.credential();
    let read = Arc::clone(&server).read(era, Hello::claiming(&variant.claims), lent.clone());
    let offering = over.run_until_cancelled(read).await.ok_or_else(Failure::stopping)?;
    let offering = offering.map(Arc::new);
    if let Ok(offering) = &offering {
        status.warn_left_out(variant.last().as_deref(), offering);
    }
    if variant.was_read((reads, Instant::now()), lent, offering.as_ref()) {
        status.variants_changed();
    }
    offering.map(|_| Read { reasons, beside })
}
