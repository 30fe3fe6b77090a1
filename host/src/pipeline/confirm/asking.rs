//! Whether a call that policies want to have confirmed is, and asking where it is not.

use std::sync::Arc;

use super::confirmed::Confirmed;
use super::further::Further;
use super::limits::OBJECT;
use super::verdict::No;
use super::visible::beginning;
use super::{legacy, question, state};
use crate::catalogue::Target;
use crate::fault::{Code, Fault};
use crate::pipeline::call::CallContext;
use crate::pipeline::exchange::Call;
use crate::pipeline::port::Answer;
use crate::pipeline::translate::{asks, declared::declared};
use crate::protocol::{Era, Field};
use crate::telemetry::audit;

/// What one policy wants to have confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct Wanted {
    /// Its name.
    pub(in crate::pipeline) policy: Arc<str>,
    /// What it says to the person.
    pub(in crate::pipeline) text: String,
}

/// None where nothing has to be confirmed of a call, or it was confirmed as it is now; else the answer that asks the client.
/// `goes_on` = its server has begun it already.
pub(in crate::pipeline) fn due(
    call: &Call<'_>,
    context: &Arc<CallContext>,
    wanted: &[Wanted],
    goes_on: bool,
) -> Result<Option<Answer>, Fault> {
    if wanted.is_empty() { Ok(None) } else { asked(call, context, wanted, goes_on) }
}

fn asked(
    call: &Call<'_>,
    context: &Arc<CallContext>,
    wanted: &[Wanted],
    goes_on: bool,
) -> Result<Option<Answer>, Fault> {
    let further = Further::of(call);
    let now = Confirmed::of(context, &further, wanted, call.first());
    let line = Line::of(call);
    if let Some(before) = &call.request.confirmed {
        if before.covers(&now) {
            return Ok(None);
        }
        return Err(line.refused(No::Changed));
    }
    let message = &call.request.message;
    if call.request.depth > 0 {
        return Err(line.refused(No::Nested));
    }
    if !call.request.streams {
        return Err(line.refused(No::Batch));
    }
    if !asks(message.method()) {
        return Err(line.refused(No::Method));
    }
    let modern = call.request.era() == Era::Modern;
    let answers =
        [Field::RequestState, Field::InputResponses].map(|field| message.field(field).is_some());
    if goes_on || (modern && answers.contains(&true)) {
        return Err(line.refused(No::Begun));
    }
    // What two readers would read differently cannot be shown to a third.
    context.document().map_err(|error| {
        Fault::new(Code::InvalidParams, format!("The arguments are ambiguous: {error}."))
    })?;
    let id = format!("\"confirm-{}\"", call.request.request_id);
    let question = question::request(context, &further, wanted, &id)?;
    if !declared(&question, call.request.party.capabilities.as_deref().unwrap_or("{}")) {
        let fault = line.refused(No::Undeclared);
        return Err(if modern { undeclared() } else { fault });
    }
    let answer = if modern {
        let answer = state::required(call, &question, &now)?;
        line.write("asked", "");
        answer
    } else {
        legacy::asked(call, question, now, line)?
    };
    Ok(Some(answer))
}

/// The client has to declare that it answers such questions (MCP 2026-07-28, "Error Codes").
fn undeclared() -> Fault {
    let text = "The request has to declare the capability \"elicitation\" with forms: a person has to confirm the call.";
    let data = r#"{"requiredCapabilities":{"elicitation":{"form":{}}}}"#;
    Fault::new(Code::MissingCapability, text).with_data(data)
}

/// What the audit says of a confirmation.
#[derive(Debug)]
pub(super) struct Line {
    request_id: String,
    who: Arc<str>,
    object: String,
    /// As the question shows it; empty where that shows all.
    digest: String,
}

impl Line {
    /// Of a call as it is now.
    pub(super) fn of(call: &Call<'_>) -> Self {
        let (connector, name) = (&call.connector.name, &call.name);
        let upstream = match &call.entry.target {
            Target::Fixed { upstream, .. } => call.connector.upstream(*upstream),
            Target::Dynamic | Target::Local => None,
        };
        let upstream = upstream.map_or("", |upstream| upstream.name());
        Self {
            request_id: call.request.request_id.to_string(),
            who: call.request.caller.display.clone(),
            object: format!("{connector}/{upstream}/{}", beginning(name, OBJECT, false).0),
            digest: question::cut(&call.request.message, name).unwrap_or_default(),
        }
    }

    pub(super) fn write(&self, result: &str, reason: &str) {
        let Self { request_id, who, object, digest } = self;
        audit::Confirmation { request_id, who, object, digest }.line(result, reason);
    }

    /// The fault of a no, with its line.
    pub(super) fn refused(&self, no: No) -> Fault {
        self.write("refused", no.as_str());
        no.fault()
    }
}
