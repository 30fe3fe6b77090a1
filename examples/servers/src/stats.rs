//! What a server was asked to do, for tests to compare with what a client asked of the proxy.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// Counters of one server process.
#[derive(Debug, Default)]
pub struct Stats {
    requests: AtomicU64,
    connections: AtomicU64,
    sessions: AtomicU64,
    lists: AtomicU64,
    calls: AtomicU64,
}

impl Stats {
    /// One HTTP request to the MCP endpoint.
    pub fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// One accepted TCP connection.
    pub fn count_connection(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// One `initialize`.
    pub fn count_session(&self) {
        self.sessions.fetch_add(1, Ordering::Relaxed);
    }

    /// One page of `tools/list`.
    pub fn count_list(&self) {
        self.lists.fetch_add(1, Ordering::Relaxed);
    }

    /// One `tools/call`.
    pub fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// The counters by method name.
    pub fn to_json(&self) -> Value {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        json!({
            "connections": read(&self.connections),
            "requests": read(&self.requests),
            "initialize": read(&self.sessions),
            "tools/list": read(&self.lists),
            "tools/call": read(&self.calls),
        })
    }
}
