//! A call that its client sends again with the input that it was asked for.

use std::sync::Arc;

use super::suspended::{Entry, Kept};
use super::{Side, digest, input, speaks_modern, suspend};
use crate::fault::{Code, Fault};
use crate::pipeline::artifacts;
use crate::pipeline::caller::Caller;
use crate::pipeline::confirm;
use crate::pipeline::connector::Connector;
use crate::pipeline::exchange::{Call, Destination};
use crate::pipeline::port::{Answer, Upstream};
use crate::protocol::{Era, Field, Message};

/// Tells the state of a suspended call from what else is sealed about it.
const INPUT: &str = "input";

/// A call that goes on.
pub(in crate::pipeline) struct Resumed {
    entry: Entry,
    /// JSON text of the client's answers.
    answers: String,
}

/// Finds the call that a retry goes on with, and takes what belongs to a retry out of the request; none for a call that is
/// no retry, or one that is a matter of its server's. Before anything of the call is judged or charged.
pub(in crate::pipeline) fn open(call: &mut Call<'_>) -> Result<Option<Resumed>, Fault> {
    let message = &call.request.message;
    let state = match call.request.era() {
        Era::Legacy => None,
        Era::Modern => message.string(Field::RequestState),
    };
    let Some(state) = state else {
        if !call.connector.policies.is_empty() {
            call.asked = Some(Box::new(message.clone()));
        }
        return Ok(None);
    };
    let Some(sealed) = state.strip_prefix(call.connector.sealer.mark()?) else {
        call.asked = Some(Box::new(lost(input::first(message))?));
        return Ok(None);
    };
    let sealed = sealed.to_owned();
    if confirm::resume(call, &sealed)? {
        return Ok(None);
    }
    let message = &call.request.message;
    let about = About::of(call.connector, &call.request.caller, message, &call.name);
    let number = about.number(call.connector, &sealed).ok_or_else(stale)?;
    let entry = call.connector.suspended.take(number).ok_or_else(stale)?;
    let answers = message.field(Field::InputResponses).unwrap_or("{}").to_owned();
    let first = lost(input::first(message))?;
    call.asked = Some(Box::new(first.clone()));
    call.request.message = first;
    call.request.confirmed.clone_from(&entry.confirmed);
    Ok(Some(Resumed { entry, answers }))
}

/// A state that only its server can know, for a server that knows none: it stands for a call that is over.
pub(in crate::pipeline) fn refuse_foreign(
    call: &Call<'_>,
    upstream: &dyn Upstream,
) -> Result<(), Fault> {
    let foreign = call.request.era() == Era::Modern
        && call.request.message.field(Field::RequestState).is_some();
    let known = upstream.watch().borrow().offering.is_some();
    if foreign && known && !speaks_modern(upstream) { Err(stale()) } else { Ok(()) }
}

impl Resumed {
    /// The request id of the first try.
    pub(in crate::pipeline) fn first(&self) -> &Arc<str> {
        &self.entry.first
    }

    /// The answer, where the server has begun the call; none where it is called again.
    pub(in crate::pipeline) fn go_on(self, call: &Call<'_>) -> Result<Option<Answer>, Fault> {
        let Kept::Call(waiting) = self.entry.kept else { return Ok(None) };
        let upstream = waiting.upstream.clone();
        let to = Destination { upstream: 0, name: None };
        let side = Side { first: self.entry.first, ..Side::of(call, &upstream, &to) };
        let answer = suspend::resume(side, *waiting, &self.answers)?;
        Ok(Some(artifacts::shown(call, &upstream, answer)))
    }
}

/// What a state is about: nothing else than the same call of the same caller.
pub(in crate::pipeline) struct About<'a> {
    connector: &'a str,
    caller: &'a Caller,
    method: String,
    name: &'a str,
    digest: String,
}

impl<'a> About<'a> {
    pub(in crate::pipeline) fn of(
        connector: &'a Connector,
        caller: &'a Caller,
        message: &Message,
        name: &'a str,
    ) -> Self {
        Self {
            connector: &connector.name,
            caller,
            method: message.method_name().into_owned(),
            name,
            digest: digest::of(message.params().unwrap_or("{}")),
        }
    }

    fn parts<'b>(&'b self, word: &'b str) -> [&'b str; 6] {
        [word, self.connector, &self.caller.id, &self.method, self.name, &self.digest]
    }

    /// The state for a client that holds this. `word` says what for.
    pub(in crate::pipeline) fn seal(
        &self,
        connector: &Connector,
        word: &str,
        content: &[u8],
    ) -> Result<String, Fault> {
        let sealer = &connector.sealer;
        let sealed = sealer.seal(&self.parts(word), content)?;
        Ok(format!("{}{sealed}", sealer.mark()?))
    }

    /// What a state holds, whose mark was taken off; none where it is not one of this word about the same call.
    pub(in crate::pipeline) fn open(
        &self,
        connector: &Connector,
        word: &str,
        sealed: &str,
    ) -> Option<Vec<u8>> {
        connector.sealer.open(&self.parts(word), sealed)
    }

    /// The number of a suspended call.
    fn number(&self, connector: &Connector, sealed: &str) -> Option<u64> {
        let number = self.open(connector, INPUT, sealed)?;
        Some(u64::from_le_bytes(number.try_into().ok()?))
    }
}

impl Side {
    /// Keeps what goes on with the client's input; the state that the client gives back with it.
    pub(super) fn keep(&self, kept: Kept) -> Result<String, Fault> {
        let caller = &self.request.caller;
        let since = (self.first.clone(), self.request.confirmed.clone());
        let number = self.connector.suspended.keep(caller, since, kept)?;
        self.about().seal(&self.connector, INPUT, &number.to_le_bytes())
    }

    /// What the states of this call are about.
    pub(super) fn about(&self) -> About<'_> {
        About::of(&self.connector, &self.request.caller, &self.asked, &self.name)
    }
}

pub(in crate::pipeline) fn stale() -> Fault {
    let text = "The requestState is not one that this server gave for this call, or it was used or has expired: send the call again without it.";
    Fault::new(Code::InvalidParams, text)
}

/// What was read of a request that was read before.
pub(in crate::pipeline) fn lost<T>(
    read: Result<T, crate::protocol::Malformed>,
) -> Result<T, Fault> {
    read.map_err(|error| Fault::new(Code::Internal, "The call was lost.").because(error))
}
