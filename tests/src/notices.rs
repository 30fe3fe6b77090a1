//! What a legacy session is told on its own stream, kept as it comes.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::{rpc::Client, wait};

/// The stream is open for longer than any test runs.
const OPEN: Duration = Duration::from_mins(10);

/// Everything that a session was told since it listens.
#[derive(Debug)]
pub struct Notices {
    seen: Arc<Mutex<Vec<Value>>>,
    reader: JoinHandle<()>,
}

impl Notices {
    /// Listens for a session.
    pub async fn of(client: &Client) -> Result<Self> {
        let mut events = client.listen().await?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&seen);
        let reader = tokio::spawn(async move {
            while let Ok(Some(message)) = events.next(OPEN).await {
                into.lock().unwrap_or_else(PoisonError::into_inner).push(message);
            }
        });
        Ok(Self { seen, reader })
    }

    /// Everything so far, in order.
    pub fn all(&self) -> Vec<Value> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many `notifications/{list}/list_changed` came.
    pub fn changes(&self, list: &str) -> usize {
        let method = format!("notifications/{list}/list_changed");
        self.all()
            .iter()
            .filter(|message| message.get("method") == Some(&method.clone().into()))
            .count()
    }

    /// Level and text of each log message of plugway's own.
    pub fn messages(&self) -> Vec<(String, String)> {
        let text = |message: &Value, key: &str| {
            Some(message.pointer(&format!("/params/{key}"))?.as_str()?.to_owned())
        };
        let all = self.all();
        let own = all.iter().filter(|one| text(one, "logger").as_deref() == Some("plugway"));
        own.filter_map(|one| Some((text(one, "level")?, text(one, "data")?))).collect()
    }

    /// Waits until that many `list_changed` came.
    pub async fn until_changed(&self, list: &str, count: usize, bound: Duration) -> Result<()> {
        let what = format!("{list}/list_changed for the {count}. time");
        wait::until(&what, bound, async || Ok((self.changes(list) >= count).then_some(())))
            .await
            .with_context(|| format!("{:?}", self.all()))
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.reader.abort();
    }
}
