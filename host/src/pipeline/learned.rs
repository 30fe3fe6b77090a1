//! URIs that servers gave to callers: a resource that no list has is read where its URI came from.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::StreamExt as _;
use indexmap::IndexMap;
use memchr::memmem;

use super::caller::Caller;
use super::connector::Connector;
use super::port::{Answer, Body, Incoming, Json};
use super::sighted::is_seen;
use super::viewer::Viewer;
use crate::catalogue::{Entry, EntryKind, Hints, Target, View};
use crate::fault::Fault;
use crate::protocol::{Message, message, scan};

/// Callers of whom something is remembered; for one more the one that was quiet the longest is forgotten.
const CALLERS: usize = 1_024;
/// URIs that are remembered of one caller; for one more the one that was not used the longest is forgotten.
const URIS: usize = 1_024;
/// Bytes of the URIs of one caller.
const BYTES: usize = 64 * 1024;
/// Longest URI that is remembered.
const LONGEST: usize = 2 * 1024;

/// What servers gave to callers. It outlives a reload, as sessions do.
#[derive(Debug, Default)]
pub struct Learned(Mutex<IndexMap<Arc<str>, Uris>>);

/// URIs and the server that gave each, the one used last at the end.
#[derive(Debug, Default)]
struct Uris {
    from: IndexMap<Box<str>, Arc<str>>,
    bytes: usize,
}

impl Uris {
    fn learn(&mut self, uri: &str, upstream: &Arc<str>) {
        if self.from.shift_remove(uri).is_none() {
            self.bytes += uri.len();
        }
        self.from.insert(uri.into(), upstream.clone());
        while self.from.len() > URIS || self.bytes > BYTES {
            let Some((gone, _)) = self.from.shift_remove_index(0) else { return };
            self.bytes = self.bytes.saturating_sub(gone.len());
        }
    }
}

impl Learned {
    fn learn(&self, caller: &Arc<str>, upstream: &Arc<str>, uris: &[String]) {
        if uris.is_empty() {
            return;
        }
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = callers.shift_remove(caller).unwrap_or_default();
        for uri in uris.iter().filter(|uri| uri.len() <= LONGEST) {
            own.learn(uri, upstream);
        }
        callers.insert(caller.clone(), own);
        if callers.len() > CALLERS {
            callers.shift_remove_index(0);
        }
    }

    /// The server that gave this URI to the caller.
    fn upstream(&self, caller: &str, uri: &str) -> Option<Arc<str>> {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = callers.get_mut(caller)?;
        let upstream = own.from.get(uri)?.clone();
        own.learn(uri, &upstream);
        Some(upstream)
    }

    /// The answer of a server to a caller; URIs in it are remembered on the way. One that is too large to be held in one
    /// piece is not looked into.
    pub(super) fn of_answer(
        self: &Arc<Self>,
        answer: Answer,
        caller: &Caller,
        upstream: &Arc<str>,
    ) -> Answer {
        match answer {
            Answer::Json(Json { body: Body::Whole(text), refusal }) => {
                self.look(&text, &caller.id, upstream);
                Answer::Json(Json { body: Body::Whole(text), refusal })
            }
            Answer::Json(json) => Answer::Json(json),
            Answer::Messages(messages) => {
                let (learned, caller) = (self.clone(), caller.id.clone());
                let upstream = upstream.clone();
                Answer::messages(messages.inspect(move |message| {
                    if let Ok(Incoming::Response(text)) = message {
                        learned.look(text, &caller, &upstream);
                    }
                }))
            }
        }
    }

    fn look(&self, text: &Bytes, caller: &Arc<str>, upstream: &Arc<str>) {
        if memmem::find(text, br#""uri""#).is_none() {
            return;
        }
        if let Ok(message) = Message::parse(text.clone())
            && let Some(result) = message.result()
        {
            self.learn(caller, upstream, &given(result));
        }
    }
}

/// The URIs that a result gives: of links and embedded resources in the content of a tool's result or of a prompt's
/// messages, and of the contents of a resource.
fn given(result: &str) -> Vec<String> {
    let mut given = Vec::new();
    for block in items(member(result, "content")) {
        of_block(block, &mut given);
    }
    for message in items(member(result, "messages")) {
        let content = member(message, "content");
        let one = content.filter(|content| content.starts_with('{'));
        for block in one.into_iter().chain(items(content)) {
            of_block(block, &mut given);
        }
    }
    for contents in items(member(result, "contents")) {
        given.extend(text(member(contents, "uri")));
    }
    given
}

fn of_block(block: &str, given: &mut Vec<String>) {
    let embedded = member(block, "resource").and_then(|resource| member(resource, "uri"));
    given.extend(text(member(block, "uri")));
    given.extend(text(embedded));
}

fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    object.get(scan::member(object, name)?.range())
}

fn items(array: Option<&str>) -> impl Iterator<Item = &str> {
    let array = array.unwrap_or_default();
    let items = scan::items(array).unwrap_or_default();
    items.into_iter().filter_map(|item| array.get(item.range()))
}

fn text(raw: Option<&str>) -> Option<String> {
    raw.and_then(message::string).map(std::borrow::Cow::into_owned)
}

/// The entry for a URI: of the caller's view; else one for the server that gave the URI to the caller, or whose tool the
/// URI belongs to, or that is the only one with resources. What is hidden from the caller stays hidden.
pub(super) async fn find_resource(
    connector: &Connector,
    view: &View,
    viewer: Viewer<'_>,
    uri: &str,
) -> Result<Option<Arc<Entry>>, Fault> {
    let found = view.find_uri(uri).cloned();
    let Some(entry) = found.or_else(|| unlisted(connector, view, viewer.caller, uri)) else {
        return Ok(None);
    };
    let seen = is_seen(connector, viewer, view, (&entry, uri)).await?;
    Ok(seen.then_some(entry))
}

/// An entry for a URI that the view knows nothing of.
fn unlisted(connector: &Connector, view: &View, caller: &Caller, uri: &str) -> Option<Arc<Entry>> {
    if view.hides_uri(uri) {
        return None;
    }
    let learned = connector.learned.upstream(&caller.id, uri);
    let learned = learned.and_then(|name| connector.place_of(&name));
    let place = learned.or_else(|| view.upstream_of_ui(uri)).or_else(|| only(connector, view))?;
    let uri: Arc<str> = uri.into();
    Some(Arc::new(Entry {
        kind: EntryKind::Resource,
        key: uri.clone(),
        definition: "{}".into(),
        target: Target::Fixed { upstream: place, name: uri, guarded: false },
        hints: Hints::default(),
        arguments: None,
        mirrored: Box::default(),
    }))
}

/// The place of the only upstream that has resources. A caller from whom something is hidden is not led there: what the
/// server says of a resource that does not exist would tell it from one that is hidden.
fn only(connector: &Connector, view: &View) -> Option<usize> {
    if view.is_filtered() {
        return None;
    }
    let mut all = connector.upstreams.iter().enumerate().filter(|(place, _)| {
        let offering = connector.offering(view, *place);
        offering.is_some_and(|offering| {
            member(&offering.capabilities, "resources").is_some_and(|object| object != "null")
        })
    });
    let (place, _) = all.next()?;
    // A URI that no list has may be another spelling of one that is held back.
    let is_lone = all.next().is_none() && !view.catalogue().holds_resources(place);
    is_lone.then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_embedded_resources_are_given_and_nothing_else() {
        let tool = r#"{"content":[{"type":"resource_link","uri":"a:1"},{"type":"resource","resource":{"uri":"a:\u0032","text":"\"uri\""}},{"type":"text","text":"a:3"}],"structuredContent":{"uri":"a:4"},"_meta":{"uri":"a:5"}}"#;
        assert_eq!(given(tool), ["a:1", "a:2"]);
        let prompt = r#"{"messages":[{"content":{"type":"resource","resource":{"uri":"b:1"}}},{"content":[{"type":"resource_link","uri":"b:2"}]}]}"#;
        assert_eq!(given(prompt), ["b:1", "b:2"]);
        assert_eq!(given(r#"{"contents":[{"uri":"c:1"},{"uri":2}]}"#), ["c:1"]);
        assert!(given("[]").is_empty());
    }

    #[test]
    fn what_was_used_last_is_kept() {
        let learned = Learned::default();
        let (me, one, other): (Arc<str>, Arc<str>, Arc<str>) =
            ("me".into(), "one".into(), "other".into());
        let uris: Vec<String> = (0..URIS).map(|n| format!("u:{n}")).collect();
        learned.learn(&me, &one, &uris);
        assert_eq!(learned.upstream("me", "u:0").as_deref(), Some("one"));
        learned.learn(&me, &other, &["v:0".to_owned()]);
        assert_eq!(learned.upstream("me", "u:1"), None, "the oldest");
        assert_eq!(learned.upstream("me", "u:0").as_deref(), Some("one"));
        assert_eq!(learned.upstream("me", "v:0").as_deref(), Some("other"));
        assert_eq!(learned.upstream("you", "v:0"), None, "somebody else's");
        let long: Vec<String> =
            (0..64).map(|n| format!("{n:02}{}", "x".repeat(LONGEST - 2))).collect();
        learned.learn(&me, &one, &long);
        let callers = learned.0.lock().unwrap();
        let own = &callers["me"];
        assert_eq!(own.bytes, own.from.keys().map(|uri| uri.len()).sum::<usize>());
        assert!(own.bytes <= BYTES);
    }

    #[test]
    fn the_quietest_caller_is_forgotten() {
        let learned = Learned::default();
        for number in 0..=CALLERS {
            learned.learn(&number.to_string().into(), &"one".into(), &["u:0".to_owned()]);
        }
        assert_eq!(learned.upstream("0", "u:0"), None);
        assert!(learned.upstream("1", "u:0").is_some());
    }
}
