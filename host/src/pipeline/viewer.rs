//! For whom a catalogue is looked at.

use std::sync::Arc;

use http::HeaderValue;

use super::caller::Caller;
use super::filters::Filters;
use super::purse;

/// A caller, its client, and what it came with.
#[derive(Clone, Copy, Debug)]
pub struct Viewer<'a> {
    /// Who looks.
    pub caller: &'a Arc<Caller>,
    /// JSON text of the client's capabilities.
    pub capabilities: Option<&'a Arc<str>>,
    /// What servers may be asked with for this caller.
    pub shows: Shows<'a>,
    /// What the request says about what is to be shown, or said last; none = nothing that a policy may read.
    pub filters: Option<&'a Arc<Filters>>,
}

/// What a caller shows of itself to servers that tell each caller something else.
#[derive(Clone, Copy, Debug)]
pub enum Shows<'a> {
    /// The `Authorization` of a request; none has nothing to show.
    Request(Option<&'a HeaderValue>),
    /// What it came with before: nobody asks at this moment.
    Earlier,
}

impl<'a> Viewer<'a> {
    /// A caller who is to be told something, or whom something is about.
    pub fn unasked(caller: &'a Arc<Caller>, capabilities: Option<&'a Arc<str>>) -> Self {
        Self { caller, capabilities, shows: Shows::Earlier, filters: None }
    }

    /// The same, who wants to see less.
    #[must_use]
    pub fn filtered(self, filters: Option<&'a Arc<Filters>>) -> Self {
        Self { filters, ..self }
    }

    /// What the caller came with just now.
    pub(super) fn credential(&self) -> Option<&'a HeaderValue> {
        match self.shows {
            Shows::Request(credential) => credential,
            Shows::Earlier => None,
        }
    }

    /// What stands for the caller where servers say what they offer to callers only: who was identified, whatever it comes
    /// with; of others the credential itself. None for those who have none.
    pub(super) fn lender(&self) -> Option<Arc<str>> {
        match self.shows {
            Shows::Request(credential) if self.caller.anonymous => purse::of(credential?),
            Shows::Request(_) | Shows::Earlier => self.caller.lender().cloned(),
        }
    }
}
