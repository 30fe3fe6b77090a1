//! What was found of the offerings of an upstream.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use tokio::time::Instant;

use super::judge::{Finding, Judged};
use crate::pipeline::port::Offering;

#[derive(Default)]
pub(super) struct Seen {
    pub(super) everybodys: Option<Compared>,
    /// By whom it is shown to.
    pub(super) others: VecDeque<(Arc<str>, Compared)>,
    pub(super) logged: HashSet<Finding>,
}

/// An offering, and what was found when the file was of this age.
#[derive(Clone)]
pub(super) struct Compared {
    pub(super) of: Arc<Offering>,
    pub(super) age: u64,
    pub(super) judged: Arc<Judged>,
    /// Until when this counts; none where that is for as long as the file is of this age.
    pub(super) until: Option<Instant>,
}

impl Seen {
    pub(super) fn all(&self) -> impl Iterator<Item = &Compared> + Clone {
        self.everybodys.iter().chain(self.others.iter().map(|(_, one)| one))
    }
}

impl Compared {
    pub(super) fn is(&self, offering: &Arc<Offering>, age: u64) -> bool {
        self.age == age && Arc::ptr_eq(&self.of, offering)
    }

    pub(super) fn counts(&self) -> bool {
        self.until.is_none_or(|until| Instant::now() < until)
    }
}
