//! How a caller asks about sessions, jobs and batches, by whichever names and ways a connector offers that.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway,
    code_server::CodeServer,
    rpc::Client,
    tokens::{ANN, BOB},
};
use serde_json::{Value, json};

/// Ids that no server ever gave, each of another form.
pub(crate) const NOBODYS: [&str; 3] =
    ["00000000-0000-4000-a000-000000000000", "never given", "j_000000000000"];

/// How the tools of the server are called at a connector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// What stands before each name.
    pub(crate) before: &'static str,
    /// The server's name in them.
    pub(crate) server: &'static str,
    /// Whether they are called through `call_tool`.
    pub(crate) lazily: bool,
}

/// The server is `lab` here, whatever it calls itself.
const LAB: Way = Way { before: "", server: "lab", lazily: false };

/// A client, and how it calls tools. Their names are written as they are in [`LAB`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking<'a> {
    client: &'a Client,
    way: Way,
}

impl<'a> From<&'a Client> for Asking<'a> {
    fn from(client: &'a Client) -> Self {
        Self { client, way: LAB }
    }
}

impl Asking<'_> {
    async fn call(self, tool: &str, arguments: Value) -> Result<Value> {
        let Way { before, server, lazily } = self.way;
        let name = [before, &tool.replace("lab", server)].concat();
        if lazily {
            let call = json!({"name": name, "arguments": arguments});
            return self.client.call_tool("call_tool", call).await;
        }
        self.client.call_tool(&name, arguments).await
    }
}

/// The text of a tool's result, which structured content repeats where there is any.
pub(crate) async fn text(
    asking: impl Into<Asking<'_>>,
    tool: &str,
    arguments: Value,
) -> Result<String> {
    let result = asking.into().call(tool, arguments).await?;
    let text =
        result["content"][0]["text"].as_str().with_context(|| format!("{tool}: {result}"))?;
    let repeated = &result["structuredContent"]["result"];
    ensure!(repeated.is_null() || repeated == text, "{result}");
    Ok(text.to_owned())
}

/// The same as JSON.
pub(crate) async fn told(
    asking: impl Into<Asking<'_>>,
    tool: &str,
    arguments: Value,
) -> Result<Value> {
    let text = text(asking, tool, arguments).await?;
    serde_json::from_str(&text).with_context(|| format!("{tool}: {text}"))
}

/// Runs code and gives the id of its session, in whichever one it runs.
pub(crate) async fn run(
    asking: impl Into<Asking<'_>>,
    code: &str,
    session: Option<&str>,
) -> Result<String> {
    let told =
        told(asking, "execute_lab_code", json!({"code": code, "execution_session_id": session}))
            .await?;
    Ok(told["session_id"].as_str().with_context(|| told.to_string())?.to_owned())
}

/// The ids of all sessions that a caller is shown.
pub(crate) async fn listed(asking: impl Into<Asking<'_>>) -> Result<Vec<String>> {
    let list = told(asking, "lab_list_sessions", json!({})).await?;
    let sessions = list["sessions"].as_array().context("no list")?;
    ensure!(list["count"] == sessions.len(), "{list}");
    Ok(sessions.iter().filter_map(|one| one["session_id"].as_str()).map(str::to_owned).collect())
}

/// Calls with which somebody else's session could be used, looked into or ended.
fn uses(id: &str) -> [(&'static str, Value); 5] {
    [
        ("execute_lab_code", json!({"code": "get", "execution_session_id": id})),
        ("lab_inspect_session", json!({"session_id": id})),
        ("lab_get_session_info", json!({"session_id": id})),
        ("lab_close_session", json!({"session_id": id})),
        ("lab_send", json!({"data_ref": "x", "to": "gis", "session_id": id})),
    ]
}

/// The session is to this caller what one is that nobody ever had, and the server hears nothing of it.
pub(crate) async fn unknown_to(
    asking: impl Into<Asking<'_>>,
    server: &CodeServer,
    id: &str,
) -> Result<()> {
    let asking = asking.into();
    server.asked();
    let own = listed(asking).await?.len();
    for nobodys in NOBODYS {
        for ((tool, arguments), (_, others)) in uses(id).into_iter().zip(uses(nobodys)) {
            let about_it = text(asking, tool, arguments).await?;
            let about_none = text(asking, tool, others).await?;
            ensure!(about_it == about_none.replace(nobodys, id), "{tool}: {about_it} {about_none}");
            ensure!(about_it.contains(id), "{tool}: {about_it}");
            let counted = ["Active sessions: ", "\"remaining_sessions\": "];
            let number = counted.iter().find_map(|words| about_it.split_once(words));
            if let Some((_, rest)) = number {
                ensure!(rest.starts_with(&own.to_string()), "{tool}: {about_it}");
            }
        }
    }
    ensure!(!listed(asking).await?.contains(&id.to_owned()));
    let asked = server.asked();
    ensure!(!asked.is_empty() && !asked.contains(&id.to_owned()), "{asked:?}");
    ensure!(!NOBODYS.iter().any(|nobodys| asked.contains(&(*nobodys).to_owned())), "{asked:?}");
    Ok(())
}

/// Two callers whom the connector identifies have their own, in both eras, whichever way they ask.
pub(crate) async fn told_apart(plugway: &Plugway, server: &CodeServer, way: Way) -> Result<()> {
    let address = plugway.address();
    let modern = |token| Client::modern_as(address, "/mcp", token);
    let legacy = |token| Client::legacy_as(address, "/mcp", token);
    for (ann, bob) in [(modern(ANN), modern(BOB)), (legacy(ANN).await?, legacy(BOB).await?)] {
        let (ann, bob) = (Asking { client: &ann, way }, Asking { client: &bob, way });
        let session = opened(ann, "set 42").await?;
        let of_bob = opened(bob, "set 7").await?;
        unknown_to(bob, server, &session).await?;
        unknown_to(ann, server, &of_bob).await?;
        ensure!(listed(bob).await?.contains(&of_bob));
        started(ann, bob, server).await?;
        used(ann, server, &session).await?;
        unknown_to(ann, server, &session).await?;
    }
    Ok(())
}

/// The id of a new session in which this code ran. Where a connector between takes all for one caller, the server may give
/// them one session as long as they name none.
async fn opened(asking: Asking<'_>, code: &str) -> Result<String> {
    let batch = json!({"code": "get", "inputs": [{}]});
    let batch = told(asking, "lab_parallel_execute", batch).await?;
    let session = batch["jobs"][0]["session_id"].as_str().context("no session")?;
    ensure!(run(asking, code, Some(session)).await? == session);
    Ok(session.to_owned())
}

/// A job and a batch are the one's and not the other's.
async fn started(ann: Asking<'_>, bob: Asking<'_>, server: &CodeServer) -> Result<()> {
    let job = told(ann, "execute_lab_code", json!({"code": "job"})).await?;
    let batch = told(ann, "lab_parallel_execute", json!({"code": "get", "inputs": [{}]})).await?;
    for (tool, key, id, sentence) in [
        ("lab_check_job", "job_id", &job["job_id"], "Job {} not found"),
        ("lab_check_job", "job_id", &batch["jobs"][0]["job_id"], "Job {} not found"),
        ("lab_check_batch", "batch_id", &batch["batch_id"], "404: Batch '{}' not found"),
        ("lab_cancel_batch", "batch_id", &batch["batch_id"], "404: Batch '{}' not found"),
    ] {
        let id = id.as_str().context("no id")?;
        server.asked();
        let refused = told(bob, tool, json!({key: id})).await?;
        let sentence = sentence.replace("{}", id);
        ensure!(refused == json!({"success": false, "error": sentence}), "{tool}: {refused}");
        ensure!(!server.asked().contains(&id.to_owned()), "{tool}");
        let given = told(ann, tool, json!({key: id})).await?;
        ensure!(given[key] == id, "{tool}: {given}");
        ensure!(server.asked().contains(&id.to_owned()), "{tool}");
    }
    Ok(())
}

/// Its owner uses a session in every way, and then ends it.
async fn used(ann: Asking<'_>, server: &CodeServer, session: &str) -> Result<()> {
    ensure!(run(ann, "get", Some(session)).await? == session);
    for tool in ["lab_inspect_session", "lab_get_session_info"] {
        let seen = told(ann, tool, json!({"session_id": session})).await?;
        ensure!(seen["namespace"]["x"] == "42", "{tool}: {seen}");
    }
    server.asked();
    let send = json!({"data_ref": "x", "to": "gis", "session_id": session});
    told(ann, "lab_send", send).await?;
    ensure!(server.asked() == [session], "the server was not asked about what it gave");
    let own = listed(ann).await?;
    ensure!(own.contains(&session.to_owned()), "{own:?}");
    let closed = told(ann, "lab_close_session", json!({"session_id": session})).await?;
    ensure!(closed["success"] == true && closed["remaining_sessions"] == own.len() - 1, "{closed}");
    ensure!(!listed(ann).await?.contains(&session.to_owned()));
    Ok(())
}
