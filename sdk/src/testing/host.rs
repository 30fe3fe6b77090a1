//! The handle that a test holds.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde_json::Value;

use super::fake;
use super::world::{Answer, Call, Caller, Line, Listed, Worker, World};
use crate::host::fetch::{Incoming, Outgoing};

/// A host that answers a plugin with what the test says. Its state, clock and log live as long as it does.
#[derive(Clone, Default)]
pub struct Host(Rc<RefCell<World>>);

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

impl Host {
    /// One that knows nothing yet: no caller, no call, an empty catalogue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a hook with this host behind it.
    pub fn run<R>(&self, hook: impl FnOnce() -> R) -> R {
        fake::within(&self.0, hook)
    }

    fn tell(&self, change: impl FnOnce(&mut World)) -> &Self {
        change(&mut self.0.borrow_mut());
        self
    }

    // ---- the call

    /// A new call with no arguments.
    pub fn call(&self, method: &str, name: &str) -> &Self {
        let call = Call { method: method.to_owned(), name: name.to_owned(), ..Call::default() };
        self.tell(|world| world.call = call)
    }

    /// Its arguments.
    pub fn arguments(&self, arguments: Value) -> &Self {
        self.tell(|world| world.call.arguments = Some(arguments))
    }

    /// Upstream and its own name.
    pub fn target(&self, upstream: &str, name: &str) -> &Self {
        self.tell(|world| world.call.target = Some((upstream.to_owned(), name.to_owned())))
    }

    /// Its session.
    pub fn session(&self, session: &str) -> &Self {
        self.tell(|world| world.call.session = Some(session.to_owned()))
    }

    /// A granted parameter in the query of the request that a view is for.
    pub fn query(&self, name: &str, value: &str) -> &Self {
        self.tell(|world| {
            world.query.insert(name.to_owned(), value.to_owned());
        })
    }

    /// A granted header, of the call or of the request that a view is for.
    pub fn header(&self, name: &str, value: &str) -> &Self {
        self.tell(|world| {
            world.call.headers.insert(name.to_ascii_lowercase(), value.to_owned());
        })
    }

    /// An annotation of the tool.
    pub fn hint(&self, name: &str, value: bool) -> &Self {
        self.tell(|world| {
            world.call.hints.insert(name.to_owned(), value);
        })
    }

    /// An attribute of the call.
    pub fn attribute(&self, key: &str, value: &str) -> &Self {
        self.tell(|world| {
            world.call.attributes.insert(key.to_owned(), value.to_owned());
        })
    }

    /// Which attempt it is, which earlier try it repeats, and the time it has.
    pub fn attempt(&self, attempt: u32, retry_of: Option<&str>, deadline_ms: Option<u32>) -> &Self {
        self.tell(|world| {
            world.call.attempt = attempt;
            world.call.retry_of = retry_of.map(str::to_owned);
            world.call.deadline_ms = deadline_ms;
        })
    }

    /// It comes from a server.
    pub fn from_upstream(&self) -> &Self {
        self.tell(|world| world.call.from_upstream = true)
    }

    // ---- the caller

    /// A caller with this id and nothing else.
    pub fn caller(&self, id: &str) -> &Self {
        self.as_caller(Caller { id: id.to_owned(), display: id.to_owned(), ..Caller::default() })
    }

    /// A caller with all that is to be known.
    pub fn as_caller(&self, caller: Caller) -> &Self {
        self.tell(|world| world.caller = caller)
    }

    /// A scope of the caller.
    pub fn scope(&self, scope: &str) -> &Self {
        self.tell(|world| world.caller.scopes.push(scope.to_owned()))
    }

    /// A verified claim of the caller.
    pub fn claim(&self, name: &str, value: Value) -> &Self {
        self.tell(|world| {
            world.caller.claims.insert(name.to_owned(), value);
        })
    }

    // ---- the answer

    /// The answer: a result, or an error object.
    pub fn answered(&self, body: Value) -> &Self {
        self.tell(|world| world.answers = vec![Answer { body, ..Answer::default() }])
    }

    /// No answer came: `connect`, `timeout`, ...
    pub fn failed(&self, how: &str) -> &Self {
        let failed = Answer { failed: Some(how.to_owned()), ..Answer::default() };
        self.tell(|world| world.answers = vec![failed])
    }

    /// Gathered answers, each with its worker.
    pub fn gathered(&self, answers: Vec<(u32, Value)>) -> &Self {
        let answers = answers.into_iter();
        let answers = answers
            .map(|(worker, body)| Answer { worker: Some(worker), failed: None, body })
            .collect();
        self.tell(|world| world.answers = answers)
    }

    // ---- the catalogue, and workers

    /// The router's document; starts a new generation.
    pub fn document(&self, document: &str) -> &Self {
        self.tell(|world| {
            document.clone_into(&mut world.document);
            world.generation += 1;
        })
    }

    /// A visible entry.
    pub fn entry(&self, kind: &str, name: &str, definition: &Value) -> &Self {
        let listed =
            Listed { kind: kind.to_owned(), name: name.to_owned(), json: definition.to_string() };
        self.tell(|world| world.entries.push(listed))
    }

    /// An entry whose server is away: the caller may know of it, and no list has it.
    pub fn away(&self, kind: &str, name: &str) -> &Self {
        self.tell(|world| world.away.push((kind.to_owned(), name.to_owned())))
    }

    /// A detail for `listing`; the keys `upstream-name` and `digest` are its two functions.
    pub fn detail(&self, index: u32, key: &str, value: &str) -> &Self {
        self.tell(|world| {
            world.details.insert((index, key.to_owned()), value.to_owned());
        })
    }

    /// A worker with its labels.
    pub fn worker(&self, id: u32, name: &str, labels: &[(&str, &str)]) -> &Self {
        let labels =
            labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        self.tell(|world| {
            world.workers.insert(id, Worker { name: name.to_owned(), labels });
            world.workers_generation += 1;
        })
    }

    // ---- services and capabilities

    /// Moves the clock.
    pub fn advance(&self, milliseconds: u32) -> &Self {
        self.tell(|world| world.store.now_ms += f64::from(milliseconds))
    }

    /// What `random.next` gives from now on, counting up.
    pub fn random(&self, next: u32) -> &Self {
        self.tell(|world| world.random = next)
    }

    /// Grants `fetch`.
    pub fn on_fetch(
        &self,
        answer: impl Fn(&Outgoing) -> Result<Incoming, String> + 'static,
    ) -> &Self {
        self.tell(|world| world.fetch = Some(Box::new(answer)))
    }

    /// Grants `upstreams`: upstream, method and params to a result.
    pub fn on_request(
        &self,
        answer: impl Fn(&str, &str, &str) -> Result<String, String> + 'static,
    ) -> &Self {
        self.tell(|world| world.request = Some(Box::new(answer)))
    }

    /// Grants `transfers`: reference, destination and name to a receipt.
    pub fn on_send(
        &self,
        answer: impl Fn(&str, &str, &str) -> Result<String, String> + 'static,
    ) -> &Self {
        self.tell(|world| world.send = Some(Box::new(answer)))
    }

    /// All lines logged so far.
    pub fn logs(&self) -> Vec<Line> {
        self.0.borrow().lines.clone()
    }

    /// A text in the plugin's state.
    pub fn stored(&self, key: &str) -> Option<String> {
        self.0.borrow().store.get(key)
    }

    /// An id of this upstream belongs to this caller.
    pub fn handle(&self, caller: &str, upstream: &str, kind: &str, id: &str) -> &Self {
        let handle = (upstream.to_owned(), kind.to_owned(), id.to_owned());
        self.tell(|world| {
            world.handles.insert(handle, caller.to_owned());
        })
    }

    /// Whose each id is: upstream, kind, id and caller, in order.
    pub fn handles(&self) -> Vec<(String, String, String, String)> {
        let world = self.0.borrow();
        let all = world.handles.iter();
        all.map(|((upstream, kind, id), caller)| {
            (upstream.clone(), kind.clone(), id.clone(), caller.clone())
        })
        .collect()
    }

    /// Grants `reveal`, and plays a session that may have so many tools loaded. Without it nothing is kept, as for a client of
    /// the modern era.
    pub fn keeps_loaded(&self, cap: u32) -> &Self {
        self.tell(|world| world.room = Some(cap))
    }

    /// Names loaded through `reveal`.
    pub fn loaded(&self) -> Vec<String> {
        self.0.borrow().loaded.clone()
    }

    /// What was announced: `content-changed`, or a URI.
    pub fn announced(&self) -> Vec<String> {
        self.0.borrow().announced.clone()
    }
}
