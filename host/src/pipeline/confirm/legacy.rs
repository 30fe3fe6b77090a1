//! A client of the legacy era is asked on the call's own stream, and the call begins anew once it said yes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::asking::Line;
use super::confirmed::Confirmed;
use super::open::{Confirmations, Open};
use super::verdict::{self, No};
use crate::fault::{Code, Fault};
use crate::pipeline::collect;
use crate::pipeline::connector::Standing;
use crate::pipeline::dispatch::dispatch;
use crate::pipeline::exchange::Call;
use crate::pipeline::port::{Answer, Ask, AskReply, Incoming, Json, Messages, Notification};
use crate::pipeline::request::Request;
use crate::pipeline::translate::RESPONSE;
use crate::protocol::Message;

/// Whose the question is: no server has this name.
const NOBODY: &str = "";

/// The answer of a call that asks first.
pub(super) fn asked(
    call: &Call<'_>,
    question: Message,
    confirmed: Confirmed,
    line: Line,
) -> Result<Answer, Fault> {
    let connector = call.connector;
    let lost = || Fault::new(Code::Internal, "The question was lost.");
    let id = question.id().cloned().ok_or_else(lost)?;
    let give_up = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"Nobody waits for the answer any more."}}}}"#
    );
    let (answer, receiver) = oneshot::channel();
    let reply = AskReply::new(id, move |response| {
        // Nobody waits when the call is over.
        drop(answer.send(response));
    });
    let message = call.asked.as_deref().unwrap_or(&call.request.message).clone();
    let bytes = message.text().len() + question.text().len();
    let open = connector.confirming.open(&call.request.caller, bytes)?;
    let request = Request { message, confirmed: Some(Arc::new(confirmed)), ..call.request.clone() };
    let patience = connector.confirm_timeout;
    let waiting = Waiting {
        standing: connector.standing(),
        all: connector.confirming.clone(),
        request,
        receiver,
        due: Instant::now() + patience,
        patience,
        give_up,
        unsettled: Unsettled(Some(line)),
        open,
    };
    waiting.unsettled.write("asked");
    let ask = Ask { upstream: NOBODY.into(), message: question, reply };
    let first = stream::iter([Ok(Incoming::Ask(ask))]);
    let rest = stream::once(waiting.go()).flatten();
    Ok(Answer::messages(first.chain(rest)))
}

/// A call that waits for a yes.
struct Waiting {
    standing: Standing,
    all: Arc<Confirmations>,
    /// As the client sent it.
    request: Request,
    receiver: oneshot::Receiver<Message>,
    due: Instant,
    patience: Duration,
    /// What a client is told whose answer nobody waits for.
    give_up: String,
    unsettled: Unsettled,
    open: Open,
}

impl Waiting {
    async fn go(mut self) -> Messages {
        let verdict = self.verdict().await;
        match verdict {
            Ok(()) => {
                self.unsettled.settle("confirmed", "");
                let Self { standing, request, open, .. } = self;
                // It waits no more.
                drop(open);
                run(&standing, request).await
            }
            Err(no) => {
                self.unsettled.settle("refused", no.as_str());
                let fault = Err(no.fault());
                if !matches!(no, No::Late(_) | No::Stopping) {
                    return Box::pin(stream::iter([fault]));
                }
                let text = self.give_up.into();
                let note = Notification { upstream: NOBODY.into(), text };
                Box::pin(stream::iter([Ok(Incoming::Notification(note)), fault]))
            }
        }
    }

    async fn verdict(&mut self) -> Result<(), No> {
        tokio::select! {
            biased;
            () = self.all.stopped() => Err(No::Stopping),
            answer = timeout_at(self.due, &mut self.receiver) => match answer {
                Err(_elapsed) => Err(No::Late(self.patience)),
                Ok(Err(_closed)) => Err(No::Unanswered),
                Ok(Ok(response)) => verdict::of_response(&response),
            }
        }
    }
}

/// Runs the call from its beginning, at the connector that serves now: rules may be others than when it was asked.
async fn run(standing: &Standing, request: Request) -> Messages {
    let answer = match standing.now() {
        Some(connector) => Box::pin(dispatch(&connector, request)).await,
        None => Err(Fault::new(Code::UnknownPath, "This server is not served any more.")),
    };
    match answer {
        Ok(Answer::Messages(messages)) => messages,
        Ok(Answer::Json(Json { body, .. })) => {
            let text = collect::whole(body, RESPONSE).await;
            Box::pin(stream::iter([text.map(Incoming::Response)]))
        }
        Err(fault) => Box::pin(stream::iter([Err(fault)])),
    }
}

/// A question without an answer so far. A call that is given up meanwhile leaves its line, too.
struct Unsettled(Option<Line>);

impl Unsettled {
    fn write(&self, result: &str) {
        if let Some(line) = &self.0 {
            line.write(result, "");
        }
    }

    fn settle(&mut self, result: &str, reason: &str) {
        if let Some(line) = self.0.take() {
            line.write(result, reason);
        }
    }
}

impl Drop for Unsettled {
    fn drop(&mut self) {
        self.settle("refused", "given-up");
    }
}
