//! What the environment says about what clients see: `MCP_ENABLED_TOOLS` and its like, as servers made with agent-connector-sdk
//! read them. Each connector then has the policy `visibility`, for which they hold besides what the file says.

use serde_json::{Map, Value, json};

use super::findings::Findings;
use super::plugins::Plugins;
use crate::config::environment::Environment;
use crate::config::file::PluginUse;
use crate::config::key::KeyPath;
use crate::config::settings::{ConnectorSettings, PluginPlace};

/// The policy.
const POLICY: &str = "visibility";
/// Each variable, and where in the configuration of the policy it belongs.
const VARIABLES: [(&str, &str, &str); 4] = [
    ("MCP_ENABLED_TOOLS", "tools", "enabled"),
    ("MCP_DISABLED_TOOLS", "tools", "disabled"),
    ("MCP_ENABLED_TAGS", "tags", "enabled"),
    ("MCP_DISABLED_TAGS", "tags", "disabled"),
];
/// In this one `all` stands for no list.
const ENABLED_TOOLS: &str = "MCP_ENABLED_TOOLS";
/// Names in one variable.
const NAMES: usize = 256;
/// Characters of one name.
const NAME: usize = 128;

/// Gives every connector the policy, where the environment says anything.
pub(super) fn narrow(
    connectors: &mut [ConnectorSettings],
    environment: &Environment,
    plugins: &mut Plugins,
    findings: &mut Findings,
) {
    let Some((lists, variable)) = lists(environment, findings) else { return };
    if plugins.is_replaced(POLICY) {
        let sentence = format!(
            "the environment variable {variable} is for the plugin `{POLICY}` of plugway, but a file stands in its place"
        );
        let hint = "unset it, or give that plugin another name";
        return findings.problem(&KeyPath::top().key("plugins").key(POLICY), sentence, hint);
    }
    for connector in connectors {
        if let Some(place) = connector.policies.iter_mut().find(|own| &*own.plugin == POLICY) {
            join(place, &lists);
            continue;
        }
        let written = PluginUse { plugin: Some(POLICY.to_owned()), config: Some(lists.clone()) };
        let place = plugins.place(&written, &KeyPath::top(), findings);
        connector.policies.splice(0..0, place);
    }
}

/// What the variables say as a configuration of the policy, and the first of them; none where they say nothing.
fn lists(environment: &Environment, findings: &mut Findings) -> Option<(Value, &'static str)> {
    let mut lists = Map::new();
    let mut first = None;
    for (variable, about, list) in VARIABLES {
        let Some(value) = environment.get(variable) else { continue };
        match names(variable, value) {
            Ok(names) if names.is_empty() => {}
            Ok(names) => {
                let both = lists.entry(about).or_insert_with(|| json!({}));
                if let Some(both) = both.as_object_mut() {
                    both.insert(list.to_owned(), names.into());
                }
                first = first.or(Some(variable));
            }
            Err(wrong) => findings.problem(
                &KeyPath::top(),
                format!("the environment variable {variable} {wrong}"),
                "separate names by commas; `*` stands for any text, `?` for one character",
            ),
        }
    }
    Some((lists.into(), first?))
}

/// The names in a variable; none where it enables everything.
fn names(variable: &str, value: &str) -> Result<Vec<String>, String> {
    let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.is_empty() {
        return Err("names nothing".to_owned());
    }
    if names.len() > NAMES {
        return Err(format!("has more than {NAMES} names"));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-*?".contains(&byte);
    for name in &names {
        let is_name = name.len() <= NAME && name.bytes().all(plain);
        if !is_name {
            let shown: String = name.chars().take(NAME).collect();
            return Err(format!("has {shown:?}, which is no name"));
        }
        if name == "all" && variable != ENABLED_TOOLS {
            return Err("has `all`, which is no name here: write `*`".to_owned());
        }
    }
    // As for agent-connector-sdk: it is passed over.
    Ok(names.into_iter().filter(|name| name != "all").collect())
}

/// What is written holds, and these lists besides. What is no configuration of the policy is left for it to refuse.
fn join(place: &mut PluginPlace, lists: &Value) {
    let Ok(Value::Object(mut config)) = serde_json::from_str(&place.config) else { return };
    if let Value::Array(also) = config.entry("also").or_insert_with(|| json!([])) {
        also.push(lists.clone());
    }
    place.config = Value::from(config).to_string().into();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Environment::of(variables.iter().map(owned))
    }

    #[test]
    fn variables_are_lists_of_the_policy() {
        let mut findings = Findings::default();
        let mut of = |variables: &[(&str, &str)]| lists(&environment(variables), &mut findings);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("MCP_ENABLED_TOOLS", ""), ("MCP_ENABLED_PROMPTS", "a")]), None);
        assert_eq!(of(&[("MCP_ENABLED_TOOLS", "all")]), None);
        let (lists, first) = of(&[
            ("MCP_ENABLED_TOOLS", " clock_*, all,,notes_list "),
            ("MCP_DISABLED_TAGS", "admin"),
        ])
        .unwrap();
        assert_eq!(first, "MCP_ENABLED_TOOLS");
        let tools = json!({"enabled": ["clock_*", "notes_list"]});
        assert_eq!(lists, json!({"tools": tools, "tags": {"disabled": ["admin"]}}));
        assert!(findings.problems.is_empty());
    }

    #[test]
    fn what_is_no_list_is_refused_by_the_name_of_the_variable() {
        let long = "a".repeat(129);
        let many = vec!["a"; 257].join(",");
        for (value, part) in [
            (" , ", "names nothing"),
            ("a b", "has \"a b\", which is no name"),
            ("all", "write `*`"),
            (&long, "which is no name"),
            (&many, "more than 256 names"),
        ] {
            let mut findings = Findings::default();
            assert!(lists(&environment(&[("MCP_DISABLED_TOOLS", value)]), &mut findings).is_none());
            let said = &findings.problems[0].sentence;
            assert!(said.contains("MCP_DISABLED_TOOLS") && said.contains(part), "{said}");
        }
    }

    #[test]
    fn the_file_and_the_environment_both_hold() {
        let mut place =
            PluginPlace { plugin: POLICY.into(), config: r#"{"client_filters":false}"#.into() };
        join(&mut place, &json!({"tools": {"enabled": ["a"]}}));
        join(&mut place, &json!({"tags": {"enabled": ["b"]}}));
        let config: Value = serde_json::from_str(&place.config).unwrap();
        assert_eq!(
            config,
            json!({"client_filters": false, "also": [{"tools": {"enabled": ["a"]}}, {"tags": {"enabled": ["b"]}}]})
        );
    }
}
