//! `plugway try`: one MCP server behind plugway, without a configuration file.

use std::time::Duration;

use serde_json::Value;

use super::arguments::Try;
use super::exit::Failure;
use super::plain_http::{Place, ask};
use super::print::say;
use super::serve;
use crate::config::written::{File, Text, Upstream};
use crate::config::{self, Environment, Settings};

/// How often the server is looked for, and for how long.
const ATTEMPTS: usize = 120;
const PAUSE: Duration = Duration::from_millis(500);

/// Serves one server, shows what it offers through plugway, and says how to connect.
pub(super) fn run(command: &Try, environment: &Environment) -> Result<(), Failure> {
    let settings = config::assemble(&written(command), &(&command.listen).into(), environment)?;
    say(&introduction(command, &settings));
    serve::announce(&settings);
    let address = settings.listen.address;
    if address.port() != 0 {
        let place = Place { authority: address.to_string(), path: "/mcp".to_owned() };
        // Ends with the process: it only shows things.
        std::thread::spawn(move || show(&place));
    }
    serve::until_signal(settings, None)
}

/// The configuration that a file would hold.
pub(super) fn written(command: &Try) -> File {
    let (program, args) = match command.command.split_first() {
        Some((program, args)) => (Some(program.clone()), args),
        None => (None, [].as_slice()),
    };
    let upstream = Upstream {
        name: Some(command.name.clone()),
        url: command.url.clone(),
        args: program.is_some().then(|| args.iter().cloned().map(Text).collect()),
        command: program,
        ..Upstream::default()
    };
    File { name: Some("hub".to_owned()), upstreams: Some(vec![upstream]), ..File::default() }
}

fn introduction(command: &Try, settings: &Settings) -> String {
    let target = if let Some(url) = &command.url {
        format!("url: {url}")
    } else {
        let quoted = |word: &String| Value::String(word.clone()).to_string();
        let words: Vec<String> = command.command.iter().map(quoted).collect();
        let (program, args) = words.split_first().map_or(("", &[][..]), |(p, a)| (p.as_str(), a));
        format!("command: {program}\n    args: [{}]", args.join(", "))
    };
    format!(
        "plugway serves this configuration; keep it as plugway.yaml and run `plugway serve`:\n\n\
         name: hub\nupstreams:\n  - name: {}\n    {target}\n\n\
         Clients connect to http://{}/mcp (Streamable HTTP), for instance:\n  \
         claude mcp add --transport http hub http://{}/mcp\nCtrl-C ends it.\n",
        command.name, settings.listen.address, settings.listen.address
    )
}

/// Waits until plugway can serve, then prints the tools that clients see.
fn show(endpoint: &Place) {
    let ready = Place { path: "/ready".to_owned(), ..endpoint.clone() };
    for _ in 0..ATTEMPTS {
        if matches!(ask(&ready, None), Ok((200, _))) {
            if let Ok((200, body)) = ask(endpoint, Some(&request())) {
                say(&tools(&body));
            }
            return;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a thread of its own that waits for nothing else"
        )]
        std::thread::sleep(PAUSE);
    }
}

/// A request of the stateless era, which needs no session.
fn request() -> String {
    serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {
                "name": "plugway-try", "version": env!("CARGO_PKG_VERSION"),
            },
            "io.modelcontextprotocol/clientCapabilities": {},
        } },
    })
    .to_string()
}

/// The names and descriptions in an answer to `tools/list`.
pub(super) fn tools(body: &str) -> String {
    let answer: Value = serde_json::from_str(body).unwrap_or_default();
    let tools = answer.pointer("/result/tools").and_then(Value::as_array);
    let lines: Vec<String> = tools
        .into_iter()
        .flatten()
        .map(|tool| {
            let text = |key| tool.get(key).and_then(Value::as_str).unwrap_or_default();
            let description = text("description").lines().next().unwrap_or_default();
            format!("  {:<32} {description}", text("name"))
        })
        .collect();
    match lines.len() {
        0 => "The server offers no tools.".to_owned(),
        count => format!("{count} tools through plugway:\n{}\n", lines.join("\n")),
    }
}
