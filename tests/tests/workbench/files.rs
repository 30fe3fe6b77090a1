//! Files that a server gives its user come through plugway.

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use plugway_tests::{
    Plugway,
    http::{Answer, send},
    plugway::Setup,
    tokens::{ANN, BOB, auth_yaml, identified},
    workbench::{CodeServer, Domain, Door, Driven, Mode, Speaks, Workbench, text_of},
};
use serde_json::json;

const FILE: &str =
    "with open(agora_output('table of values.csv'), 'w') as f:\n    f.write('a,b\\n1,2\\n')";

/// Makes a file and sends it to the user: its link, which is not the server's.
async fn sent(client: &mut Driven, server: &CodeServer) -> Result<String> {
    let made = client.json("execute_chem_code", json!({"code": FILE})).await?;
    ensure!(made.get("success").is_some_and(|success| success == true), "{made}");
    let what = json!({"data_ref": "table of values.csv", "to": "user"});
    let result = client.call("chem_send", what).await?;
    let text = text_of(&result)?;
    ensure!(!text.contains(&server.address().to_string()), "{text}");
    // Structured and plain are the same text, with the same link.
    let structured = result.pointer("/structuredContent/result").and_then(|text| text.as_str());
    ensure!(structured == Some(text), "{result}");
    let said: serde_json::Value = serde_json::from_str(text)?;
    let link = said.get("remote_uri").and_then(|link| link.as_str());
    link.map(str::to_owned).with_context(|| format!("no link in {said}"))
}

/// Follows a link of plugway's.
async fn fetched(plugway: &Plugway, link: &str, token: Option<&str>) -> Result<Answer> {
    let base = plugway.base_url();
    let path = link.strip_prefix(&base).with_context(|| format!("{link} is not at {base}"))?;
    let mut request = Request::get(path).header("host", plugway.address().to_string());
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    send(plugway.address(), request.body(Full::<Bytes>::default())?).await
}

#[tokio::test]
async fn peer_workbench_files_come_through_plugway() -> Result<()> {
    let workbench = Workbench::find()?;
    let chem = workbench.server(Domain::Chem, Mode::Sync, Door::Open).await?;
    let upstreams = format!("upstreams: [{{name: chem, url: '{}'}}]\n", chem.url());
    let setup = Setup::new(format!("name: hub\n{}{upstreams}", auth_yaml()));
    let known = identified(setup, &json!({})).start().await?;
    let anonymous = Plugway::start(format!("name: hub\n{upstreams}")).await?;
    for (plugway, token) in [(&known, Some(ANN)), (&anonymous, None)] {
        // Without a session the server finds no file: it looks in that of the call itself.
        for speaks in Speaks::ALL.into_iter().filter(|speaks| !speaks.is_modern) {
            let mut client = workbench.client(speaks, &plugway.mcp_url(), token).await?;
            let link = sent(&mut client, &chem).await?;
            let answer = fetched(plugway, &link, token).await?;
            ensure!(answer.status == 200 && answer.text() == "a,b\n1,2\n", "{answer:?}");
            let disposition = answer.header("content-disposition").unwrap_or_default();
            ensure!(disposition.starts_with("attachment"), "{answer:?}");
            ensure!(answer.header("x-content-type-options") == Some("nosniff"), "{answer:?}");
            ensure!(answer.header("cache-control") == Some("no-store"), "{answer:?}");
            let other = link.replace("/artifacts/", "/artifacts/0");
            let other = fetched(plugway, &other, token).await?;
            ensure!(other.status == 404, "{other:?}");
            if token.is_some() {
                let foreign = fetched(plugway, &link, Some(BOB)).await?;
                ensure!(foreign.status == 404, "{foreign:?}");
                let nobody = fetched(plugway, &link, None).await?;
                ensure!(matches!(nobody.status, 401 | 404), "{nobody:?}");
            }
        }
    }
    Ok(())
}
