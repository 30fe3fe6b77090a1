//! What holds for every configuration and every list.

use std::collections::HashSet;

use plugway_sdk::prelude::UpstreamView;
use proptest::prelude::*;
use serde_json::Value;

use super::{names, shaped, shown, target, tool_named, upstream};

fn any_upstreams() -> impl Strategy<Value = Vec<UpstreamView>> {
    let own = prop_oneof!["[a-c]{1,2}", "[a-c_./ é-]{1,8}", "[a-z]{60,80}", ".{1,10}"];
    let one = (prop::collection::vec(own, 0..8), any::<bool>(), any::<bool>());
    prop::collection::vec(one, 0..5).prop_map(|all| {
        let made = all.into_iter().enumerate().map(|(index, (tools, prefix, up))| {
            let mut made = upstream(&format!("u{index}"), &[]);
            made.tools = tools.iter().map(|tool| tool_named(tool)).collect();
            made.prompts.clone_from(&made.tools);
            made.settings =
                format!(r#"{{"prefix":"{}"}}"#, if prefix { "always" } else { "never" });
            made.up = up;
            made
        });
        made.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_are_ones_that_clients_take_and_each_is_given_once(upstreams in any_upstreams()) {
        let mut seen = HashSet::new();
        for entry in shaped(upstreams).0 {
            let name = shown(&entry);
            prop_assert!((1..=64).contains(&name.len()), "{}", name);
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{}", name);
            prop_assert!(seen.insert((entry.kind, name)));
        }
    }

    #[test]
    fn every_thing_is_an_entry_or_a_warning_and_keeps_its_own_name(upstreams in any_upstreams()) {
        let listed: usize = upstreams.iter().map(|one| one.tools.len() + one.prompts.len()).sum();
        let own: HashSet<(String, String)> = upstreams
            .iter()
            .flat_map(|one| one.tools.iter().map(|tool| {
                let value: Value = serde_json::from_str(tool).unwrap();
                (one.name.clone(), value["name"].as_str().unwrap().to_owned())
            }))
            .collect();
        let (entries, warnings) = shaped(upstreams);
        prop_assert_eq!(entries.len() + warnings.len(), listed);
        for entry in &entries {
            let (upstream, name) = target(entry);
            prop_assert!(own.contains(&(upstream.to_owned(), name.to_owned())));
        }
    }

    #[test]
    fn names_do_not_depend_on_who_is_up_or_comes_later(upstreams in any_upstreams()) {
        let all = names(upstreams.clone());
        let away = upstreams.iter().cloned().map(|one| UpstreamView { up: !one.up, ..one }).collect();
        prop_assert_eq!(&all, &names(away));
        let mut fewer = upstreams;
        fewer.pop();
        let fewer = names(fewer);
        prop_assert_eq!(all.get(..fewer.len()), Some(fewer.as_slice()));
    }

    #[test]
    fn any_text_is_either_a_definition_or_a_warning(text in ".{0,40}", json in r#"\{"name":"[a-z\\"]{0,6}"[,:}a-z]{0,6}"#) {
        for definition in [text, json] {
            let mut one = upstream("u", &[]);
            one.tools = vec![definition.clone()];
            let (entries, warnings) = shaped(vec![one]);
            prop_assert_eq!(entries.len() + warnings.len(), 1);
            let object = serde_json::from_str::<Value>(&definition).ok();
            let named = object.and_then(|value| Some(!value.get("name")?.as_str()?.is_empty()));
            prop_assert!(entries.is_empty() || named == Some(true));
        }
    }
}
