//! How the entries of lists are understood, in words for people, and what they are about.

use plugway_sdk::Failure;
use plugway_sdk::glob;
use plugway_sdk::hooks::explaining::Understood;
use plugway_sdk::hooks::visibility::Page;
use plugway_sdk::host::listing;

use crate::gateway::Gateway;
use crate::names::{self, Names};
use crate::visible::Servers;

/// What a list does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// What matches may not be used.
    Blocks,
    /// Nothing else may be used.
    Allows,
    /// Calls of what matches are counted.
    Limits,
    /// Nobody is asked about what matches, whatever it says of itself.
    Spares,
    /// A rule is about what matches, as far as its other conditions hold.
    Selects,
}

/// What a list is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Tools, and functions of catalogues.
    Tools,
    /// Tools alone.
    Calls,
    /// Prompts.
    Prompts,
    /// Resources and templates, by their URIs.
    Resources,
}

/// A list of the configuration.
#[derive(Clone, Debug)]
pub struct List {
    /// Where it stands, such as `blocked_tools` or `rules[0].when.tool`.
    pub key: String,
    /// What it does.
    pub does: Does,
    /// What it is about.
    pub about: About,
    /// As the operator wrote them.
    pub entries: Vec<String>,
}

/// A thing of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Thing<'a> {
    /// Its place on the page.
    pub index: u32,
    /// `tool`, `function`, `prompt`, `resource` or `template`.
    pub kind: &'a str,
    /// What it is called.
    pub names: Names<'a>,
}

impl Gateway {
    /// How each entry of its lists is understood, and what of a page it is about.
    pub fn understood(&self, page: &Page) -> Result<Vec<Understood>, Failure> {
        let items = page.items()?;
        let own: Vec<String> =
            items.iter().map(|item| listing::upstream_name(item.index)).collect();
        let mut servers = Servers::default();
        let things = items.iter().zip(&own).map(|(item, own)| {
            let names = Names { shown: item.name, own, short: servers.short(item, own) };
            Thing { index: item.index, kind: item.kind, names }
        });
        Ok(understood(&self.written, &things.collect::<Vec<_>>()))
    }
}

/// How each entry of these lists is understood, in the order in which they stand there.
pub fn understood(lists: &[List], things: &[Thing<'_>]) -> Vec<Understood> {
    let one = |list: &List, entry: &String| {
        let meant = things.iter().filter(|thing| is_about(list.about, thing.kind));
        let meant = meant.filter(|thing| thing.names.any(|name| glob::matches(entry, name)));
        let matches = meant.map(|thing| thing.index).collect();
        Understood { matches, ..Understood::new(entry, meaning(list, entry)) }
    };
    lists.iter().flat_map(|list| list.entries.iter().map(move |entry| one(list, entry))).collect()
}

fn is_about(about: About, kind: &str) -> bool {
    match about {
        About::Tools => matches!(kind, "tool" | "function"),
        About::Calls => kind == "tool",
        About::Prompts => kind == "prompt",
        About::Resources => matches!(kind, "resource" | "template"),
    }
}

fn meaning(list: &List, entry: &str) -> String {
    let does = match list.does {
        Does::Blocks => "blocks",
        Does::Allows => "allows",
        Does::Limits => "limits",
        Does::Spares => "asks nobody about",
        Does::Selects => "is about",
    };
    let key = &list.key;
    let what = match list.about {
        About::Tools => "tools and functions of catalogues",
        About::Calls => "tools",
        About::Prompts => "prompts",
        About::Resources => "resources and templates",
    };
    let tools = matches!(list.about, About::Tools | About::Calls);
    if tools && names::SHORT.contains(&entry) {
        let more = if entry == names::PARALLEL {
            format!(", and {}", names::BATCHES.join(" and "))
        } else {
            String::new()
        };
        return format!(
            "in {key} {does} what servers that run code call so{more}, and {what} of that name"
        );
    }
    if entry.contains(['*', '?']) {
        return format!("in {key} {does} {what} whose name it matches");
    }
    format!("in {key} {does} {what} of that name")
}

#[cfg(test)]
mod tests {
    use super::{About, Does, List, Names, Thing, understood};

    fn thing<'a>(
        index: u32,
        kind: &'a str,
        shown: &'a str,
        short: Option<&'static str>,
    ) -> Thing<'a> {
        let own = shown.split_once("__").map_or(shown, |(_, own)| own);
        Thing { index, kind, names: Names { shown, own, short } }
    }

    fn list(about: About, entries: &[&str]) -> List {
        let entries = entries.iter().map(|&entry| entry.to_owned()).collect();
        List { key: "blocked".to_owned(), does: Does::Blocks, about, entries }
    }

    fn matches(about: About, entry: &str) -> Vec<u32> {
        let things = [
            thing(0, "tool", "chem__chem_parallel_execute", Some("parallel_execute")),
            thing(1, "tool", "chem__chem_check_batch", Some("check_batch")),
            thing(2, "tool", "other__check_batch", None),
            thing(3, "function", "parse_molecule", None),
            thing(4, "prompt", "check_batch", None),
            thing(5, "resource", "file:///a", None),
            thing(6, "template", "file:///{b}", None),
        ];
        let [one] = &*understood(&[list(about, &[entry])], &things) else { panic!("one entry") };
        one.matches.clone()
    }

    #[test]
    fn entries_find_what_they_mean() {
        for (about, entry, expected) in [
            (About::Tools, "parallel_execute", &[0, 1][..]),
            (About::Tools, "check_batch", &[1, 2]),
            (About::Tools, "chem__*", &[0, 1]),
            (About::Tools, "*_batch", &[1, 2]),
            (About::Tools, "parse_molecule", &[3]),
            (About::Tools, "parallel", &[]),
            (About::Calls, "check_batch", &[1, 2]),
            (About::Calls, "parallel_execute", &[0, 1]),
            (About::Calls, "parse_molecule", &[]),
            (About::Prompts, "check_*", &[4]),
            (About::Prompts, "parse_molecule", &[]),
            (About::Resources, "file:///*", &[5, 6]),
        ] {
            assert_eq!(matches(about, entry), expected, "{entry}");
        }
    }

    #[test]
    fn meanings_say_key_deed_and_reach() {
        let all = understood(&[list(About::Tools, &["parallel_execute", "send", "a*", "b"])], &[]);
        let meanings: Vec<&str> = all.iter().map(|one| one.meaning.as_str()).collect();
        assert_eq!(
            meanings,
            [
                "in blocked blocks what servers that run code call so, and check_batch and cancel_batch, and tools and \
                 functions of catalogues of that name",
                "in blocked blocks what servers that run code call so, and tools and functions of catalogues of that name",
                "in blocked blocks tools and functions of catalogues whose name it matches",
                "in blocked blocks tools and functions of catalogues of that name",
            ]
        );
        let prompts = List {
            does: Does::Allows,
            key: "allowed_prompts".to_owned(),
            ..list(About::Prompts, &["send"])
        };
        let [one] = &*understood(&[prompts], &[]) else { panic!("one") };
        assert_eq!(one.meaning, "in allowed_prompts allows prompts of that name");
        for (does, expected) in [
            (Does::Limits, "in blocked limits tools of that name"),
            (Does::Spares, "in blocked asks nobody about tools of that name"),
            (Does::Selects, "in blocked is about tools of that name"),
        ] {
            let list = List { does, ..list(About::Calls, &["b"]) };
            let [one] = &*understood(&[list], &[]) else { panic!("one") };
            assert_eq!(one.meaning, expected);
        }
    }
}
