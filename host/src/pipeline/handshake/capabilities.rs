//! The connector's capabilities: what plugway does itself, and what its servers declare.

use super::known::Known;
use crate::catalogue::EntryKind;
use crate::pipeline::connector::Connector;
use crate::pipeline::port::Offering;
use crate::protocol::feature::TASKS;
use crate::protocol::union::{union, without};
use crate::protocol::{Era, scan};

/// Bytes of what one server declares; of a server that declares more only plugway's own words are said.
const DECLARED: usize = 64 * 1024;

/// JSON text of the capabilities: plugway's own words, then each server's, in the order of the configuration.
pub(super) fn of(connector: &Connector, known: &Known<'_>, era: Era) -> String {
    let offerings = known.servers().filter_map(|(_, snapshot)| snapshot.offering.as_deref());
    let declared: Vec<(Era, &str)> = offerings
        .filter(|offering| offering.capabilities.len() <= DECLARED)
        .filter_map(|offering| Some((offering.revision?.era(), &*offering.capabilities)))
        .collect();
    merged(own(connector, known, era), era, &declared)
}

/// What plugway serves by itself or an upstream may still bring: a client that does not list a kind at the start would
/// never see those of a server that comes up later.
fn own(connector: &Connector, known: &Known<'_>, era: Era) -> String {
    let entries = known.catalogue.entries();
    let unread = connector.upstreams.iter().any(|served| served.snapshot().offering.is_none());
    let veiled = |offering: &Offering| offering.veiled.is_some();
    let unknown =
        unread || known.servers().any(|(_, server)| server.offering.as_deref().is_some_and(veiled));
    let has =
        |kinds: &[EntryKind]| unknown || entries.iter().any(|entry| kinds.contains(&entry.kind));
    let list = r#"{"listChanged":true}"#;
    let start = match era {
        Era::Legacy => r#"{"logging":{},"tools":"#,
        Era::Modern => r#"{"tools":"#,
    };
    let mut text = start.to_owned() + list;
    if has(&[EntryKind::Prompt]) {
        text.push_str(r#","prompts":"#);
        text.push_str(list);
    }
    if has(&[EntryKind::Resource, EntryKind::Template]) {
        text.push_str(r#","resources":"#);
        text.push_str(if unknown { r#"{"subscribe":true,"listChanged":true}"# } else { list });
    }
    text.push('}');
    text
}

/// The union for clients of an era; each part is what a server of its era declares.
fn merged(own: String, client: Era, parts: &[(Era, &str)]) -> String {
    parts
        .iter()
        .fold(own, |all, (server, declared)| union(&all, &passed(declared, client, *server)))
}

/// What of a server's capabilities works for clients of an era.
fn passed(declared: &str, client: Era, server: Era) -> String {
    let mut passed = declared.to_owned();
    let mut withhold = |path: &[&str]| passed = without(&passed, path);
    // The two shapes of tasks have nothing but their name in common: each is of use in its own era only.
    for era in [Era::Legacy, Era::Modern] {
        if (client, server) != (era, era) {
            withhold(TASKS.capability(era));
        }
    }
    for (key, value) in scan::members(declared).unwrap_or_default() {
        let (key, value) = (declared.get(key.range()), declared.get(value.range()));
        // Every capability that is known is an object; of one that says less, nothing is claimed.
        if value.is_none_or(|value| !value.starts_with('{'))
            && let Some(key) = key.and_then(crate::protocol::message::string)
        {
            withhold(&[&key]);
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEGACY: &str = r#"{"logging":{},"tools":{"listChanged":true}}"#;
    const MODERN: &str = r#"{"tools":{"listChanged":true}}"#;

    fn of_legacy(parts: &[(Era, &str)]) -> String {
        merged(LEGACY.to_owned(), Era::Legacy, parts)
    }

    fn of_modern(parts: &[(Era, &str)]) -> String {
        merged(MODERN.to_owned(), Era::Modern, parts)
    }

    #[test]
    fn servers_add_what_they_declare_and_the_first_wins() {
        let one = r#"{"tools":{"listChanged":false,"x":1.0},"resources":{"subscribe":true},"extensions":{"a/b":{"m":["t"]}}}"#;
        let other = r#"{"completions":{},"resources":{"subscribe":false,"listChanged":true},"extensions":{"a/b":{"m":[]},"c/d":{}},"new":{ "n" : 12345678901234567890 }}"#;
        assert_eq!(
            of_legacy(&[(Era::Legacy, one), (Era::Modern, other)]),
            r#"{"logging":{},"tools":{"listChanged":true,"x":1.0},"resources":{"subscribe":true,"listChanged":true},"extensions":{"a/b":{"m":["t"]},"c/d":{}},"completions":{},"new":{ "n" : 12345678901234567890 }}"#
        );
    }

    #[test]
    fn each_shape_of_tasks_is_said_in_its_own_era_only() {
        let legacy = (Era::Legacy, r#"{"tasks":{"list":{}}}"#);
        let modern =
            (Era::Modern, r#"{"extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{}}}"#);
        let both = [legacy, modern];
        assert!(of_legacy(&both).ends_with(r#","tasks":{"list":{}},"extensions":{"x/y":{}}}"#));
        assert_eq!(
            of_modern(&both),
            r#"{"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{}}}"#
        );
        // A server of one era that uses the words of the other.
        let confused = [(Era::Modern, legacy.1), (Era::Legacy, modern.1)];
        assert_eq!(of_legacy(&confused), LEGACY.replace("}}", r#"},"extensions":{"x/y":{}}}"#));
        assert_eq!(of_modern(&confused), MODERN.replace("}}", r#"},"extensions":{"x/y":{}}}"#));
    }

    #[test]
    fn what_is_no_capability_is_not_claimed() {
        for text in [r#"{"prompts":null}"#, r#"{"resources":true,"tools":5}"#, "[]", "7", "{"] {
            assert_eq!(of_legacy(&[(Era::Legacy, text)]), LEGACY, "{text}");
        }
        let loud = r#"{"tools":{"listChanged":false},"resources":{"subscribe":true}}"#;
        let heard = MODERN.replace("}}", r#"},"resources":{"subscribe":true}}"#);
        assert_eq!(of_modern(&[(Era::Legacy, loud)]), heard);
    }
}
