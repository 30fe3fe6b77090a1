//! What a client is told when lists change: `list_changed` for programs, one message for the agent.

use std::time::Instant;

use bytes::Bytes;

use super::absence;
use super::announced::{Announced, LISTS, News, list_of};
use super::connector::Connector;
use super::level::Level;
use super::party::Outbox;
use super::views::Judged;
use crate::catalogue::{EntryKind, Sight};
use crate::protocol::Method;

/// So many tools are named; the others are counted.
const NAMED: usize = 20;

/// The notifications for everybody who sees the same of a change.
#[derive(Debug, Default)]
pub(super) struct Notices {
    messages: Vec<(Level, Bytes)>,
    /// Each with the place of its list in [`LISTS`].
    changed: Vec<(usize, Bytes)>,
}

/// What is new for somebody in one list, and how much of it is seen.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) news: &'a News,
    pub(super) sights: &'a [Sight],
}

impl<'a> Told<'a> {
    /// Entries that are seen, and whether they stand in the lists now.
    fn seen(self) -> Vec<(&'a Judged, bool)> {
        let all = self.news.entries.iter().zip(&self.news.listed).zip(self.sights);
        all.filter(|(_, sight)| **sight == Sight::Shown)
            .map(|((judged, listed), _)| (judged, *listed))
            .collect()
    }
}

/// What tells of a change, in the order of [`LISTS`].
pub(super) const METHODS: [Method; LISTS.len()] =
    [Method::ToolsListChanged, Method::PromptsListChanged, Method::ResourcesListChanged];

impl Notices {
    /// What to tell somebody for whom this is new in each of the [`LISTS`]. The agent is told by the first one, which has
    /// the tools. `rejudged` are the lists that policies judge in another way for it.
    pub(super) fn of(
        connector: &Connector,
        told: [Option<Told<'_>>; LISTS.len()],
        rejudged: [bool; LISTS.len()],
    ) -> Self {
        let mut notices = Self::default();
        for (list, (method, told)) in METHODS.into_iter().zip(told).enumerate() {
            let seen = told.map(Told::seen).unwrap_or_default();
            if rejudged.get(list) == Some(&true)
                || seen.iter().any(|((entry, _), _)| list_of(entry.kind) == list)
            {
                let text = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, method.as_str());
                notices.changed.push((list, text.into()));
            }
        }
        let Some(told) = told.into_iter().flatten().next() else { return notices };
        let seen = told.seen();
        for name in &told.news.left {
            if let Some(tools) = Tools::of(name, false, &seen) {
                notices.messages.push(message(Level::Warning, &left(connector, name, &tools)));
            }
        }
        for name in &told.news.back {
            if let Some(tools) = Tools::of(name, true, &seen) {
                let text = format!("The server {name:?} is back{}.", tools.words(", with"));
                notices.messages.push(message(Level::Notice, &text));
            }
        }
        notices
    }

    /// Puts them where the client finds them. A list that the client has not heard of yet is told once.
    pub(super) fn offer(&self, outbox: &dyn Outbox, announced: &Announced) {
        for (level, text) in &self.messages {
            if outbox.wants(*level) {
                outbox.offer(text.clone());
            }
        }
        for (list, text) in &self.changed {
            if outbox.offer_once(text.clone()) {
                announced.count(*list);
            }
        }
    }
}

fn left(connector: &Connector, name: &str, tools: &Tools<'_>) -> String {
    let words = tools.words(" Gone from the lists:");
    let end = if words.is_empty() { "" } else { "." };
    let served = connector.upstreams.iter().find(|served| **served.upstream.name() == *name);
    match served {
        Some(served) => {
            let sentence = absence::sentence(name, &served.snapshot(), Instant::now());
            format!("{sentence}{words}{end}")
        }
        None => format!("The server {name:?} is away.{words}{end}"),
    }
}

fn message(level: Level, text: &str) -> (Level, Bytes) {
    (level, level.message(text))
}

/// The tools of one server in a change.
struct Tools<'a> {
    named: Vec<&'a str>,
    others: usize,
}

impl<'a> Tools<'a> {
    /// Those that entered or left; none where nothing of the server did, not even a prompt.
    fn of(upstream: &str, listed: bool, seen: &[(&'a Judged, bool)]) -> Option<Self> {
        let mut own = seen
            .iter()
            .filter(|((_, from), now)| {
                *now == listed && from.as_ref().is_some_and(|from| **from == *upstream)
            })
            .peekable();
        own.peek()?;
        let mut tools = own
            .filter(|((entry, _), _)| entry.kind == EntryKind::Tool)
            .map(|((entry, _), _)| &*entry.key);
        let named = tools.by_ref().take(NAMED).collect();
        Some(Self { named, others: tools.count() })
    }

    /// ` ... a, b and 3 more tools`, nothing where there are none.
    fn words(&self, before: &str) -> String {
        match (self.named.as_slice(), self.others) {
            ([], _) => String::new(),
            (named, 0) => format!("{before} {}", named.join(", ")),
            (named, others) => format!("{before} {} and {others} more tools", named.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::catalogue::{Entry, Hints, Target};

    fn judged(kind: EntryKind, upstream: &str, key: &str) -> Judged {
        let entry = Entry {
            kind,
            key: key.into(),
            definition: "{}".into(),
            target: Target::Fixed { upstream: 0, name: key.into(), guarded: false },
            hints: Hints::default(),
            arguments: None,
            mirrored: Box::default(),
        };
        (Arc::new(entry), Some(upstream.into()))
    }

    #[test]
    fn tools_are_named_up_to_a_bound_and_then_counted() {
        let entries: Vec<Judged> =
            (0..23).map(|n| judged(EntryKind::Tool, "a", &format!("t{n}"))).collect();
        let mut seen: Vec<(&Judged, bool)> = entries.iter().map(|one| (one, false)).collect();
        let words = Tools::of("a", false, &seen).unwrap().words(" Gone:");
        assert!(words.starts_with(" Gone: t0, t1, ") && words.ends_with(", t19 and 3 more tools"));
        seen.truncate(2);
        assert_eq!(Tools::of("a", false, &seen).unwrap().words(","), ", t0, t1");
        assert!(Tools::of("b", false, &seen).is_none(), "another server");
        assert!(Tools::of("a", true, &seen).is_none(), "they left");
        let prompt = judged(EntryKind::Prompt, "a", "p");
        assert_eq!(Tools::of("a", true, &[(&prompt, true)]).unwrap().words(","), "");
    }
}
