//! `docs/bounds.md` says of every bound what it is: this compares it with the sources.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};

/// The rooms whose bounds the page lists, or the only file of theirs that has any.
const ROOMS: [&str; 8] = [
    "session",
    "transport",
    "pipeline",
    "upstream/limits.rs",
    "registry",
    "app/leases",
    "audit",
    "pins",
];
/// Constants that bound nothing.
const NO_BOUNDS: [(&str, &str); 5] = [
    ("session/outbox.rs", "NEVER_ASKED"),
    ("pipeline/seal.rs", "TAG"),
    ("audit/time.rs", "DAY"),
    ("pins/written.rs", "VERSION"),
    ("pins/difference.rs", "AROUND"),
];

/// By file and name.
type Bounds = BTreeMap<(String, String), String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files of a folder, or the one file.
fn files(path: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.extension().is_some_and(|kind| kind == "rs") && !is_test {
            found.push(path.to_owned());
        }
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        if !entry.ends_with("tests") {
            files(&entry, found)?;
        }
    }
    Ok(())
}

/// A number or a time that stands at the beginning of a line: its name and its expression.
fn constant(line: &str) -> Option<(&str, &str)> {
    let (visible, rest) = line.split_once("const ")?;
    let shown = visible.is_empty() || (visible.starts_with("pub") && visible.ends_with(' '));
    let (name, rest) = rest.split_once(": ")?;
    let (kind, value) = rest.split_once(" = ")?;
    let counts = ["usize", "u8", "u16", "u32", "u64", "Duration"].contains(&kind);
    (shown && counts).then_some((name, value.strip_suffix(';')?))
}

/// What an expression is in the words of the page; none where it is more than numbers.
fn in_words(expression: &str) -> Option<String> {
    let product = |text: &str| {
        let factors = text.split(" * ").map(|factor| factor.replace('_', "").parse::<u64>());
        factors.product::<Result<u64, _>>().ok()
    };
    if let Some(time) = expression.strip_prefix("Duration::from_") {
        let (unit, number) = time.strip_suffix(')')?.split_once('(')?;
        let units = [("millis", "ms"), ("secs", "s"), ("mins", "min"), ("hours", "h")];
        let (_, unit) = units.into_iter().find(|(name, _)| *name == unit)?;
        return Some(format!("{} {unit}", grouped(product(number)?)));
    }
    let number = product(expression)?;
    // Sizes are written as products.
    Some(match expression.contains(" * 1024") {
        true if number.is_multiple_of(1 << 20) => format!("{} MiB", grouped(number >> 20)),
        true => format!("{} KiB", grouped(number >> 10)),
        false => grouped(number),
    })
}

/// With a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Every bound in the sources.
fn in_sources() -> Result<Bounds> {
    let rooms = root().join("host/src");
    let mut bounds = Bounds::new();
    let mut all = Vec::new();
    for room in ROOMS {
        files(&rooms.join(room), &mut all)?;
    }
    for file in all {
        let place = file.strip_prefix(&rooms)?.to_str().context("no text")?.to_owned();
        for (name, value) in fs::read_to_string(&file)?.lines().filter_map(constant) {
            if !NO_BOUNDS.contains(&(&*place, name)) {
                bounds.insert((place.clone(), name.to_owned()), value.to_owned());
            }
        }
    }
    Ok(bounds)
}

/// Every bound on the page, with its value; what it bounds and what is beyond it are not empty.
fn on_page() -> Result<Bounds> {
    let page = fs::read_to_string(root().join("docs/bounds.md"))?;
    let mut bounds = Bounds::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [place, name, value, what, beyond] = cells[..] else { anyhow::bail!("{row}") };
        ensure!(!what.is_empty() && !beyond.is_empty(), "{row}");
        let key = (place.replace('`', ""), name.replace('`', ""));
        ensure!(bounds.insert(key, value.to_owned()).is_none(), "twice: {row}");
    }
    Ok(bounds)
}

#[test]
fn the_page_lists_every_bound_with_its_value() -> Result<()> {
    let (sources, page) = (in_sources()?, on_page()?);
    ensure!(sources.len() > 100, "{} bounds were found", sources.len());
    for (bound, value) in &sources {
        let told = page.get(bound).with_context(|| format!("{bound:?} is not on the page"))?;
        if let Some(value) = in_words(value) {
            ensure!(value == *told, "{bound:?} is {value}, and the page says {told}");
        }
    }
    for bound in page.keys() {
        ensure!(sources.contains_key(bound), "{bound:?} is on the page alone");
    }
    Ok(())
}

#[test]
fn expressions_are_read_as_the_page_writes_them() {
    for (expression, words) in [
        ("16 * 1024 * 1024", Some("16 MiB")),
        ("64 * 1024", Some("64 KiB")),
        ("1024 * 1024", Some("1 MiB")),
        ("4_096", Some("4,096")),
        ("Duration::from_millis(250)", Some("250 ms")),
        ("Duration::from_hours(24 * 365)", Some("8,760 h")),
        ("4 * MAX_BYTES", None),
    ] {
        assert_eq!(in_words(expression).as_deref(), words, "{expression}");
    }
    assert_eq!(constant("pub(super) const A: usize = 1;"), Some(("A", "1")));
    assert_eq!(constant("    const A: usize = 1;"), None);
    assert_eq!(constant("/// A const A: usize = 1;"), None);
}
