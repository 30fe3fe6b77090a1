//! What a client of the modern era gives back: a state that is sealed, and good once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::asking::Line;
use super::confirmed::Confirmed;
use super::limits::CARRIED;
use super::open::Spent;
use super::verdict::{self, No};
use crate::fault::{Code, Fault};
use crate::pipeline::connector::Connector;
use crate::pipeline::exchange::Call;
use crate::pipeline::port::Answer;
use crate::pipeline::translate::{About, input, lost, stale};
use crate::protocol::{Field, Message};

/// JSON text of the key of the question.
const KEY: &str = "\"confirmation\"";
/// Tells it from what else is sealed about the same call.
const WORD: &str = "confirmation";

/// What a state holds.
#[derive(Serialize, Deserialize)]
struct Sealed {
    /// Which one it is.
    number: u64,
    /// Until when it is good, in milliseconds.
    due: u64,
    subject: Arc<str>,
    by: Vec<Arc<str>>,
    first: Arc<str>,
    /// Of a call that was confirmed, and whose server asks for something: what the server wants back.
    carries: Option<Carries>,
}

/// What a server that asks wants back.
#[derive(Serialize, Deserialize)]
pub(super) struct Carries {
    /// JSON text of its state, if it gave one.
    pub(super) state: Option<String>,
}

/// The answer that asks the client to come back with a yes.
pub(super) fn required(
    call: &Call<'_>,
    question: &Message,
    now: &Confirmed,
) -> Result<Answer, Fault> {
    let asked = call.asked.as_deref().unwrap_or(&call.request.message);
    let about = About::of(call.connector, &call.request.caller, asked, &call.name);
    let state = seal(call.connector, &about, now, None)?;
    let id = call.request.message.id();
    let id = id.ok_or_else(|| Fault::new(Code::Internal, "A request has an id."))?;
    let text = input::required(id, std::iter::once((KEY, question)), &state);
    Ok(Answer::whole(text))
}

/// A state of a call that is to be confirmed, or one that carries what the server of a confirmed call wants back.
pub(super) fn seal(
    connector: &Connector,
    about: &About<'_>,
    confirmed: &Confirmed,
    carries: Option<Carries>,
) -> Result<String, Fault> {
    let patience = if carries.is_some() { CARRIED } else { connector.confirm_timeout };
    let (number, due) = connector.confirming.number(patience, Instant::now());
    let Confirmed { subject, by, first } = confirmed.clone();
    let sealed = Sealed { number, due, subject, by, first, carries };
    let content = serde_json::to_vec(&sealed)
        .map_err(|error| Fault::new(Code::Internal, "The state was lost.").because(error))?;
    about.seal(connector, WORD, &content)
}

/// Takes a state that was sealed here about this call; false where it is none of ours. A yes uses it up, and nothing else does:
/// who says no, again and again, takes nobody's room. The request is then as its server gets it, and says what was confirmed.
pub(in crate::pipeline) fn resume(call: &mut Call<'_>, sealed: &str) -> Result<bool, Fault> {
    let (connector, message) = (call.connector, &call.request.message);
    let about = About::of(connector, &call.request.caller, message, &call.name);
    let Some(content) = about.open(connector, WORD, sealed) else { return Ok(false) };
    let sealed: Sealed = serde_json::from_slice(&content).map_err(|_unreadable| stale())?;
    let line = Line::of(call);
    let (times, now) = ((sealed.number, sealed.due), Instant::now());
    if sealed.carries.is_none() && !connector.confirming.is_over(times, now) {
        let answers = message.field(Field::InputResponses).unwrap_or("{}");
        let answer = input::answer(answers, KEY);
        if let Err(no) = answer.map_or(Err(No::Unclear), verdict::of_result) {
            return Err(line.refused(no));
        }
    }
    match connector.confirming.using(&call.request.caller, times, now)? {
        Ok(()) => {}
        Err(Spent::Over) if sealed.carries.is_none() => {
            return Err(line.refused(No::Late(connector.confirm_timeout)));
        }
        Err(Spent::Over) => return Err(stale()),
        Err(Spent::Used) => {
            line.write("refused", "used");
            return Err(stale());
        }
    }
    let first = lost(input::first(message))?;
    let next = if let Some(Carries { state }) = sealed.carries {
        lost(input::with_state(message, state.as_deref()))?
    } else {
        line.write("confirmed", "");
        first.clone()
    };
    let Sealed { subject, by, first: id, .. } = sealed;
    call.asked = Some(Box::new(first));
    call.request.message = next;
    call.request.confirmed = Some(Arc::new(Confirmed { subject, by, first: id }));
    Ok(true)
}
