//! The pipeline's router: the seat of a router plugin.

use std::sync::Arc;

use plugway_bindings::exports as e;

use super::ask::{Answer, Ask as _, Learn, Route, Shape};
use super::convert::{object, rejection, said, shaped};
use super::failure::Failure;
use super::limits::{
    ENTRIES_FUNCTIONS, ENTRIES_MAX, ENTRIES_OWN, Hook, MEMORY_MIB_MAX, MESSAGE_MAX, SHAPE_SHARE,
};
use super::policy::unambiguous;
use super::seat::{Seat, who};
use super::task::{Call, Task};
use crate::catalogue::Shaped;
use crate::fault::Fault;
use crate::glob;
use crate::pipeline::CallContext;
use crate::pipeline::port::{ConnectorView, Outcome, Promise, Reply, Room, Router, Routing};

/// A router plugin in a connector.
#[derive(Debug)]
pub(super) struct RouterSeat(pub(super) Arc<Seat>);

impl RouterSeat {
    async fn ask_shape(&self, connector: ConnectorView) -> Result<Shaped, Failure> {
        let (given, _) = self.0.ask(0, Task::Shape, Shape(connector)).await?;
        let shape = match given {
            Err(failure) => Err(said(&failure)),
            Ok(given) => shaped(given),
        };
        self.0.checked(Shape::HOOK, shape, None)
    }

    async fn ask_route(&self, call: Arc<CallContext>) -> Result<Routing, Failure> {
        let request = call.request_id.clone();
        if !self.0.current.load().compiled.found.routing() {
            return self.0.checked(Hook::Route, Err(missing("routing")), Some(&request));
        }
        let who = who(&call.caller);
        let task = Task::Call(Box::new(Call::new(Hook::Route, call, None)));
        let (given, task) = self.0.ask(who, task, Route).await?;
        let decision = unambiguous(&task).and_then(|()| match given {
            Err(failure) => Err(said(&failure)),
            Ok(e::routing::Decision::Forward((upstream, name)))
                if upstream.len() + name.len() <= MESSAGE_MAX =>
            {
                Ok(Routing::Forward(upstream, name))
            }
            Ok(e::routing::Decision::Forward(_)) => {
                Err(Failure::Invalid("the name to forward to is too long".into()))
            }
            Ok(e::routing::Decision::Answer) => Ok(Routing::Answer),
            Ok(e::routing::Decision::Reject(given)) => rejection(given).map(Routing::Reject),
        });
        self.0.checked(Hook::Route, decision, Some(&request))
    }

    async fn ask_answer(&self, call: Arc<CallContext>) -> Result<Reply, Failure> {
        let request = call.request_id.clone();
        if !self.0.current.load().compiled.found.answering() {
            return self.0.checked(Hook::Answer, Err(missing("answering")), Some(&request));
        }
        let who = who(&call.caller);
        let task = Task::Call(Box::new(Call::new(Hook::Answer, call, None)));
        let (given, task) = self.0.ask(who, task, Answer).await?;
        let decision =
            unambiguous(&task).and_then(|()| uncrowded(&task)).and_then(|()| match given {
                Err(failure) => Err(said(&failure)),
                Ok(e::answering::Reply::Answer(text)) => {
                    object(text, "its answer").map(Reply::Answer)
                }
                Ok(e::answering::Reply::Reject(given)) => rejection(given).map(Reply::Reject),
            });
        self.0.checked(Hook::Answer, decision, Some(&request))
    }

    async fn ask_learn(&self, call: Arc<CallContext>, outcome: Outcome) -> Result<(), Failure> {
        let request = call.request_id.clone();
        let who = who(&call.caller);
        let task = Task::Call(Box::new(Call::new(Hook::Learn, call, Some(outcome))));
        let (given, _) = self.0.ask(who, task, Learn).await?;
        self.0.checked(Hook::Learn, given.map_err(|failure| said(&failure)), Some(&request))
    }

    fn fault(&self, hook: Hook, failure: Failure) -> Fault {
        failure.into_fault(&self.0.place.plugin, hook.as_str())
    }
}

/// The call did not want to wait for a server when too many others did.
fn uncrowded(task: &Task) -> Result<(), Failure> {
    match task {
        Task::Call(call) if call.crowded => Err(Failure::Crowded),
        _ => Ok(()),
    }
}

fn missing(interface: &str) -> Failure {
    Failure::Invalid(format!("it marks entries for `{interface}`, which it does not export"))
}

impl Router for RouterSeat {
    fn name(&self) -> &str {
        &self.0.place.plugin
    }

    fn generation(&self) -> u64 {
        self.0.version()
    }

    fn room(&self) -> Room {
        let memory = (self.0.place.limits.memory_mib.min(MEMORY_MIB_MAX) as usize) << 20;
        let entries = ENTRIES_MAX - ENTRIES_OWN - ENTRIES_FUNCTIONS;
        Room { entries, bytes: memory / SHAPE_SHARE }
    }

    fn shape(&self, connector: ConnectorView) -> Promise<'_, Result<Shaped, Fault>> {
        Box::pin(async move {
            self.ask_shape(connector).await.map_err(|failure| self.fault(Hook::Shape, failure))
        })
    }

    fn route(&self, call: Arc<CallContext>) -> Promise<'_, Result<Routing, Fault>> {
        Box::pin(async move {
            self.ask_route(call).await.map_err(|failure| self.fault(Hook::Route, failure))
        })
    }

    fn answer(&self, call: Arc<CallContext>) -> Promise<'_, Result<Reply, Fault>> {
        Box::pin(async move {
            self.ask_answer(call).await.map_err(|failure| self.fault(Hook::Answer, failure))
        })
    }

    fn learns(&self, tool: &str) -> bool {
        self.0.current.load().interests.iter().any(|glob| glob::matches(glob, tool))
    }

    fn learn(&self, call: Arc<CallContext>, outcome: Outcome) -> Promise<'_, Result<(), Fault>> {
        Box::pin(async move {
            self.ask_learn(call, outcome).await.map_err(|failure| self.fault(Hook::Learn, failure))
        })
    }

    fn ready(&self) -> Promise<'_, Result<String, String>> {
        Box::pin(self.0.ready())
    }
}
