//! Calls of what is held back: nobody's reach a server (docs/decisions/0032).

use super::exchange::{Call, Destination};
use crate::catalogue::{Catalogue, Entry, EntryKind};
use crate::fault::{Code, Fault};
use crate::protocol::{Field, Method};

/// Refuses an entry that is held back.
pub(super) fn admit(catalogue: &Catalogue, entry: &Entry) -> Result<(), Fault> {
    catalogue.held(entry).map_or(Ok(()), |why| Err(refusal(why)))
}

/// The refusal with this sentence.
pub(crate) fn refusal(why: &str) -> Fault {
    Fault::new(Code::UpstreamHeldBack, why.to_owned())
}

impl Call<'_> {
    /// Refuses to send the call to where what it names is held back, whoever decided that it goes there.
    pub(super) fn refuse_held(&self, to: &Destination) -> Result<(), Fault> {
        let catalogue = self.view.catalogue();
        let leaves = self.request.message.method() == Method::ResourcesUnsubscribe;
        if leaves || !catalogue.holds(to.upstream) {
            return Ok(());
        }
        if self.entry.upstream() == Some(to.upstream) {
            admit(catalogue, &self.entry)?;
        }
        let message = &self.request.message;
        let written = || message.string(Field::Name).or_else(|| message.string(Field::Uri));
        let own = to.name.as_deref().map(std::borrow::Cow::Borrowed).or_else(written);
        let Some(own) = own else { return Ok(()) };
        // Which resource or template a method that plugway does not know is about, its URI says.
        if message.method() == Method::Other
            && let Some(uri) = message.string(Field::Uri)
            && let Some(entry) = self.view.find_uri(&uri)
            && entry.upstream() == Some(to.upstream)
        {
            admit(catalogue, entry)?;
        }
        let why = kinds(message.method());
        let why = why.iter().find_map(|kind| catalogue.held_of(to.upstream, *kind, &own));
        why.map_or(Ok(()), |why| Err(refusal(why)))
    }
}

/// What a name in a request of this method may be the name of.
pub(crate) fn kinds(method: Method) -> &'static [EntryKind] {
    match method {
        Method::ToolsCall => &[EntryKind::Tool],
        Method::PromptsGet => &[EntryKind::Prompt],
        Method::ResourcesRead | Method::ResourcesSubscribe => &[EntryKind::Resource],
        Method::Other => &EntryKind::ALL,
        // What a completion is about was looked up before.
        _ => &[],
    }
}
