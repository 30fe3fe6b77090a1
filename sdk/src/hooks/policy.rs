//! Policies: they admit calls, review answers and look at what servers send. [`visibility`](super::visibility) is theirs too.

use crate::{Failure, Plugin, Rejection};

/// What a person is asked, in [`Admit::Confirm`].
pub use crate::glue::admission::Confirmation;
/// What `admit` says.
pub use crate::glue::admission::Decision as Admit;
/// A change to the call, in [`Admit::Edit`].
pub use crate::glue::admission::Edit;
/// What `inbound` says.
pub use crate::glue::inbound::Decision as Onward;
/// What `review` says.
pub use crate::glue::reviewing::Decision as Review;

/// `admission`: whether and how a call may be made.
pub trait Admission: Plugin {
    /// Judges the call in hand. Within 10 ms. Called again after a later policy changed arguments that this one read.
    fn admit(&self) -> Result<Admit, Failure>;
}

/// `reviewing`: what becomes of an answer.
pub trait Reviewing: Plugin {
    /// Judges the answer, which is held back meanwhile; [`outcome`](crate::host::outcome) 0 is it. Within 10 ms.
    fn review(&self) -> Result<Review, Failure>;
}

/// `inbound`: requests and notifications that a server sends toward the client.
pub trait Inbound: Plugin {
    /// Judges the message in hand: what [`call`](crate::host::call) says of arguments is about its whole `params`. Within
    /// 10 ms.
    fn inbound(&self) -> Result<Onward, Failure>;
}

impl Admit {
    /// Refuses with one sentence that an agent can act on.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self::Reject(Rejection::new(message))
    }

    /// Goes on once the person at the client, who is told this sentence, has confirmed the call.
    pub fn confirm(text: impl Into<String>) -> Self {
        Self::Confirm(Confirmation { text: text.into(), attributes: Vec::new() })
    }
}

impl Confirmation {
    /// Sets an attribute for later plugins of the same call, and for this one where it is asked again.
    #[must_use]
    pub fn attribute(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.attributes.push((key.into(), value.into()));
        self
    }
}

impl Review {
    /// Refuses with one sentence that an agent can act on.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self::Reject(Rejection::new(message))
    }
}

impl Onward {
    /// Refuses with one sentence: the server gets it as an error.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self::Reject(Rejection::new(message))
    }

    /// Passes the message on with these `params`, an object.
    pub fn params(params: &impl serde::Serialize) -> Result<Self, Failure> {
        Ok(Self::Replace(serde_json::to_string(params)?))
    }
}

impl Edit {
    /// Sets a request header, if the operator allowed its name.
    pub fn header(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self::SetHeader((name.into(), value.into()))
    }

    /// Sets an attribute for later plugins of the same call.
    pub fn attribute(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self::SetAttribute((key.into(), value.into()))
    }

    /// Merges an object into the arguments, as RFC 7396 says.
    pub fn arguments(patch: &impl serde::Serialize) -> Result<Self, Failure> {
        Ok(Self::MergeArguments(serde_json::to_string(patch)?))
    }
}
