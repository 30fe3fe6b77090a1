//! The phases of a call: lookup, admit, route, exchange, review.

use std::sync::{Arc, OnceLock};

use futures_util::{StreamExt as _, future, stream};

use super::admit::{self, Admitted};
use super::answer;
use super::call::{CallContext, Way};
use super::connector::Connector;
use super::port::{Answer, Incoming, Order, Rejection, Upstream, Verdict};
use super::request::Request;
use super::routing::Course;
use super::status::LiveStatus;
use super::translate;
use super::{absence, artifacts, confirm, held, inbound, learning, local, merge, review, tasks};
use crate::catalogue::{Entry, Target, View};
use crate::fault::{Code, Fault};
use crate::protocol::{Era, Message, Method};

/// What a call is going to do, once it is known which entry it names.
pub(super) struct Call<'a> {
    pub(super) connector: &'a Arc<Connector>,
    pub(super) request: Request,
    pub(super) view: Arc<View>,
    pub(super) entry: Arc<Entry>,
    /// Name or URI as the client sent it: for a template it is not the entry's own.
    pub(super) name: Arc<str>,
    /// The request as a client of the modern era sent it, before the edits of policies and without what belongs to a retry.
    pub(super) asked: Option<Box<Message>>,
    /// Whether the router asks, to answer a call of a guarded entry of the same server: it judged that one, and knows what it
    /// is told.
    pub(super) unguarded: bool,
    /// The request id of the first try, where the client sends the call again with the input that it was asked for.
    retry_of: Option<Arc<str>>,
}

/// Where a call goes.
pub(super) struct Destination {
    pub(super) upstream: usize,
    /// The upstream's own name; none leaves what the client sent.
    pub(super) name: Option<Arc<str>>,
}

impl<'a> Call<'a> {
    /// A call of this entry.
    pub(super) fn new(
        connector: &'a Arc<Connector>,
        request: Request,
        view: Arc<View>,
        entry: Arc<Entry>,
        name: Arc<str>,
    ) -> Self {
        Self {
            connector,
            request,
            view,
            entry,
            name,
            asked: None,
            unguarded: false,
            retry_of: None,
        }
    }

    /// Runs the call through its phases.
    pub(super) async fn run(mut self) -> Result<Answer, Fault> {
        // Who wants to hear no more of a thing may say so.
        if self.request.message.method() != Method::ResourcesUnsubscribe {
            held::admit(self.view.catalogue(), &self.entry)?;
        }
        if let Some(arguments) = &self.entry.arguments {
            self.request.message = bound(&self.request.message, arguments)?;
        }
        let resumed = translate::open(&mut self)?;
        let before = resumed.as_ref().map(translate::Resumed::first);
        let confirmed = self.request.confirmed.as_ref().map(|confirmed| &confirmed.first);
        self.retry_of = before.or(confirmed).cloned();
        if let (Some(trail), Some(first)) = (&self.request.trail, &self.retry_of) {
            trail.retries(first);
        }
        if self.connector.policies.is_empty()
            && resumed.is_none()
            && self.guard().is_none()
            && let Some(destination) = self.fixed()
        {
            return self.exchange(destination).await;
        }
        let mut context = Arc::new(self.context());
        let wanted = match admit::admit(&mut self, &mut context).await? {
            Admitted::Through(wanted) => wanted,
            Admitted::Answered(answered) => return review::review(&self, context, answered).await,
        };
        let asking = confirm::due(&self, &context, &wanted, resumed.is_some())?;
        if let (Some(trail), Some(wanted)) = (&self.request.trail, wanted.first()) {
            let verdict = if asking.is_some() { Verdict::Asked } else { Verdict::Confirmed };
            trail.decided(&wanted.policy, verdict);
        }
        if let Some(asking) = asking {
            return Ok(asking);
        }
        if let Some(resumed) = resumed
            && let Some(answered) = resumed.go_on(&self)?
        {
            let answered = self.heard(answered);
            return review::review(&self, context, answered).await;
        }
        let course = match self.entry.target {
            Target::Local => Course::Answer,
            Target::Fixed { .. } if self.guard().is_none() => Course::Forward(self.own_target()?),
            Target::Fixed { .. } | Target::Dynamic => self.route(&context).await?,
        };
        let answered = match course {
            Course::Forward(destination) => self.exchange(destination).await?,
            Course::Answer => self.answer(&context).await?,
        };
        review::review(&self, context, answered).await
    }

    pub(super) fn fixed(&self) -> Option<Destination> {
        let Target::Fixed { upstream, name, .. } = &self.entry.target else { return None };
        // URIs are never renamed, and the name inside a completion's reference has been replaced already.
        let named = matches!(self.request.message.method(), Method::ToolsCall | Method::PromptsGet);
        let same = !named || **name == *self.name;
        Some(Destination { upstream: *upstream, name: (!same).then(|| name.clone()) })
    }

    pub(super) async fn exchange(&self, to: Destination) -> Result<Answer, Fault> {
        let Some(upstream) = self.connector.upstream(to.upstream) else {
            return Err(Fault::new(Code::Internal, "This call has no target."));
        };
        self.refuse_held(&to)?;
        if self.view.catalogue().is_away(to.upstream)
            && let Some(fault) = absence::fault(&**upstream)
        {
            return Err(fault);
        }
        self.request.flight.goes_to(upstream);
        if let Some(trail) = &self.request.trail {
            let name = to.name.as_ref().unwrap_or(&self.name);
            trail.goes_to(upstream.name(), name, &self.request.message);
        }
        translate::refuse_foreign(self, &**upstream)?;
        let (mut party, mut message) = (self.request.party.clone(), self.request.message.clone());
        let tasks = self.view.catalogue().has_tasks(to.upstream).then(|| {
            let tasks = tasks::Shown::new(self.connector, &self.request.caller, upstream.name());
            (tasks, tasks::About::of(&message.method_name(), self.request.era()))
        });
        if let Some((tasks, _)) = &tasks {
            (party, message) = (tasks.party(&party), tasks.message(message));
            if self.request.era() == Era::Modern && !translate::speaks_modern(&**upstream) {
                message = tasks::without_wish(message);
            }
        }
        let order = Order {
            party,
            message,
            name: to.name.clone(),
            headers: self.request.passed.clone(),
            credential: self.request.credential.clone(),
        };
        let answer = self.sent(upstream, order).await;
        let answer = answer.map_err(|fault| absence::explained(&**upstream, fault))?;
        let answer = match tasks {
            None => answer,
            Some((tasks, about)) => tasks.answer(answer, about).await?,
        };
        let method = self.request.message.method();
        let answer = translate::looked_into(self.connector, method, &**upstream, answer).await?;
        let answer = self.judged(upstream, answer).await?;
        let learned = &self.connector.learned;
        let answer = learned.of_answer(answer, &self.request.caller, upstream.name());
        let answer = match learning::lesson(self, upstream, &to) {
            None => answer,
            Some(lesson) => Box::pin(lesson.of(answer)).await?,
        };
        let answer = translate::answered(self, upstream, &to, answer).await?;
        let answer = artifacts::shown(self, upstream, answer);
        Ok(self.heard(answer))
    }

    /// The answer as policies leave what the server says before its response.
    async fn judged(&self, upstream: &Arc<dyn Upstream>, answer: Answer) -> Result<Answer, Fault> {
        if !inbound::is_judged(self.connector) {
            return Ok(answer);
        }
        let toward = self.request.toward();
        Box::pin(inbound::answer(self.connector, toward, upstream.name(), answer)).await
    }

    /// The answer without log messages that the client does not want: servers may not know of its level, or not care.
    fn heard(&self, answer: Answer) -> Answer {
        let Answer::Messages(messages) = answer else { return answer };
        let wanted = self.request.wanted();
        Answer::messages(messages.filter(move |message| {
            future::ready(match message {
                Ok(Incoming::Notification(note)) => wanted().admits(&note.text),
                _ => true,
            })
        }))
    }

    /// Sends the request, until a client of the legacy era says in a notification, which its server gets before, that it
    /// does not want an answer any more: most servers send none then. One of the modern era sees it by the end of the
    /// connection.
    async fn sent(&self, upstream: &Arc<dyn Upstream>, order: Order) -> Result<Answer, Fault> {
        if self.request.era() == Era::Modern {
            return upstream.exchange(order).await;
        }
        tokio::select! {
            biased;
            answer = upstream.exchange(order) => answer,
            // Nothing follows, not even an error: the client does not wait for it.
            () = self.request.flight.cancelled() => Ok(Answer::messages(stream::empty())),
        }
    }

    /// The request id of the first try.
    pub(super) fn first(&self) -> Arc<str> {
        self.retry_of.clone().unwrap_or_else(|| self.request.request_id.to_string().into())
    }

    pub(super) fn context(&self) -> CallContext {
        let target = match &self.entry.target {
            Target::Fixed { upstream, name, .. } => self
                .connector
                .upstream(*upstream)
                .map(|served| (served.name().clone(), name.clone())),
            Target::Dynamic | Target::Local => None,
        };
        CallContext {
            way: Way::FromClient,
            request_id: self.request.request_id.to_string().into(),
            retry_of: self.retry_of.clone(),
            connector: self.connector.name.clone(),
            caller: self.request.caller.clone(),
            view: self.view.clone(),
            message: self.request.message.clone(),
            name: self.name.clone(),
            target,
            hints: self.entry.hints,
            revision: self.request.party.revision,
            headers: self.request.headers.clone(),
            session: self.request.session.clone(),
            attributes: Vec::new(),
            requester: Some(local::requester(self.connector, &self.request, self.guard())),
            handles: self.connector.handles.clone(),
            status: LiveStatus::of(self.connector),
            arguments: super::call::Arguments::default(),
            spelling: OnceLock::new(),
        }
    }
}

/// The call with the arguments that every call of its entry has. Who judges it sees what the server is going to see.
fn bound(message: &Message, arguments: &str) -> Result<Message, Fault> {
    merge::into_arguments(message, arguments).map_err(|error| {
        let text = format!("The arguments of the call are not valid: {error}.");
        Fault::new(Code::InvalidParams, text)
    })
}

/// A refusal as a fault: what the plugin chose to say, and whose refusal it was for the log.
pub(super) fn refused(plugin: &str, rejection: Rejection) -> Fault {
    let text = rejection.body.unwrap_or(rejection.message);
    let why = match rejection.cause {
        None => format!("refused by the plugin {plugin}"),
        Some(cause) => format!("refused by the plugin {plugin}: {cause}"),
    };
    let mut fault = Fault::new(Code::Refused, text).because(why).by(plugin);
    if let Some(code) = rejection.code {
        fault = fault.with_rpc_code(code);
    }
    if let Some(wait) = rejection.retry_after {
        fault = fault.retry_after(wait);
    }
    fault
}

/// An answer of plugway's own with this result.
pub(super) fn own(request: &Request, result: &[u8]) -> Result<Answer, Fault> {
    let id =
        request.message.id().ok_or_else(|| Fault::new(Code::Internal, "A request has an id."))?;
    Ok(answer::result(id, result))
}
