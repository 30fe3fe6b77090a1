//! Every place where a caller is shown names.

use std::collections::BTreeMap;

use ::http::Request;
use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http_body_util::Full;
use serde_json::{Value, json};

use super::{Kind, Names};
use crate::{Plugway, http, rpc::Client};

/// Pages of one list that are read.
const PAGES: usize = 100;

/// One place.
#[derive(Debug, Default)]
pub struct Place {
    /// What has to be used for it, if anything.
    pub gate: Option<(Kind, String)>,
    /// What it shows.
    pub names: Names,
}

/// All that a caller was shown.
#[derive(Debug, Default)]
pub struct Shown {
    /// The places.
    pub places: BTreeMap<&'static str, Place>,
    /// Everything that was said, each with where.
    pub said: Vec<(&'static str, String)>,
    /// Schemas of the arguments of tools.
    pub schemas: BTreeMap<String, Value>,
    /// For each function the tool that runs it, and its name in the code.
    pub functions: BTreeMap<String, (String, String)>,
    /// For each skill the tool of its server that loads it.
    pub skills: BTreeMap<String, String>,
}

impl Shown {
    /// Everything, wherever it is shown.
    pub fn names(&self) -> Names {
        self.places.values().flat_map(|place| place.names.iter().cloned()).collect()
    }

    fn place(&mut self, place: &'static str, gate: Option<(Kind, &str)>, names: Names) {
        let gate = gate.map(|(kind, name)| (kind, name.to_owned()));
        self.places.insert(place, Place { gate, names });
    }
}

/// Asks everywhere; `known` are names that there are, some of which may be hidden.
pub async fn shown(
    plugway: &Plugway,
    client: &Client,
    token: &str,
    known: &Names,
) -> Result<Shown> {
    let mut asking = Asking { client, shown: Shown::default() };
    asking.lists().await?;
    asking.completion(known).await?;
    asking.status().await?;
    asking.search().await?;
    asking.find().await?;
    asking.wrong().await?;
    asking.catalog(plugway, token).await?;
    // What a new session is greeted with.
    let session = Client::legacy_as(plugway.address(), "/mcp", token).await?;
    let greeting = session.initialized().map(Value::to_string).unwrap_or_default();
    asking.shown.said.push(("initialize", greeting));
    Ok(asking.shown)
}

struct Asking<'a> {
    client: &'a Client,
    shown: Shown,
}

fn each<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

fn named<S: Into<String>>(kind: Kind, names: impl Iterator<Item = S>) -> Names {
    names.map(|name| (kind, name.into())).collect()
}

impl Asking<'_> {
    /// The result of a request; none where it is refused.
    async fn ask(
        &mut self,
        place: &'static str,
        method: &str,
        params: Value,
    ) -> Result<Option<Value>> {
        let asked = ["name", "uri"].iter().find_map(|key| text(&params, key)).map(str::to_owned);
        let reply = self.client.call(method, params).await?;
        let result = reply.response()?.get("result");
        let result = result.filter(|result| result.get("isError") != Some(&json!(true)));
        let mut said = reply.text.clone();
        if let (None, Some(asked)) = (result, asked) {
            // What was asked about is said again.
            said = said.replace(&asked, "");
        }
        self.shown.said.push((place, said));
        Ok(result.cloned())
    }

    /// The JSON that a tool of plugway's answers with; none where it is refused.
    async fn tool(
        &mut self,
        place: &'static str,
        name: &str,
        arguments: Value,
    ) -> Result<Option<Value>> {
        let params = json!({"name": name, "arguments": arguments});
        let Some(result) = self.ask(place, "tools/call", params).await? else { return Ok(None) };
        let text = result.pointer("/content/0/text").and_then(Value::as_str);
        let text = text.with_context(|| format!("{name} answers {result}"))?;
        Ok(Some(serde_json::from_str(text).with_context(|| text.to_owned())?))
    }

    async fn lists(&mut self) -> Result<()> {
        for (place, member, key, kind) in [
            ("tools/list", "tools", "name", Kind::Tool),
            ("prompts/list", "prompts", "name", Kind::Prompt),
            ("resources/list", "resources", "uri", Kind::Resource),
            ("resources/templates/list", "resourceTemplates", "uriTemplate", Kind::Template),
        ] {
            let (mut names, mut params) = (Names::new(), json!({}));
            for page in 0.. {
                ensure!(page < PAGES, "{place} has no end");
                let result = self.ask(place, place, params).await?.context(place)?;
                names.extend(named(kind, each(&result, member).filter_map(|one| text(one, key))));
                if kind == Kind::Tool {
                    self.keep_schemas(&result, member, "inputSchema");
                }
                let Some(cursor) = result.get("nextCursor") else { break };
                params = json!({"cursor": cursor});
            }
            self.shown.place(place, None, names);
        }
        Ok(())
    }

    fn keep_schemas(&mut self, result: &Value, member: &str, key: &str) {
        let schemas = each(result, member).filter_map(|tool| {
            Some((text(tool, "name")?.to_owned(), tool.get(key).cloned().unwrap_or_default()))
        });
        self.shown.schemas.extend(schemas);
    }

    async fn completion(&mut self, known: &Names) -> Result<()> {
        let place = "completion/complete";
        let mut names = self.shown.places.get("prompts/list").map(|place| place.names.clone());
        let prompts = known.iter().filter(|(kind, _)| *kind == Kind::Prompt);
        let (mut shown, names) = (Names::new(), names.get_or_insert_default());
        names.extend(prompts.cloned());
        for (_, name) in names.iter() {
            let params = json!({
                "ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "zone", "value": ""},
            });
            let reply = self.client.call("completion/complete", params).await?;
            // A refusal says again what was asked about.
            if reply.response()?.get("result").is_some() {
                shown.insert((Kind::Prompt, name.clone()));
            }
        }
        self.shown.place(place, None, shown);
        Ok(())
    }

    async fn status(&mut self) -> Result<()> {
        let tools = |status: &Value| {
            let tools = each(status, "servers").flat_map(|server| each(server, "tools"));
            named(Kind::Tool, tools.filter_map(Value::as_str))
        };
        let said = self.tool("the status tool", "hub_status", json!({})).await?;
        let names = said.as_ref().map(tools).unwrap_or_default();
        self.shown.place("the status tool", Some((Kind::Tool, "hub_status")), names);
        let uri = "plugway://hub/status";
        let read = self.ask("the status", "resources/read", json!({"uri": uri})).await?;
        let said = read.as_ref().and_then(|read| read.pointer("/contents/0/text")?.as_str());
        let said = said.map(serde_json::from_str::<Value>).transpose()?;
        let names = said.as_ref().map(tools).unwrap_or_default();
        self.shown.place("the status", Some((Kind::Resource, uri)), names);
        Ok(())
    }

    async fn search(&mut self) -> Result<()> {
        let arguments = json!({"query": "", "top": 1000});
        let found =
            self.tool("the search", "search_hub_tools", arguments).await?.unwrap_or_default();
        let mut names = Names::new();
        for one in each(&found, "tools") {
            let name = text(one, "name").context("a result has a name")?;
            let is_function = text(one, "to_access").is_some_and(|way| way.contains("Call via "));
            names.insert(if is_function {
                let server = text(one, "server_name").context("a result has a server")?;
                (Kind::Function, format!("{server}.{name}"))
            } else {
                (Kind::Tool, name.to_owned())
            });
        }
        names
            .extend(named(Kind::Skill, each(&found, "skills").filter_map(|one| text(one, "name"))));
        self.shown.place("the search", Some((Kind::Tool, "search_hub_tools")), names);

        let plan = self.tool("the plan", "plan_hub_workflow", json!({})).await?.unwrap_or_default();
        let edges = each(&plan, "domains").flat_map(|domain| each(domain, "edges"));
        let names = named(Kind::Step, edges.filter_map(|edge| text(edge, "tool")));
        self.shown.place("the plan", Some((Kind::Tool, "plan_hub_workflow")), names);

        let wrong = json!({"skill_name": "no such skill"});
        let said = self.tool("loading", "load_hub_skill", wrong).await?.unwrap_or_default();
        let names = named(Kind::Skill, each(&said, "available_skills").filter_map(Value::as_str));
        self.shown.place("loading", Some((Kind::Tool, "load_hub_skill")), names);
        Ok(())
    }

    /// Where discovery is lazy.
    async fn find(&mut self) -> Result<()> {
        let mut names = Names::new();
        let mut cursor = Value::Null;
        for page in 0.. {
            ensure!(page < PAGES, "find_tools has no end");
            let arguments = json!({"browse": true, "limit": 3, "cursor": cursor});
            let Some(found) = self.tool("find_tools", "find_tools", arguments).await? else {
                break;
            };
            names.extend(named(
                Kind::Tool,
                each(&found, "items").filter_map(|one| text(one, "name")),
            ));
            self.keep_schemas(&found, "items", "input_schema");
            match found.get("next_cursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        self.shown.place("find_tools", Some((Kind::Tool, "find_tools")), names);
        Ok(())
    }

    /// What does not exist, asked about everywhere.
    async fn wrong(&mut self) -> Result<()> {
        let tool = |name: &str, arguments: Value| {
            ("tools/call", json!({"name": name, "arguments": arguments}))
        };
        for (method, params) in [
            tool("no_such_tool", json!({})),
            tool("load_tools", json!({"items": ["no_such_tool"]})),
            tool("call_tool", json!({"name": "no_such_tool"})),
            tool("find_tools", json!({"query": "no such tool"})),
            tool("search_hub_tools", json!({"query": "no such tool"})),
            tool("search_hub_tools", json!({"query": "x", "category": "none"})),
            tool("plan_hub_workflow", json!({"domain": "none"})),
            tool("plan_hub_workflow", json!({"mode": "tool", "tool_name": "none"})),
            tool("plan_hub_workflow", json!({"mode": "next_steps", "current_state": "none"})),
            tool("plan_hub_workflow", json!({"mode": "none"})),
            tool("load_hub_skill", json!({"skill_name": "none", "upstream": "mars"})),
            ("prompts/get", json!({"name": "no_such_prompt"})),
            ("resources/read", json!({"uri": "nothing://here"})),
        ] {
            self.ask("what does not exist", method, params).await?;
        }
        Ok(())
    }

    async fn catalog(&mut self, plugway: &Plugway, token: &str) -> Result<()> {
        let request = Request::get("/catalog").header("host", plugway.address().to_string());
        let request = request.header("authorization", format!("Bearer {token}"));
        let request = request.body(Full::<Bytes>::default())?;
        let answer = http::send(plugway.address(), request).await?;
        ensure!(answer.status == 200, "{answer:?}");
        let (catalogue, uri) = (answer.json()?, "plugway://hub/catalog");
        // A refusal says again what was asked about.
        self.shown.said.push(("GET /catalog", answer.text().replace(uri, "")));
        let mut names = Names::new();
        for one in each(&catalogue, "tools") {
            let said = |key: &str| text(one, key).with_context(|| format!("no {key} in {one}"));
            let (server, name, via) = (said("server_name")?, said("name")?, said("via")?);
            let (key, own) = (format!("{server}.{name}"), text(one, "own_name").unwrap_or(name));
            self.shown.functions.insert(key.clone(), (via.to_owned(), own.to_owned()));
            names.insert((Kind::Function, key));
        }
        for one in each(&catalogue, "skills") {
            let name = text(one, "name").context("a skill has a name")?;
            let via = text(one, "via").context("a skill has a way")?;
            self.shown.skills.insert(name.to_owned(), via.to_owned());
            names.insert((Kind::Skill, name.to_owned()));
        }
        self.shown.place("GET /catalog", Some((Kind::Resource, uri)), names);
        Ok(())
    }
}
