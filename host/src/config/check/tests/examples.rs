//! Every configuration in `examples` is one that plugway takes.

use std::path::Path;

use crate::config::{Environment, Flags, load};

#[test]
fn every_example_is_accepted_without_a_warning() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut seen = 0;
    for topic in std::fs::read_dir(examples).unwrap() {
        let file = topic.unwrap().path().join("plugway.yaml");
        if file.is_file() {
            let settings = load(&file, &Flags::default(), &Environment::default());
            let settings = settings.unwrap_or_else(|problems| panic!("{problems}"));
            assert!(settings.warnings.list.is_empty(), "{}", settings.warnings.as_warnings());
            assert!(file.with_file_name("README.md").is_file(), "{} has no README", file.display());
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} examples were found");
}
