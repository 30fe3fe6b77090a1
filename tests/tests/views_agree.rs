//! Whatever policies decide, what a caller is shown anywhere is what it may use: for two callers, in both eras, with all tools
//! listed or discovered lazily, before and after the policy changes in the middle of their sessions.
//!
//! A policy more is a line more: its name, what it is at first, and what it becomes. Callers with the scope `read` see all.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::coder::function;
use plugway_tests::plugway::Setup;
use plugway_tests::sighted::{Names, Who, agree, applied};
use plugway_tests::tokens::{ANN, BOB, auth, identified};
use plugway_tests::{Coder, DemoHttp, Guest, Hub};
use serde_json::{Value, json};

type Policies = fn(Hub) -> Hub;

macro_rules! agree {
    ($($name:ident: $before:expr => $after:expr;)+) => {
        $(
            #[tokio::test]
            async fn $name() -> Result<()> {
                everywhere($before, $after).await
            }
        )+
    };
}

agree! {
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
}

/// With a policy that hides these functions from callers without the scope `read`.
fn functions(hub: Hub, hide: &[&str]) -> Hub {
    hub.policy(Guest::new("hides_functions").config(json!({"hide": hide, "scope": "read"})))
}

/// With a policy that hides tools, prompts and resources of these names from callers without the scope `read`.
fn things(hub: Hub, hide: &[&str]) -> Hub {
    hub.policy(Guest::new("visibility_by_scope").config(json!({"hide": hide, "scope": "read"})))
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

    fn setup(&self, discovery: &Value, policies: Policies) -> Result<Setup> {
        let hub = Hub::new("hub")
            .router_config(&json!({"unified_tools": true}))
            .upstream("chem", &self.chem.url())
            .upstream("bio", &self.bio.url())
            .upstream("clock", self.clock.url())
            .key("discovery", discovery.clone())
            .top("auth", auth());
        Ok(identified(policies(hub).setup()?, &json!({})))
    }
}

async fn everywhere(before: Policies, after: Policies) -> Result<()> {
    let (eager, lazy) = (json!("eager"), json!({"mode": "lazy", "residents": ["clock_echo"]}));
    let listed = agree_before_and_after(&eager, (before, after));
    let found = agree_before_and_after(&lazy, (before, after));
    tokio::try_join!(listed, found).map(drop)
}

async fn agree_before_and_after(discovery: &Value, policies: (Policies, Policies)) -> Result<()> {
    let servers = Servers::start().await?;
    let (before, after) = policies;
    let (before, after) = (servers.setup(discovery, before)?, servers.setup(discovery, after)?);
    let open = servers.setup(discovery, |hub| hub)?.start().await?;
    let all = Who::of(&open, ANN).await?.everything(&open).await?;
    drop(open);
    ensure!(all.names().len() > 20, "{:?}", all.names());

    let plugway = before.start().await?;
    let (ann, bob) = (Who::of(&plugway, ANN).await?, Who::of(&plugway, BOB).await?);
    let first = agree(&plugway, &all, &bob).await.context("at first")?;
    ensure!(agree(&plugway, &all, &ann).await? == all.names(), "nothing is hidden from ann");
    applied(&plugway, &after).await?;
    let then: Names = agree(&plugway, &all, &bob).await.context("after the change")?;
    ensure!(first != then, "the change has to change something: {first:?}");
    ensure!(agree(&plugway, &all, &ann).await? == all.names(), "nothing is hidden from ann");
    Ok(())
}
