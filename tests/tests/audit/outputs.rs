//! Outputs of the audit that fail, hang or are limited, and what nobody may bring about: floods and secrets in its lines.

use std::{
    fs::{File, OpenOptions},
    io::{PipeReader, Read as _},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::plugway::{Setup, command};
use plugway_tests::registry::{hub, setup};
use plugway_tests::scratch::Scratch;
use plugway_tests::soak::audit::stopped;
use plugway_tests::{Hub, Plugway, Scripted, audit, http, metrics, process, wait};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use serde_json::{Value, json};

use crate::{call, scripted};

const BOUND: Duration = Duration::from_secs(20);

/// plugway whose standard output is this pipe.
async fn piped(server: &Scripted, keys: Value, out: impl Into<Stdio>) -> Result<Plugway> {
    let scratch = Scratch::new()?;
    let upstreams = json!([{"name": "up", "url": server.url()}]);
    let text = json!({"name": "hub", "audit": keys, "upstreams": upstreams}).to_string();
    let file = scratch.write("plugway.yaml", text)?;
    let mut command = command()?;
    command.arg("serve").arg(file).args(["--log-format", "json", "--listen", "127.0.0.1:0"]);
    command.current_dir(scratch.path()).stdout(out);
    let mut plugway = Plugway::of(command, scratch).await?;
    plugway.wait_until_ready().await?;
    plugway.wait_until_connected(&["up"]).await?;
    Ok(plugway)
}

async fn calls(plugway: &Plugway, count: usize) -> Result<()> {
    let client = plugway.modern();
    for _ in 0..count {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
    }
    Ok(())
}

#[tokio::test]
async fn a_standard_output_that_breaks_leaves_the_file_alone() -> Result<()> {
    let server = Scripted::start().await?;
    let (reader, writer) = std::io::pipe()?;
    let keys =
        json!({"file": audit::FILE, "stdout": true, "required": true, "rotate": {"size": "1MiB"}});
    let plugway = piped(&server, keys, writer).await?;
    calls(&plugway, 1).await?;
    drop(reader);
    calls(&plugway, 5).await?;
    audit::until(&plugway, "call", 6).await?;
    plugway.logged("the copy of the audit on standard output cannot be written", BOUND).await?;
    let ready = plugway.get("/ready").await?.json()?;
    ensure!(ready["degraded"].to_string().contains("standard output"), "{ready}");
    ensure!(metrics::sum(&plugway, "plugway_audit_copies_lost_total", &[]).await? > 0.5);
    ensure!(metrics::sum(&plugway, "plugway_audit_lost_total", &[]).await? < 0.5);
    // It is required, and it is written.
    calls(&plugway, 1).await?;
    let (_folder, lines) = stopped(plugway).await?;
    ensure!(lines.iter().filter(|line| line["kind"] == "call").count() == 7, "{lines:?}");
    ensure!(lines.last().is_some_and(|line| line["kind"] == "stop"), "{lines:?}");
    Ok(())
}

/// Everything that comes out of a pipe whose other end is closed.
fn rest(mut reader: PipeReader) -> Result<Vec<Value>> {
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    let lines = text.lines().map(|line| serde_json::from_str(line).context("no JSON"));
    lines.collect()
}

#[tokio::test]
async fn a_standard_output_that_does_not_wait_gets_each_line_once() -> Result<()> {
    let server = Scripted::start().await?;
    let (reader, writer) = std::io::pipe()?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    rustix::pipe::fcntl_setpipe_size(&writer, 4_096)?;
    let plugway = piped(&server, json!({"stdout": true}), writer).await?;
    // Far more than the pipe holds, and nobody reads yet.
    calls(&plugway, 60).await?;
    let reading = tokio::task::spawn_blocking(move || rest(reader));
    ensure!(plugway.stop().await?.success());
    let lines = wait::within("standard output ends", BOUND, reading).await???;
    let ids: std::collections::HashSet<_> =
        lines.iter().filter_map(|line| line["request_id"].as_str()).collect();
    let calls = lines.iter().filter(|line| line["kind"] == "call").count();
    ensure!(calls == 60 && ids.len() == 60, "{calls} lines of {} calls", ids.len());
    ensure!(lines.last().is_some_and(|line| line["kind"] == "stop"), "{lines:?}");
    Ok(())
}

/// A pipe in a folder.
fn fifo(folder: &Path) -> Result<std::path::PathBuf> {
    let path = folder.join("fifo");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    Ok(path)
}

/// A pipe that holds little, with a reader that does not read.
fn full(path: &Path) -> Result<File> {
    let reader = OpenOptions::new().read(true).write(true).open(path)?;
    rustix::pipe::fcntl_setpipe_size(&reader, 4_096)?;
    Ok(reader)
}

#[tokio::test]
async fn where_it_is_required_no_call_is_served_while_a_write_does_not_come_back() -> Result<()> {
    let (server, folder) = (Scripted::start().await?, Scratch::new()?);
    let path = fifo(folder.path())?;
    let mut reader = full(&path)?;
    let configuration = json!({
        "name": "hub", "audit": {"file": path, "required": true},
        "upstreams": [{"name": "up", "url": server.url()}],
    });
    let mut plugway = Setup::new(configuration.to_string()).start().await?;
    let client = plugway.modern();
    let refused = async || {
        wait::until("a call is refused", BOUND, async || {
            let answer = client.call("tools/call", call("up_json", &json!({}))).await?;
            Ok((answer.status == 503).then_some(answer))
        })
        .await
    };
    let answer = refused().await?;
    ensure!(answer.response()?["error"]["data"]["code"] == "audit-unavailable", "{}", answer.text);
    let ready = plugway.get("/ready").await?.json()?;
    ensure!(ready["degraded"].to_string().contains("the audit cannot be written"), "{ready}");
    ensure!((metrics::sum(&plugway, "plugway_audit_failing", &[]).await? - 1.0).abs() < 0.1);
    plugway.logged("a write does not come back", BOUND).await?;
    // Once somebody reads, all is well.
    let mut some = vec![0; 1 << 16];
    let read = std::thread::spawn(move || {
        let mut text = Vec::new();
        while memchr(&text, b"audit-unavailable").is_none() {
            let count = reader.read(&mut some)?;
            text.extend_from_slice(some.get(..count).unwrap_or_default());
        }
        std::io::Result::Ok(reader)
    });
    plugway.logged("the audit can be written again", BOUND).await?;
    let reader = read.join().ok().context("the reader broke off")??;
    calls(&plugway, 1).await?;
    refused().await?;
    let began = Instant::now();
    process::signal(plugway.pid()?, Signal::TERM)?;
    plugway.ended().await?;
    ensure!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    plugway.logged("the audit ends without lines that could not be written", BOUND).await?;
    drop(reader);
    Ok(())
}

fn memchr(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[tokio::test]
async fn a_pipe_that_nobody_reads_keeps_plugway_from_starting() -> Result<()> {
    let folder = Scratch::new()?;
    let path = fifo(folder.path())?;
    let upstreams = json!([{"name": "up", "url": "http://127.0.0.1:1/mcp"}]);
    let configuration = json!({"name": "hub", "audit": {"file": path}, "upstreams": upstreams});
    let ended = Setup::new(configuration.to_string()).serve_to_its_end().await?;
    ensure!(ended.status.code() == Some(1), "{ended:?}");
    ensure!(ended.stderr.contains("a pipe that nobody reads"), "{}", ended.stderr);
    Ok(())
}

#[tokio::test]
async fn a_limit_of_the_size_of_files_is_as_a_full_disk() -> Result<()> {
    let (_server, plugway) = scripted(json!({"chain": true})).await?;
    let pid = Pid::from_raw(i32::try_from(plugway.pid()?)?);
    let limit = |current| Rlimit { current, maximum: None };
    prlimit(pid, Resource::Fsize, limit(Some(2_000)))?;
    calls(&plugway, 20).await?;
    plugway.logged("the audit cannot be written", BOUND).await?;
    prlimit(pid, Resource::Fsize, limit(None))?;
    plugway.logged("the audit can be written again", BOUND).await?;
    let (folder, lines) = stopped(plugway).await?;
    ensure!(lines.iter().filter(|line| line["kind"] == "call").count() == 20, "{lines:?}");
    let verified = audit::verify(&folder.0, &["--closed"]).await?;
    ensure!(verified.status.success(), "{verified:?}");
    Ok(())
}

#[tokio::test]
async fn refused_acts_of_nobody_are_counted_beyond_a_few() -> Result<()> {
    const ASKED: u64 = 300;
    let hub = hub(&json!([]), &json!({"audit": {"file": audit::FILE}}));
    let plugway = setup(&hub).start().await?;
    let began = Instant::now();
    for _ in 0..ASKED {
        let answer = http::get(plugway.address(), "/registry/v1/servers").await?;
        ensure!(answer.status == 401, "{}", answer.status);
    }
    let seconds = began.elapsed().as_secs();
    let (_folder, lines) = stopped(plugway).await?;
    let acts: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "act").collect();
    let told = acts.iter().map(|line| line["count"].as_u64().unwrap_or(1)).sum::<u64>();
    ensure!(told == ASKED, "{told} of {ASKED}");
    // 20 in each second that began, and a count of the others.
    ensure!(acts.len() as u64 <= (seconds + 2) * 21, "{} lines in {seconds} s", acts.len());
    Ok(())
}

#[tokio::test]
async fn no_secret_of_a_uri_stands_in_a_line() -> Result<()> {
    let (_server, plugway) = scripted(json!({})).await?;
    let uris =
        ["https://ann:PASSW@h/p?token=SEKRET", "mem:note?token=SEKRET", "//u:PASSW@h/p#SEKRET"];
    for client in [plugway.legacy().await?, plugway.modern()] {
        for uri in uris {
            client.call("resources/read", json!({"uri": uri})).await?;
        }
    }
    let lines = audit::until(&plugway, "call", 6).await?;
    let names: Vec<_> = lines.iter().filter_map(|line| line["name"].as_str()).collect();
    ensure!(names == ["https://h/p", "mem:note", "//h/p"].repeat(2), "{names:?}");
    for line in &lines {
        let text = line.to_string();
        ensure!(!text.contains("PASSW") && !text.contains("SEKRET"), "{text}");
        ensure!(line["verdict"] == "unknown", "{line}");
    }
    Ok(())
}

#[tokio::test]
async fn a_line_that_is_known_has_to_be_there() -> Result<()> {
    let (_server, plugway) = scripted(json!({"chain": true})).await?;
    calls(&plugway, 1).await?;
    let (folder, _) = stopped(plugway).await?;
    let whole = audit::verify(&folder.0, &["--closed"]).await?;
    let last = whole.stdout.trim_end().rsplit_once("last ").context("no last line")?.1.to_owned();
    let there = audit::verify(&folder.0, &["--closed", "--last", &last]).await?;
    ensure!(there.status.success(), "{there:?}");
    let later = last.replacen("3:", "9:", 1);
    let missing = audit::verify(&folder.0, &["--closed", "--last", &later]).await?;
    ensure!(missing.status.code() == Some(1), "{missing:?}");
    ensure!(missing.stderr.contains("number 9 is not among these files"), "{missing:?}");
    let earlier = last.replacen("3:", "2:", 1);
    let other = audit::verify(&folder.0, &["--last", &earlier]).await?;
    ensure!(other.status.code() == Some(1) && other.stderr.contains("--last"), "{other:?}");
    let wrong = audit::verify(&folder.0, &["--last", "3"]).await?;
    ensure!(wrong.status.code() == Some(2), "{wrong:?}");
    Ok(())
}

#[tokio::test]
async fn a_call_that_the_end_of_plugway_cuts_off_was_given_up_by_nobody() -> Result<()> {
    let server = Scripted::start().await?;
    let hub = crate::audited(Hub::new("hub").upstream("up", server.url().as_str()), json!({}));
    let plugway = hub.top("limits", json!({"shutdown_grace": "200ms"})).start().await?;
    let client = plugway.legacy().await?;
    let steps =
        json!({"name": "up_steps", "arguments": {"steps": 1}, "_meta": {"progressToken": 1}});
    let mut events = client.open("tools/call", steps).await?;
    events.next(BOUND).await?.context("no progress")?;
    let (_folder, lines) = stopped(plugway).await?;
    let calls: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "call").collect();
    ensure!(calls.len() == 1 && calls[0]["outcome"] == "stopped", "{calls:?}");
    Ok(())
}
