//! Whole configurations.

use std::path::Path;

use super::support::{PATH, settings, upstream};
use crate::config::{Hosts, ListenSource, PluginSource, Prefix, Target};

#[test]
fn a_name_and_an_upstream_are_a_whole_configuration() {
    let settings =
        settings("name: hub\nupstreams:\n- {name: clock, url: http://127.0.0.1:3001/mcp}\n")
            .unwrap();
    assert_eq!(settings.listen.address.to_string(), "127.0.0.1:9000");
    assert_eq!(settings.listen.source, ListenSource::Default);
    assert_eq!(settings.listen.hosts, Hosts::Listed(Vec::new()));
    assert!(settings.warnings.list.is_empty());
    let [connector] = settings.connectors.as_slice() else { panic!("one connector") };
    assert_eq!((&*connector.name, connector.shown_path()), ("hub", "/"));
    assert_eq!(&*connector.router.plugin, "router");
    assert_eq!(settings.plugin("router").unwrap().source, PluginSource::Bundled);
    let [upstream] = connector.upstreams.as_slice() else { panic!("one upstream") };
    assert_eq!(upstream.naming.prefix, Prefix::Always);
    assert_eq!(upstream.naming.to_json(), r#"{"prefix":"always","aliases":{}}"#);
    assert!(matches!(&upstream.target, Target::Http(address) if address.url.path() == "/mcp"));
}

#[test]
fn json_is_read_too_and_several_connectors_get_their_paths() {
    let settings = settings(
        r#"{"connectors": [
            {"name": "one", "upstreams": [{"name": "a", "url": "http://127.0.0.1:1"}]},
            {"name": "two", "path": "/x/y", "upstreams": [{"name": "a", "command": "cat"}]}]}"#,
    )
    .unwrap();
    let paths: Vec<_> = settings.paths().map(|(name, path)| format!("{name} {path}")).collect();
    assert_eq!(paths, ["one /one", "two /x/y"]);
    let Target::Stdio(child) = &settings.connectors[1].upstreams[0].target else { panic!("stdio") };
    assert_eq!(child.cwd, Path::new("/etc/plugway"));
    assert_eq!(child.env.len(), 1, "{:?}", child.env);
    assert_eq!(child.max_children, 16);
}

#[test]
fn a_file_replaces_a_default_only_where_the_entry_says_so() {
    let source = |rest: &str| {
        let settings = settings(&(upstream("url: http://x") + rest)).unwrap();
        settings.plugin("router").unwrap().source.clone()
    };
    assert_eq!(source("plugin_dir: plugins\n"), PluginSource::Bundled);
    assert_eq!(source("plugins: {router: {config: {a: 1}}}\n"), PluginSource::Bundled);
    let file = PluginSource::File("/etc/plugway/mine.wasm".into());
    assert_eq!(source("plugins: {router: {file: mine.wasm}}\n"), file);
}

#[test]
fn plugins_come_from_their_directory_and_places_have_their_own_configuration() {
    let text = upstream("url: http://x")
        + "plugin_dir: /plugins\npolicies: [team, {use: team, config: {b: 2}}]\n\
           plugins: {team: {config: {a: 1}}}\n";
    let settings = settings(&text).unwrap();
    let team = settings.plugin("team").unwrap();
    assert_eq!(team.source, PluginSource::File("/plugins/team.wasm".into()));
    let configs: Vec<_> =
        settings.connectors[0].policies.iter().map(|place| &*place.config).collect();
    assert_eq!(configs, [r#"{"a":1}"#, r#"{"b":2}"#]);
}

#[test]
fn every_problem_is_said_at_once_in_the_order_of_the_file() {
    let problems = settings(
        "name: hub\nlisten: nowhere\nupstrems: []\nlimits: {max_body: 1, max_sesions: 2}\n\
         upstreams:\n- {name: a, url: ftp://x}\n- {name: b, urll: x}\n- 5\n",
    )
    .unwrap_err();
    let keys: Vec<_> = problems.list.iter().map(|problem| problem.key.to_string()).collect();
    assert_eq!(
        keys,
        [
            "listen",
            "upstrems",
            "limits.max_body",
            "limits.max_sesions",
            "upstreams[0].url",
            "upstreams[1].urll",
            "upstreams[2]"
        ],
        "{problems}"
    );
}

#[test]
fn clashes_that_may_happen_are_warnings() {
    let settings = settings(
        "name: hub\nupstreams:\n- {name: a, url: http://x}\n- {name: a_b, url: http://y}\n",
    )
    .unwrap();
    assert_eq!(
        settings.warnings.as_warnings().to_string(),
        format!(
            "warning: {PATH}:4:4: `upstreams[1].name` is `a_b`: its tool `x` and the tool `b_x` of \
             the upstream `a` would have the same name\nhint: rename one of them; where it \
             happens, the first in the file keeps the name"
        )
    );
}
