//! The tools of the scripted server.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    State,
    replies::{Reply, at, error, events, pieces, response, result, typed},
};

const NAMES: [(&str, &str); 7] = [
    ("json", "Answers with JSON."),
    ("events", "Answers with one event."),
    ("raw", "Answers with the bytes of the request as they came."),
    ("big", "Answers with `bytes` letters, as `form`: `json` or `events`."),
    (
        "steps",
        "Reports `steps` steps of progress of `bytes` bytes, and gives its result once it is released.",
    ),
    ("drip", "Answers with one small piece after the other, as `form`, and never comes to an end."),
    ("pair", "Reports progress and gives its result once another call of it is there."),
];

/// The definitions.
pub(super) fn list() -> Value {
    let define = |(name, description): (&str, &str)| json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
    NAMES.into_iter().map(define).collect()
}

/// Runs one.
pub(super) async fn call(state: &Arc<State>, message: &Value, body: &[u8]) -> Reply {
    let params = at(message, "/params");
    let arguments = at(params, "/arguments");
    let number = |key: &str| arguments.get(key).and_then(Value::as_u64).unwrap_or(1);
    match at(params, "/name").as_str().unwrap_or_default() {
        "json" => result(message, &text("json")),
        "events" => one_event(message, &text("events")).await,
        "raw" => result(message, &text(&String::from_utf8_lossy(body))),
        "big" => {
            let big = text(&"x".repeat(usize::try_from(number("bytes")).unwrap_or_default()));
            if at(arguments, "/form") == "events" {
                return one_event(message, &big).await;
            }
            result(message, &big)
        }
        "steps" => steps(state, message, number("steps"), number("bytes")),
        "drip" => drip(message, at(arguments, "/form") == "json"),
        "pair" => pair(state, message),
        _ => error(http::StatusCode::OK, message, -32602, "no such tool"),
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

async fn one_event(message: &Value, result: &Value) -> Reply {
    let (sender, receiver) = mpsc::channel(1);
    // The receiver is right here.
    drop(sender.send(response(message, result)).await);
    events(receiver)
}

fn progress(message: &Value, step: u64, what: &str) -> String {
    let token = at(message, "/params/_meta/progressToken");
    let params = json!({"progressToken": token, "progress": step, "message": what});
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).to_string()
}

fn steps(state: &Arc<State>, message: &Value, steps: u64, bytes: u64) -> Reply {
    let (sender, receiver) = mpsc::channel(1);
    let (state, message) = (Arc::clone(state), message.clone());
    let what = "x".repeat(usize::try_from(bytes).unwrap_or_default());
    tokio::spawn(async move {
        for step in 1..=steps {
            if sender.send(progress(&message, step, &what)).await.is_err() {
                return;
            }
            state.steps.fetch_add(1, Ordering::SeqCst);
        }
        if let Ok(permit) = state.gate.acquire().await {
            permit.forget();
        }
        // A proxy that went away needs no result.
        drop(sender.send(response(&message, &text("done"))).await);
    });
    events(receiver)
}

/// As slow as a server that works.
const DRIP: Duration = Duration::from_millis(20);

fn drip(message: &Value, json: bool) -> Reply {
    let (sender, receiver) = mpsc::channel(1);
    let message = message.clone();
    tokio::spawn(async move {
        for step in 1.. {
            let piece = if json { " ".to_owned() } else { progress(&message, step, "drip") };
            if sender.send(piece).await.is_err() {
                return;
            }
            tokio::time::sleep(DRIP).await;
        }
    });
    if json {
        return typed(pieces(receiver, |piece| piece), "application/json");
    }
    events(receiver)
}

fn pair(state: &Arc<State>, message: &Value) -> Reply {
    let (sender, receiver) = mpsc::channel(1);
    let (state, message) = (Arc::clone(state), message.clone());
    tokio::spawn(async move {
        let word = at(&message, "/params/arguments/word").as_str().unwrap_or_default().to_owned();
        state.meeting.wait().await;
        if sender.send(progress(&message, 1, &word)).await.is_ok() {
            // A proxy that went away needs no result.
            drop(sender.send(response(&message, &text(&word))).await);
        }
    });
    events(receiver)
}
