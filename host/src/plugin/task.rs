//! What an instance is doing, and so what it may ask the host about.

use std::cell::OnceCell;
use std::sync::Arc;

use wasmtime::{Result, format_err};

use super::limits::Hook;
use super::waiting::Waiting;
use crate::pipeline::port::{Outcome, Page};
use crate::pipeline::{CallContext, Caller};
use crate::protocol::Document;

/// The work in hand.
#[derive(Debug, Default)]
pub(super) enum Task {
    /// Nothing that it may ask about: describe, configure, ready.
    #[default]
    Idle,
    /// A shape, which is pure: the host answers nothing that could differ next time.
    Shape,
    /// A page to judge for a caller.
    Page {
        /// For whom.
        caller: Arc<Caller>,
        /// What.
        page: Arc<Page>,
    },
    /// A page to say something about, for nobody in particular.
    Whole(Arc<Page>),
    /// A call.
    Call(Box<Call>),
}

/// A call in hand.
#[derive(Debug)]
pub(super) struct Call {
    /// Which hook asks.
    pub(super) hook: Hook,
    /// The call.
    pub(super) context: Arc<CallContext>,
    /// What came back, in `review`.
    pub(super) outcome: Option<Outcome>,
    /// Why the arguments cannot be read, once the guest tried: the decision is then not used.
    pub(super) ambiguous: Option<String>,
    /// The right to wait for servers, once the guest did.
    pub(super) waiting: Option<Waiting>,
    /// Whether the guest wanted to wait and might not: its decision is then not used.
    pub(super) crowded: bool,
    listed: OnceCell<Vec<u32>>,
    body: OnceCell<Option<Document>>,
}

impl Call {
    /// A call for a hook.
    pub(super) fn new(hook: Hook, context: Arc<CallContext>, outcome: Option<Outcome>) -> Self {
        Self {
            hook,
            context,
            outcome,
            ambiguous: None,
            waiting: None,
            crowded: false,
            listed: OnceCell::new(),
            body: OnceCell::new(),
        }
    }

    /// Places of the entries that the caller sees, in order.
    pub(super) fn listed(&self) -> &[u32] {
        self.listed
            .get_or_init(|| self.context.view.listed_places().map(|(_, place)| place).collect())
    }

    /// The body of the outcome as a document; none where it is no unambiguous JSON.
    pub(super) fn body(&self) -> Option<&Document> {
        self.body
            .get_or_init(|| {
                let text = std::str::from_utf8(&self.outcome.as_ref()?.body).ok()?;
                Document::parse(text).ok()
            })
            .as_ref()
    }
}

impl Task {
    /// Finds the call in hand in the log, where there is one.
    pub(super) fn request_id(&self) -> Option<&Arc<str>> {
        match self {
            Self::Call(call) => Some(&call.context.request_id),
            _ => None,
        }
    }

    /// The call in hand; asking without one traps.
    pub(super) fn call(&self) -> Result<&Call> {
        match self {
            Self::Call(call) => Ok(call),
            _ => Err(outside("the call")),
        }
    }

    /// The call in hand, to note something about it.
    pub(super) fn call_mut(&mut self) -> Result<&mut Call> {
        match self {
            Self::Call(call) => Ok(call),
            _ => Err(outside("the call")),
        }
    }

    /// The caller in hand.
    pub(super) fn caller(&self) -> Result<&Caller> {
        match self {
            Self::Call(call) => Ok(&call.context.caller),
            Self::Page { caller, .. } => Ok(caller),
            _ => Err(outside("the caller")),
        }
    }

    /// The outcome in hand.
    pub(super) fn outcome(&self) -> Result<(&Call, &Outcome)> {
        match self {
            Self::Call(call) => match &call.outcome {
                Some(outcome) => Ok((call, outcome)),
                None => Err(outside("the outcome")),
            },
            _ => Err(outside("the outcome")),
        }
    }

    /// The page in hand.
    pub(super) fn page(&self) -> Result<&Page> {
        match self {
            Self::Page { page, .. } | Self::Whole(page) => Ok(page),
            _ => Err(outside("the listing")),
        }
    }

    /// Refuses what would make a shape impure.
    pub(super) fn impure(&self, what: &'static str) -> Result<()> {
        match self {
            Self::Shape => Err(format_err!("{what} may not be used in `shape`, which is pure")),
            _ => Ok(()),
        }
    }
}

fn outside(what: &'static str) -> wasmtime::Error {
    format_err!("the plugin asked about {what} outside a hook that has one")
}
