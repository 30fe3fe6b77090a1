//! The list of tools as a client sees it, and calls of tools that are not on it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::loads::{Loads, Use};
use super::residents::Lazy;
use crate::catalogue::{Entry, EntryKind, Sight, View};
use crate::fault::{Code, Fault};
use crate::pipeline::announced::Announced;
use crate::pipeline::announced::list_of;
use crate::pipeline::answer::json_string;
use crate::pipeline::connector::Connector;
use crate::pipeline::party::Party;
use crate::pipeline::request::Request;
use crate::protocol::Method;

/// What a client lists of a kind: of tools the residents, and what its session has loaded; and a number that is another one
/// whenever this is.
pub(in crate::pipeline) fn listed(
    connector: &Connector,
    request: &Request,
    view: Arc<View>,
    kind: EntryKind,
) -> (Arc<View>, u32) {
    let Some(lazy) = connector.lazy.as_ref().filter(|_| kind == EntryKind::Tool) else {
        return (view, 0);
    };
    let Some(loads) = &request.party.loads else { return (view.residents(), 0) };
    settle(lazy, loads, &request.party, &connector.announced);
    // Whoever asks for the list is not to be told any more that it changed.
    loads.replace_untold(false);
    let (names, revision) = (loads.names(), loads.revision());
    if names.is_empty() {
        return (view.residents(), revision);
    }
    let names: HashSet<&str> = names.iter().map(|name| &**name).collect();
    (Arc::new(view.narrowed(|entry| names.contains(&*entry.key))), revision)
}

/// Refuses a call by its name of a tool that is neither always listed nor loaded, with one sentence that says what to do.
/// One that policies keep off the lists is theirs to refuse.
pub(in crate::pipeline) fn admit(
    connector: &Connector,
    request: &Request,
    view: &View,
    entry: &Entry,
) -> Result<(), Fault> {
    let Some(lazy) = &connector.lazy else { return Ok(()) };
    let Some(place) = view.catalogue().find(entry.kind, &entry.key) else { return Ok(()) };
    if view.catalogue().is_resident(place) || view.sight(place) != Sight::Shown {
        return Ok(());
    }
    let used = request.party.loads.as_ref().map_or(Use::Not, |loads| {
        settle(lazy, loads, &request.party, &connector.announced);
        let used = loads.call(&entry.key, Instant::now());
        if used == Use::Last {
            tell(loads, &request.party, &connector.announced);
        }
        used
    });
    if used != Use::Not {
        return Ok(());
    }
    let name = json_string(&entry.key);
    let text = if request.party.loads.is_some() {
        format!(
            "The tool {name} is not loaded: load it with load_tools {{\"items\": [{name}]}} and call it then, or call it \
             now with call_tool {{\"name\": {name}, \"arguments\": {{..}}}}."
        )
    } else {
        format!(
            "The tool {name} is not listed: load_tools {{\"items\": [{name}]}} gives its schema, and call_tool \
             {{\"name\": {name}, \"arguments\": {{..}}}} calls it."
        )
    };
    Err(Fault::new(Code::NotLoaded, text))
}

/// Unloads what was not used for too long, and tells the client what it could not be told before.
pub(in crate::pipeline) fn settle(
    lazy: &Lazy,
    loads: &Loads,
    party: &Party,
    announced: &Announced,
) {
    let expired = loads.expire(Instant::now(), lazy.idle);
    if loads.replace_untold(false) || expired {
        tell(loads, party, announced);
    }
}

/// Tells the client of a session that its list of tools changed. Where there is no room for that, it is told later.
pub(super) fn tell(loads: &Loads, party: &Party, announced: &Announced) {
    let method = Method::ToolsListChanged.as_str();
    let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
    if party.outbox.offer_once(Bytes::from(text)) {
        announced.count(list_of(EntryKind::Tool));
    } else {
        loads.replace_untold(true);
    }
}
