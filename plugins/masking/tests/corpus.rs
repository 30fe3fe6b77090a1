//! How much of what is to be found is found, and how much of what is not: over a corpus that is made from fixed seeds and read
//! from `corpus`. `docs/masking.md` shows the numbers; this compares them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what the tests themselves make is as it should be"
)]

mod made;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use made::{negatives, positives};
use plugway_masking::find::find;
use plugway_masking::kind::{Kind, Kinds};

/// What stands before and behind the table in the page.
const MARKS: [&str; 2] = ["<!-- made by plugins/masking/tests/corpus.rs -->\n", "<!-- end -->"];
/// With this in the environment the test writes the table.
const WRITE: &str = "PLUGWAY_WRITE_CORPUS_TABLE";

/// Least part in a thousand that has to be found of a kind, and most samples in a thousand in which the kind may be found where
/// there is none.
const fn bounds(kind: Kind) -> (usize, usize) {
    match kind {
        // Written without a sign that tells them from other numbers.
        Kind::Phone => (850, 10),
        Kind::Card => (950, 10),
        // Keys without their name in front of them; addresses with quotes and in other scripts.
        Kind::Aws | Kind::Azure | Kind::Email => (930, 1),
        _ => (990, 1),
    }
}

#[derive(Default)]
struct Row {
    samples: usize,
    found: usize,
    false_hits: usize,
}

/// By class: samples, and those in which something is found.
type Classes = BTreeMap<&'static str, (usize, usize)>;

fn measured() -> (BTreeMap<usize, Row>, usize, Classes) {
    let mut rows = BTreeMap::<usize, Row>::new();
    for kind in Kind::ALL {
        let row = rows.entry(kind as usize).or_default();
        for sample in positives(kind) {
            row.samples += 1;
            let hits = find(sample.text.as_bytes(), None, Kinds::all());
            let covers = |start, end| hits.iter().any(|hit| hit.start <= start && hit.end >= end);
            row.found += usize::from(covers(sample.start, sample.end));
        }
    }
    let mut all = 0;
    let mut classes = Classes::new();
    for (class, text) in negatives() {
        all += 1;
        let hits = find(text.as_bytes(), None, Kinds::all());
        let class = classes.entry(class).or_default();
        class.0 += 1;
        class.1 += usize::from(!hits.is_empty());
        for kind in Kind::ALL {
            let is_hit = hits.iter().any(|hit| hit.kind == kind);
            rows.entry(kind as usize).or_default().false_hits += usize::from(is_hit);
        }
    }
    (rows, all, classes)
}

fn percent(part: usize, whole: usize) -> String {
    let hundredths = (part * 10_000 + whole / 2) / whole.max(1);
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

#[test]
fn what_is_found_and_what_is_not() {
    let (rows, all, classes) = measured();
    let mut table = String::from(
        "| kind | samples | found | at least | found where there is none | at most |\n|---|---|---|---|---|---|\n",
    );
    let mut wrong = Vec::new();
    for kind in Kind::ALL {
        let row = &rows[&(kind as usize)];
        let (least, most) = bounds(kind);
        let (recall, false_rate) = (row.found * 1000, row.false_hits * 1000);
        if recall < least * row.samples || false_rate > most * all {
            wrong.push(format!(
                "{}: {} of {}, {} false",
                kind.name(),
                row.found,
                row.samples,
                row.false_hits
            ));
        }
        writeln!(
            table,
            "| `{}` | {} | {} | {} % | {} | {} % |",
            kind.name(),
            row.samples,
            percent(row.found, row.samples),
            least / 10,
            percent(row.false_hits, all),
            f64::from(u16::try_from(most).unwrap()) / 10.0,
        )
        .unwrap();
    }
    table.push_str(
        "\n| samples without anything | how many | something is found in |\n|---|---|---|\n",
    );
    for (class, (count, hits)) in classes {
        writeln!(table, "| {class} | {count} | {hits} |").unwrap();
    }
    assert!(wrong.is_empty(), "{wrong:#?}\n{table}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/masking.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(MARKS[0]).expect("the page has a place for the table");
    let (known, after) = rest.split_once(MARKS[1]).expect("the place has an end");
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, [before, MARKS[0], &table, MARKS[1], after].concat()).unwrap();
        return;
    }
    assert!(known == table, "docs/masking.md has other numbers; {WRITE}=1 writes these:\n{table}");
}

#[test]
fn the_samples_are_the_same_each_time_and_many() {
    for kind in Kind::ALL {
        let (first, second) = (positives(kind), positives(kind));
        assert!(first.len() >= 200, "{}", kind.name());
        assert!(first.iter().zip(&second).all(|(one, other)| one.text == other.text));
    }
    assert!(negatives().len() >= 3_000);
}
