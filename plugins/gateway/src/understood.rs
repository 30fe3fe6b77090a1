//! How the entries of lists are understood, in words for people, and what they are about.

use plugway_sdk::glob;

/// Short names of the tools of a server that runs code, whatever the server is called.
pub const SHORT: [&str; 13] = [
    "execute_code",
    "check_job",
    "parallel_execute",
    "check_batch",
    "cancel_batch",
    "list_sessions",
    "get_session_info",
    "inspect_session",
    "close_session",
    "send",
    "search_tools",
    "plan_workflow",
    "load_skill",
];

/// A short name that means others besides itself.
pub const COVERS: [(&str, &[&str]); 1] = [("parallel_execute", &["check_batch", "cancel_batch"])];

/// What a list does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// What matches may not be used.
    Blocks,
    /// Nothing else may be used.
    Allows,
}

/// What a list is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Tools, and functions of catalogues.
    Tools,
    /// Prompts.
    Prompts,
    /// Resources and templates, by their URIs.
    Resources,
}

/// A list of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    /// Its key, such as `blocked_tools`.
    pub key: &'a str,
    /// What it does.
    pub does: Does,
    /// What it is about.
    pub about: About,
    /// As the operator wrote them.
    pub entries: &'a [String],
}

/// A thing of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Thing<'a> {
    /// Its place on the page.
    pub index: u32,
    /// `tool`, `function`, `prompt`, `resource` or `template`.
    pub kind: &'a str,
    /// Its name as clients see it, and the server's own.
    pub names: [&'a str; 2],
    /// Its short name, where its server runs code.
    pub short: Option<&'a str>,
}

/// An entry in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// As the operator wrote it.
    pub entry: String,
    /// What it does.
    pub meaning: String,
    /// Places of what it is about.
    pub matches: Vec<u32>,
}

/// How each entry of these lists is understood, in the order in which they stand there.
pub fn understood(lists: &[List<'_>], things: &[Thing<'_>]) -> Vec<Meaning> {
    let one = |list: &List<'_>, entry: &String| {
        let meant = things.iter().filter(|thing| is_about(list.about, thing.kind));
        let matches = meant.filter(|thing| is_meant(entry, thing)).map(|thing| thing.index);
        Meaning { entry: entry.clone(), meaning: meaning(list, entry), matches: matches.collect() }
    };
    lists.iter().flat_map(|list| list.entries.iter().map(move |entry| one(list, entry))).collect()
}

/// Whether an entry of a list means this thing: by a glob on either name, or by the short name, which may cover others.
pub fn is_meant(entry: &str, thing: &Thing<'_>) -> bool {
    let short = thing.short.is_some_and(|short| {
        let covered = COVERS.iter().any(|(name, more)| *name == entry && more.contains(&short));
        covered || glob::matches(entry, short)
    });
    short || thing.names.iter().any(|name| glob::matches(entry, name))
}

fn is_about(about: About, kind: &str) -> bool {
    match about {
        About::Tools => matches!(kind, "tool" | "function"),
        About::Prompts => kind == "prompt",
        About::Resources => matches!(kind, "resource" | "template"),
    }
}

fn meaning(list: &List<'_>, entry: &str) -> String {
    let does = match list.does {
        Does::Blocks => "blocks",
        Does::Allows => "allows",
    };
    let key = list.key;
    let what = match list.about {
        About::Tools => "tools and functions of catalogues",
        About::Prompts => "prompts",
        About::Resources => "resources and templates",
    };
    let tools = list.about == About::Tools;
    if tools && SHORT.contains(&entry) {
        let covers = COVERS.iter().find(|(name, _)| *name == entry);
        let more = covers.map(|(_, more)| format!(", and {}", more.join(" and ")));
        let more = more.unwrap_or_default();
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
    use super::{About, Does, List, Meaning, Thing, understood};

    fn thing<'a>(index: u32, kind: &'a str, name: &'a str, short: Option<&'a str>) -> Thing<'a> {
        let own = name.split_once("__").map_or(name, |(_, own)| own);
        Thing { index, kind, names: [name, own], short }
    }

    fn list<'a>(about: About, entries: &'a [String]) -> List<'a> {
        List { key: "blocked", does: Does::Blocks, about, entries }
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
        let entries = [entry.to_owned()];
        let [Meaning { matches, .. }] = &*understood(&[list(about, &entries)], &things) else {
            panic!("one entry");
        };
        matches.clone()
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
            (About::Prompts, "check_*", &[4]),
            (About::Prompts, "parse_molecule", &[]),
            (About::Resources, "file:///*", &[5, 6]),
        ] {
            assert_eq!(matches(about, entry), expected, "{entry}");
        }
    }

    #[test]
    fn meanings_say_key_deed_and_reach() {
        let entries = ["parallel_execute", "send", "a*", "b"].map(str::to_owned);
        let all = understood(&[list(About::Tools, &entries)], &[]);
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
        let prompts = ["send".to_owned()];
        let list =
            List { does: Does::Allows, key: "allowed_prompts", ..list(About::Prompts, &prompts) };
        let [one] = &*understood(&[list], &[]) else { panic!("one") };
        assert_eq!(one.meaning, "in allowed_prompts allows prompts of that name");
    }
}
