//! The direction of dependencies between the rooms of the host, and the words that one room owns.

use super::{Finding, code};
use crate::workspace::SourceFile;

/// A room and the rooms it may name, besides itself and the leaves.
///
/// `main -> cli -> app -> {listener -> transport -> session -> pipeline, plugin, upstream, state, auth, config,
/// telemetry}`: `pipeline` owns the ports, the rooms beside it implement them and never name each other, and only
/// `app` and what is above it may name all. `config` holds checked settings and `telemetry` counters, so the rooms
/// that are built from settings may name both.
const ROOMS: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("fault", &[]),
    ("hex", &[]),
    ("glob", &[]),
    ("chance", &[]),
    ("glyph", &[]),
    ("telemetry", &[]),
    ("config", &[]),
    ("catalogue", &[]),
    ("audit", &["pipeline", "config", "telemetry"]),
    ("pipeline", &["catalogue", "telemetry"]),
    ("state", &["pipeline", "config", "telemetry"]),
    ("auth", &["outbound", "pipeline", "config", "telemetry"]),
    ("session", &["pipeline", "catalogue", "config", "telemetry"]),
    ("outbound", &["telemetry"]),
    ("plugin", &["outbound", "pipeline", "catalogue", "config", "telemetry"]),
    ("upstream", &["outbound", "pipeline", "catalogue", "config", "telemetry"]),
    ("pins", &["pipeline", "catalogue", "telemetry"]),
    ("transfer", &["pipeline", "catalogue", "config", "telemetry"]),
    ("health", &["pipeline", "catalogue", "config", "telemetry"]),
    ("transport", &["session", "auth", "pipeline", "catalogue", "config", "telemetry"]),
    ("registry", &["outbound", "transport", "auth", "pipeline", "config", "telemetry"]),
    ("admin", &["transport", "session", "auth", "pipeline", "catalogue", "config", "telemetry"]),
    (
        "listener",
        &[
            "admin",
            "transport",
            "session",
            "auth",
            "health",
            "pipeline",
            "catalogue",
            "config",
            "telemetry",
        ],
    ),
    ("app", ABOVE_APP),
    ("cli", ABOVE_APP),
    ("main", &["cli"]),
];

/// What the composition root and the command line may name: every room.
const ABOVE_APP: &[&str] = &[
    "app",
    "listener",
    "admin",
    "registry",
    "audit",
    "outbound",
    "transport",
    "health",
    "transfer",
    "upstream",
    "pins",
    "plugin",
    "session",
    "auth",
    "state",
    "pipeline",
    "catalogue",
    "config",
    "telemetry",
];

/// Rooms that all may name. `protocol` names nothing; `fault` may speak in the protocol's codes.
const LEAVES: [&str; 6] = ["protocol", "fault", "hex", "glob", "chance", "glyph"];

/// A word, the rooms that may use it, and why.
const DOORS: [(&str, &[&str], &str); 6] = [
    (
        "StatusCode",
        &["transport", "upstream"],
        "only `transport` picks HTTP status codes; `upstream` reads those of servers",
    ),
    ("wasmtime", &["plugin"], "only `plugin` knows the engine"),
    ("env::var", &["config"], "only `config` reads the environment"),
    ("env::vars", &["config"], "only `config` reads the environment"),
    ("serde_saphyr", &["config"], "only `config` reads configuration files"),
    (
        "hyper",
        &[
            "listener",
            "transport",
            "upstream",
            "health",
            "app",
            "auth",
            "plugin",
            "transfer",
            "outbound",
            "admin",
            "registry",
        ],
        "HTTP stays at the edges; `pipeline`, `session`, `catalogue` and the leaves never name it",
    ),
];

/// Every use of a room or a word where it does not belong.
pub(super) fn check(sources: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        let Some(inside) = source.path.strip_prefix("host/src/") else { continue };
        let room = inside.split(['/', '.']).next().unwrap_or_default();
        if room == "lib" {
            continue;
        }
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            let message =
                format!("room `{room}` has no place in the order of xtask/src/tidy/layers.rs");
            findings.push(Finding::new(&source.path, 1, message));
            continue;
        };
        // A room's tests may stand in for `app` and build what the room is given.
        let tests = inside.contains("/tests/") || inside.ends_with("/tests.rs");
        for (line, named) in named_rooms(&source.text) {
            if !tests && !is_allowed(room, allowed, &named) {
                let message = format!("`{room}` must not name `crate::{named}`");
                findings.push(Finding::new(&source.path, line, message));
            }
        }
        findings.extend(misplaced_words(source, room));
    }
    findings
}

fn is_allowed(room: &str, allowed: &[&str], named: &str) -> bool {
    let is_room = ROOMS.iter().any(|(name, _)| *name == named);
    let is_leaf = LEAVES.contains(&named) && room != "protocol";
    !is_room || named == room || is_leaf || allowed.contains(&named)
}

fn misplaced_words(source: &SourceFile, room: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        for (word, rooms, reason) in DOORS {
            if has_word(code(line), word) && !rooms.contains(&room) {
                let message = format!("`{word}` in `{room}`: {reason}");
                findings.push(Finding::new(&source.path, index + 1, message));
            }
        }
    }
    findings
}

/// Whether the word stands in the text with no letter, digit or underscore around it.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// The rooms that `crate::room` and `crate::{room, room::..}` name, with their lines; `plugway::` is the same crate
/// as seen from `main`.
fn named_rooms(text: &str) -> Vec<(usize, String)> {
    let mut rooms = Vec::new();
    let mut group: Option<usize> = None;
    for (index, line) in text.lines().enumerate() {
        let mut rest = code(line);
        if let Some(depth) = group.take() {
            group = collect_group(rest, depth, index + 1, &mut rooms);
            continue;
        }
        while let Some((before, after)) = split_at_crate(rest) {
            if before
                .chars()
                .next_back()
                .is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$')
            {
                rest = after;
                continue;
            }
            if let Some(inside) = after.strip_prefix('{') {
                group = collect_group(inside, 1, index + 1, &mut rooms);
                break;
            }
            rooms.push((index + 1, first_name(after)));
            rest = after;
        }
    }
    rooms
}

fn split_at_crate(text: &str) -> Option<(&str, &str)> {
    text.split_once("crate::").or_else(|| text.split_once("plugway::"))
}

fn first_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Takes the names at depth 1 of a braced list; returns the depth at the line's end while the list is open.
fn collect_group(
    text: &str,
    mut depth: usize,
    line: usize,
    rooms: &mut Vec<(usize, String)>,
) -> Option<usize> {
    let mut starts_name = true;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return None;
                }
            }
            ',' => starts_name = true,
            c if c.is_whitespace() => {}
            _ if depth == 1 && starts_name => {
                rooms.push((line, first_name(text.get(at..).unwrap_or_default())));
                starts_name = false;
            }
            _ => {}
        }
    }
    Some(depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: path.to_owned(), text: text.to_owned() };
        check(&[file]).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_room_may_name_leaves_and_what_is_below_it() {
        let text = "use crate::{\n    catalogue::{View, Entry},\n    fault::Fault,\n    protocol::Id,\n};\n";
        assert_eq!(findings("host/src/pipeline/call.rs", text), Vec::<String>::new());
    }

    #[test]
    fn plugin_and_upstream_never_name_each_other() {
        let grouped = "use crate::{\n    fault::Fault, upstream::Worker,\n};\n";
        assert_eq!(
            findings("host/src/plugin/pool.rs", grouped),
            ["`plugin` must not name `crate::upstream`"]
        );
        let inline = "fn f(pool: &crate::plugin::Pool) {}\n";
        assert_eq!(
            findings("host/src/upstream/worker.rs", inline),
            ["`upstream` must not name `crate::plugin`"]
        );
    }

    #[test]
    fn words_stay_in_their_room() {
        assert_eq!(findings("host/src/pipeline/mod.rs", "use hyper::Request;\n").len(), 1);
        assert_eq!(findings("host/src/session/store.rs", "StatusCode::OK\n").len(), 1);
        assert_eq!(findings("host/src/transport/reply.rs", "StatusCode::OK\n").len(), 0);
        assert_eq!(findings("host/src/pipeline/mod.rs", "// hyper is not named here\n").len(), 0);
    }

    #[test]
    fn a_new_room_must_be_given_a_place() {
        assert_eq!(findings("host/src/attic.rs", "").len(), 1);
    }
}
