//! `rough-server`: an MCP server over stdio that does what no server should, when it is told to.
//!
//! Written without an SDK and without a runtime, so that nothing softens its manners.
#![expect(clippy::print_stderr, reason = "stderr is where it floods")]

use std::{
    io::{BufRead as _, Write as _},
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use serde_json::{Value, json};

const TOOLS: [(&str, &str); 12] = [
    ("process_id", "Its process id."),
    ("crash", "Ends with code 3 instead of an answer."),
    ("environment", "The names of its variables."),
    ("hang", "Never answers."),
    ("chatter", "Prints lines to stdout that are no messages, then answers."),
    ("flood", "Prints `lines` lines to stderr, then answers."),
    ("big", "Answers with `bytes` letters."),
    ("shout", "Sends a log message of `bytes` letters, then answers."),
    ("drip", "Reports progress again and again, and never answers."),
    ("tell", "Tells its client of `count` numbered updates of a resource, then answers."),
    ("stubborn", "Starts a process that ignores SIGTERM; its id."),
    ("escape", "The same in a session of its own; its id."),
];

/// Offered only to clients that can be asked, by a server that was started with [`CHOOSY`]. It then tells everybody, whenever
/// a session begins, that its tools have changed, as such servers do.
const PERSON: (&str, &str) = ("person", "Whether there is a person to ask.");
const CHOOSY: &str = "--choosy";

/// A server that was started with this and the path of a file lists only half of its tools and hangs, while there is such a
/// file.
const FRAGILE: &str = "--fragile";

/// The resource that changes.
const NUMBERS: &str = "rough://numbers";

fn main() -> ExitCode {
    let choosy = std::env::args().any(|word| word == CHOOSY);
    let mut able = false;
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = message.get("id") else {
            if at(&message, "/method") == "notifications/cancelled" {
                eprintln!("told that request {} was given up", at(&message, "/params/requestId"));
            } else if choosy && at(&message, "/method") == "notifications/initialized" {
                say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
            }
            continue;
        };
        let answer = match at(&message, "/method").as_str().unwrap_or_default() {
            "initialize" => {
                able = at(&message, "/params/capabilities").get("elicitation").is_some();
                Ok(json!({
                    "protocolVersion": at(&message, "/params/protocolVersion"),
                    "capabilities": {"tools": {}, "resources": {"subscribe": true}},
                    "serverInfo": {"name": "rough-server", "version": "0"},
                }))
            }
            // Whoever subscribes to anything is told of everything.
            "ping" | "resources/subscribe" | "resources/unsubscribe" => Ok(json!({})),
            "resources/list" => Ok(json!({"resources": [{"uri": NUMBERS, "name": "numbers"}]})),
            "tools/list" if is_fragile() => half_a_list(id),
            "tools/list" => {
                let more = (choosy && able).then_some(PERSON);
                let tools: Vec<Value> = TOOLS.into_iter().chain(more).map(define).collect();
                Ok(json!({"tools": tools}))
            }
            "tools/call" if at(&message, "/params/name") == PERSON.0 => {
                Ok(json!({"content": [{"type": "text", "text": able.to_string()}]}))
            }
            "tools/call" => match call(at(&message, "/params")) {
                Answer::Text(text) => Ok(json!({"content": [{"type": "text", "text": text}]})),
                Answer::Nothing => continue,
                Answer::End => return ExitCode::from(3),
            },
            _ => Err(json!({"code": -32601, "message": "no such method"})),
        };
        let (key, value) =
            answer.map_or_else(|error| ("error", error), |result| ("result", result));
        say(&json!({"jsonrpc": "2.0", "id": id, key: value}).to_string());
    }
    ExitCode::SUCCESS
}

fn is_fragile() -> bool {
    let path = std::env::args().skip_while(|word| word != FRAGILE).nth(1);
    path.is_some_and(|path| Path::new(&path).exists())
}

/// The line that is begun never ends, and nothing else is read.
fn half_a_list(id: &Value) -> ! {
    let first = define(TOOLS[0]);
    let half = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{first},{{"name":"ha"#);
    let mut stdout = std::io::stdout();
    // Whoever does not listen is not told.
    drop(stdout.write_all(half.as_bytes()).and_then(|()| stdout.flush()));
    eprintln!("process {} hangs in the middle of its list", std::process::id());
    loop {
        std::thread::park();
    }
}

fn define((name, description): (&str, &str)) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

/// What stands at a place of a message; null where nothing does.
fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

enum Answer {
    Text(String),
    Nothing,
    End,
}

fn call(params: &Value) -> Answer {
    match at(params, "/name").as_str().unwrap_or_default() {
        "process_id" => Answer::Text(std::process::id().to_string()),
        "crash" => Answer::End,
        "environment" => {
            let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            let mut names: Vec<String> = names.collect();
            names.sort();
            Answer::Text(names.join(" "))
        }
        "hang" => {
            eprintln!("a call hangs from now on");
            Answer::Nothing
        }
        "chatter" => {
            say("Server is starting ...");
            say("");
            say("{\"not\": \"a message\"}");
            say("{\"jsonrpc\":\"2.0\",\"id\":987654321,\"result\":{}}");
            say("[1, 2");
            Answer::Text("quiet again".to_owned())
        }
        "flood" => {
            let lines = at(params, "/arguments/lines").as_u64().unwrap_or(1);
            for line in 0..lines {
                eprintln!("line {line}: {}", "x".repeat(200));
            }
            Answer::Text(lines.to_string())
        }
        "big" => {
            let bytes = at(params, "/arguments/bytes").as_u64().unwrap_or(1);
            Answer::Text("x".repeat(usize::try_from(bytes).unwrap_or_default()))
        }
        "shout" => {
            let bytes = at(params, "/arguments/bytes").as_u64().unwrap_or(1);
            let data = "x".repeat(usize::try_from(bytes).unwrap_or_default());
            let params = json!({"level": "info", "data": data});
            let method = "notifications/message";
            say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
            Answer::Text(bytes.to_string())
        }
        "drip" => {
            drip(at(params, "/_meta/progressToken"));
            Answer::Nothing
        }
        "tell" => {
            let count = at(params, "/arguments/count").as_u64().unwrap_or(1);
            for number in 1..=count {
                let params = json!({"uri": NUMBERS, "number": number});
                let method = "notifications/resources/updated";
                say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
            }
            Answer::Text(count.to_string())
        }
        "stubborn" => start(Command::new("sh").args(["-c", STUBBORN])),
        "escape" => start(Command::new("setsid").args(["sh", "-c", STUBBORN])),
        other => Answer::Text(format!("no tool {other}")),
    }
}

/// Until nobody reads it any more.
fn drip(token: &Value) {
    for step in 1.. {
        let params = json!({"progressToken": token, "progress": step});
        let method = "notifications/progress";
        if !say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()) {
            return;
        }
        pause();
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing is waited for: it works so slowly")]
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(20));
}

/// A process that only SIGKILL ends, and that would outlive a test by far. `sleep` inherits the ignored signals.
const STUBBORN: &str = "trap '' TERM HUP INT; exec sleep 600";

/// Its stdout and stderr stay this server's, as a careless server would leave them: whoever waits for their end waits
/// for that process, too.
fn start(command: &mut Command) -> Answer {
    match command.stdin(Stdio::null()).stdout(Stdio::inherit()).spawn() {
        Ok(child) => Answer::Text(child.id().to_string()),
        Err(error) => Answer::Text(format!("not started: {error}")),
    }
}

/// A line to stdout; false when nobody reads it any more: then stdin ends, too.
fn say(line: &str) -> bool {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).is_ok()
}
