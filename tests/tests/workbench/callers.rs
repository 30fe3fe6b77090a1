//! Who shares a kernel with whom, and whose credential servers see.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway,
    plugway::{Setup, command},
    scratch::Scratch,
    tokens::{self, ANN, ANN_TOO, BOB, auth_yaml, identified},
    wait,
    workbench::{CodeServer, Domain, Door, Driven, Mode, Speaks, Workbench},
};
use serde_json::{Value, json};

/// Known to plugway and to the servers, which take it for `ann-0123456789`.
const GOOD_ANN: &str = "good-ann-0123456789";
/// The same for `bob-0123456789`.
const GOOD_BOB: &str = "good-bob-0123456789";
/// Known to plugway, not to the servers.
const WRONG: &str = "wrong-eve-0123456789";

const SAID_WITHIN: Duration = Duration::from_secs(10);
const BACK_WITHIN: Duration = Duration::from_mins(1);

/// Writes the variable of one client, and says what it was.
async fn swap(
    client: &mut Driven,
    tool: &str,
    value: &str,
    session: Option<&str>,
) -> Result<Value> {
    let code = format!("print(globals().get('who'))\nwho = '{value}'");
    let said = client.json(tool, json!({"code": code, "execution_session_id": session})).await?;
    ensure!(said.get("success").is_some_and(|success| success == true), "{said}");
    Ok(said)
}

fn text<'a>(said: &'a Value, name: &str) -> Result<&'a str> {
    let text = said.get(name).and_then(Value::as_str);
    Ok(text.with_context(|| format!("no {name} in {said}"))?.trim())
}

/// Each client finds nothing at first, then what it wrote itself.
async fn keep_to_themselves(
    workbench: &Workbench,
    plugway: &Plugway,
    who: &[Option<&str>],
    tool: &str,
) -> Result<()> {
    let (mut sessions, mut clients) = (BTreeSet::new(), Vec::new());
    for (place, token) in who.iter().enumerate() {
        for speaks in [Speaks::LEGACY, Speaks::MODERN] {
            let mut client = workbench.client(speaks, &plugway.mcp_url(), *token).await?;
            let name = format!("{place} {}", speaks.is_modern);
            let said = swap(&mut client, tool, &name, None).await?;
            ensure!(text(&said, "stdout")? == "None", "{name} reads {said}");
            let session = text(&said, "session_id")?.to_owned();
            ensure!(sessions.insert(session.clone()), "{name} shares the session {session}");
            clients.push((client, name, session));
        }
    }
    for (client, name, session) in &mut clients {
        let session = client.speaks().is_modern.then_some(session.as_str());
        let said = swap(client, tool, name, session).await?;
        ensure!(text(&said, "stdout")? == name, "{name} reads {said}");
        if session.is_some() {
            // Without the server's own handle it is a stranger again.
            let said = swap(client, tool, name, None).await?;
            ensure!(text(&said, "stdout")? == "None", "{name} reads {said}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn peer_workbench_callers_share_no_kernel() -> Result<()> {
    let workbench = Workbench::find()?;
    let chem = workbench.server(Domain::Chem, Mode::Sync, Door::Open).await?;
    let upstreams = format!("upstreams: [{{name: chem, url: '{}'}}]\n", chem.url());
    let anonymous = Plugway::start(format!("name: hub\n{upstreams}")).await?;
    keep_to_themselves(&workbench, &anonymous, &[None, None], "execute_chem_code").await?;
    let setup = Setup::new(format!("name: hub\n{}{upstreams}", auth_yaml()));
    let known = identified(setup, &json!({})).start().await?;
    // Two clients of one caller are two as well.
    let who = [Some(ANN), Some(BOB), Some(ANN_TOO)];
    keep_to_themselves(&workbench, &known, &who, "execute_chem_code").await?;
    Ok(())
}

/// Two servers that let in whoever has a good token.
async fn strict(workbench: &Workbench) -> Result<(CodeServer, CodeServer)> {
    let chem = workbench.server(Domain::Chem, Mode::Sync, Door::Strict);
    let gis = workbench.server(Domain::Gis, Mode::Adaptive, Door::Strict);
    futures_util::future::try_join(chem, gis).await
}

/// One caller's session at a server, and whom the server takes the caller for.
async fn taken_for(client: &mut Driven, domain: Domain) -> Result<String> {
    let name = domain.name();
    let said = swap(client, &format!("execute_{name}_code"), "me", None).await?;
    let own = json!({"session_id": text(&said, "session_id")?});
    let info = client.json(&format!("{name}_get_session_info"), own).await?;
    let identity = info.pointer("/session/user_identity").and_then(Value::as_str);
    identity.map(str::to_owned).with_context(|| format!("{info}"))
}

#[tokio::test]
async fn peer_workbench_servers_that_validate_tokens_see_each_callers_own() -> Result<()> {
    let workbench = Workbench::find()?;
    let (chem, gis) = strict(&workbench).await?;
    // Catalogues are read with a credential of plugway's own.
    let upstream = |server: &CodeServer, name: &str| {
        let auth = "{mode: forward, own: env://OWN}";
        format!("- {{name: {name}, url: '{}', auth: {auth}}}\n", server.base())
    };
    let upstreams = format!("upstreams:\n{}{}", upstream(&chem, "chem"), upstream(&gis, "gis"));
    let own = |text: String| Setup::new(text).environment("OWN", "Bearer good-plugway-0123456789");
    let setup = own(format!("name: hub\n{}{upstreams}", auth_yaml()));
    let tokens = json!({
        (GOOD_ANN): {"client_id": "ann"},
        (GOOD_BOB): {"client_id": "bob"},
        (WRONG): {"client_id": "eve"},
    });
    let known = identified(setup, &tokens).start().await?;
    // Plugway identifies nobody here: the servers do.
    let passing = own(format!("form: agora\nname: hub\n{upstreams}")).start().await?;
    for (plugway, speaks) in
        [(&known, Speaks::LEGACY), (&known, Speaks::MODERN), (&passing, Speaks::MODERN)]
    {
        for (token, identity) in
            [(GOOD_ANN, "ann-0123456789@strict"), (GOOD_BOB, "bob-0123456789@strict")]
        {
            let mut client = workbench.client(speaks, &plugway.mcp_url(), Some(token)).await?;
            for domain in [Domain::Chem, Domain::Gis] {
                let seen = taken_for(&mut client, domain).await?;
                ensure!(seen == identity, "{speaks:?}: {domain:?} takes {token} for {seen}");
            }
        }
        let mut client = workbench.client(speaks, &plugway.mcp_url(), Some(WRONG)).await?;
        for name in ["chem", "gis"] {
            let tool = format!("execute_{name}_code");
            let refused = client.call(&tool, json!({"code": "1"})).await?.to_string();
            for part in [name, "your own credential"] {
                ensure!(refused.contains(part), "{speaks:?}: no `{part}` in {refused}");
            }
        }
    }
    for plugway in [known, passing] {
        let log = plugway.stderr().join("\n");
        for token in [GOOD_ANN, GOOD_BOB, WRONG] {
            ensure!(!log.contains(token), "a credential in the log");
        }
    }
    Ok(())
}

/// The form of a connector before both servers, as the reference prints it, with callers that plugway knows.
async fn printed(workbench: &Workbench, chem: &CodeServer, gis: &CodeServer) -> Result<String> {
    let upstreams = json!([
        {"name": "chem", "url": chem.base()}, {"name": "gis", "url": gis.base()},
    ]);
    let printed = workbench.printed(&json!({"name": "hub", "upstreams": upstreams})).await?;
    let mut form: Value = serde_json::from_str(&printed)?;
    form.as_object_mut().context("no object")?.insert("auth".to_owned(), tokens::auth());
    Ok(form.to_string())
}

/// A plugway that reads the environment alone.
async fn from_environment(variables: &[(&str, &str)]) -> Result<Plugway> {
    let scratch = Scratch::new()?;
    let mut command = command()?;
    command.args(["serve", "--log-format", "json"]).current_dir(scratch.path());
    command.envs(variables.iter().copied());
    let mut plugway = Plugway::of(command, scratch).await?;
    plugway.wait_until_ready().await?;
    Ok(plugway)
}

/// What a client sees of a server of this name.
fn of<'a>(names: &'a [String], server: &str) -> Vec<&'a String> {
    names.iter().filter(|name| name.split('_').any(|word| word == server)).collect()
}

/// Of a caller whom the servers do not know.
async fn sees_nothing(client: &mut Driven) -> Result<()> {
    let names = client.tool_names().await?;
    ensure!(of(&names, "chem").is_empty() && of(&names, "gis").is_empty(), "{names:?}");
    let refused = client.call("execute_chem_code", json!({"code": "1"})).await?.to_string();
    for part in ["chem", "your own credential"] {
        ensure!(refused.contains(part), "no `{part}` in {refused}");
    }
    let found = client.call("search_hub_tools", json!({"query": "parse a molecule"})).await?;
    ensure!(!found.to_string().contains("parse_molecule"), "{found}");
    Ok(())
}

#[tokio::test]
async fn peer_workbench_servers_that_validate_tokens_are_served_without_one_of_plugways_own()
-> Result<()> {
    let workbench = Workbench::find()?;
    let (mut chem, gis) = strict(&workbench).await?;
    let tokens = json!({
        (GOOD_ANN): {"client_id": "ann"},
        (GOOD_BOB): {"client_id": "bob"},
        (WRONG): {"client_id": "eve"},
    });
    let setup = Setup::new(printed(&workbench, &chem, &gis).await?);
    let known = identified(setup, &tokens).start().await?;
    // The environment of the reference's own connector: nobody is identified but by the servers.
    let passing = from_environment(&[
        ("UPSTREAM_CHEM_URL", &chem.base()),
        ("UPSTREAM_GIS_URL", &gis.base()),
        ("CONNECTOR_NAME", "hub"),
        ("CONNECTOR_PORT", "0"),
    ])
    .await?;
    for (plugway, speaks) in [
        (&known, Speaks::LEGACY),
        (&known, Speaks::MODERN),
        (&passing, Speaks::LEGACY),
        (&passing, Speaks::MODERN),
    ] {
        plugway.logged("what it offers is read for each caller", SAID_WITHIN).await?;
        for (token, identity) in
            [(GOOD_ANN, "ann-0123456789@strict"), (GOOD_BOB, "bob-0123456789@strict")]
        {
            let mut client = workbench.client(speaks, &plugway.mcp_url(), Some(token)).await?;
            let names = client.tool_names().await?;
            for domain in [Domain::Chem, Domain::Gis] {
                let seen = of(&names, domain.name());
                ensure!(seen.len() == 13, "{speaks:?}: {domain:?}: {seen:?}");
                let seen = taken_for(&mut client, domain).await?;
                ensure!(seen == identity, "{speaks:?}: {domain:?} takes {token} for {seen}");
            }
            let found =
                client.call("search_hub_tools", json!({"query": "parse a molecule"})).await?;
            ensure!(found.to_string().contains("parse_molecule"), "{speaks:?}: {found}");
        }
        let mut client = workbench.client(speaks, &plugway.mcp_url(), Some(WRONG)).await?;
        sees_nothing(&mut client).await?;
    }
    // It comes back, and is asked for the caller again.
    let mut client = workbench.client(Speaks::MODERN, &known.mcp_url(), Some(GOOD_ANN)).await?;
    chem.stop().await?;
    chem.start_again().await?;
    wait::until("the server is back", BACK_WITHIN, async || {
        let health = known.get("/health").await?.json()?;
        Ok((health["upstreams"]["chem"] == "connected").then_some(()))
    })
    .await?;
    ensure!(taken_for(&mut client, Domain::Chem).await? == "ann-0123456789@strict");
    for plugway in [known, passing] {
        let log = plugway.stderr().join("\n");
        for token in [GOOD_ANN, GOOD_BOB, WRONG] {
            ensure!(!log.contains(token), "a credential in the log");
        }
    }
    Ok(())
}
