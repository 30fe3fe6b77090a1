//! The page for people has the rows of the table that plugway goes by.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::words::{DISPATCHER, Fate, GATEWAY, ROUTER, VARIABLES};

/// Word and fate of each row of the page; a cell in the second place that is no example ends a table of another kind.
fn rows() -> BTreeSet<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compatibility.md");
    #[expect(clippy::disallowed_methods, reason = "a test reads files of the repository")]
    let text = std::fs::read_to_string(page).unwrap();
    text.lines()
        .filter_map(|line| {
            let cells: Vec<_> = line.split(" | ").collect();
            let [word, example, fate, _] = cells.as_slice() else { return None };
            let word = word.strip_prefix("| `")?.strip_suffix('`')?;
            example.starts_with('`').then(|| (word.replace("<NAME>", "*"), (*fate).to_owned()))
        })
        .collect()
}

fn fate(fate: Fate) -> String {
    match fate {
        Fate::Honoured | Fate::PassedOn => "honoured",
        Fate::Ignored(..) => "ignored",
        Fate::NotYet(_) => "not yet",
    }
    .to_owned()
}

#[test]
fn the_page_and_the_table_say_the_same() {
    let table: Vec<_> = ROUTER.iter().chain(GATEWAY).chain(DISPATCHER).chain(VARIABLES).collect();
    let rows = rows();
    for (word, decided) in &table {
        let row = ((*word).to_owned(), fate(*decided));
        assert!(rows.contains(&row), "docs/compatibility.md has no row {row:?}");
    }
    for (word, said) in &rows {
        // What stands inside a key shares its fate; one mode is not served yet, and values may be
        // refused of a word that is honoured.
        let outer = word.split_once('.').map_or(word.as_str(), |(outer, _)| outer);
        let known = table.iter().find(|(known, _)| known == word);
        let known = known.or_else(|| table.iter().find(|(known, _)| *known == outer));
        let (_, decided) = known.unwrap_or_else(|| panic!("{word} is in no table"));
        let refused = said == "refused" && fate(*decided) == "honoured";
        let same = refused || fate(*decided) == *said || word == "CONNECTOR_MODE";
        assert!(same, "{word} is {said}");
    }
    assert!(rows.len() > 60, "only {} rows were read", rows.len());
}
