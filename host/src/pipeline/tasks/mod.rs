//! Tasks: a server goes on with a call after it answered, and the client asks about it later. In both shapes, the one of
//! revision 2025-11-25 and the extension of 2026-07-28 (SEP-2663), a task is found by an id that the server made up.
//!
//! Two servers may give the same id, and an id opens what its caller may see: so clients get another one, which holds the
//! server's name and a tag that only plugway can make, for the caller whose task it is. Nothing is remembered.
//!
//! Reading order: [`ids`] makes and opens ids; [`texts`] finds them in messages; [`shown`] changes what a server sends;
//! [`mod@serve`] answers `tasks/get` and its like; [`list`] merges lists.

mod ids;
mod list;
mod serve;
mod shown;
mod texts;

use crate::protocol::{Era, scan};

use super::port::Offering;

pub(super) use serve::{is_about, serve};
pub(super) use shown::Shown;

/// Whether a server declares tasks in either shape.
pub(super) fn declares(offering: &Offering) -> bool {
    shape(offering).is_some()
}

/// The era in whose shape a server has tasks.
fn shape(offering: &Offering) -> Option<Era> {
    let era = offering.revision?.era();
    let path: &[&str] = match era {
        Era::Legacy => &["tasks"],
        Era::Modern => &["extensions", "io.modelcontextprotocol/tasks"],
    };
    let found = path.iter().try_fold(&*offering.capabilities, |object, name| {
        object.get(scan::member(object, name)?.range())
    });
    found.is_some_and(|object| object.starts_with('{')).then_some(era)
}
