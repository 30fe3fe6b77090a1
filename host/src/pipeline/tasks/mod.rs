//! Tasks: a server goes on with a call after it answered, and the client asks about it later. In both shapes, the one of
//! revision 2025-11-25 and the extension of 2026-07-28 (SEP-2663), a task is found by an id that the server made up.
//!
//! Two servers may give the same id, and an id opens what its caller may see: so clients get another one, which holds the
//! server's name and a tag that only plugway can make, for the caller whose task it is. Nothing is remembered but which tasks a
//! caller made, for lists.
//!
//! Reading order: [`ids`] makes and opens ids; [`texts`] finds them in messages; [`made`] is what is remembered; [`shown`]
//! changes what a server sends, [`followed`] on a stream on which a client listens; [`mod@serve`] answers `tasks/get` and its
//! like; [`list`] merges lists.

mod followed;
mod ids;
mod list;
mod made;
mod serve;
mod shown;
mod texts;

use crate::protocol::feature::TASKS;
use crate::protocol::{Era, Revision};

use super::port::Offering;

pub(super) use followed::Followed;
pub(super) use made::Made;
pub(super) use serve::{About, serve};
pub(super) use shown::Shown;
pub(super) use texts::without_wish;

/// Whether a server declares tasks in either shape.
pub(super) fn declares(offering: &Offering) -> bool {
    shape(offering).is_some()
}

/// The era in whose shape a server has tasks.
fn shape(offering: &Offering) -> Option<Era> {
    let era = offering.revision.map(Revision::era)?;
    TASKS.is_in(&offering.capabilities, era).then_some(era)
}
