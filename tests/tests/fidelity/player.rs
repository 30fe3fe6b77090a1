//! A client that plays its part of a recording, over either transport, and keeps what it gets.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use plugway_tests::{
    exact::Exact,
    replay::{Exchange, Recording, Step},
    wait,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, Command},
    sync::mpsc,
};

use super::{closed, http::Http, mapped::Mapped};

/// How long one message may take.
const BOUND: Duration = Duration::from_secs(10);

/// What a client got in one exchange.
#[derive(Debug)]
pub(crate) struct Played {
    name: String,
    /// In the order in which they are recorded, as a client without plugway would have got them.
    got: Vec<Exact>,
    /// What went wrong.
    failed: Option<String>,
}

/// The client.
pub(crate) struct Player {
    way: Way,
    inbox: mpsc::Receiver<Result<Exact>>,
    mapped: Mapped,
}

enum Way {
    Http(Http),
    Pipes(ChildStdin, #[expect(dead_code, reason = "it ends with this value")] Child),
}

impl Player {
    /// Over HTTP; behind plugway the server's names have a prefix.
    pub(crate) fn over_http(address: SocketAddr, prefix: Option<&str>) -> Self {
        let (sender, inbox) = mpsc::channel(64);
        let way = Way::Http(Http::new(address, sender));
        Self { way, inbox, mapped: Mapped::new(prefix) }
    }

    /// Over the pipes of a program.
    pub(crate) fn over_pipes(mut command: Command, prefix: Option<&str>) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("no stdin")?;
        let output = child.stdout.take().context("no stdout")?;
        let (sender, inbox) = mpsc::channel(64);
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if sender.send(Exact::parse(&line)).await.is_err() {
                    return;
                }
            }
        });
        Ok(Self { way: Way::Pipes(input, child), inbox, mapped: Mapped::new(prefix) })
    }

    /// Plays all exchanges.
    pub(crate) async fn play(&mut self, recording: &Recording) -> Result<Vec<Played>> {
        let opening = recording.exchanges.first().and_then(Exchange::first);
        self.mapped.opens_with(opening.context("no exchange")?);
        let mut all = Vec::new();
        for exchange in &recording.exchanges {
            let mut got = Vec::new();
            let played = self.exchange(exchange, &mut got).await;
            let failed = played.err().map(|error| format!("{error:#}"));
            all.push(Played { name: exchange.name.clone(), got, failed });
        }
        if let Ok(stray) = self.inbox.try_recv() {
            let failed: Vec<_> = all.iter().filter_map(|one| one.failed.as_ref()).collect();
            bail!("something came that is not recorded: {}\n{failed:?}", stray?);
        }
        Ok(all)
    }

    async fn exchange(&mut self, exchange: &Exchange, got: &mut Vec<Exact>) -> Result<()> {
        if let Some(list) = closed::list_of(exchange.first().context("empty")?) {
            return self.pages(exchange, list, got).await;
        }
        let mut due: Vec<&Step> = Vec::new();
        for step in &exchange.steps {
            if let Step::Client(message) = step {
                self.gather(&std::mem::take(&mut due), got).await?;
                self.send(&self.mapped.outgoing(message)).await?;
            } else {
                due.push(step);
            }
        }
        self.gather(&due, got).await
    }

    /// Waits for these messages, on whichever stream they come.
    async fn gather(&mut self, due: &[&Step], got: &mut Vec<Exact>) -> Result<()> {
        let mut slots: Vec<(&Step, Option<Exact>)> = due.iter().map(|step| (*step, None)).collect();
        let mut newest = 0;
        while slots.iter().any(|(_, came)| came.is_none()) {
            let message = self.next().await.with_context(|| {
                let missing = slots.iter().filter(|(_, came)| came.is_none());
                let missing: Vec<_> = missing.map(|(step, _)| step.received()).collect();
                format!("missing: {missing:?}")
            })?;
            let is_it = |step: &Step| step.received().is_some_and(|due| is_alike(due, &message));
            let mut free = slots.iter_mut().enumerate().filter(|(_, (_, came))| came.is_none());
            let slot = free.find(|(_, (step, _))| is_it(step));
            let (place, (step, came)) =
                slot.with_context(|| format!("nobody waits for {message}"))?;
            if matches!(step, Step::Server(_)) {
                ensure!(place >= newest, "out of its order: {message}");
                newest = place;
            }
            self.mapped.learn(step.received().context("a message")?, &message);
            *came = Some(message);
        }
        let came = slots.iter().filter_map(|(_, came)| came.as_ref());
        got.extend(came.map(|message| closed::seen_by_client(message, &self.mapped)));
        Ok(())
    }

    /// A list, with as many pages as it has.
    async fn pages(&mut self, exchange: &Exchange, list: &str, got: &mut Vec<Exact>) -> Result<()> {
        let first = exchange.first().context("empty")?;
        if first.at(&["params", "cursor"]).is_some() {
            return Ok(());
        }
        let (mut request, mut whole) = (self.mapped.outgoing(first), None::<Exact>);
        loop {
            self.send(&request).await?;
            let mut page = self.next().await?;
            ensure!(is_alike(&request, &page) || page.at(&["id"]) == first.at(&["id"]), "{page}");
            let cursor = page.at_mut(&["result"]).and_then(|result| result.remove("nextCursor"));
            let entries = page.at(&["result", list]).context("no list")?.items().to_vec();
            match whole.as_mut().and_then(|whole| whole.at_mut(&["result", list])) {
                Some(Exact::Array(all)) => all.extend(entries),
                _ => whole = Some(page),
            }
            let Some(cursor) = cursor else { break };
            if request.at(&["params"]).is_none() {
                request.set("params", Exact::Object([].into()));
            }
            request.at_mut(&["params"]).context("params")?.set("cursor", cursor);
        }
        got.push(closed::seen_by_client(&whole.context("no page")?, &self.mapped));
        Ok(())
    }

    async fn next(&mut self) -> Result<Exact> {
        wait::within("a message", BOUND, self.inbox.recv()).await?.context("the end")?
    }

    async fn send(&mut self, message: &Exact) -> Result<()> {
        match &mut self.way {
            Way::Http(http) => http.post(message).await,
            Way::Pipes(input, _) => {
                input.write_all(format!("{message}\n").as_bytes()).await?;
                Ok(input.flush().await?)
            }
        }
    }
}

/// Whether a message is the one that was recorded, whatever else it says.
fn is_alike(recorded: &Exact, message: &Exact) -> bool {
    match recorded.method() {
        Some(method) => message.method() == Some(method),
        None => message.method().is_none() && message.at(&["id"]) == recorded.at(&["id"]),
    }
}

impl Played {
    /// Without plugway, every message comes as it was recorded.
    pub(crate) fn ensure_as_recorded(&self, exchange: &Exchange) -> Result<()> {
        ensure!(self.failed.is_none(), "{}: {:?}", self.name, self.failed);
        if exchange.first().is_some_and(|first| closed::list_of(first).is_some()) {
            return Ok(());
        }
        let as_it_is = Mapped::new(None);
        let recorded = exchange.steps.iter().filter_map(Step::received);
        let recorded: Vec<Exact> =
            recorded.map(|message| closed::seen_by_client(message, &as_it_is)).collect();
        ensure!(self.got == recorded, "{}: {:?}\n{recorded:?}", self.name, self.got);
        Ok(())
    }

    /// What is different in the same exchange of another client.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if let Some(failed) = &other.failed {
            return Some(format!("{}: {failed}", self.name));
        }
        let pairs = self.got.iter().zip(&other.got).filter(|(one, other)| one != other);
        let told: Vec<String> = pairs
            .map(|(one, other)| format!("  directly:        {one}\n  through plugway: {other}"))
            .collect();
        let told = told.join("\n");
        (self.got != other.got).then(|| format!("{}:\n{told}", self.name))
    }
}
