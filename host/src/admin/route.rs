//! Answers a request.

use std::sync::Arc;

use arc_swap::ArcSwap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Method};
use serde_json::json;

use super::act::{Done, act};
use super::gate::Gate;
use super::operations::Operations;
use super::resource::Resource;
use super::show;
use crate::fault::{Code, Fault};
use crate::pipeline::{Caller, RequestId};
use crate::telemetry::audit::Act;
use crate::transport::guard::Hosts;
use crate::transport::{Reply, Site, plain};

/// Where administration is done.
pub struct Desk {
    /// What is served now.
    pub site: Arc<ArcSwap<Site>>,
    /// Who may come in.
    pub gate: Gate,
    /// What others do.
    pub operations: Arc<dyn Operations>,
}

/// How a request came in.
#[derive(Clone, Debug)]
pub enum Entrance {
    /// Over TCP, from this address: its Host and Origin are checked, since a page in a browser could send it.
    Tcp(String),
    /// Through the Unix socket.
    Unix,
}

impl Entrance {
    fn shown(&self) -> &str {
        match self {
            Self::Tcp(address) => address,
            Self::Unix => "unix socket",
        }
    }
}

impl Desk {
    /// Answers one request. Its body is not read: nothing here takes one.
    pub async fn answer(&self, from: &Entrance, head: Parts) -> Reply {
        let request_id = RequestId::next();
        let number = request_id.to_string();
        let named = Resource::of(head.uri.path());
        let mut line = Act {
            request_id: &number,
            who: "",
            from: from.shown(),
            action: named.map_or("none", |named| named.word()),
            target: head.uri.path(),
        };
        let site = self.site.load_full();
        let caller = match self.admit(&site, from, &head).await {
            Ok(caller) => caller,
            Err((who, fault)) => {
                line.who = who.as_deref().map_or("", |who| &who.display);
                line.refused(fault.code().as_str());
                return plain::fault(&fault, request_id, allowed(named));
            }
        };
        line.who = &caller.display;
        let answered = match named {
            None => Err(Fault::new(Code::UnknownPath, "There is nothing at this path.")),
            Some(named) if head.method != method(named) => {
                let text =
                    if named.acts() { "This path takes POST." } else { "This path takes GET." };
                Err(Fault::new(Code::MethodNotAllowed, text))
            }
            Some(named) if named.acts() => self.act(named, &site, line).await,
            Some(named) => self.show(named, &site, head.uri.query()),
        };
        answered.unwrap_or_else(|fault| plain::fault(&fault, request_id, allowed(named)))
    }

    async fn admit(
        &self,
        site: &Site,
        from: &Entrance,
        head: &Parts,
    ) -> Result<Arc<Caller>, (Option<Arc<Caller>>, Fault)> {
        if matches!(from, Entrance::Tcp(_)) {
            let authority = head.uri.authority().map(http::uri::Authority::as_str);
            let own = Hosts::Listed(Vec::new());
            own.check(authority, &head.headers).map_err(|fault| (None, fault))?;
        }
        let authorization = single(&head.headers).map_err(|fault| (None, fault))?;
        let admitted = self.gate.admit(site, authorization).await;
        admitted.map_err(|refused| (refused.who, refused.fault))
    }

    async fn act(&self, named: Resource<'_>, site: &Site, line: Act<'_>) -> Result<Reply, Fault> {
        match act(named, site, &*self.operations).await {
            Ok(Done::Well(body)) => {
                line.done();
                Ok(plain::outcome(true, &body))
            }
            Ok(Done::Not(why)) => {
                line.failed(&why);
                Ok(plain::outcome(false, &json!({ "error": { "message": why } })))
            }
            Err(fault) => {
                line.failed(fault.public());
                Err(fault)
            }
        }
    }

    fn show(&self, named: Resource<'_>, site: &Site, query: Option<&str>) -> Result<Reply, Fault> {
        let shown = match named {
            Resource::Upstreams => show::upstreams(site, &*self.operations),
            Resource::Workers => show::workers(site),
            Resource::Sessions => show::sessions(site, query)?,
            _ => json!({ "plugins": self.operations.plugins() }),
        };
        Ok(plain::outcome(true, &shown))
    }
}

fn method(named: Resource<'_>) -> Method {
    if named.acts() { Method::POST } else { Method::GET }
}

fn allowed(named: Option<Resource<'_>>) -> &'static str {
    if named.is_some_and(|named| named.acts()) { "POST" } else { "GET" }
}

/// The credential, which may come once.
fn single(headers: &HeaderMap) -> Result<Option<&http::HeaderValue>, Fault> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let first = values.next();
    match values.next() {
        None => Ok(first),
        Some(_) => Err(Fault::new(Code::BadHeader, "The header authorization stands twice.")),
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("gate", &self.gate).finish_non_exhaustive()
    }
}
