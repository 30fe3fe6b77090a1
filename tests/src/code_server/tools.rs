//! The tools of the server, with the texts of agora-workbench 0.4.2 (`json.dumps(.., indent=2)`).

use serde_json::{Map, Value, json};

use super::kernels::Kernels;

/// Own name, arguments, and those that are required.
const TOOLS: [(&str, &[&str], &[&str]); 10] = [
    ("execute_chem_code", &["code", "description", "execution_session_id"], &["code"]),
    ("chem_check_job", &["job_id"], &["job_id"]),
    ("chem_list_sessions", &["summary_only"], &[]),
    ("chem_get_session_info", &["session_id"], &["session_id"]),
    ("chem_close_session", &["session_id"], &["session_id"]),
    ("chem_inspect_session", &["session_id"], &["session_id"]),
    ("chem_parallel_execute", &["code", "inputs"], &["code", "inputs"]),
    ("chem_check_batch", &["batch_id"], &["batch_id"]),
    ("chem_cancel_batch", &["batch_id"], &["batch_id"]),
    ("chem_send", &["data_ref", "to", "session_id"], &["data_ref", "to"]),
];

/// The definitions.
pub(super) fn list() -> Value {
    let all = TOOLS.iter().map(|(name, arguments, required)| {
        let properties: Map<String, Value> =
            arguments.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        let schema = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        json!({"name": name, "description": name, "inputSchema": schema})
    });
    all.collect()
}

/// Runs one.
pub(super) fn call(kernels: &mut Kernels, session: &str, name: &str, arguments: &Value) -> Value {
    let known = TOOLS.iter().find(|(known, ..)| *known == name);
    let missing = known.and_then(|(_, _, required)| {
        required.iter().find(|name| arguments.get(**name).is_none_or(Value::is_null))
    });
    if let Some(missing) = missing {
        let text = format!("1 validation error for call\n{missing}\n  Missing required argument");
        return json!({"content": [{"type": "text", "text": text}], "isError": true});
    }
    let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let answer = match name {
        "execute_chem_code" => {
            execute(kernels, session, text("code"), arguments.get("execution_session_id"))
        }
        "chem_check_job" => {
            let id = text("job_id").to_owned();
            kernels.asked.push(id.clone());
            match kernels.jobs.get(&id) {
                Some(session) => {
                    json!({"job_id": id, "session_id": session, "status": "completed", "success": true})
                }
                None => failed(&format!("Job {id} not found")),
            }
        }
        "chem_parallel_execute" => {
            let count = arguments.get("inputs").and_then(Value::as_array).map_or(0, Vec::len);
            kernels.made(session);
            let (id, jobs) = kernels.batch(session, count);
            json!({"batch_id": id, "jobs": jobs_of(kernels, &jobs)})
        }
        "chem_check_batch" | "chem_cancel_batch" => {
            let id = text("batch_id").to_owned();
            kernels.asked.push(id.clone());
            match kernels.batches.get(&id).cloned() {
                Some((parent, jobs)) => {
                    json!({"batch_id": id, "parent_session_id": parent, "status": "completed", "jobs": jobs_of(kernels, &jobs)})
                }
                None => failed(&format!("404: Batch '{id}' not found")),
            }
        }
        "chem_send" => send(kernels, text("session_id"), text("to"), text("data_ref")),
        _ => {
            let Some(answer) = about_sessions(kernels, name, text("session_id")) else {
                let text = format!("Unknown tool: '{name}'");
                return json!({"content": [{"type": "text", "text": text}], "isError": true});
            };
            answer
        }
    };
    wrapped(&answer, !name.starts_with("execute_"))
}

fn send(kernels: &mut Kernels, id: &str, to: &str, object: &str) -> Value {
    kernels.asked.push(id.to_owned());
    let not_found = || Err(format!("Session '{id}' not found"));
    let peer = kernels.peers.get(to);
    let received = peer.map_or_else(not_found, |peer| super::lock(peer).receive(id, object));
    match received {
        Ok(id) => {
            json!({"success": true, "destination": to, "remote_uri": format!("Injected into {to} kernel {id}")})
        }
        Err(error) => failed(&format!("Object transfer to '{to}' failed: {error}")),
    }
}

fn failed(error: &str) -> Value {
    json!({"success": false, "error": error})
}

/// The tools that list, show and close sessions, whoever asks.
fn about_sessions(kernels: &mut Kernels, name: &str, id: &str) -> Option<Value> {
    Some(match name {
        "chem_list_sessions" => {
            let sessions: Vec<Value> = kernels
                .ids()
                .map(|id| json!({"session_id": id, "status": "active", "age_seconds": 1.0}))
                .collect();
            json!({"success": true, "count": sessions.len(), "sessions": sessions})
        }
        "chem_close_session" => {
            kernels.close(id);
            json!({"success": true, "message": format!("Session {id} closed successfully"), "remaining_sessions": kernels.count()})
        }
        "chem_inspect_session" | "chem_get_session_info" => match kernels.found(id) {
            Ok(value) => json!({"success": true, "session_id": id, "namespace": {"x": value}}),
            Err(error) => failed(&format!("Session not found: {error}")),
        },
        _ => return None,
    })
}

/// `set VALUE`, `get`, `job`, or `print COUNT`, which prints so many letters.
fn execute(kernels: &mut Kernels, session: &str, code: &str, id: Option<&Value>) -> Value {
    let session = match id.and_then(Value::as_str) {
        None => session,
        Some(id) => match kernels.found(id) {
            Ok(_) => id,
            Err(error) => {
                return json!({"description": "", "stdout": "", "stderr": "", "success": false, "error": error});
            }
        },
    };
    let value = kernels.made(session);
    let (word, rest) = code.split_once(' ').unwrap_or((code, ""));
    let printed = match word {
        "set" => {
            rest.clone_into(value);
            String::new()
        }
        "print" => "x".repeat(rest.parse().unwrap_or_default()),
        "job" => {
            let id = kernels.job(session);
            return json!({"job_id": id, "status": "running", "session_id": session, "poll_tool": "chem_check_job"});
        }
        _ => value.clone(),
    };
    json!({"description": "", "stdout": printed, "stderr": "", "success": true, "error": null, "artifacts": [], "session_id": session})
}

fn jobs_of(kernels: &Kernels, jobs: &[String]) -> Vec<Value> {
    let all = jobs.iter().zip(0..).map(|(id, index)| {
        json!({"job_id": id, "session_id": kernels.jobs.get(id), "status": "running", "input_index": index})
    });
    all.collect()
}

fn wrapped(answer: &Value, structured: bool) -> Value {
    let text = serde_json::to_string_pretty(answer).unwrap_or_default();
    let mut result = json!({"content": [{"type": "text", "text": text}], "isError": false});
    if let (true, Some(result)) = (structured, result.as_object_mut()) {
        result.insert("structuredContent".to_owned(), json!({"result": text}));
    }
    result
}
