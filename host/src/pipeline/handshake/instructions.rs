//! The connector's `instructions`: what its operator says, what policies say, what its servers say, and what is down.

use std::borrow::Cow;
use std::time::Instant;

use super::known::Known;
use crate::catalogue::EntryKind;
use crate::pipeline::absence;
use crate::pipeline::answer::json_string;
use crate::pipeline::connector::Connector;
use crate::pipeline::port::Snapshot;
use crate::pipeline::presence::Presence;

/// Bytes of one server's instructions: they are a part of every conversation with a model.
const EACH: usize = 4 * 1024;
/// Bytes of all servers' instructions.
const ALL: usize = 16 * 1024;
/// Stands where something was cut off.
const CUT: &str = "…";
/// So many servers that are down are named; the others are counted.
const NAMED: usize = 8;

/// The member with the comma before it; nothing where there is nothing to say.
pub(super) fn member(connector: &Connector, known: &Known<'_>) -> String {
    let said = known.servers().filter_map(|(served, snapshot)| {
        let text = snapshot.offering.as_ref()?.instructions.clone()?;
        served.instructions.then(|| (served.upstream.name().clone(), text))
    });
    let mut parts = vec![connector.description.to_string(), known.notice.clone()];
    parts.extend(sections(said));
    parts.push(lazily(connector, known).to_owned());
    parts.push(down(known));
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() {
        return String::new();
    }
    format!(r#","instructions":{}"#, json_string(&parts.join("\n\n")))
}

/// How tools are found that are not listed, where the router offers it.
fn lazily(connector: &Connector, known: &Known<'_>) -> &'static str {
    let offered = |name| known.catalogue.find(EntryKind::Tool, name).is_some();
    if connector.lazy.is_none() || !["find_tools", "call_tool"].into_iter().all(offered) {
        return "";
    }
    "Only some of the tools here are listed: find_tools finds the others, call_tool calls them, and load_tools puts them \
     on the list."
}

/// What each server says, under a heading that names it.
fn sections<T: AsRef<str>>(said: impl Iterator<Item = (T, T)>) -> Vec<String> {
    let mut left = ALL;
    let mut sections = Vec::new();
    for (name, text) in said {
        let text = text.as_ref().trim();
        let heading = format!("## {}\n\n", name.as_ref());
        let room = left.saturating_sub(heading.len()).min(EACH);
        if text.is_empty() || room < CUT.len() {
            continue;
        }
        let section = heading + &cut(text, room);
        left = left.saturating_sub(section.len());
        sections.push(section);
    }
    sections
}

/// The text, or its beginning with a mark.
fn cut(text: &str, room: usize) -> Cow<'_, str> {
    if text.len() <= room {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(room.saturating_sub(CUT.len()));
    Cow::Owned(text.get(..end).unwrap_or_default().to_owned() + CUT)
}

/// A sentence for each server that is down.
fn down(known: &Known<'_>) -> String {
    let now = Instant::now();
    let down = known.servers().filter(|(served, snapshot)| {
        is_down(Presence::of(snapshot, served.absence, now).0, snapshot)
    });
    let mut sentences: Vec<String> = down
        .map(|(served, snapshot)| absence::sentence(served.upstream.name(), snapshot, now))
        .collect();
    let others = sentences.len().saturating_sub(NAMED);
    sentences.truncate(NAMED);
    if others > 0 {
        sentences.push(format!("{others} more servers are away."));
    }
    sentences.join(" ")
}

fn is_down(presence: Presence, snapshot: &Snapshot) -> bool {
    match presence {
        Presence::Away => true,
        // A server that has not had its first attempt yet is starting, not down.
        Presence::Unknown => snapshot.was_tried(),
        Presence::Listed => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_server_speaks_under_its_name_and_silence_has_no_heading() {
        let said = [("clock", " Ask for the time. \n"), ("mute", " \n"), ("notes", "Write.")];
        assert_eq!(
            sections(said.into_iter()),
            ["## clock\n\nAsk for the time.", "## notes\n\nWrite."]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_too_long_is_cut_at_a_character_with_a_mark(
            said in prop::collection::vec(("[a-z]{1,9}", "[aä😀]{0,3000}"), 0..9)
        ) {
            let sections = sections(said.iter().map(|(name, text)| (name, text)));
            prop_assert!(sections.iter().map(String::len).sum::<usize>() <= ALL);
            for section in &sections {
                let text = section.split_once("\n\n").unwrap().1;
                prop_assert!(text.len() <= EACH);
                let said = said.iter().find(|(_, said)| said == text.trim_end_matches(CUT) || text.ends_with(CUT));
                prop_assert!(said.is_some());
            }
            let whole = said.iter().filter(|(_, text)| !text.is_empty() && text.len() <= EACH);
            for (name, text) in whole.take(3) {
                let section = format!("## {name}\n\n{text}");
                prop_assert!(sections.contains(&section) || said.len() > 3);
            }
        }
    }
}
