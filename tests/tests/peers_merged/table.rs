//! Everything that the three real servers and the demo offer, and what it is asked.

use serde_json::{Value, json};

/// A server behind plugway; its name is the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    /// `@modelcontextprotocol/server-everything` over stdio.
    Stdio,
    /// The same over HTTP.
    Http,
    /// FastMCP over HTTP.
    FastMcp,
    /// The demo over HTTP.
    Clock,
}

impl Server {
    pub(crate) const ALL: [Self; 4] = [Self::Stdio, Self::Http, Self::FastMcp, Self::Clock];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "local",
            Self::Http => "remote",
            Self::FastMcp => "fast",
            Self::Clock => "clock",
        }
    }

    /// "everything" has no modern era.
    pub(crate) fn is_modern(self) -> bool {
        matches!(self, Self::FastMcp | Self::Clock)
    }
}

/// One request to a server.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) server: Server,
    pub(crate) what: What,
    /// The server's own name, or the URI.
    pub(crate) name: &'static str,
    pub(crate) arguments: Value,
    /// Whether the answer is the same every time. Where it is not, its members and `isError` are compared.
    pub(crate) fixed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Tool,
    Prompt,
    Resource,
}

impl Ask {
    /// The name that plugway shows; URIs are not changed.
    pub(crate) fn shown(&self) -> String {
        match self.what {
            What::Resource => self.name.to_owned(),
            What::Tool | What::Prompt => format!("{}_{}", self.server.name(), self.name),
        }
    }

    /// The method and its params, under this name.
    pub(crate) fn request(&self, name: &str) -> (&'static str, Value) {
        match self.what {
            What::Tool => ("tools/call", json!({"name": name, "arguments": self.arguments})),
            What::Prompt => ("prompts/get", json!({"name": name, "arguments": self.arguments})),
            What::Resource => ("resources/read", json!({"uri": name})),
        }
    }

    /// The request in the words of the Python clients.
    pub(crate) fn words(&self) -> String {
        match self.what {
            What::Tool => format!("{}={}", self.shown(), self.arguments),
            What::Prompt => format!("prompt:{}={}", self.shown(), self.arguments),
            What::Resource => format!("resource:{}", self.name),
        }
    }
}

/// Every tool and prompt of every server, and resources.
pub(crate) fn everything() -> Vec<Ask> {
    let mut asks = Vec::new();
    for server in [Server::Stdio, Server::Http] {
        asks.extend(reference(server));
    }
    let of = |server, what| move |name, arguments| ask(server, what, name, arguments);
    let (fast, clock) = (of(Server::FastMcp, What::Tool), of(Server::Clock, What::Tool));
    asks.extend([
        fast("multiply", json!({"a": 6, "b": 7})),
        fast("slow_steps", json!({"steps": 3})),
        clock("add", json!({"a": 2, "b": 40})),
        clock("count", json!({})),
        clock("echo", json!({"message": "hello"})),
        varying(clock("now", json!({}))),
        of(Server::FastMcp, What::Prompt)("summarize", json!({"text": "a text"})),
        of(Server::Clock, What::Prompt)("ask_time", json!({"zone": "asia/tokyo"})),
        of(Server::FastMcp, What::Resource)("peer://greeting", Value::Null),
        of(Server::Clock, What::Resource)("clock://zones", Value::Null),
    ]);
    asks
}

/// What the reference server offers to a client without capabilities.
fn reference(server: Server) -> Vec<Ask> {
    let tool = |name, arguments| ask(server, What::Tool, name, arguments);
    let prompt = |name, arguments| ask(server, What::Prompt, name, arguments);
    let mut asks = vec![
        tool("echo", json!({"message": "hello"})),
        tool("get-annotated-message", json!({"messageType": "error", "includeImage": true})),
        varying(tool("get-env", json!({}))),
        tool("get-resource-links", json!({"count": 3})),
        varying(tool("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1}))),
        tool("get-structured-content", json!({"location": "Chicago"})),
        tool("get-sum", json!({"a": 2, "b": 3})),
        tool("get-tiny-image", json!({})),
        tool("gzip-file-as-resource", json!({"name": "a.gz", "data": "data:text/plain,hello"})),
        varying(tool("toggle-simulated-logging", json!({}))),
        varying(tool("toggle-subscriber-updates", json!({}))),
        tool("trigger-long-running-operation", json!({"duration": 0.1, "steps": 2})),
        // Wants to be a task, and says so to whoever calls it plainly.
        tool("simulate-research-query", json!({"topic": "proxies"})),
        prompt("simple-prompt", json!({})),
        prompt("args-prompt", json!({"city": "Oslo", "state": "none"})),
        prompt("completable-prompt", json!({"department": "Engineering", "name": "Alice"})),
        varying(prompt("resource-prompt", json!({"resourceType": "Text", "resourceId": "1"}))),
    ];
    // Both have the same URIs, and the first one in the configuration answers.
    if server == Server::Stdio {
        for uri in [
            "demo://resource/static/document/startup.md",
            "demo://resource/static/document/features.md",
        ] {
            asks.push(ask(server, What::Resource, uri, Value::Null));
        }
    }
    asks
}

fn ask(server: Server, what: What, name: &'static str, arguments: Value) -> Ask {
    Ask { server, what, name, arguments, fixed: true }
}

fn varying(ask: Ask) -> Ask {
    Ask { fixed: false, ..ask }
}
