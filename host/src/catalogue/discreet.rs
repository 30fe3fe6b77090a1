//! Servers that run code name their functions in the descriptions of their tools. Who is not to see a function is not told of it
//! there either.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::entry::{EntryKind, Target};
use super::view::{Sight, View};
use crate::protocol::{message, scan};

/// Definitions that name a function which is not shown, without it, by the places of their entries.
pub(super) type Discreet = HashMap<u32, Arc<str>>;

/// The names of functions of one upstream that are not shown, as clients and as the code know them.
#[derive(Default)]
struct Names<'a> {
    words: HashSet<&'a str>,
    /// Names that are no single word.
    phrases: Vec<&'a str>,
}

/// The definitions of tools whose upstream has functions that are not shown here.
pub(super) fn of(view: &View) -> Discreet {
    let entries = || view.catalogue().entries().iter().zip(0..);
    let mut hidden: HashMap<usize, Names<'_>> = HashMap::new();
    for (entry, place) in entries().filter(|(entry, _)| entry.kind == EntryKind::Function) {
        if let Target::Fixed { upstream, name, .. } = &entry.target
            && view.sight(place) != Sight::Shown
        {
            let names = hidden.entry(*upstream).or_default();
            names.add(name);
            names.add(entry.name());
        }
    }
    let mut discreet = Discreet::new();
    for (entry, place) in entries().filter(|(entry, _)| entry.kind == EntryKind::Tool) {
        let names = entry.upstream().and_then(|upstream| hidden.get(&upstream));
        if let Some(names) = names.filter(|_| view.sight(place) != Sight::Hidden)
            && let Some(definition) = without(&entry.definition, names)
        {
            discreet.insert(place, definition.into());
        }
    }
    discreet
}

impl<'a> Names<'a> {
    fn add(&mut self, name: &'a str) {
        if name.chars().all(is_of_word) {
            self.words.insert(name);
        } else if !self.phrases.contains(&name) {
            self.phrases.push(name);
        }
    }

    fn are_in(&self, line: &str) -> bool {
        line.split(|c| !is_of_word(c)).any(|word| self.words.contains(word))
            || self.phrases.iter().any(|phrase| line.contains(phrase))
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The definition with a description that does not name these; none if it does not.
fn without(definition: &str, names: &Names<'_>) -> Option<String> {
    let place = scan::member(definition, "description")?.range();
    let said = message::string(definition.get(place.clone())?)?;
    let kept = lines_without(&said, names)?;
    let kept = serde_json::to_string(&kept).ok()?;
    Some([definition.get(..place.start)?, &kept, definition.get(place.end..)?].concat())
}

/// The lines that do not name these. With an item of a list go the lines that belong to it: up to the next item or an empty
/// line, and what is indented deeper behind that. None if nothing goes.
fn lines_without(text: &str, names: &Names<'_>) -> Option<String> {
    let mut kept: Vec<&str> = Vec::new();
    let mut left = false;
    // The indentation of the item that is left out, while its lines last.
    let mut leaving: Option<usize> = None;
    let mut behind_empty = false;
    for line in text.split('\n') {
        let indent = line.len() - line.trim_start().len();
        let is_empty = line.trim().is_empty();
        if let Some(of) = leaving {
            let goes_on = if behind_empty { indent > of } else { !is_item(line) || indent > of };
            if is_empty {
                behind_empty = true;
            } else if goes_on {
                behind_empty = false;
                continue;
            } else {
                leaving = None;
            }
        }
        if names.are_in(line) {
            left = true;
            leaving = is_item(line).then_some(indent);
            behind_empty = false;
            continue;
        }
        kept.push(line);
    }
    left.then(|| kept.join("\n"))
}

fn is_item(line: &str) -> bool {
    ["- ", "* ", "• ", "... "].iter().any(|sign| line.trim_start().starts_with(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Shaped, ShapedEntry, ShapedTarget};

    const SAID: &str = "Runs code.\n\nAvailable tool functions (call directly in your code):\n  - parse(x: str): Reads.\n\
        With care.\n\n    It is slow.\n  - compute(y: int = 1): Computes what parse gave.\n  - draw map: Draws\n  ... and 3 more\n\n\
        Call list_tools() in your code.";

    fn said(hidden: &[&str]) -> Option<String> {
        let mut names = Names::default();
        for name in hidden {
            names.add(name);
        }
        lines_without(SAID, &names)
    }

    #[test]
    fn lines_that_name_what_is_hidden_go_with_what_belongs_to_them() {
        assert_eq!(said(&["pars", "tool_functions", "x y"]), None);
        let without = said(&["compute"]).unwrap();
        assert_eq!(
            without,
            SAID.replace("  - compute(y: int = 1): Computes what parse gave.\n", "")
        );
        assert_eq!(said(&["draw map"]).unwrap(), SAID.replace("  - draw map: Draws\n", ""));
        let without = said(&["parse"]).unwrap();
        assert_eq!(
            without,
            "Runs code.\n\nAvailable tool functions (call directly in your code):\n\n  - draw map: Draws\n  ... and 3 more\n\n\
             Call list_tools() in your code."
        );
    }

    #[test]
    fn a_view_shows_definitions_without_its_hidden_functions() {
        let entry = |kind: &str, definition: String, own: &str, upstream: &str| ShapedEntry {
            kind: kind.to_owned(),
            definition,
            target: ShapedTarget::Fixed(upstream.to_owned(), own.to_owned()),
        };
        let tool = |upstream: &str| {
            let definition = format!(
                r#"{{"name":"run_{upstream}", "description" : "Has:\n- f\n- shown","x":1.0}}"#
            );
            entry("tool", definition, "run", upstream)
        };
        let function = |shown: &str, own: &str| {
            entry("function", format!(r#"{{"name":"{shown}"}}"#), own, "a")
        };
        let entries = vec![tool("a"), tool("b"), function("f", "f"), function("shown", "own")];
        let shaped = Shaped { entries, ..Shaped::default() };
        let (catalogue, refused) = Catalogue::compile(1, vec!["a".into(), "b".into()], shaped);
        assert_eq!(refused, []);
        let catalogue = Arc::new(catalogue);
        let definitions = |view: &View| -> Vec<String> {
            let tools = catalogue.entries().iter().zip(0..).take(2);
            tools.map(|(entry, place)| view.definition(entry, place).to_owned()).collect()
        };
        let whole = definitions(&View::whole(catalogue.clone()));
        let hiding = |places: [Sight; 2]| {
            let sights = [Sight::Shown, Sight::Shown].into_iter().chain(places).collect();
            View::filtered(catalogue.clone(), sights)
        };
        assert_eq!(definitions(&hiding([Sight::Shown, Sight::Shown])), whole);
        for sight in [Sight::Hidden, Sight::Unlisted] {
            let view = hiding([sight, Sight::Shown]);
            let shown = definitions(&view);
            assert_eq!(shown[0], r#"{"name":"run_a", "description" : "Has:\n- shown","x":1.0}"#);
            assert_eq!(shown[1], whole[1], "another server's words are its own");
            assert_eq!(definitions(&view.residents()), shown);
        }
        let shown = definitions(&hiding([Sight::Hidden, Sight::Hidden]));
        assert_eq!(shown[0], r#"{"name":"run_a", "description" : "Has:","x":1.0}"#);
    }
}
