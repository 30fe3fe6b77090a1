//! What a client's answer means. One answer is a yes; everything else is a no, with its own sentence.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fault::{Code, Fault};
use crate::protocol::Message;

/// Why a call is not made that had to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum No {
    /// The person said no.
    Declined,
    /// The person closed the question.
    Dismissed,
    /// The answer says neither yes nor no.
    Unclear,
    /// The client answered with an error, or is gone.
    Unanswered,
    /// Nobody answered in time.
    Late(Duration),
    /// Nobody will be asked any more.
    Stopping,
    /// The client cannot be asked.
    Undeclared,
    /// Requests of this method are answered by nothing but their answer.
    Method,
    /// It came in a JSON-RPC batch, which is answered by nothing but answers.
    Batch,
    /// A plugin sends the request.
    Nested,
    /// It is not what was confirmed.
    Changed,
    /// The call goes on from before it had to be confirmed.
    Begun,
}

impl No {
    /// The word in the audit.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Declined => "declined",
            Self::Dismissed => "dismissed",
            Self::Unclear => "unclear",
            Self::Unanswered => "unanswered",
            Self::Late(_) => "timed-out",
            Self::Stopping => "stopping",
            Self::Undeclared => "cannot-be-asked",
            Self::Method => "method",
            Self::Batch => "batch",
            Self::Nested => "nested",
            Self::Changed => "changed",
            Self::Begun => "begun",
        }
    }

    /// As the client gets it.
    pub(super) fn fault(self) -> Fault {
        let (code, why) = match self {
            Self::Declined => (Code::NotConfirmed, "the person who was asked declined it"),
            Self::Dismissed => {
                (Code::NotConfirmed, "the person who was asked dismissed the question")
            }
            Self::Unclear => (Code::NotConfirmed, "the answer to the question was no clear yes"),
            Self::Unanswered => {
                (Code::NotConfirmed, "it has to be confirmed, and the client did not answer")
            }
            Self::Late(patience) => {
                let why = format!("nobody confirmed it within {} s", patience.as_secs_f64());
                return Fault::new(Code::ConfirmationTimeout, sentence(&why));
            }
            Self::Stopping => {
                (Code::CannotConfirm, "it has to be confirmed, and this server is stopping")
            }
            Self::Undeclared => (
                Code::CannotConfirm,
                "a person has to confirm it, and this client declares no elicitation by forms",
            ),
            Self::Method => (
                Code::CannotConfirm,
                "a person has to confirm it, which requests of this method do not allow",
            ),
            Self::Batch => (
                Code::CannotConfirm,
                "a person has to confirm it, and nobody can be asked within a JSON-RPC batch; send it alone",
            ),
            Self::Nested => (
                Code::CannotConfirm,
                "a person has to confirm it, and nobody is asked for a plugin",
            ),
            Self::Changed => (
                Code::NotConfirmed,
                "it is not what was confirmed any more; call again, and what it is now will be asked",
            ),
            Self::Begun => (
                Code::NotConfirmed,
                "a person has to confirm it by now; call again without a requestState",
            ),
        };
        Fault::new(code, sentence(why))
    }
}

fn sentence(why: &str) -> String {
    format!("The call was not made: {why}.")
}

/// An answer to `elicitation/create`. A member that stands twice makes it unreadable.
#[derive(Deserialize)]
struct Elicited<'a> {
    action: String,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Content {
    confirmed: Option<bool>,
}

/// What the result of a question means, which is JSON text.
pub(super) fn of_result(result: &str) -> Result<(), No> {
    let Some(answer) = object::<Elicited<'_>>(result) else { return Err(No::Unclear) };
    let content = answer.content.and_then(|content| object::<Content>(content.get()));
    let confirmed = content.and_then(|content| content.confirmed);
    match (&*answer.action, confirmed) {
        ("accept", Some(true)) => Ok(()),
        ("accept", Some(false)) | ("decline", _) => Err(No::Declined),
        ("cancel", _) => Err(No::Dismissed),
        _ => Err(No::Unclear),
    }
}

/// Reads an object. An array would be read as the members in their order.
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    let text = Some(text).filter(|text| text.starts_with('{'))?;
    serde_json::from_str(text).ok()
}

/// What a response to a question means.
pub(super) fn of_response(response: &Message) -> Result<(), No> {
    response.result().map_or(Err(No::Unanswered), of_result)
}
