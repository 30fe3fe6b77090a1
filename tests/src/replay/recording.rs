//! Exchanges as they are written down: a line of JSON for each message.
//!
//! `{"exchange": NAME}` begins one; with `"since": OTHER` it holds from the time on at which the exchange OTHER took place,
//! in the place of one before it that begins alike. Then in order: `{"client": MESSAGE}` from the client, `{"server":
//! MESSAGE}` on the stream of the call, `{"own": MESSAGE}` on the stream of the session, `{"all": MESSAGE}` to everybody who
//! listens for such things.

use anyhow::{Context as _, Result, ensure};

use crate::exact::{Exact, lines};

/// One message and its way.
#[derive(Debug, Clone)]
pub enum Step {
    /// From the client.
    Client(Exact),
    /// From the server, along with the call.
    Server(Exact),
    /// From the server, on the stream of the session.
    Own(Exact),
    /// From the server, to all sessions or subscriptions that it concerns.
    All(Exact),
}

impl Step {
    /// What the client gets in this step.
    pub fn received(&self) -> Option<&Exact> {
        match self {
            Self::Client(_) => None,
            Self::Server(message) | Self::Own(message) | Self::All(message) => Some(message),
        }
    }
}

/// What makes a step of a message.
type Kind = fn(Exact) -> Step;

/// What a client begins, and everything that follows from it.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Its name.
    pub name: String,
    /// The exchange after which it holds.
    pub since: Option<String>,
    /// Its messages in order; the first is the client's.
    pub steps: Vec<Step>,
}

impl Exchange {
    /// What the client begins it with.
    pub fn first(&self) -> Option<&Exact> {
        match self.steps.first()? {
            Step::Client(message) => Some(message),
            _ => None,
        }
    }

    /// Whether this request begins it: it has the same method and params, apart from `_meta`, which says nothing of what is
    /// asked for. Requests that open something begin alike whatever they say.
    pub fn fits(&self, request: &Exact) -> bool {
        let asked = |message: &Exact| {
            let mut params = message.at(&["params"]).cloned();
            if let Some(params) = &mut params {
                params.remove("_meta");
            }
            params.filter(|params| *params != Exact::Object([].into()))
        };
        self.first().is_some_and(|first| {
            first.method() == request.method()
                && (matches!(first.method(), Some("initialize" | "server/discover"))
                    || asked(first) == asked(request))
        })
    }
}

/// The exchanges of one file.
#[derive(Debug, Clone)]
pub struct Recording {
    /// In their order.
    pub exchanges: Vec<Exchange>,
}

impl Recording {
    /// Reads a file's text.
    pub fn parse(text: &str) -> Result<Self> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        for mut line in lines(text)? {
            if let Some(name) = line.str_at(&["exchange"]) {
                let since = line.str_at(&["since"]).map(str::to_owned);
                exchanges.push(Exchange { name: name.to_owned(), since, steps: Vec::new() });
                continue;
            }
            let exchange = exchanges.last_mut().context("a message before the first exchange")?;
            let kinds: [(&str, Kind); 4] = [
                ("client", Step::Client),
                ("server", Step::Server),
                ("own", Step::Own),
                ("all", Step::All),
            ];
            let step = kinds.iter().find_map(|(key, step)| line.remove(key).map(step));
            exchange.steps.push(step.with_context(|| format!("nobody's message: {line}"))?);
        }
        for exchange in &exchanges {
            ensure!(exchange.first().is_some(), "{}: the client begins", exchange.name);
        }
        Ok(Self { exchanges })
    }

    /// Whether it is one of the legacy era.
    pub fn has_sessions(&self) -> bool {
        self.exchanges.iter().any(|exchange| {
            exchange.first().is_some_and(|first| first.method() == Some("initialize"))
        })
    }
}
