//! A running `plugway stdio` and the raw lines of its client.

use std::{
    collections::BTreeSet,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

use crate::{log::Log, plugway::Setup, process, rpc, scratch::Scratch, wait};

const ANSWERED_WITHIN: Duration = Duration::from_secs(30);
const ENDED_WITHIN: Duration = Duration::from_secs(20);

/// A running `plugway stdio`; it is killed with this value.
#[derive(Debug)]
pub struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<Lines<BufReader<ChildStdout>>>,
    log: Log,
    next_id: u64,
    /// Messages that were read while another one was waited for.
    others: Vec<Value>,
    _scratch: Scratch,
}

impl Pipe {
    /// Starts it with this configuration. It answers once its servers had time to start.
    pub fn start(configuration: impl Into<String>) -> Result<Self> {
        Self::of(Setup::new(configuration), &[])
    }

    /// Starts it with these files and this environment, and with these words after the configuration.
    pub fn of(setup: Setup, words: &[&str]) -> Result<Self> {
        let (scratch, mut command) = setup.stdio(words)?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let log = Log::default();
        tokio::spawn(log.clone().follow(child.stderr.take().context("plugway has no stderr")?));
        let output = child.stdout.take().map(|output| BufReader::new(output).lines());
        let input = child.stdin.take();
        let others = Vec::new();
        Ok(Self { child, input, output, log, next_id: 1, others, _scratch: scratch })
    }

    /// Its process.
    pub fn pid(&self) -> Result<u32> {
        self.child.id().context("plugway has ended")
    }

    /// Waits for a line of its stderr that contains this text.
    pub async fn logged(&self, text: &str) -> Result<String> {
        let look = async || Ok(self.log.find(text));
        let found = wait::until(&format!("`{text}` in the log"), ANSWERED_WITHIN, look).await;
        found.with_context(|| self.log.tail())
    }

    /// Writes exactly these bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.input.as_mut().context("its input was closed")?;
        input.write_all(bytes).await?;
        Ok(input.flush().await?)
    }

    /// Writes a message as one line.
    pub async fn send(&mut self, message: &Value) -> Result<()> {
        self.write(format!("{message}\n").as_bytes()).await
    }

    /// The next message; none once it closed its output.
    pub async fn read(&mut self) -> Result<Option<Value>> {
        let output = self.output.as_mut().context("its output was closed")?;
        let line = wait::within("a line", ANSWERED_WITHIN, output.next_line()).await;
        let Some(line) = line.with_context(|| self.log.tail())?? else { return Ok(None) };
        let message = serde_json::from_str(&line);
        message.map(Some).with_context(|| format!("a line that is no JSON: {line}"))
    }

    /// The response to the request with this id. What else comes meanwhile is kept for [`others`](Self::others).
    pub async fn response(&mut self, id: &Value) -> Result<Value> {
        let is_it =
            |message: &Value| message.get("id") == Some(id) && message.get("method").is_none();
        if let Some(place) = self.others.iter().position(is_it) {
            return Ok(self.others.remove(place));
        }
        loop {
            let message = self.read().await?.with_context(|| {
                format!("the output ended before the answer to {id}\n{}", self.log.tail())
            })?;
            if is_it(&message) {
                return Ok(message);
            }
            self.others.push(message);
        }
    }

    /// What came besides the responses that were waited for.
    pub fn others(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.others)
    }

    /// Sends a request of the legacy era; its id.
    pub async fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = json!(self.next_id);
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&message).await?;
        Ok(id)
    }

    /// Sends a request of the modern era; its id.
    pub async fn ask_modern(&mut self, method: &str, mut params: Value) -> Result<Value> {
        let key = |name: &str| format!("io.modelcontextprotocol/{name}");
        let meta = params.as_object_mut().context("params are no object")?;
        let meta = meta.entry("_meta").or_insert_with(|| json!({}));
        let meta = meta.as_object_mut().context("`_meta` is no object")?;
        meta.insert(key("protocolVersion"), json!(rpc::MODERN));
        meta.entry(key("clientCapabilities")).or_insert_with(|| json!({}));
        self.ask(method, params).await
    }

    /// Sends a request of the legacy era and waits for its response.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.ask(method, params).await?;
        self.response(&id).await
    }

    /// Sends a request of the modern era and waits for its response.
    pub async fn call_modern(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.ask_modern(method, params).await?;
        self.response(&id).await
    }

    /// `tools/call` in the legacy era; the text of the first content block.
    pub async fn tool(&mut self, name: &str, arguments: Value) -> Result<String> {
        let params = json!({"name": name, "arguments": arguments});
        text_of(&self.call("tools/call", params).await?)
    }

    /// `tools/call` in the modern era; the text of the first content block.
    pub async fn tool_modern(&mut self, name: &str, arguments: Value) -> Result<String> {
        let params = json!({"name": name, "arguments": arguments});
        text_of(&self.call_modern("tools/call", params).await?)
    }

    /// Opens the session of the legacy era: what `initialize` answered.
    pub async fn initialize(&mut self) -> Result<Value> {
        self.initialize_as(rpc::LEGACY).await
    }

    /// The same with a revision.
    pub async fn initialize_as(&mut self, revision: &str) -> Result<Value> {
        self.initialize_with(revision, json!({})).await
    }

    /// The same with these capabilities.
    pub async fn initialize_with(&mut self, revision: &str, capabilities: Value) -> Result<Value> {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": {"name": "plugway-tests", "version": "0"},
        });
        let response = self.call("initialize", params).await?;
        let result = response.get("result").with_context(|| format!("not a result: {response}"))?;
        self.notify("notifications/initialized", json!({})).await?;
        Ok(result.clone())
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await
    }

    /// Gives a request up.
    pub async fn cancel(&mut self, id: &Value) -> Result<()> {
        self.notify("notifications/cancelled", json!({"requestId": id})).await
    }

    /// Closes its input, as a client does that is done.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Reads no more, as a client does that broke off.
    pub fn close_output(&mut self) {
        self.output = None;
    }

    /// Asks it to end (SIGTERM).
    pub fn terminate(&self) -> Result<()> {
        process::signal(self.pid()?, Signal::TERM)
    }

    /// Ends it with SIGKILL.
    pub async fn kill(&mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Waits until it ended by itself.
    pub async fn ended(&mut self) -> Result<ExitStatus> {
        let ended = wait::within("plugway ends", ENDED_WITHIN, self.child.wait()).await;
        Ok(ended.with_context(|| self.log.tail())??)
    }

    /// Its descendants, of which there must be some.
    pub fn descendants(&self) -> Result<BTreeSet<u32>> {
        let found = process::descendants(self.pid()?)?;
        ensure!(!found.is_empty(), "plugway has no children");
        Ok(found)
    }
}

/// The text of the first content block of a response.
pub fn text_of(response: &Value) -> Result<String> {
    let text = response.pointer("/result/content/0/text").and_then(Value::as_str);
    text.map(str::to_owned).with_context(|| format!("no text in {response}"))
}
