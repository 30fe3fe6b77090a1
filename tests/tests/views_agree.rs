//! Whatever policies decide, what a caller is shown anywhere is what it may use: for two callers, in both eras, with all tools
//! listed or discovered lazily, before and after the policy changes in the middle of their sessions.
//!
//! A policy more is a line more: its name, what it is at first, and what it becomes. Callers with the scope `read` see all,
//! but for policies that treat everybody alike.

#![expect(clippy::indexing_slicing, reason = "a member of a JSON value is made where it is not")]

use anyhow::{Context as _, Result, ensure};
use plugway_tests::coder::function;
use plugway_tests::plugway::Setup;
use plugway_tests::sighted::{Kind, Names, Shown, Who, agree, applied};
use plugway_tests::tokens::{ANN, BOB, auth, identified};
use plugway_tests::{Coder, DemoHttp, Dice, Guest, Hub, Plugway};
use serde_json::{Value, json};

type Policies = fn(Hub) -> Hub;

/// How many gateways are thrown with dice, in each way of discovery.
const THROWN: u64 = 6;

macro_rules! agree {
    ($everywhere:ident { $($name:ident: $before:expr => $after:expr;)+ }) => {
        $(
            #[tokio::test]
            async fn $name() -> Result<()> {
                $everywhere($before, $after).await
            }
        )+
    };
}

agree! {
    everywhere {
        nothing_is_hidden_and_then_functions: |hub| hub
            => |hub| functions(hub, &["chem.parse", "bio.align"]);
        functions_of_one_server_and_then_of_the_other: |hub| functions(hub, &["chem.*"])
            => |hub| functions(hub, &["bio.parse"]);
        every_function_and_then_none: |hub| functions(hub, &["*"])
            => |hub| hub;
        tools_prompts_and_resources: |hub| things(hub, &["clock_add", "execute_bio_code", "clock://zone*"])
            => |hub| things(hub, &["clock_ask_time", "clock://zones", "load_chem_skill", "chem_check_job"]);
        a_whole_server_and_then_another: |hub| things(hub, &["clock_*", "clock://*"])
            => |hub| things(hub, &["*_chem_*", "chem_*"]);
        tools_of_the_connector_itself: |hub| things(hub, &["search_hub_tools", "hub_status", "plugway://hub/status", "plugway://hub/catalog", "find_tools"])
            => |hub| things(hub, &["plan_hub_workflow", "load_hub_skill", "plugway://hub/status", "unload_tools"]);
        two_policies_at_once: |hub| functions(things(hub, &["clock_echo", "load_bio_skill"]), &["*.parse"])
            => |hub| things(functions(hub, &["bio.*"]), &["execute_chem_code"]);
        policies_that_come_and_go: |hub| things(hub, &["clock_now"])
            => |hub| functions(hub, &["chem.compute"]);
        rules_of_a_gateway: |hub| rules(hub, &json!([{"tool": ["add", "execute_bio_code"]}]))
            => |hub| rules(hub, &json!([{"kind": "prompt"}, {"upstream": "chem"}, {"tool": ["echo", "search_tools"]}]));
        rules_about_kinds_and_short_names: |hub| rules(hub, &json!([{"kind": "resource"}, {"tool": ["plan_workflow", "load_skill"]}]))
            => |hub| rules(hub, &json!([{"kind": "tool", "upstream": "?io"}, {"tool": ["search_tools", "check_job"]}]));
        a_gateway_that_lets_nothing_pass_but_what_a_rule_allows: |hub| hub.bundled("gateway", allowing(&["clock_*", "execute_chem_code"]))
            => |hub| hub.bundled("gateway", allowing(&["execute_code", "check_job", "search_tools", "load_skill"]));
        rules_and_another_policy: |hub| functions(rules(hub, &json!([{"tool": "now"}, {"upstream": "bio"}])), &["chem.compute"])
            => |hub| rules(things(hub, &["clock_add", "clock://zone*"]), &json!([{"kind": "prompt"}, {"tool": "execute_chem_code"}]));
    }
}

agree! {
    everywhere_alike {
        lists_of_a_gateway: |hub| hub.bundled("gateway", json!({"blocked_tools": ["compute", "add"], "blocked_prompts": ["ask_time"]}))
            => |hub| hub.bundled("gateway", json!({"allowed_tools": ["parse"], "blocked_resources": ["clock://zone*"]}));
        short_names_in_lists: |hub| hub.bundled("gateway", json!({"blocked_tools": ["load_skill", "check_job"], "allowed_prompts": ["none"]}))
            => |hub| hub.bundled("gateway", json!({"allowed_tools": ["execute_code", "now"], "allowed_resources": ["clock://zones"]}));
        what_the_connector_offers_in_lists: |hub| hub.bundled("gateway", json!({"blocked_tools": ["search_tools", "hub_status"], "blocked_resources": ["plugway://hub/status"]}))
            => |hub| hub.bundled("gateway", json!({"blocked_tools": ["plan_*", "align"], "blocked_resources": ["plugway://hub/catalog"]}));
        lists_of_visibility: |hub| hub.bundled("visibility", json!({"tools": {"disabled": ["clock_add", "execute_bio_code"]}, "prompts": {"disabled": ["*"]}}))
            => |hub| hub.bundled("visibility", json!({"tools": {"disabled": ["load_*", "clock_now"]}, "resources": {"enabled": ["clock://zones"]}}));
        functions_in_lists_of_visibility: |hub| hub.bundled("visibility", json!({"tools": {"disabled": ["compute"]}}))
            => |hub| hub.bundled("visibility", json!({"tools": {"enabled": ["execute_chem_code", "parse", "clock_*"]}}));
        lists_of_both: |hub| hub.bundled("visibility", json!({"tools": {"disabled": ["clock_echo"]}})).bundled("gateway", json!({"blocked_tools": ["parse", "now"]}))
            => |hub| hub.bundled("gateway", json!({"allowed_tools": ["align", "echo"]})).bundled("visibility", json!({"tools": {"disabled": ["execute_chem_code"]}}));
    }
}

/// With a policy that hides these functions from callers without the scope `read`.
fn functions(hub: Hub, hide: &[&str]) -> Hub {
    hub.policy(Guest::new("hides_functions").config(json!({"hide": hide, "scope": "read"})))
}

/// With a policy that hides tools, prompts and resources of these names from callers without the scope `read`.
fn things(hub: Hub, hide: &[&str]) -> Hub {
    hub.policy(Guest::new("visibility_by_scope").config(json!({"hide": hide, "scope": "read"})))
}

/// With a gateway that denies callers without the scope `read` whatever one of these conditions is about.
fn rules(hub: Hub, conditions: &Value) -> Hub {
    hub.bundled("gateway", json!({"rules": denying(conditions)}))
}

fn denying(conditions: &Value) -> Vec<Value> {
    let mut rules = Vec::new();
    for mut when in conditions.as_array().cloned().unwrap_or_default() {
        when["not"] = json!({"scope": "read"});
        rules.push(json!({"when": when, "do": "deny"}));
    }
    rules
}

/// A gateway that allows callers with the scope `read` everything, and others these tools, some of the connector itself, and
/// what is no tool.
fn allowing(tools: &[&str]) -> Value {
    let found = ["find_tools", "load_tools", "unload_tools", "call_tool", "hub_status"];
    let tools = [tools, &found].concat();
    let rules = json!([
        {"when": {"scope": "read"}, "do": "allow"},
        {"when": {"tool": tools}, "do": "allow"},
        {"when": {"kind": ["prompt", "resource"]}, "do": "allow"},
    ]);
    json!({"default": "deny", "rules": rules})
}

/// Two servers that run code, which have a function of the same name, and one that does not.
struct Servers {
    chem: Coder,
    bio: Coder,
    clock: DemoHttp,
}

impl Servers {
    async fn start() -> Result<Self> {
        let chem = [
            function("parse", "Reads a molecule", &[], &["chem.parsed"]),
            function("compute", "Computes descriptors", &["chem.parsed"], &["chem.done"]),
        ];
        let bio = [
            function("parse", "Reads a sequence", &[], &["bio.parsed"]),
            function("align", "Aligns sequences", &["bio.parsed"], &["bio.aligned"]),
        ];
        Ok(Self {
            chem: Coder::start("chem", &chem).await?,
            bio: Coder::start("bio", &bio).await?,
            clock: DemoHttp::start(&[]).await?,
        })
    }

    fn setup(&self, discovery: &Value, policies: impl Fn(Hub) -> Hub) -> Result<Setup> {
        let hub = Hub::new("hub")
            .router_config(&json!({"unified_tools": true}))
            .upstream("chem", &self.chem.url())
            .upstream("bio", &self.bio.url())
            .upstream("clock", self.clock.url())
            .key("discovery", discovery.clone())
            .top("auth", auth());
        Ok(identified(policies(hub).setup()?, &json!({})))
    }

    /// All there is.
    async fn everything(&self, discovery: &Value) -> Result<Shown> {
        let open = self.setup(discovery, |hub| hub)?.start().await?;
        let all = Who::of(&open, ANN).await?.everything(&open).await?;
        ensure!(all.names().len() > 20, "{:?}", all.names());
        Ok(all)
    }
}

/// Where tools are listed, and where they are discovered lazily.
fn ways() -> [Value; 2] {
    [json!("eager"), json!({"mode": "lazy", "residents": ["clock_echo"]})]
}

async fn everywhere(before: Policies, after: Policies) -> Result<()> {
    let [eager, lazy] = &ways();
    let listed = agree_before_and_after(eager, (before, after), false);
    let found = agree_before_and_after(lazy, (before, after), false);
    tokio::try_join!(listed, found).map(drop)
}

/// The same for policies that treat all callers alike.
async fn everywhere_alike(before: Policies, after: Policies) -> Result<()> {
    let [eager, lazy] = &ways();
    let listed = agree_before_and_after(eager, (before, after), true);
    let found = agree_before_and_after(lazy, (before, after), true);
    tokio::try_join!(listed, found).map(drop)
}

async fn agree_before_and_after(
    discovery: &Value,
    (before, after): (Policies, Policies),
    alike: bool,
) -> Result<()> {
    let servers = Servers::start().await?;
    let (before, after) = (servers.setup(discovery, before)?, servers.setup(discovery, after)?);
    let all = servers.everything(discovery).await?;

    let plugway = before.start().await?;
    let (ann, bob) = (Who::of(&plugway, ANN).await?, Who::of(&plugway, BOB).await?);
    let first = agree(&plugway, &all, &bob).await.context("at first")?;
    ann_sees(&plugway, &all, &ann, alike.then_some(&first)).await?;
    applied(&plugway, &after).await?;
    let then: Names = agree(&plugway, &all, &bob).await.context("after the change")?;
    ensure!(first != then, "the change has to change something: {first:?}");
    ann_sees(&plugway, &all, &ann, alike.then_some(&then)).await
}

/// She may use these; none = all there is.
async fn ann_sees(plugway: &Plugway, all: &Shown, ann: &Who, wanted: Option<&Names>) -> Result<()> {
    let sees = agree(plugway, all, ann).await?;
    let all = all.names();
    let wanted = wanted.unwrap_or(&all);
    ensure!(sees == *wanted, "ann may use {sees:?} and not {wanted:?}");
    Ok(())
}

/// Some of the names of these kinds, as lists of a gateway name them.
fn some(dice: &mut Dice, all: &Names, kinds: &[Kind]) -> Vec<String> {
    // Where nothing can be loaded nor called through another tool, what is found cannot be used. The name of the last is that
    // of a resource, too.
    let ways = ["find_tools", "load_tools", "unload_tools", "call_tool", "hub_status"];
    let is_way = |name: &str| ways.contains(&name);
    let names = all.iter().filter(|(kind, name)| kinds.contains(kind) && !is_way(name));
    let named = |(kind, name): &(Kind, String)| match kind {
        Kind::Function => name.split_once('.').map_or(name.clone(), |(_, bare)| bare.to_owned()),
        // The URIs that it stands for, or its own.
        Kind::Template if dice.below(2) == 0 => name.replace("{zone}", "*"),
        _ => name.clone(),
    };
    let names: Vec<String> = names.map(named).collect();
    (0..=dice.below(4)).filter_map(|_| names.get(dice.below(names.len())).cloned()).collect()
}

/// A gateway as the dice fall.
fn thrown(dice: &mut Dice, all: &Names) -> Value {
    let mut config = json!({});
    for (sort, kinds) in [
        ("tools", &[Kind::Tool, Kind::Function][..]),
        ("prompts", &[Kind::Prompt]),
        ("resources", &[Kind::Resource, Kind::Template]),
    ] {
        let key = dice.of(&["blocked", "blocked", "allowed", ""]);
        if !key.is_empty() {
            config[format!("{key}_{sort}")] = json!(some(dice, all, kinds));
        }
    }
    let mut conditions = Vec::new();
    for _ in 0..dice.below(3) {
        conditions.push(match dice.below(3) {
            0 => json!({"upstream": dice.of(&["chem", "bio", "clock"])}),
            1 => json!({"kind": dice.of(&["prompt", "resource"])}),
            _ => json!({"tool": some(dice, all, &[Kind::Tool])}),
        });
    }
    config["rules"] = json!(denying(&json!(conditions)));
    config
}

/// In one session, with one gateway after the other.
async fn agree_with_all_that_are_thrown(discovery: &Value) -> Result<()> {
    let servers = Servers::start().await?;
    let all = servers.everything(discovery).await?;
    let plugway = servers.setup(discovery, |hub| hub)?.start().await?;
    let callers = [Who::of(&plugway, ANN).await?, Who::of(&plugway, BOB).await?];
    let mut hid = 0;
    for seed in 1..=THROWN {
        let config = thrown(&mut Dice::new(seed), &all.names());
        let about = || format!("seed {seed}, discovery {discovery}: {config}");
        let setup = servers.setup(discovery, |hub| hub.bundled("gateway", config.clone()))?;
        applied(&plugway, &setup).await.with_context(about)?;
        for caller in &callers {
            let used = agree(&plugway, &all, caller).await.with_context(about)?;
            hid += usize::from(used != all.names());
        }
    }
    ensure!(hid >= callers.len(), "these dice hide nothing");
    Ok(())
}

#[tokio::test]
async fn whatever_a_gateway_is_made_of() -> Result<()> {
    let [eager, _] = &ways();
    agree_with_all_that_are_thrown(eager).await
}

#[tokio::test]
async fn whatever_a_gateway_is_made_of_where_tools_are_found_lazily() -> Result<()> {
    let [_, lazy] = &ways();
    agree_with_all_that_are_thrown(lazy).await
}
