//! Over pipes: a line for each message.

use std::sync::Arc;

use anyhow::Result;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    sync::mpsc,
};

use super::server::{Answer, Replay};
use crate::exact::Exact;

/// Serves until the input ends.
pub async fn serve(replay: Arc<Replay>) -> Result<()> {
    let (output, mut lines) = mpsc::channel::<String>(32);
    let writer = tokio::spawn(async move {
        let mut stdout = tokio::io::stdout();
        while let Some(line) = lines.recv().await {
            stdout.write_all(format!("{line}\n").as_bytes()).await?;
            stdout.flush().await?;
        }
        anyhow::Ok(())
    });
    if replay.has_sessions() {
        replay.listens("", output.clone());
    }
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = input.next_line().await? {
        match replay.take(Exact::parse(&line)?, "")? {
            None => {}
            Some(Answer::Whole(message)) => output.send(message.to_string()).await?,
            Some(Answer::Stream(mut messages)) => {
                let output = output.clone();
                tokio::spawn(async move {
                    while let Some(message) = messages.recv().await {
                        // Nobody reads any more: the input ends too.
                        drop(output.send(message).await);
                    }
                });
            }
        }
    }
    writer.abort();
    Ok(())
}
