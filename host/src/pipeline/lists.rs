//! `tools/list` and its like: what the caller sees, page by page.

use std::sync::Arc;

use super::announced::list_of;
use super::connector::Connector;
use super::exchange::own;
use super::lazy::listing;
use super::port::Answer;
use super::request::Request;
use crate::catalogue::list::Form;
use crate::catalogue::{EntryKind, View};
use crate::fault::{Code, Fault};
use crate::protocol::{Era, Field};

/// Answers with the page that the cursor stands for, the first one without a cursor.
pub(super) async fn list(
    connector: &Arc<Connector>,
    request: &Request,
    kind: EntryKind,
) -> Result<Answer, Fault> {
    let view = request.view(connector).await?;
    let (view, revision) = listing::listed(connector, request, view, kind);
    let pages = Pages { connector, request, view: &view, kind, revision };
    let number = match request.message.field(Field::Cursor) {
        None | Some("null") => 0,
        Some(_) => pages.opened().ok_or_else(stale)?,
    };
    let form = match request.era() {
        Era::Legacy => Form::Legacy,
        // Where callers have credentials of their own, two whom nobody identified may see something else.
        Era::Modern if request.caller.anonymous && !connector.lends() => Form::Shared,
        Era::Modern => Form::Private,
    };
    let page = view.page(kind, form, number).ok_or_else(stale)?;
    request.party.outbox.saw(list_of(kind), view.catalogue().generation);
    let Some(next) = page.next else { return own(request, &page.text) };
    let cursor = pages.sealed(next)?;
    own(request, &[&*page.text, br#","nextCursor":""#, cursor.as_bytes(), br#""}"#].concat())
}

fn stale() -> Fault {
    let text = "The cursor is not one that this server gave you for the list as it is now: list again from the start.";
    Fault::new(Code::InvalidParams, text)
}

/// The pages of one list as a caller reads them.
struct Pages<'a> {
    connector: &'a Connector,
    request: &'a Request,
    view: &'a View,
    kind: EntryKind,
    /// Another number whenever the session's own list is another one.
    revision: u32,
}

impl Pages<'_> {
    fn sealed(&self, page: u32) -> Result<String, Fault> {
        self.with_about(|about| self.connector.sealer.seal(about, &page.to_le_bytes()))
    }

    fn opened(&self) -> Option<u32> {
        let cursor = self.request.message.string(Field::Cursor)?;
        let page = self.with_about(|about| self.connector.sealer.open(about, &cursor))?;
        Some(u32::from_le_bytes(page.try_into().ok()?))
    }

    fn with_about<T>(&self, with: impl FnOnce(&[&str]) -> T) -> T {
        let wanted = self.request.filters.as_ref().map_or("", |filters| filters.digest());
        let generation = format!("{}.{}", self.view.catalogue().generation, self.revision);
        let (caller, list) = (&self.request.caller.id, self.kind.list_member());
        with(&["cursor", &self.connector.name, caller, list, &generation, wanted])
    }
}
