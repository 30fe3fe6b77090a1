//! `plugway stdio`: how it ends, and that nothing is left behind.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Pipe, Scripted, binary, demo_notes_path, pipe::text_of, process, wait};
use serde_json::json;

const BOUND: Duration = Duration::from_secs(20);

/// How a client ends plugway.
#[derive(Clone, Copy, Debug)]
enum End {
    CloseInput,
    CloseOutput,
    Term,
    Kill,
}

#[tokio::test]
async fn no_process_is_left_behind_however_it_ends() -> Result<()> {
    for end in [End::CloseInput, End::CloseOutput, End::Term, End::Kill] {
        let rough = binary::find("rough-server")?;
        let mut pipe = Pipe::start(format!(
            "name: hub\nupstreams: [{{name: rough, command: '{}'}}, {{name: notes, command: '{}'}}]\n",
            rough.display(),
            demo_notes_path()?.display()
        ))?;
        pipe.initialize().await?;
        pipe.tool("notes_process_id", json!({})).await?;
        pipe.tool_modern("notes_process_id", json!({})).await?;
        for tool in ["rough_stubborn", "rough_escape"] {
            pipe.tool(tool, json!({})).await?;
        }
        let processes = pipe.descendants()?;
        match end {
            End::CloseInput => pipe.close_input(),
            // It learns that nobody reads when it has something to say.
            End::CloseOutput => {
                pipe.close_output();
                pipe.ask("ping", json!({})).await?;
            }
            End::Term => pipe.terminate()?,
            End::Kill => pipe.kill().await?,
        }
        let ended = pipe.ended().await?;
        ensure!(ended.success() || matches!(end, End::Kill), "{end:?}: {ended}");
        process::until_gone(&processes, BOUND).await.with_context(|| format!("after {end:?}"))?;
    }
    Ok(())
}

#[tokio::test]
async fn what_was_asked_is_answered_before_the_end() -> Result<()> {
    for term in [false, true] {
        let upstream = Scripted::start().await?;
        let mut pipe = Pipe::start(format!(
            "name: hub\nupstreams: [{{name: web, url: '{}'}}]\n",
            upstream.url()
        ))?;
        pipe.initialize().await?;
        let params = json!({"name": "web_steps", "arguments": {}});
        let id = pipe.ask("tools/call", params).await?;
        wait::until("the server has the request", BOUND, async || {
            Ok((upstream.calls() == 1).then_some(()))
        })
        .await?;
        if term {
            pipe.terminate()?;
        } else {
            pipe.close_input();
            pipe.logged("closed its end").await?;
        }
        upstream.release();
        ensure!(text_of(&pipe.response(&id).await?)? == "done");
        ensure!(pipe.read().await?.is_none(), "the output stays open");
        ensure!(pipe.ended().await?.success());
        ensure!(upstream.sessions() == 0, "sessions were left at the server");
    }
    Ok(())
}

#[tokio::test]
async fn a_call_that_hangs_holds_the_end_up_for_a_bounded_time() -> Result<()> {
    let rough = binary::find("rough-server")?;
    let configuration = format!(
        "name: hub\nlimits: {{shutdown_grace: 200ms}}\nupstreams: [{{name: rough, command: '{}'}}]\n",
        rough.display()
    );
    for term in [false, true] {
        let mut pipe = Pipe::start(configuration.clone())?;
        pipe.initialize().await?;
        pipe.ask("tools/call", json!({"name": "rough_hang", "arguments": {}})).await?;
        pipe.logged("a call hangs from now on").await?;
        let processes = pipe.descendants()?;
        let start = Instant::now();
        if term {
            pipe.terminate()?;
        } else {
            pipe.close_input();
        }
        ensure!(pipe.ended().await?.success());
        ensure!(start.elapsed() < Duration::from_secs(8), "it took {:?}", start.elapsed());
        process::until_gone(&processes, BOUND).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_pipe_that_is_closed_at_once_ends_it_with_everything_answered() -> Result<()> {
    // As in a shell: printf '..' | plugway stdio
    let mut pipe = Pipe::start(format!(
        "name: hub\nupstreams: [{{name: notes, command: '{}'}}]\n",
        demo_notes_path()?.display()
    ))?;
    let id = pipe.ask_modern("tools/list", json!({})).await?;
    pipe.close_input();
    let tools = pipe.response(&id).await?;
    ensure!(tools["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{tools}");
    ensure!(pipe.read().await?.is_none());
    ensure!(pipe.ended().await?.success());
    Ok(())
}
