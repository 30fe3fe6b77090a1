//! Sessions that objects are sent to. A server that is told none takes the first one that its peer has for everybody behind
//! the same credential, which is somebody else's: so it is always told one of the caller's, or one that nobody has.

use plugway_sdk::prelude::*;

use super::ids::Kind;
use super::judge::{self, Asking};
use super::text;
use super::tool::{Argument, Tool};

/// The attribute of a call that says which upstream has which tools: pairs of its name and the tool's own name.
pub const GUARDED: &str = "guarded-tools";

/// Where an object is sent to.
#[derive(Debug)]
pub struct Destination {
    /// The name by which the sender knows it.
    name: String,
    /// The upstreams that it may be; none where it is behind no upstream, or is no server.
    upstreams: Vec<String>,
}

impl Destination {
    /// That of the call in hand, which `server` behind `upstream` gets.
    pub fn of_call(upstream: &str, server: &str) -> Result<Self, Failure> {
        let to = call::argument_json("/to").filter(|json| json.starts_with('"'));
        let name: String = to.map_or_else(|| Ok(String::new()), |to| serde_json::from_str(&to))?;
        let tools = call::attribute(GUARDED).unwrap_or_default();
        let tools: Vec<(String, String)> = serde_json::from_str(&tools).unwrap_or_default();
        let servers = tools.into_iter().filter_map(|(at, own)| {
            let server = String::from(Tool::of(&own)?.1);
            Some((at, server))
        });
        // No server sends to itself.
        let others = servers.filter(|(at, own)| (at.as_str(), own.as_str()) != (upstream, server));
        let upstreams = best(&name, &others.collect::<Vec<_>>());
        Ok(Self { name, upstreams })
    }

    /// Whether a session is the caller's, and the destination's as far as anybody knows. This is a use of it.
    pub fn owns(&self, id: &str) -> bool {
        let kind = Kind::Session.word();
        match self.upstreams.as_slice() {
            [] => handles::owns(None, kind, id),
            upstreams => upstreams.iter().any(|upstream| handles::owns(Some(upstream), kind, id)),
        }
    }

    /// The session of the caller there that was used last.
    fn session(&self) -> Option<String> {
        let newest =
            |upstream: &String| handles::list(upstream, Kind::Session.word()).into_iter().next();
        self.upstreams.iter().find_map(newest).filter(|id| self.owns(id))
    }

    fn sentence(&self) -> String {
        format!(
            "Object transfer to '{}' failed: no session of yours is known there. Run code there first, or name a session \
             as session_id.",
            self.name
        )
    }
}

/// Whether a name means a server, by its upstream and its own name.
type Fit<'a> = &'a dyn Fn(&str, &str) -> bool;

/// The upstreams that a name fits best: as a server's own name, as that of a server behind a connector, as the configured
/// name.
fn best(name: &str, servers: &[(String, String)]) -> Vec<String> {
    let behind = |server: &str| server.strip_suffix(name).is_some_and(|rest| rest.ends_with('_'));
    let fits: [Fit<'_>; 3] =
        [&|_, server| server == name, &|_, server| behind(server), &|at, _| at == name];
    if name.is_empty() {
        return Vec::new();
    }
    let all = fits.into_iter().map(|fits| {
        let fitting = servers.iter().filter(|(at, server)| fits(at, server));
        let mut upstreams: Vec<String> = fitting.map(|(at, _)| at.clone()).collect();
        upstreams.dedup();
        upstreams
    });
    all.into_iter().find(|upstreams| !upstreams.is_empty()).unwrap_or_default()
}

/// Answers a call that names no session: the object goes to the one of the caller there that was used last, or nowhere.
pub fn answer(asking: &Asking<'_>, argument: &Argument) -> Result<Reply, Failure> {
    let to = Destination::of_call(asking.upstream, asking.server)?;
    let own = to.session();
    let made_up = || argument.kind.nobodys("", random::next);
    let id = own.clone().unwrap_or_else(made_up);
    let value = serde_json::Value::from(&*id).to_string();
    let arguments = text::with_member(&call::arguments_json(), argument.name, &value)
        .ok_or_else(|| Failure::new("the arguments are no object"))?;
    let needed = |text: &str| (own.is_none() && text.contains(&id)).then(|| to.sentence());
    Ok(match asking.request(asking.own, &arguments) {
        Ok(result) if own.is_some() || judge::succeeded(&result) => Reply::Answer(result),
        Ok(result) => Reply::Answer(text::map_texts(&result, |text| text::map_inner(text, needed))),
        Err(error) => {
            let error = text::map_inner(&error, needed).unwrap_or(error);
            Reply::Reject(judge::refusal(&error))
        }
    })
}
