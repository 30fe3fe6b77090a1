//! What the log says of a catalogue that was read.

use super::status::Status;
use crate::pipeline::port::{LeftOut, Offering, Phase};

/// Tools that are left out and named in the log at once; the administration shows all of them.
const WARNED: usize = 20;

impl Status {
    /// Says in the log that only callers are told what is offered, once as long as that is so.
    pub(super) fn tell_veiled(&self, now: &Offering) {
        let known = self.offering();
        let is_known =
            known.is_some_and(|(phase, known)| phase == Phase::Connected && known.veiled.is_some());
        if now.veiled.is_some() && !is_known {
            tracing::info!(
                connector = &**self.connector(),
                upstream = &**self.name(),
                "connected: what it offers is read for each caller, with the caller's own credential"
            );
        }
    }

    /// Warns of tools that no client is shown, once for each.
    pub(super) fn warn_left_out(&self, before: Option<&Offering>, now: &Offering) {
        let known = before.map_or(&[][..], |before| &before.left_out);
        let new = now.left_out.iter().filter(|left_out| !known.contains(left_out));
        for LeftOut { tool, reason } in new.take(WARNED) {
            tracing::warn!(
                connector = &**self.connector(),
                upstream = &**self.name(),
                tool = &**tool,
                reason = &**reason,
                "a tool is left out: its x-mcp-header is invalid"
            );
        }
    }
}
