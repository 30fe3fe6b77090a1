//! What a running plugway writes to its stderr.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::ChildStderr,
};

/// The lines of a process's stderr.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    pub(crate) async fn follow(self, stderr: ChildStderr) {
        let mut reader = BufReader::new(stderr).lines();
        while let Ok(Some(line)) = reader.next_line().await {
            self.lines().push(line);
        }
    }

    pub(crate) fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, text: &str) -> Option<String> {
        self.lines().iter().find(|line| line.contains(text)).cloned()
    }

    /// The address in the line whose message is `listening`, be its fields flat or nested.
    pub(crate) fn listening(&self) -> Option<SocketAddr> {
        self.lines().iter().find_map(|line| {
            let record: Value = serde_json::from_str(line).ok()?;
            let fields = record.get("fields").unwrap_or(&record);
            let is_it = fields.get("message")?.as_str()? == "listening";
            is_it.then(|| fields.get("address")?.as_str()?.parse().ok())?
        })
    }

    pub(crate) fn tail(&self) -> String {
        let lines = self.lines();
        let last = lines.get(lines.len().saturating_sub(30)..).unwrap_or_default();
        format!("its last words:\n{}", last.join("\n"))
    }
}
