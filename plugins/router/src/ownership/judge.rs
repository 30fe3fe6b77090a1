//! What becomes of a call that is about ids, with what the host knows of them.

use plugway_sdk::prelude::*;
use serde_json::value::RawValue;

use super::ids::Kind;
use super::send::{self, Destination};
use super::tool::{Argument, Tool};
use super::{learned, sessions, text};

/// An id among the arguments.
enum Given {
    /// None, `null` or "": whatever that means to the server, it is nobody's.
    Nothing,
    /// An id.
    Id(String),
    /// Something else.
    Other,
}

impl Given {
    fn of(argument: &Argument) -> Result<Self, Failure> {
        let Some(json) = call::argument_json(&["/", argument.name].concat()) else {
            return Ok(Self::Nothing);
        };
        Ok(match json.as_str() {
            "null" | r#""""# => Self::Nothing,
            text if text.starts_with('"') => Self::Id(serde_json::from_str(text)?),
            _ => Self::Other,
        })
    }
}

/// Whether an id is the caller's: at the upstream that is called, or at the one that `server` behind it sends to.
fn is_own(upstream: &str, server: &str, argument: &Argument, id: &str) -> Result<bool, Failure> {
    if argument.anywhere {
        return Ok(Destination::of_call(upstream, server)?.owns(id));
    }
    Ok(handles::owns(Some(upstream), argument.kind.word(), id))
}

/// Whether a call goes to its server as it is. One of somebody else's id, or nobody's, never does.
pub fn route() -> Result<Route, Failure> {
    let (upstream, own) =
        call::target().ok_or_else(|| Failure::new("this router has no dynamic entries"))?;
    let elsewhere = kept_back(&upstream, &own)?;
    Ok(elsewhere.unwrap_or_else(|| Route::to(upstream, own)))
}

/// What becomes of a call that does not go to its server as it is; none where it does.
fn kept_back(upstream: &str, own: &str) -> Result<Option<Route>, Failure> {
    let Some((tool, server)) = Tool::of(own) else { return Ok(None) };
    if tool.counts_sessions() {
        return Ok(Some(Route::Answer));
    }
    let Some(argument) = tool.argument() else { return Ok(None) };
    let goes = match Given::of(&argument)? {
        // The server would choose a session, whose ever it is.
        Given::Nothing => tool != Tool::Send,
        Given::Id(id) => is_own(upstream, &String::from(server), &argument, &id)?,
        Given::Other => return Ok(Some(Route::refuse(no_text(&argument)))),
    };
    Ok((!goes).then_some(Route::Answer))
}

fn no_text(argument: &Argument) -> String {
    format!("The argument `{}` is no text.", argument.name)
}

/// Remembers the ids of an answer as the caller's.
pub fn learn() -> Result<(), Failure> {
    let Some(text) = outcome::field::<String>(0, "/content/0/text")? else { return Ok(()) };
    for (kind, id) in learned::given(&text) {
        handles::claim(kind.word(), &id);
    }
    Ok(())
}

/// Answers a call that does not go to its server as it is. `own` is the tool's name there.
pub fn answer(upstream: &str, own: &str) -> Result<Reply, Failure> {
    let (tool, server) = Tool::of(own)
        .ok_or_else(|| Failure::new(format!("{own} is no tool that this router guards")))?;
    let asking = Asking { upstream, own, server: &server };
    match tool.argument() {
        Some(argument) => asking.about(tool, &argument),
        None => Ok(asking.list()),
    }
}

/// A call that the router answers.
#[derive(Debug)]
pub struct Asking<'a> {
    /// Where it goes.
    pub upstream: &'a str,
    /// The tool's name there.
    pub own: &'a str,
    /// What stands before the ends of names of the server's tools.
    pub server: &'a str,
}

impl Asking<'_> {
    /// What the server answers to a call of one of its tools.
    pub fn request(&self, tool: &str, arguments: &str) -> Result<String, String> {
        let name = serde_json::Value::from(tool);
        let params = format!(r#"{{"name":{name},"arguments":{arguments}}}"#);
        upstreams::request(self.upstream, "tools/call", &params)
    }

    /// The caller's own sessions.
    fn list(&self) -> Reply {
        let result = match self.request(self.own, &call::arguments_json()) {
            Ok(result) => result,
            Err(error) => return Reply::Reject(refusal(&error)),
        };
        if let Some((list, _)) = sessions::own_list(&result, &self.own_sessions()) {
            return Reply::Answer(list);
        }
        Reply::refuse(format!("The sessions of {} cannot be told apart.", self.upstream))
    }

    fn own_sessions(&self) -> impl Fn(&str) -> bool + use<> {
        let own = handles::list(self.upstream, Kind::Session.word());
        move |id: &str| own.iter().any(|known| known == id)
    }

    /// How many of the sessions that the server has are the caller's. Where it does not say, the number of those that it
    /// once gave to the caller.
    fn count(&self) -> usize {
        let tool = [self.server, "_list_sessions"].concat();
        let listed = self.request(&tool, r#"{"summary_only":true}"#).ok();
        let own = listed.and_then(|list| sessions::own_list(&list, &self.own_sessions()));
        let known = || handles::list(self.upstream, Kind::Session.word()).len();
        own.map_or_else(known, |(_, count)| count)
    }

    /// The server's answer about an id: about the caller's own as it is, but for the number of everybody's sessions; about
    /// any other what it says of one that nobody has.
    fn about(&self, tool: Tool, argument: &Argument) -> Result<Reply, Failure> {
        let id = match Given::of(argument)? {
            Given::Id(id) => id,
            Given::Nothing if tool == Tool::Send => return send::answer(self, argument),
            Given::Nothing => String::new(),
            Given::Other => return Ok(Reply::refuse(no_text(argument))),
        };
        let mut arguments = call::arguments_json();
        let is_own = id.is_empty() || is_own(self.upstream, self.server, argument, &id)?;
        let asked = if is_own { id.clone() } else { argument.kind.nobodys(&id, random::next) };
        if !is_own {
            let place = text::member(&arguments, argument.name)
                .ok_or_else(|| Failure::new("the arguments changed"))?;
            arguments =
                text::spliced(&arguments, &place, &serde_json::Value::from(&*asked).to_string());
        }
        let back =
            |text: &str| (!is_own && text.contains(&asked)).then(|| text.replace(&asked, &id));
        let result = match self.request(self.own, &arguments) {
            Ok(result) => result,
            Err(error) => {
                let error =
                    if is_own { error } else { text::map_inner(&error, back).unwrap_or(error) };
                return Ok(Reply::Reject(refusal(&error)));
            }
        };
        if tool == Tool::CloseSession && is_own && succeeded(&result) {
            handles::release(argument.kind.word(), &id);
        }
        let counted = sessions::counts(&result)
            && (!is_own || tool == Tool::CloseSession || !succeeded(&result));
        let result = if counted {
            let count = self.count();
            text::map_texts(&result, |text| sessions::recounted(text, count))
        } else {
            result
        };
        if is_own {
            return Ok(Reply::Answer(result));
        }
        Ok(Reply::Answer(text::map_texts(&result, |text| text::map_inner(text, back))))
    }
}

/// Whether the text of a result says so.
pub fn succeeded(result: &str) -> bool {
    sessions::first_text(result).is_some_and(|text| {
        text::member(&text, "success").is_some_and(|place| text.get(place) == Some("true"))
    })
}

/// What a request came to that brought no result: an error of the server, or a sentence of the host.
pub fn refusal(error: &str) -> Rejection {
    #[derive(Deserialize)]
    struct Said<'a> {
        code: i32,
        message: String,
        #[serde(borrow, default, rename = "data")]
        _data: Option<&'a RawValue>,
    }
    match serde_json::from_str::<Said<'_>>(error) {
        Ok(said) => Rejection::new(said.message).with_code(said.code),
        Err(_) => Rejection::new(error),
    }
}
