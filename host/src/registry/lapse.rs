//! Leases whose time is over.

use std::time::Instant;

use super::book::Book;
use super::lease::Lease;
use crate::telemetry::audit::Act;

/// Ends the leases whose time is over, and lets those go on elsewhere whose address is not promised any more, each with its
/// line in the audit.
pub fn lapse(book: &Book, now: Instant) {
    for (connector, lease) in book.sweep(now) {
        displaced(&connector, &lease);
    }
    for (connector, lease) in book.move_on(now) {
        told(&connector, &lease, "lease-move").done();
    }
}

/// A lease ended by itself, or because the file gives its name to others.
pub fn displaced(connector: &str, lease: &Lease) {
    told(connector, lease, "lease-lapse").done();
}

/// Another address of a lease was looked at: it took over, or is held back for a reason.
pub fn weighed(connector: &str, lease: &Lease) {
    let (state, why) = lease.state();
    let line = told(connector, lease, "lease-move");
    match (state, why) {
        ("held", Some(why)) => line.failed(&why),
        _ => line.done(),
    }
}

/// What plugway does by itself with a lease.
struct Told<'a> {
    lease: &'a Lease,
    action: &'static str,
    object: String,
}

fn told<'a>(connector: &str, lease: &'a Lease, action: &'static str) -> Told<'a> {
    Told { lease, action, object: format!("{connector}/{}", lease.name) }
}

impl Told<'_> {
    fn done(&self) {
        self.line().done();
    }

    fn failed(&self, why: &str) {
        self.line().failed(why);
    }

    fn line(&self) -> Act<'_> {
        Act {
            request_id: "",
            who: &self.lease.holder.shown,
            from: "plugway",
            action: self.action,
            target: &self.object,
        }
    }
}
