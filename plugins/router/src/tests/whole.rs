//! What happens to definitions, prompts, resources and templates, and to what cannot be read.

use plugway_sdk::prelude::*;
use plugway_sdk::testing::{Host, plugin};

use super::{connector, shaped, shown, target, upstream};
use crate::component::DefaultRouter;
use crate::head::Head;

const ODD: &str = r#" { "z" : 1.0e+2 , "inputSchema":{"name":"inner","maximum":18446744073709551616},
  "name" :  "read" ,"_meta":{"a":[{"name":"deep"}]}, "ünknown":"\u00fc" } "#;

#[test]
fn all_but_the_name_stays_byte_for_byte() {
    let mut files = upstream("files", &[]);
    files.tools = vec![ODD.to_owned()];
    let (entries, _) = shaped(vec![files]);
    assert_eq!(entries[0].definition, ODD.replace(r#""read""#, r#""files_read""#));
    assert_eq!(target(&entries[0]), ("files", "read"));
}

#[test]
fn a_name_that_does_not_change_is_not_touched() {
    let escaped = r#"{"n\u0061me":"re\u0061d"}"#;
    let mut files = upstream("files", &[]);
    files.tools = vec![escaped.to_owned()];
    files.settings = r#"{"prefix":"never"}"#.to_owned();
    let (entries, _) = shaped(vec![files]);
    assert_eq!(entries[0].definition, escaped);
    assert_eq!(target(&entries[0]), ("files", "read"));
}

#[test]
fn prompts_are_renamed_and_uris_are_not() {
    let mut files = upstream("files", &[]);
    files.prompts = vec![r#"{"name":"sum"}"#.to_owned()];
    files.resources = vec![r#"{"uri":"file:///a","name":"a"}"#.to_owned()];
    files.templates = vec![r#"{"uriTemplate":"file:///{x}","name":"x"}"#.to_owned()];
    let mut other = upstream("other", &[]);
    other.resources.clone_from(&files.resources);
    let (entries, warnings) = shaped(vec![files, other]);
    let seen: Vec<_> = entries.iter().map(|entry| (entry.kind.as_str(), shown(entry))).collect();
    assert_eq!(
        seen,
        [
            ("prompt", "files_sum".to_owned()),
            ("resource", "file:///a".to_owned()),
            ("template", "file:///{x}".to_owned())
        ]
    );
    assert_eq!(target(&entries[2]), ("files", "file:///{x}"));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].upstream(), "other");
}

#[test]
fn a_malformed_definition_costs_only_itself() {
    let bad = [
        "",
        "[]",
        "{",
        r#"{"name":1}"#,
        r#"{"name":""}"#,
        r#"{"title":"x"}"#,
        r#"{"name":"a","name":"b"}"#,
        r#"{"name":"a"} x"#,
        r#"{"name":"\ud800"}"#,
    ];
    let mut files = upstream("files", &["good"]);
    files.tools.splice(0..0, bad.map(str::to_owned));
    let (entries, warnings) = shaped(vec![files]);
    assert_eq!(entries.iter().map(shown).collect::<Vec<_>>(), ["files_good"]);
    assert_eq!(warnings.len(), bad.len(), "{warnings:?}");
}

#[test]
fn the_head_is_where_it_says() {
    let head = Head::of(ODD, "name").unwrap();
    assert_eq!(ODD.get(head.place.clone()), Some(r#""read""#));
    assert_eq!(head.replaced(ODD, "x").unwrap().len(), ODD.len() - 3);
}

#[test]
fn the_plugin_logs_what_it_leaves_out() {
    let router: DefaultRouter = plugin("{}").unwrap();
    let host = Host::new();
    let twice = connector(vec![upstream("a", &["x", "x"])]);
    assert_eq!(host.run(|| router.shape(twice)).unwrap().entries.len(), 1);
    let [line] = host.logs().try_into().unwrap();
    assert_eq!(line.level, log::Level::Warn);
    assert_eq!(line.fields, [("upstream".to_owned(), "a".to_owned())]);
}

#[test]
fn settings_that_cannot_be_read_are_a_failure_that_names_them() {
    let router: DefaultRouter = plugin("{}").unwrap();
    let mut files = upstream("files", &["x"]);
    files.settings = r#"{"expos": []}"#.to_owned();
    let failure = Host::new().run(|| router.shape(connector(vec![files]))).unwrap_err();
    assert!(failure.message.starts_with("settings of files: expos: "), "{}", failure.message);
    assert!(plugin::<DefaultRouter>(r#"{"x": 1}"#).is_err());
}
