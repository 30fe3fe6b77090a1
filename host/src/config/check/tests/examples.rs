//! Every configuration in `examples` is one that plugway takes.

use std::path::Path;

use crate::config::{Environment, Flags, load};

/// The variables that an example refers to: a map of tokens, or any secret.
fn variables(file: &Path) -> Environment {
    #[expect(clippy::disallowed_methods, reason = "a test reads files of the repository")]
    let text = std::fs::read_to_string(file).unwrap();
    let names = text.split("env://").skip(1).filter_map(|rest| {
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().map(str::to_owned)
    });
    let common = ["PATH", "HOME"].map(str::to_owned);
    Environment::of(names.chain(common).map(|name| {
        let tokens = r#"{"0123456789abcdef": {"client_id": "example"}}"#;
        let value = if name.ends_with("_TOKENS") { tokens } else { "example" };
        (name, value.to_owned())
    }))
}

#[test]
fn every_example_is_accepted_without_a_warning() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut seen = 0;
    for topic in std::fs::read_dir(examples).unwrap() {
        let file = topic.unwrap().path().join("plugway.yaml");
        if file.is_file() {
            let settings = load(&file, &Flags::default(), &variables(&file));
            let settings = settings.unwrap_or_else(|problems| panic!("{problems}"));
            assert!(settings.warnings.list.is_empty(), "{}", settings.warnings.as_warnings());
            assert!(file.with_file_name("README.md").is_file(), "{} has no README", file.display());
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen} examples were found");
}
