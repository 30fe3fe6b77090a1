//! A call of a client of the legacy era at a server of the modern era: what the server wants to know is asked in the middle
//! of the call, and the server is called again with the answers.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::Side;
use super::input::{self, Required, Unreadable, may_ask};
use super::limits::{QUESTIONS, RESPONSE, ROUNDS};
use crate::fault::{Code, Fault};
use crate::pipeline::absence;
use crate::pipeline::collect;
use crate::pipeline::port::{Answer, Ask, AskReply, Body, Incoming, Json, Messages};
use crate::pipeline::request::RequestId;
use crate::protocol::{Id, Message, splice};

/// The answer as the client gets it. What streams asks for nothing.
pub(super) fn answered(
    side: impl Fn() -> Side,
    modern: bool,
    answer: Answer,
) -> Result<Answer, Fault> {
    let (body, refusal) = match answer {
        Answer::Json(Json { body, refusal }) => (body, refusal),
        Answer::Messages(messages) => {
            return Ok(Talk::new(side(), modern).go(State::Reading(messages)));
        }
    };
    match body {
        Body::Whole(text) if may_ask(&text) => begun(side(), text, refusal),
        body => Ok(Answer::Json(Json { body, refusal })),
    }
}

/// The answer that a response begins which may ask for input.
fn begun(side: Side, text: Bytes, refusal: Option<i64>) -> Result<Answer, Fault> {
    let Some(required) = side.required(&text)? else {
        return Ok(Answer::Json(Json { body: Body::Whole(text), refusal }));
    };
    let mut talk = Talk::new(side, true);
    let state = talk.ask(&required)?;
    Ok(talk.go(state))
}

impl Side {
    fn required(&self, text: &Bytes) -> Result<Option<Required>, Fault> {
        if !may_ask(text) {
            return Ok(None);
        }
        let Ok(message) = Message::parse(text.clone()) else { return Ok(None) };
        Required::read(&message).map_err(|Unreadable| self.unreadable())
    }
}

/// One call, from round to round.
struct Talk {
    side: Side,
    /// How long all answers of the client may take.
    due: Instant,
    rounds: u32,
    /// Whether the server speaks the modern era. One of the legacy era decides itself what a cancellation means.
    modern: bool,
    /// Under which id the server has the call now; none = the client's.
    id: Option<Id>,
}

enum State {
    /// The server's messages are handed on.
    Reading(Messages),
    /// The client is being asked.
    Asking(VecDeque<Ask>, Open),
}

/// What the server wants to know.
struct Open {
    answers: Vec<(String, oneshot::Receiver<Message>)>,
    state: Option<String>,
}

/// What comes next.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
enum Step {
    /// A message, and what comes behind it.
    Message(Incoming, Option<State>),
    /// Nothing for the client.
    On(State),
    /// Nothing at all.
    End,
}

impl Talk {
    fn new(side: Side, modern: bool) -> Self {
        let due = Instant::now() + side.connector.suspended.patience;
        Self { side, due, rounds: 0, modern, id: None }
    }

    fn go(self, state: State) -> Answer {
        Answer::messages(stream::unfold(Some((self, state)), |talk| async move {
            let (mut talk, mut state) = talk?;
            loop {
                match talk.step(state).await {
                    Ok(Step::On(next)) => state = next,
                    Ok(Step::Message(message, next)) => {
                        return Some((Ok(message), next.map(|next| (talk, next))));
                    }
                    Ok(Step::End) => return None,
                    Err(fault) => return Some((Err(fault), None)),
                }
            }
        }))
    }

    async fn step(&mut self, state: State) -> Result<Step, Fault> {
        let flight = self.side.request.flight.clone();
        tokio::select! {
            biased;
            () = flight.cancelled(), if self.modern => {
                self.cancel().await;
                Ok(Step::End)
            }
            step = self.advance(state) => step,
        }
    }

    async fn advance(&mut self, state: State) -> Result<Step, Fault> {
        match state {
            State::Reading(mut messages) => match messages.next().await.transpose()? {
                None => Ok(Step::End),
                Some(Incoming::Response(text)) => match self.side.required(&text)? {
                    Some(required) => self.ask(&required).map(Step::On),
                    None => Ok(Step::Message(Incoming::Response(self.own(text)), None)),
                },
                Some(message) => Ok(Step::Message(message, Some(State::Reading(messages)))),
            },
            State::Asking(mut asks, open) => match asks.pop_front() {
                Some(ask) => Ok(Step::Message(Incoming::Ask(ask), Some(State::Asking(asks, open)))),
                None => self.again(open).await,
            },
        }
    }

    /// What the client is asked.
    fn ask(&mut self, required: &Required) -> Result<State, Fault> {
        self.rounds += 1;
        if self.rounds > ROUNDS {
            return Err(self.side.broken("asks for input again and again"));
        }
        if required.questions.len() > QUESTIONS {
            return Err(self.side.broken("asks for too much input at once"));
        }
        let mut asks = VecDeque::new();
        let mut answers = Vec::new();
        for (id, question) in (0..).zip(&required.questions) {
            let message = self.side.prepared(required.request(question, id), &question.method)?;
            let (answer, receiver) = oneshot::channel();
            let reply = AskReply::new(Id::number(id), move |response| {
                // Nobody waits when the call is over.
                drop(answer.send(response));
            });
            asks.push_back(Ask { upstream: self.side.upstream.name().clone(), message, reply });
            answers.push((question.key.clone(), receiver));
        }
        Ok(State::Asking(asks, Open { answers, state: required.state.clone() }))
    }

    /// Waits for the client's answers and calls the server again with them. An answer that is an error ends the call with
    /// that error: the server's question has no place for one.
    async fn again(&mut self, open: Open) -> Result<Step, Fault> {
        let mut answers = Vec::new();
        for (key, answer) in open.answers {
            let Ok(response) = timeout_at(self.due, answer).await else {
                return Err(self.side.broken("asked for input, which did not come in time"));
            };
            let response =
                response.map_err(|_closed| self.side.broken("asked for input in vain"))?;
            let Some(result) = response.result() else {
                let (id, error) = (self.client(), response.error().unwrap_or("null"));
                let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
                return Ok(Step::Message(Incoming::Response(text.into()), None));
            };
            answers.push((key, result.to_owned()));
        }
        let id = format!("\"plugway-{}\"", RequestId::next());
        let id = Id::parse(&id).unwrap_or_else(|| self.client());
        let request = &self.side.request.message;
        let message = input::again(request, &id, &answers, open.state.as_deref());
        let message = message.map_err(|error| {
            Fault::new(Code::InvalidParams, "The params cannot be sent again with input.")
                .because(error)
        })?;
        self.id = Some(id);
        let upstream = &self.side.upstream;
        let answer = self.side.exchange(self.side.order(message)).await;
        let answer = answer.map_err(|fault| absence::explained(&**upstream, fault))?;
        Ok(Step::On(State::Reading(match answer {
            Answer::Messages(messages) => messages,
            Answer::Json(Json { body, .. }) => {
                let text = collect::whole(body, RESPONSE).await?;
                Box::pin(stream::iter([Ok(Incoming::Response(text))]))
            }
        })))
    }

    /// The client's id of the call.
    fn client(&self) -> Id {
        self.side.request.message.id().cloned().unwrap_or_else(|| Id::number(0))
    }

    /// The last response, under the client's id.
    fn own(&self, text: Bytes) -> Bytes {
        match (&self.id, Message::parse(text.clone())) {
            (Some(_), Ok(response)) => {
                splice(&text, &[(response.id_span(), self.client().as_json().as_bytes())])
            }
            _ => text,
        }
    }

    /// The client cancelled the call by the only id that it knows. A server behind HTTP sees that nobody reads on; a child is
    /// told by the id that it knows.
    async fn cancel(&self) {
        let Some(id) = &self.id else { return };
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        if let Ok(message) = Message::parse(text.into()) {
            self.side.upstream.notify(self.side.request.party.id, message).await;
        }
    }
}
