//! Follows a link.

use std::sync::Arc;
use std::time::Instant;

use http::HeaderValue;

use super::link::decoded;
use super::rules::Who;
use super::table::File;
use crate::fault::{Code, Fault};
use crate::pipeline::caller::Caller;
use crate::pipeline::connector::Connector;
use crate::pipeline::handshake::may_use;
use crate::pipeline::port::{Body, FileOrder};
use crate::pipeline::viewer::{Shows, Viewer};
use crate::telemetry::audit::Act;

/// Who wants what.
#[derive(Debug)]
pub struct Asked<'a> {
    /// Finds the request in the log.
    pub request_id: &'a str,
    /// The token of the link.
    pub token: &'a str,
    /// The name behind it, as it stands in the path.
    pub name: &'a str,
    /// Who asks, where anybody was identified.
    pub caller: Option<Arc<Caller>>,
    /// The client's `Authorization`, for servers that it is forwarded to.
    pub credential: Option<HeaderValue>,
    /// Whether everything but the file itself is wanted.
    pub head: bool,
}

/// A file of a server.
#[derive(Debug)]
pub struct Opened {
    /// Its name for people.
    pub name: String,
    /// What the server says that it is.
    pub media_type: Option<HeaderValue>,
    /// How long it is, where the server says so.
    pub length: Option<u64>,
    /// The file; nothing where nothing was wanted.
    pub body: Body,
}

/// Opens the file that a link leads to. A link that leads nowhere and one of somebody else are the same.
pub async fn open(connector: &Arc<Connector>, asked: Asked<'_>) -> Result<Opened, Fault> {
    let found = connector.artifacts.find(asked.token, Instant::now());
    let rules = connector.links.as_ref().ok_or_else(unknown)?;
    let file = found.filter(|file| name_of(&file.path) == asked.name).ok_or_else(unknown)?;
    let name = shown_name(asked.name);
    let caller = asked.caller.as_ref().unwrap_or(&file.caller);
    let object = format!("{}/{}/{name}", connector.name, file.upstream);
    let line = Act {
        request_id: asked.request_id,
        who: &caller.display,
        from: "",
        action: "artifact-fetch",
        target: &object,
    };
    let own = asked.caller.as_ref().is_some_and(|caller| caller.id == file.caller.id);
    if rules.who == Who::Caller && !own && !file.caller.anonymous {
        line.refused("the link was given to somebody else");
        return Err(unknown());
    }
    let fetched = fetch(connector, &file, caller, &asked).await;
    match &fetched {
        Ok(_) => line.done(),
        Err(fault) => line.failed(fault.code().as_str()),
    }
    fetched.map(|opened| Opened { name, ..opened })
}

async fn fetch(
    connector: &Arc<Connector>,
    file: &File,
    caller: &Arc<Caller>,
    asked: &Asked<'_>,
) -> Result<Opened, Fault> {
    let place = connector.place_of(&file.upstream);
    let upstream = place.and_then(|place| connector.upstream(place)).ok_or_else(unknown)?;
    // What the server offers may have been hidden from the caller since. What is not listed can be called, and gives links.
    let shows = asked.credential.as_ref();
    let shows = shows.map_or(Shows::Earlier, |credential| Shows::Request(Some(credential)));
    let viewer = Viewer { caller, capabilities: None, shows, filters: None };
    if !may_use(&*connector.view(viewer).await?, &file.upstream) {
        return Err(unknown());
    }
    let fetching = connector.artifacts.begin(&file.caller).ok_or_else(|| {
        Fault::new(
            Code::Overloaded,
            "Too many files are being fetched; try again when one is there.",
        )
    })?;
    let order = FileOrder {
        origin: file.origin.clone(),
        path: file.path.clone(),
        credential: asked.credential.clone(),
        head: asked.head,
    };
    let sent = upstream.file(order).await?.ok_or_else(unknown)?;
    Ok(Opened {
        name: String::new(),
        media_type: sent.media_type,
        length: sent.length,
        body: sent.body.holding(fetching),
    })
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The name of a file for people: nothing in it steers a terminal or turns the direction of writing.
fn shown_name(encoded: &str) -> String {
    let bytes = decoded(encoded).unwrap_or_default();
    let turns = |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let plain = |letter: char| if letter.is_control() || turns(letter) { '_' } else { letter };
    String::from_utf8_lossy(&bytes).chars().map(plain).collect()
}

/// Nothing is there, or nothing for this caller.
fn unknown() -> Fault {
    Fault::new(Code::UnknownPath, "There is nothing at this path, or not any more.")
}
