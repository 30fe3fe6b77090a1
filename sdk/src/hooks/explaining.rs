//! For people who check a configuration: how a policy understood it.

use super::visibility::Page;
use crate::{Failure, Plugin};

/// An entry of the configuration, what it does, and what of a page it is about.
pub use crate::glue::explaining::Understood;

/// `explaining`: beside any hook of a policy. Never part of a decision.
pub trait Explaining: Plugin {
    /// One for each entry that the operator wrote, in the same order for every page. The page is empty where no server was asked;
    /// else each item of the connector is on one of the pages, at most 10,000 on each. Has neither caller nor call, but
    /// [`listing`](crate::host::listing). Within 2 s.
    fn explain(&self, page: Page) -> Result<Vec<Understood>, Failure>;
}

impl Understood {
    /// An entry that matches nothing so far.
    pub fn new(entry: impl Into<String>, meaning: impl Into<String>) -> Self {
        Self { entry: entry.into(), meaning: meaning.into(), matches: Vec::new() }
    }
}
