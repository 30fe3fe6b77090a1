//! Files: which form they have, and what they become.

use super::{file, said, upstreams};

const THEIRS: &str = "name: hub\nupstreams:\n- {name: a, url: 'http://x:1', expose_tools: null}\n";

#[test]
fn words_that_only_one_form_has_decide() {
    for (text, forwards) in [
        ("name: hub\nupstreams: [{name: a, url: 'http://x:1'}]\n", false),
        ("name: hub\nupstreams: [{name: a, url: 'http://x:1', expose: [b]}]\n", false),
        ("form: plugway\nname: hub\nupstreams: [{name: a, url: 'http://x:1'}]\n", false),
        ("form: agora\nname: hub\nupstreams: [{name: a, url: 'http://x:1'}]\n", true),
        ("form: agora\nname: hub\nupstreams: [{name: a, url: 'http://x:1', expose: [b]}]\n", true),
        (THEIRS, true),
        ("name: hub\nentra_tenant_id: ~\nupstreams: [{name: a, url: 'http://x:1'}]\n", true),
        ("name: hub\nupstreams: [{name: a, url: 'http://x:1', tool_aliases: {}}]\n", true),
    ] {
        let settings = file(text).unwrap_or_else(|problems| panic!("{text}{problems}"));
        let wanted = [("a".to_owned(), "http://x:1/".to_owned(), forwards)];
        assert_eq!(upstreams(&settings), wanted, "{text}");
    }
}

#[test]
fn a_file_that_does_not_say_what_it_is_is_named_with_who_gets_credentials() {
    let warning = said(file(THEIRS));
    assert!(
        warning.starts_with(
            "warning: /c/hub.yaml:3:32: `upstreams[0].expose_tools` makes this a RouterConfig of \
             agora-workbench: the credential of whoever calls goes to a\nhint: write `form: agora`"
        ),
        "{warning}"
    );
    assert_eq!(said(file(&format!("form: agora\n{THEIRS}"))), "");
}

#[test]
fn an_upstream_that_says_how_to_identify_says_it() {
    let text = "form: agora\nname: hub\nupstreams:\n- {name: a, url: 'http://x:1', auth: none}\n\
                - {name: b, url: 'http://x:2/sse', transport: sse}\n- {name: c, url: 'http://x:3', auth: ~}\n";
    let forwards: Vec<_> = upstreams(&file(text).unwrap()).into_iter().map(|one| one.2).collect();
    assert_eq!(forwards, [false, false, true]);
}

#[test]
fn globs_and_aliases_mean_functions_unless_they_say_nothing() {
    let text = "form: agora\nname: hub\nupstreams:\n\
                - {name: a, url: 'http://x:1', expose_tools: [p_*, q], tool_aliases: {p: r}}\n\
                - {name: b, url: 'http://x:2', expose_tools: ['*'], tool_aliases: {}}\n\
                - {name: c, url: 'http://x:3', expose_tools: []}\n- {name: d, url: 'http://x:4', expose: [e]}\n";
    let settings = file(text).unwrap();
    let naming: Vec<_> = settings.connectors[0]
        .upstreams
        .iter()
        .map(|upstream| &upstream.naming)
        .map(|naming| (naming.expose.join(" "), naming.aliases.len(), naming.of_functions))
        .collect();
    let row = |globs: &str, aliases, functions| (globs.to_owned(), aliases, functions);
    assert_eq!(
        naming,
        [row("p_* q", 1, true), row("", 0, false), row("", 0, false), row("e", 0, false)]
    );
}

#[test]
fn plugways_own_keys_may_stand_beside() {
    let text = "listen: 127.0.0.1:7\nlimits: {max_sessions: 3}\nname: hub\nentra_client_id: ~\n\
                upstreams: [{name: a, url: 'http://x:1', stale_for: 9s, hide: [z]}]\n";
    let settings = file(text).unwrap();
    assert_eq!(settings.listen.address.port(), 7);
    assert_eq!(settings.limits.max_sessions, 3);
    assert_eq!(settings.connectors[0].upstreams[0].naming.hide, ["z"]);
    let without = file("form: agora\nname: hub\nupstreams: [{name: a, url: 'http://x:1'}]\n");
    assert_eq!(without.unwrap().listen.address.port(), 9000);
}

#[test]
fn problems_are_said_in_the_words_and_at_the_place_of_the_file() {
    for (text, sentences) in [
        (
            "name: hub\nupstreams:\n- name: a\n  url: http://x:1\n  expose_tools: 7\n",
            &["hub.yaml:5:3: `upstreams[0].expose_tools` must be a list"][..],
        ),
        (
            "name: hub\nupstreams:\n- name: a\n  url: http://x:1\n  expose_tools: [b, '']\n",
            &["hub.yaml:5:21: `upstreams[0].expose_tools[1]` is empty"],
        ),
        (
            "name: hub\nupstreams:\n- name: a\n  url: ftp://x\n  tool_aliases: {b: 'c d'}\n",
            &[
                "hub.yaml:4:3: `upstreams[0].url` has the scheme `ftp`",
                "hub.yaml:5:18: `upstreams[0].tool_aliases.b` is `c d`",
            ],
        ),
    ] {
        ensure_refused(text, sentences);
    }
}

fn ensure_refused(text: &str, sentences: &[&str]) {
    let said = file(text).map_or_else(|problems| problems.to_string(), |_| String::new());
    for sentence in sentences {
        assert!(said.contains(sentence), "no {sentence}\nin {said}\nof {text}");
    }
    assert!(said.starts_with("error: "), "{said}");
}

#[test]
fn misspelt_words_mixed_forms_and_several_problems_are_all_said() {
    for (text, sentences) in [
        (
            "form: agora\nname: hub\nupstreams:\n- name: a\n  url: http://x:1\n  expose_tool: [b]\n",
            &["`upstreams[0].expose_tool` is not a key", "hint: did you mean `expose_tools`?"][..],
        ),
        (
            "form: agora\nname: hub\nentra_client: x\nupstreams: [{name: a, url: 'http://x:1'}]\n",
            &["`entra_client` is not a key", "hint: did you mean `entra_client_id`?"],
        ),
        (
            "name: hub\nentra_client_id: x\nupstreams:\n- {name: a, url: 'http://x:1'}\n\
             - {name: a, url: 'http://x:2', expose_tools: ['[a]*']}\n",
            &[
                "hub.yaml:2:1: `entra_client_id` does nothing yet: tokens",
                "`upstreams[1].name` is `a`, like that of another upstream",
                "`upstreams[1].expose_tools[0]` is `[a]*`, but a glob",
            ],
        ),
        (
            "name: hub\nupstreams:\n- {name: a, url: 'http://x:1', expose_tools: [b]}\n\
             - {name: b, url: 'http://x:2', expose: [c]}\n",
            &["`upstreams[0].expose_tools` belongs to a RouterConfig of agora-workbench and \
               `upstreams[1].expose` to a configuration of plugway"],
        ),
        (
            "form: agora\nname: hub\nupstreams:\n- {name: a, url: 'http://x:1', expose_tools: [b], expose: [c]}\n",
            &["`upstreams[0].expose_tools` means the same as `expose`"],
        ),
        (
            "form: plugway\nname: hub\nupstreams:\n- {name: a, url: 'http://x:1', expose_tools: [b]}\n",
            &["`upstreams[0].expose_tools` is not a key that plugway knows"],
        ),
        (
            "form: agor\nname: hub\nupstreams: [{name: a, url: 'http://x:1'}]\n",
            &["`form` is `agor`, but can only be plugway or agora", "did you mean `agora`?"],
        ),
        ("form: agora\nname: hub\nupstreams: []\n", &["has no `upstreams`"]),
        (
            "name: hub\nupstreams: [{name: a, url: 'http://x:1'}]\nbridges: [{from_state: a, to_state: b}]\n",
            &["`bridges` does not stand here", "write `form: agora` beside it"],
        ),
        (
            "form: agora\nconnectors: [{name: a, upstreams: [{name: b, url: 'http://x:1'}]}]\n",
            &["hub.yaml:2:1: `connectors` has no place in a RouterConfig"],
        ),
        (
            "entra_client_id: ~\nconnectors: [{name: a, upstreams: [{name: b, url: 'http://x:1'}]}]\n",
            &["`entra_client_id` belongs to a RouterConfig of agora-workbench and `connectors` to"],
        ),
        ("form: agora\nname: hub\nupstreams: [7]\n", &["`upstreams[0]` must be an upstream"]),
        (
            "bridges: [{}]\nupstreams: [{name: a, url: 'http://x:1', expose_tools: ['[a]']}]\n",
            &["has no `name`", "but a glob"],
        ),
    ] {
        ensure_refused(text, sentences);
    }
}

#[test]
fn a_dispatcher_is_refused_in_one_sentence_and_slips_of_the_pen_are_not_taken_for_others() {
    let dispatcher = said(file("name: d\nworkers: []\nstrategy: x\n"));
    assert!(dispatcher.contains("`workers` makes this a DispatcherConfig"), "{dispatcher}");
    assert_eq!(dispatcher.matches("error: ").count(), 1, "{dispatcher}");
    let slip = said(file("name: hub\nupstream: [{name: a, url: 'http://x:1'}]\npolicy: []\n"));
    assert!(slip.contains("did you mean `upstreams`?"), "{slip}");
    assert!(slip.contains("`policy` is not a key that plugway knows"), "{slip}");
    let own = said(file("form: plugway\nname: hub\nupstream: {}\nworkers: []\n"));
    assert!(own.contains("`workers` is not a key that plugway knows"), "{own}");
}

/// The router's configuration that a file becomes.
fn router_of(text: &str) -> serde_json::Value {
    let settings = file(text).unwrap_or_else(|problems| panic!("{text}{problems}"));
    let place = &settings.connectors[0].router;
    assert_eq!(&*place.plugin, "router");
    serde_json::from_str(&place.config).unwrap()
}

#[test]
fn bridges_and_the_tools_of_the_reference_are_the_routers() {
    let upstreams = "upstreams: [{name: a, url: 'http://x:1'}]\n";
    let bridges = "bridges: [{from_state: a.b, to_state: c.d, description: x}]\n";
    let bridge = serde_json::json!([{"from_state": "a.b", "to_state": "c.d", "description": "x"}]);
    let on = serde_json::json!({"unified_tools": true});
    let both = serde_json::json!({"unified_tools": true, "bridges": bridge});
    for (more, wanted) in [
        ("", &on),
        ("bridges: []\n", &on),
        ("bridges: ~\nrouter: router\n", &on),
        (bridges, &both),
        (&format!("{bridges}router: {{use: router}}\n"), &both),
        (
            "router: {use: router, config: {unified_tools: false}}\n",
            &serde_json::json!({"unified_tools": false}),
        ),
        (&format!("{bridges}plugins: {{router: {{config: {{unified_tools: true}}}}}}\n"), &both),
    ] {
        let text = format!("form: agora\nname: hub\n{upstreams}{more}");
        assert_eq!(router_of(&text), *wanted, "{text}");
    }
    assert_eq!(router_of(&format!("name: hub\n{upstreams}")), serde_json::json!({}));
    let other = "plugins: {mine: {file: mine.wasm}}\nrouter: mine\n";
    let text = format!("form: agora\nname: hub\n{upstreams}{bridges}{other}");
    ensure_refused(&text, &["`bridges` is for the bundled router"]);
    let twice = "router: {use: router, config: {bridges: []}}\n";
    let text = format!("form: agora\nname: hub\n{upstreams}{bridges}{twice}");
    ensure_refused(&text, &["`bridges` stands in `router.config.bridges`, too"]);
}
