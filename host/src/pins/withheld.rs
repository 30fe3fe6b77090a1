//! What is left of an offering of which something is held back, and what somebody hears who calls that.

use std::collections::HashSet;
use std::sync::Arc;

use super::canonical::json_string;
use super::definition::Definition;
use super::judge::Subject;
use super::lock::{Key, Lock, Why};
use crate::catalogue::{EntryKind, Held};
use crate::pipeline::held;
use crate::pipeline::port::{Offering, Order};
use crate::protocol::Field;

/// Nobody sees what is held back: in its place stands what was approved last, or nothing but its name, so that it keeps that.
pub(super) fn without(
    offering: &Offering,
    held: Held,
    silent: bool,
    subject: &Subject,
    lock: Option<&Lock>,
) -> Arc<Offering> {
    let mut left = offering.clone();
    for (kind, list) in [
        (EntryKind::Tool, &mut left.tools),
        (EntryKind::Prompt, &mut left.prompts),
        (EntryKind::Resource, &mut left.resources),
        (EntryKind::Template, &mut left.templates),
    ] {
        let mut seen = HashSet::new();
        list.retain_mut(|json| {
            // What has no name cannot be called, and what stands a second time does not count.
            let Some(definition) = Definition::of_entry(kind, json) else { return false };
            if held.why(kind, &definition.name).is_some() {
                let newest = lock.and_then(|lock| lock.newest(&subject.key(&definition)));
                let text = newest.and_then(|version| version.text.clone());
                *json = text.unwrap_or_else(|| stub(kind, &definition.name));
            }
            seen.insert(definition.name)
        });
    }
    left.mirrored.retain(|tool, _| held.why(EntryKind::Tool, tool).is_none());
    if silent {
        left.instructions = None;
    }
    left.held = Arc::new(held);
    Arc::new(left)
}

/// A definition that says nothing.
fn stub(kind: EntryKind, name: &str) -> Arc<str> {
    let name = json_string(name);
    let text = match kind {
        EntryKind::Tool => format!(r#"{{"name":{name},"inputSchema":{{"type":"object"}}}}"#),
        EntryKind::Prompt | EntryKind::Function => format!(r#"{{"name":{name}}}"#),
        EntryKind::Resource | EntryKind::Template => {
            format!(r#"{{"{}":{name},"name":{name}}}"#, kind.key())
        }
    };
    text.into()
}

pub(super) const BROKEN: &str = "This is held back: what its server says of it cannot be compared with what was approved. The \
                      operator of this connector finds the reason in /ready.";
pub(super) const FULL: &str = "This is held back: there is no room to write down what its server says of it. The operator of this \
                    connector finds the reason in /ready.";
pub(super) const UNREADABLE: &str = "This is held back: its definition cannot be read in one way only, so that it cannot be \
                          approved.";

/// What somebody hears who calls it.
pub(super) fn sentence(why: &Why, key: &Key, lock: &Lock) -> String {
    const THEN: &str = "The operator of this connector compares it with `plugway pins diff` and approves it, or not.";
    let since = lock.newest(key).map(|version| version.approved_at.get(..10).unwrap_or_default());
    match (why, since) {
        (Why::Changed, Some(since)) => {
            format!(
                "This is held back: its definition changed since it was approved on {since}. {THEN}"
            )
        }
        (Why::Unseen(_), _) => {
            format!("This is held back: its definition has characters that nobody can see. {THEN}")
        }
        (Why::Changed | Why::New, _) => {
            format!("This is held back: its definition is not approved. {THEN}")
        }
    }
}

/// Why what an order names is held back.
pub(super) fn why(held: &Held, order: &Order) -> Option<Arc<str>> {
    let message = &order.message;
    let written = || message.string(Field::Name).or_else(|| message.string(Field::Uri));
    let name = order.name.as_deref().map(std::borrow::Cow::Borrowed).or_else(written)?;
    held::kinds(message.method()).iter().find_map(|kind| held.why(*kind, &name)).cloned()
}
