//! Answers requests of servers that register themselves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use http::header::AUTHORIZATION;
use http::request::Parts;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::book::Book;
use super::lapse::{displaced, lapse};
use super::lease::{Holder, Lease};
use super::leaver;
use super::request::{BODY, Registration};
use super::rules::Rules;
use super::shelf::Done;
use crate::auth::refusal;
use crate::config::REGISTRY_SCOPE;
use crate::fault::{Code, Fault};
use crate::outbound::{Dialer, OwnListeners};
use crate::pipeline::port::Promise;
use crate::pipeline::{Caller, RequestId};
use crate::telemetry::audit::Act;
use crate::transport::annex::Annex;
use crate::transport::{Bounds, Reply, Site, body, headers, plain};

/// The registry of one connector, at `PATH/registry/v1/servers`.
#[derive(Debug)]
pub struct Desk {
    /// What the operator allows.
    pub rules: Rules,
    /// The leases.
    pub book: Arc<Book>,
    /// Where plugway itself listens, which no server may name.
    pub own: OwnListeners,
}

/// What a request wants.
#[derive(Clone, Copy, Debug)]
enum Wish<'a> {
    Register,
    List,
    Look(&'a str),
    Remove(&'a str),
}

impl<'a> Wish<'a> {
    fn of(method: &Method, item: Option<&'a str>) -> Result<Self, Fault> {
        match (item, method) {
            (None, &Method::POST) => Ok(Self::Register),
            (None, &Method::GET) => Ok(Self::List),
            (Some(name), &Method::GET) => Ok(Self::Look(name)),
            (Some(name), &Method::DELETE) => Ok(Self::Remove(name)),
            (None, _) => Err(Fault::new(Code::MethodNotAllowed, "This path takes POST and GET.")),
            (Some(_), _) => {
                Err(Fault::new(Code::MethodNotAllowed, "This path takes GET and DELETE."))
            }
        }
    }

    /// The word for the audit.
    fn word(self) -> &'static str {
        match self {
            Self::Register => "lease-register",
            Self::List | Self::Look(_) => "lease-look",
            Self::Remove(_) => "lease-remove",
        }
    }
}

/// A request at the desk.
struct Asked<'a> {
    site: &'a Site,
    /// The name that its path ends in.
    item: Option<&'a str>,
    head: &'a Parts,
}

impl Desk {
    async fn serve(&self, asked: Asked<'_>, incoming: Incoming) -> Reply {
        let request_id = RequestId::next();
        let number = request_id.to_string();
        let object = self.object(asked.item);
        let mut line = Line { number: &number, who: Arc::default(), action: "none", object };
        let answered = self.answered(&asked, incoming, &mut line).await;
        answered.unwrap_or_else(|fault| {
            asked.site.counts.fault(&fault);
            line.act().refused(fault.public());
            let allowed = if asked.item.is_some() { "GET, DELETE" } else { "POST, GET" };
            plain::fault(&fault, request_id, allowed)
        })
    }

    async fn answered(
        &self,
        &Asked { site, item, head }: &Asked<'_>,
        incoming: Incoming,
        line: &mut Line<'_>,
    ) -> Result<Reply, Fault> {
        let wish = Wish::of(&head.method, item);
        line.action = wish.as_ref().map_or("none", |wish| wish.word());
        let caller = identify(site, head).await?;
        line.who = caller.display.clone();
        if !caller.scopes.iter().any(|scope| **scope == *REGISTRY_SCOPE) {
            return Err(refusal::forbidden(REGISTRY_SCOPE));
        }
        let holder = Holder { id: caller.id.clone(), shown: caller.display.clone() };
        let wish = wish?;
        lapse(&self.book, Instant::now());
        match wish {
            Wish::Register => {
                let bounds = Bounds { body: BODY, ..site.bounds };
                let body = body::read(incoming, &bounds).await?;
                self.register(site, &holder, &body, line)
            }
            Wish::List => Ok(plain::outcome(true, &self.list(site, &holder))),
            Wish::Look(name) => {
                let lease = self.book.lease(&self.rules.connector, name, &holder)?;
                Ok(plain::outcome(true, &self.shown(site, &lease)))
            }
            Wish::Remove(name) => self.remove(&holder, name, head.uri.query(), line),
        }
    }

    /// Ends a lease, unless the query says an address that is not the one that serves.
    fn remove(
        &self,
        holder: &Holder,
        name: &str,
        query: Option<&str>,
        line: &mut Line<'_>,
    ) -> Result<Reply, Fault> {
        let (connector, now) = (&*self.rules.connector, Instant::now());
        let (lease, ended) = match leaver::address(query)? {
            Some(url) => self.book.leave((connector, name), holder, &url, now)?,
            None => (self.book.remove(connector, name, holder, now)?, true),
        };
        if !ended {
            line.action = "lease-leave";
        }
        line.act().done();
        Ok(plain::outcome(true, &json!({ "removed": ended.then_some(&*lease.name) })))
    }

    fn register(
        &self,
        site: &Site,
        holder: &Holder,
        body: &[u8],
        line: &mut Line<'_>,
    ) -> Result<Reply, Fault> {
        let asked = Registration::read(body)?;
        line.object = self.object(Some(&asked.name));
        let dialer = Dialer::configured(self.own.clone(), Duration::ZERO);
        if let Some(why) = dialer.refuses(&asked.url) {
            return Err(Fault::new(Code::Forbidden, format!("The url is not dialled: {why}.")));
        }
        if let Some(ended) = self.book.make_way(&self.rules, holder, &asked) {
            displaced(&self.rules.connector, &ended);
        }
        let (done, lease) = self.book.register(&self.rules, holder, asked, Instant::now())?;
        line.action = match done {
            Done::Registered => "lease-register",
            Done::Renewed => "lease-renew",
            Done::Moved => "lease-move",
            Done::Weighed => "lease-weigh",
        };
        line.act().done();
        let shown = self.shown(site, &lease);
        Ok(match done {
            Done::Registered => plain::made(&shown),
            Done::Renewed | Done::Moved | Done::Weighed => plain::outcome(true, &shown),
        })
    }

    /// The leases of one holder: nobody learns where the servers of others are.
    fn list(&self, site: &Site, holder: &Holder) -> Value {
        let all = self.book.leases(&self.rules.connector);
        let own = all.iter().filter(|lease| lease.holder.id == holder.id);
        json!({ "servers": own.map(|lease| self.shown(site, lease)).collect::<Vec<_>>() })
    }

    fn shown(&self, site: &Site, lease: &Lease) -> Value {
        let (state, reason) = lease.state();
        let connector = site.connector(&self.rules.connector);
        let phase = connector.filter(|_| state == "serving").and_then(|connector| {
            let mut phases = connector.phases();
            phases.find(|(name, _)| *name == lease.name).map(|(_, phase)| phase.as_str())
        });
        let left = lease.until.saturating_duration_since(Instant::now());
        json!({
            "name": &*lease.name, "url": lease.said().to_string(), "ttl": lease.ttl.as_secs(),
            "expires_in": left.as_secs_f64(), "labels": lease.labels,
            "state": state, "phase": phase, "reason": reason.as_deref(),
        })
    }

    fn object(&self, item: Option<&str>) -> String {
        let name: String = item.unwrap_or_default().chars().take(64).collect();
        format!("{}/{name}", self.rules.connector)
    }
}

/// The caller, whom nobody lets in without a credential: not even where the connector does.
async fn identify(site: &Site, head: &Parts) -> Result<Arc<Caller>, Fault> {
    headers::check_single(&head.headers)?;
    let Some(auth) = &site.auth else { return Err(refusal::missing()) };
    let caller = auth.authenticate(head.headers.get(AUTHORIZATION)).await?;
    caller.ok_or_else(refusal::missing)
}

/// What the audit says of a request.
struct Line<'a> {
    number: &'a str,
    who: Arc<str>,
    action: &'static str,
    object: String,
}

impl Line<'_> {
    fn act(&self) -> Act<'_> {
        Act {
            request_id: self.number,
            who: &self.who,
            from: "client listener",
            action: self.action,
            target: &self.object,
        }
    }
}

impl Annex for Desk {
    fn answer<'a>(
        &'a self,
        site: &'a Site,
        item: Option<&'a str>,
        head: &'a Parts,
        body: Incoming,
    ) -> Promise<'a, Reply> {
        Box::pin(self.serve(Asked { site, item, head }, body))
    }
}
