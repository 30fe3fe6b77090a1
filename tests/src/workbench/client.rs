//! A real client in Python that does what it is told, line by line.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{peers::script, wait};

/// A kernel starts in a call, on a machine that may be busy.
const ANSWERED_WITHIN: Duration = Duration::from_mins(2);
const POLLED_WITHIN: Duration = Duration::from_mins(1);

/// Which client, in which era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speaks {
    /// `mcp` or `fastmcp`.
    pub client: &'static str,
    /// Whether it needs no session: revision 2026-07-28.
    pub is_modern: bool,
}

impl Speaks {
    /// The official client with a session.
    pub const LEGACY: Self = Self { client: "mcp", is_modern: false };
    /// The official client of the stateless revision.
    pub const MODERN: Self = Self { client: "mcp", is_modern: true };
    /// Both clients in both eras.
    pub const ALL: [Self; 4] = [
        Self::LEGACY,
        Self::MODERN,
        Self { client: "fastmcp", is_modern: false },
        Self { client: "fastmcp", is_modern: true },
    ];
}

/// A connected client; it ends with this value.
#[derive(Debug)]
pub struct Driven {
    speaks: Speaks,
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Driven {
    pub(super) async fn start(
        python: &Path,
        speaks: Speaks,
        url: &str,
        token: Option<&str>,
    ) -> Result<Self> {
        // The official client asks how it is served first: `server/discover`.
        let era = match (speaks.is_modern, speaks.client) {
            (false, _) => "legacy",
            (true, "mcp") => "auto",
            (true, _) => "2026-07-28",
        };
        let mut command = Command::new(python);
        command.arg(script("client_lines.py")).args([speaks.client, url, era]).args(token);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().context("cannot start Python")?;
        let stdin = child.stdin.take().context("no stdin")?;
        let lines = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        let mut client = Self { speaks, child, stdin, lines };
        let connected = client.line().await?;
        ensure!(connected.get("connected").is_some(), "{connected}");
        Ok(client)
    }

    /// Which client it is.
    pub fn speaks(&self) -> Speaks {
        self.speaks
    }

    /// A call's whole result, or `{"error": {"code", "message"}}`.
    pub async fn call(&mut self, name: &str, arguments: Value) -> Result<Value> {
        self.tell(&json!({"call": name, "arguments": arguments})).await
    }

    /// What the text of a call's result says, which must be JSON.
    pub async fn json(&mut self, name: &str, arguments: Value) -> Result<Value> {
        let result = self.call(name, arguments).await?;
        let text = text_of(&result)?;
        serde_json::from_str(text).with_context(|| format!("{name}: not JSON: {text}"))
    }

    /// Calls again until what the text says is this.
    pub async fn until(
        &mut self,
        name: &str,
        arguments: &Value,
        is_it: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        let mut last = Value::Null;
        let polled = async {
            loop {
                last = self.json(name, arguments.clone()).await?;
                if is_it(&last) {
                    return anyhow::Ok(());
                }
            }
        };
        let what = format!("{name} says what is waited for");
        let polled = wait::within(&what, POLLED_WITHIN, polled).await;
        polled.with_context(|| format!("it said {last}"))??;
        Ok(last)
    }

    /// Every tool, whole.
    pub async fn tools(&mut self) -> Result<Vec<Value>> {
        let tools = self.tell(&json!({"list": true})).await?;
        serde_json::from_value(tools.clone()).with_context(|| format!("no list: {tools}"))
    }

    /// The names of all tools, in their order.
    pub async fn tool_names(&mut self) -> Result<Vec<String>> {
        let tools = self.tools().await?;
        let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned));
        Ok(names.collect())
    }

    /// `protocolVersion`, `capabilities`, `serverInfo` and `instructions`; only of the client `mcp`.
    pub async fn about(&mut self) -> Result<Value> {
        self.tell(&json!({"about": true})).await
    }

    async fn tell(&mut self, request: &Value) -> Result<Value> {
        self.stdin.write_all(format!("{request}\n").as_bytes()).await?;
        self.line().await
    }

    async fn line(&mut self) -> Result<Value> {
        let line = self.lines.next_line();
        match wait::within("the real client answers", ANSWERED_WITHIN, line).await? {
            Ok(Some(line)) => Ok(serde_json::from_str(&line)?),
            ended => self.complaint(ended.err()).await,
        }
    }

    /// What it said while it ended.
    async fn complaint(&mut self, error: Option<std::io::Error>) -> Result<Value> {
        let mut said = String::new();
        if let Some(stderr) = self.child.stderr.take() {
            let mut lines = BufReader::new(stderr).lines();
            while let Some(line) = lines.next_line().await? {
                said = [said, line].join("\n");
            }
        }
        bail!("the real client ended ({error:?}){said}");
    }
}

/// The text of a result that has one.
pub fn text_of(result: &Value) -> Result<&str> {
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    text.with_context(|| format!("no text in {result}"))
}
