//! The tasks that a child has: while a client may still ask for one, the child is not idle, however long nobody asks.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use memchr::memmem;

use crate::protocol::feature::{Home, TASKS};
use crate::protocol::{Era, Message, message, scan};
use crate::upstream::limits::{TASK_KEPT, TASKS_KEPT};

/// Until when each task is waited for, by the server's id.
#[derive(Debug, Default)]
pub(super) struct Tasks(Mutex<HashMap<Box<str>, Instant>>);

/// What a request about a task says of it.
#[derive(Debug)]
pub(super) struct About {
    id: Box<str>,
    /// Whether an answer says what came of the task, so that nobody has to ask again (2025-11-25, "tasks/result").
    fetches: bool,
    /// Whether an error says that there is no such task.
    looks: bool,
}

impl About {
    /// Reads a request; none where it is about no task.
    pub(super) fn of(request: &Message, era: Era) -> Option<Self> {
        let method = request.method_name();
        if Home::of(&method, era) != Home::Feature(&TASKS) {
            return None;
        }
        let id = text(request.params()?, "taskId")?.into();
        Some(Self { id, fetches: method == "tasks/result", looks: method == "tasks/get" })
    }
}

impl Tasks {
    /// Looks at a response of a child of this era to a request, which may be about a task.
    pub(super) fn heard(&self, about: Option<&About>, response: &Bytes, era: Era, now: Instant) {
        if about.is_none() && memmem::find(response, b"askId\"").is_none() {
            return;
        }
        let Ok(response) = Message::parse(response.clone()) else { return };
        let failed = response.error().is_some();
        if let Some(About { id, .. }) =
            about.filter(|about| about.fetches || (about.looks && failed))
        {
            self.lock().remove(id);
            return;
        }
        let Some(task) = response.result().and_then(Task::read) else { return };
        if task.is_over(era) {
            self.lock().remove(&*task.id);
        } else {
            self.keep(task, now);
        }
    }

    fn keep(&self, task: Task, now: Instant) {
        let mut kept = self.lock();
        let is_new = !kept.contains_key(&*task.id);
        if is_new && task.is_done() {
            // Its client was told what came of it.
            return;
        }
        if is_new && kept.len() >= TASKS_KEPT {
            let first = kept.iter().min_by_key(|(_, until)| **until);
            if let Some(first) = first.map(|(id, _)| id.clone()) {
                kept.remove(&first);
            }
        }
        let wait = task.lasts.unwrap_or(TASK_KEPT).min(TASK_KEPT);
        kept.insert(task.id, now + wait);
    }

    /// Whether somebody may still ask for a task.
    pub(super) fn any(&self, now: Instant) -> bool {
        let mut kept = self.lock();
        kept.retain(|_, until| *until > now);
        !kept.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a result says of a task that was made, or of the one that was asked for.
struct Task {
    id: Box<str>,
    status: String,
    /// How long it lasts since it was made; none where that has no end.
    lasts: Option<Duration>,
}

impl Task {
    fn read(result: &str) -> Option<Self> {
        let made = scan::member(result, "task").and_then(|span| result.get(span.range()));
        let task = made.unwrap_or(result);
        let number = |name| {
            let raw = task.get(scan::member(task, name)?.range())?;
            raw.parse().ok().map(Duration::from_millis)
        };
        let (id, status) = (text(task, "taskId")?.into(), text(task, "status")?);
        Some(Self { id, status, lasts: number("ttl").or_else(|| number("ttlMs")) })
    }

    /// Whether its client knows what came of it: in the modern era the task itself says so.
    fn is_over(&self, era: Era) -> bool {
        match &*self.status {
            "cancelled" => true,
            _ => self.is_done() && era == Era::Modern,
        }
    }

    fn is_done(&self) -> bool {
        matches!(&*self.status, "completed" | "failed")
    }
}

fn text(object: &str, name: &str) -> Option<String> {
    let raw = object.get(scan::member(object, name)?.range())?;
    message::string(raw).map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn about(method: &str) -> Option<About> {
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"taskId": "t"}})
            .to_string();
        let message = Message::parse(text.into()).unwrap();
        About::of(&message, Era::Legacy).or_else(|| About::of(&message, Era::Modern))
    }

    fn response(member: &str, value: &Value) -> Bytes {
        json!({"jsonrpc": "2.0", "id": 1, member: value}).to_string().into()
    }

    #[test]
    fn a_task_is_waited_for_until_its_client_knows_what_came_of_it() {
        let start = Instant::now();
        let made = response("result", &json!({"task": {"taskId": "t", "status": "working"}}));
        let got = |status: &str| {
            response("result", &json!({"taskId": "t", "status": status, "ttl": null}))
        };
        let failed = response("error", &json!({"code": -32602, "message": "no taskId"}));
        let other =
            response("result", &json!({"content": [{"taskId": "t", "status": "cancelled"}]}));
        for (method, answer, era, waits) in [
            ("tasks/get", got("working"), Era::Legacy, true),
            ("tasks/get", got("completed"), Era::Legacy, true),
            ("tasks/get", got("failed"), Era::Legacy, true),
            ("tasks/cancel", got("cancelled"), Era::Legacy, false),
            ("tasks/cancel", failed.clone(), Era::Legacy, true),
            ("tasks/get", failed.clone(), Era::Legacy, false),
            ("tasks/result", response("result", &json!({"content": []})), Era::Legacy, false),
            ("tasks/result", failed, Era::Legacy, false),
            ("tasks/get", got("input_required"), Era::Modern, true),
            ("tasks/get", got("completed"), Era::Modern, false),
            ("tasks/update", response("result", &json!({})), Era::Modern, true),
            ("tools/call", other, Era::Modern, true),
        ] {
            let tasks = Tasks::default();
            assert!(!tasks.any(start));
            tasks.heard(None, &made, era, start);
            assert!(tasks.any(start));
            tasks.heard(about(method).as_ref(), &answer, era, start);
            assert_eq!(tasks.any(start), waits, "{method} {answer:?}");
            if !waits {
                tasks.heard(about("tasks/get").as_ref(), &got("completed"), era, start);
                assert!(!tasks.any(start), "it is known already");
            }
        }
    }

    #[test]
    fn nobody_is_waited_for_without_end_nor_for_too_many() {
        let start = Instant::now();
        let tasks = Tasks::default();
        let make = |id: String, ttl: Value| {
            let task =
                json!({"resultType": "task", "taskId": id, "status": "working", "ttlMs": ttl});
            tasks.heard(None, &response("result", &task), Era::Modern, start);
        };
        make("short".to_owned(), json!(1_000));
        assert!(tasks.any(start) && !tasks.any(start + Duration::from_secs(1)));
        for ttl in [json!(null), json!(u64::MAX), json!("?")] {
            make("long".to_owned(), ttl);
            assert!(tasks.any(start + TASK_KEPT / 2) && !tasks.any(start + TASK_KEPT));
        }
        for number in 0..=TASKS_KEPT {
            make(number.to_string(), json!(null));
        }
        assert_eq!(tasks.lock().len(), TASKS_KEPT);
    }
}
