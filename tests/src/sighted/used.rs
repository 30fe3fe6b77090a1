//! What a caller may use: everything is called.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::{Kind, Names, bare, shown::Shown};
use crate::rpc::Client;

/// Tools that need the name of another one: they are called about the first of these that may be used, which are always listed.
const ABOUT: [&str; 4] = ["hub_status", "find_tools", "unload_tools", "search_hub_tools"];

/// What of all there is is not refused to this caller. Whatever is called has to succeed where nobody refuses it.
pub async fn used(client: &Client, all: &Shown) -> Result<Names> {
    let mut used = Names::new();
    let (about, others): (Vec<_>, Vec<_>) = all
        .names()
        .into_iter()
        .partition(|(_, name)| matches!(name.as_str(), "load_tools" | "call_tool"));
    for (kind, name) in others {
        let is = match kind {
            Kind::Tool => runs(client, &name, harmless(all, &name)).await?,
            Kind::Prompt => {
                let params = json!({"name": name, "arguments": {"zone": "UTC"}});
                succeeds(client, "prompts/get", params).await?
            }
            Kind::Resource | Kind::Template => {
                let uri = name.replace("{zone}", "UTC");
                succeeds(client, "resources/read", json!({"uri": uri})).await?
            }
            Kind::Function => {
                let (via, own) = all.functions.get(&name).with_context(|| name.clone())?;
                runs(client, via, json!({"code": format!("{own}(1)")})).await?
            }
            Kind::Skill => {
                let via = all.skills.get(&name).with_context(|| name.clone())?;
                runs(client, via, json!({"skill_name": name})).await?
            }
            // After the functions that are called so.
            Kind::Step => {
                used.iter().any(|(of, known)| *of == Kind::Function && bare(known) == name)
            }
        };
        if is {
            used.insert((kind, name));
        }
    }
    let known = ABOUT.iter().find(|name| used.contains(&(Kind::Tool, (**name).to_owned())));
    for (kind, name) in about {
        let arguments = known.map(|known| match name.as_str() {
            "call_tool" => json!({"name": known, "arguments": harmless(all, known)}),
            _ => json!({"items": [known]}),
        });
        if runs(client, &name, arguments.unwrap_or_default()).await? {
            used.insert((kind, name));
        }
    }
    Ok(used)
}

/// Whether a request is answered by a result that is no refusal.
async fn succeeds(client: &Client, method: &str, params: Value) -> Result<bool> {
    let reply = client.call(method, params).await?;
    let result = reply.response()?.get("result");
    Ok(result.is_some_and(|result| result.get("isError") != Some(&json!(true))))
}

/// Whether a tool runs when it is called; where discovery is lazy, through `call_tool` or once it is loaded.
async fn runs(client: &Client, tool: &str, arguments: Value) -> Result<bool> {
    if called(client, tool, arguments.clone()).await? {
        return Ok(true);
    }
    let through = json!({"name": tool, "arguments": arguments.clone()});
    if called(client, "call_tool", through).await? {
        return Ok(true);
    }
    let items = json!({"items": [tool]});
    if !called(client, "load_tools", items.clone()).await? {
        return Ok(false);
    }
    let runs = called(client, tool, arguments).await?;
    called(client, "unload_tools", items).await?;
    Ok(runs)
}

async fn called(client: &Client, tool: &str, arguments: Value) -> Result<bool> {
    succeeds(client, "tools/call", json!({"name": tool, "arguments": arguments})).await
}

/// Arguments that the tool takes.
fn harmless(all: &Shown, tool: &str) -> Value {
    if tool == "find_tools" {
        return json!({"browse": true});
    }
    if tool == "unload_tools" {
        return json!({"items": ["no_such_tool"]});
    }
    let schema = all.schemas.get(tool);
    let said = |key: &str| schema.and_then(|schema| schema.get(key));
    let required = said("required").and_then(Value::as_array).into_iter().flatten();
    let mut arguments = Map::new();
    for name in required.filter_map(Value::as_str) {
        let r#type = said("properties").and_then(|all| all.get(name)?.get("type")?.as_str());
        let value = match r#type {
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(false),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("x"),
        };
        arguments.insert(name.to_owned(), value);
    }
    arguments.into()
}
