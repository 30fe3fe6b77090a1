//! What policies say of a call that nobody makes: they are asked as for a real one, and each answer is kept.

use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;

use super::admit::{self, Admitted};
use super::call::CallContext;
use super::caller::Caller;
use super::connector::Connector;
use super::exchange::Call;
use super::party::{NoOutbox, Party, PartyId};
use super::port::{
    Admission, Edit, Inbound, Outcome, Page, Policy, PolicyHooks, Promise, Review, Sights,
};
use super::request::{Flight, Request, RequestId};
use super::supposed;
use crate::catalogue::{Entry, EntryKind, Hints, Sight, Target, View};
use crate::fault::Fault;
use crate::protocol::{Message, Revision};

/// The attribute by which policies are told that somebody wants to know why.
const EXPLAIN: &str = "explain";
/// The attribute in which a policy that lets a call pass says which rule decided.
const DECIDED_BY: &str = "decided-by";

/// A call that nobody makes.
#[derive(Clone, Debug)]
pub struct Question {
    /// Who would call.
    pub caller: Arc<Caller>,
    /// The call as the client would send it.
    pub message: Message,
    /// What would be called.
    pub kind: EntryKind,
    /// Name or URI as the client would send it.
    pub name: Arc<str>,
    /// The upstream and its own name for the thing; none for what the connector itself offers.
    pub target: Option<(Arc<str>, Arc<str>)>,
    /// Whether its server runs code.
    pub runs_code: bool,
    /// The names of the functions that code at its server can call.
    pub functions: Vec<String>,
    /// What is known of its annotations.
    pub hints: Hints,
    /// What stands for the session.
    pub session: Option<Arc<str>>,
}

/// What the policies say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What each of them said, in the order in which they were asked.
    pub steps: Vec<Step>,
    /// What becomes of the call.
    pub verdict: Verdict,
}

/// One answer of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operator's name for the policy.
    pub policy: String,
    /// What it said.
    pub said: Said,
    /// The rule that decided, where the policy says that.
    pub by: Option<String>,
}

/// What a policy may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The thing is in the caller's lists, is not, or does not exist for the caller.
    Sees(Sight),
    /// The call may go on.
    Passes,
    /// The call may go on, with other arguments or headers.
    Changes,
    /// The call is refused with this sentence.
    Refuses(String),
    /// A person is to be asked first, with this sentence.
    Asks(String),
    /// The policy answers itself.
    Answers,
    /// There is no decision, with this consequence and cause.
    Fails(String),
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes to the server.
    Allowed,
    /// It goes to the server once a person has confirmed it.
    Confirmed,
    /// A policy answers it.
    Answered,
    /// The caller gets this sentence.
    Refused(String),
    /// To this caller there is no such thing.
    Unknown,
}

/// Asks the policies of a connector, which needs no servers.
pub async fn explain(mut connector: Connector, question: Question) -> Explanation {
    let steps = Steps::default();
    let policies = std::mem::take(&mut connector.policies);
    let server = question.target.as_ref().filter(|_| question.runs_code);
    let run_code: Arc<[Arc<str>]> =
        server.map(|(upstream, _)| upstream.clone()).into_iter().collect();
    let witness = |policy| {
        let (steps, run_code) = (steps.clone(), run_code.clone());
        Arc::new(Witness { policy, steps, run_code }) as Arc<dyn Policy>
    };
    connector.policies = policies.into_iter().map(witness).collect();
    let verdict = Box::pin(verdict(&Arc::new(connector), question)).await;
    let steps = std::mem::take(&mut *steps.lock());
    Explanation { steps, verdict }
}

async fn verdict(connector: &Arc<Connector>, question: Question) -> Verdict {
    let Question { caller, message, kind, name, target, runs_code, functions, hints, session } =
        question;
    let upstream = target.as_ref().map(|(upstream, _)| upstream);
    let catalogue = Arc::new(supposed::catalogue(upstream, runs_code, &functions));
    let entry = Arc::new(Entry {
        kind,
        key: name.clone(),
        definition: "{}".into(),
        target: match &target {
            Some((_, own)) => Target::Fixed { upstream: 0, name: own.clone(), guarded: false },
            None => Target::Local,
        },
        arguments: None,
        hints,
        mirrored: Box::default(),
    });
    let judged = (entry.clone(), target.as_ref().map(|(upstream, _)| upstream.clone()));
    match connector.judge(&caller, None, (&[judged], &catalogue)).await {
        Err(fault) => return Verdict::Refused(fault.public().to_owned()),
        Ok(seen) if seen.sights.contains(&Sight::Hidden) => return Verdict::Unknown,
        Ok(_) => {}
    }
    let view = Arc::new(View::whole(catalogue));
    let request = request(caller, message, session);
    let mut call = Call::new(connector, request, view, entry, name);
    let attributes = vec![(EXPLAIN.into(), "true".into())];
    let mut context = Arc::new(CallContext { target, attributes, ..call.context() });
    match Box::pin(admit::admit(&mut call, &mut context)).await {
        Ok(Admitted::Through(wanted)) if wanted.is_empty() => Verdict::Allowed,
        Ok(Admitted::Through(_)) => Verdict::Confirmed,
        Ok(Admitted::Answered(_)) => Verdict::Answered,
        Err(fault) => Verdict::Refused(fault.public().to_owned()),
    }
}

fn request(caller: Arc<Caller>, message: Message, session: Option<Arc<str>>) -> Request {
    let party = Party {
        id: PartyId(0),
        revision: Revision::NEWEST_LEGACY,
        shared_by_strangers: true,
        client_info: None,
        capabilities: None,
        further: None,
        loads: None,
        outbox: Arc::new(NoOutbox),
    };
    Request {
        request_id: RequestId::next(),
        caller,
        party: Arc::new(party),
        message,
        headers: Arc::new(HeaderMap::new()),
        session,
        passed: Vec::new(),
        credential: None,
        flight: Arc::new(Flight::default()),
        depth: 0,
        filters: None,
        streams: true,
        confirmed: None,
        trail: None,
    }
}

/// What was said so far.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<Step>>>);

impl Steps {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Step>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, policy: &str, said: Said, by: Option<String>) {
        self.lock().push(Step { policy: policy.to_owned(), said, by });
    }
}

/// A policy whose answers are kept.
struct Witness {
    policy: Arc<dyn Policy>,
    steps: Steps,
    /// The server, if it is said to run code: there is none that could be asked.
    run_code: Arc<[Arc<str>]>,
}

impl Witness {
    fn failed(&self, fault: &Fault) {
        let cause = fault.cause().map_or_else(String::new, |cause| format!(" ({cause})"));
        self.steps.note(self.name(), Said::Fails(format!("{}{cause}", fault.public())), None);
    }

    fn admitted(&self, decision: &Admission) {
        let (said, by) = match decision {
            Admission::Pass => (Said::Passes, None),
            Admission::Edit(edits) => edited(edits),
            Admission::Reject(rejection) => {
                (Said::Refuses(rejection.message.clone()), rejection.cause.clone())
            }
            Admission::Confirm(wanted) => {
                let set = wanted.attributes.iter();
                (Said::Asks(wanted.text.clone()), decided_by(set.map(|(key, value)| (key, value))))
            }
            Admission::Answer(_) => (Said::Answers, None),
        };
        self.steps.note(self.name(), said, by);
    }
}

/// Attributes change nothing of a call; one of them says which rule decided.
fn edited(edits: &[Edit]) -> (Said, Option<String>) {
    let set = edits.iter().filter_map(|edit| match edit {
        Edit::SetAttribute(key, value) => Some((key, value)),
        _ => None,
    });
    let by = decided_by(set);
    let only_said = edits.iter().all(|edit| matches!(edit, Edit::SetAttribute(..)));
    (if only_said { Said::Passes } else { Said::Changes }, by)
}

/// The rule that decided, out of attributes: the last word counts.
fn decided_by<'a>(set: impl Iterator<Item = (&'a Arc<str>, &'a Arc<str>)>) -> Option<String> {
    set.filter(|(key, _)| ***key == *DECIDED_BY).last().map(|(_, value)| value.to_string())
}

impl Policy for Witness {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn hooks(&self) -> PolicyHooks {
        self.policy.hooks()
    }

    fn generation(&self) -> u64 {
        self.policy.generation()
    }

    fn fails_open(&self) -> bool {
        self.policy.fails_open()
    }

    fn visible(&self, caller: Arc<Caller>, page: Page) -> Promise<'_, Result<Sights, Fault>> {
        let page = Page { run_code: self.run_code.clone(), ..page };
        Box::pin(async move {
            let seen = self.policy.visible(caller, page).await;
            match &seen {
                Ok(sights) => {
                    let sight = sights.sights.first().copied().unwrap_or(Sight::Hidden);
                    self.steps.note(self.name(), Said::Sees(sight), None);
                }
                Err(fault) => self.failed(fault),
            }
            seen
        })
    }

    fn admit(&self, call: Arc<CallContext>) -> Promise<'_, Result<Admission, Fault>> {
        Box::pin(async move {
            let decision = self.policy.admit(call).await;
            match &decision {
                Ok(decision) => self.admitted(decision),
                Err(fault) => self.failed(fault),
            }
            decision
        })
    }

    fn review(
        &self,
        call: Arc<CallContext>,
        outcome: Outcome,
    ) -> Promise<'_, Result<Review, Fault>> {
        self.policy.review(call, outcome)
    }

    fn inbound(&self, message: Arc<CallContext>) -> Promise<'_, Result<Inbound, Fault>> {
        self.policy.inbound(message)
    }

    fn ready(&self) -> Promise<'_, Result<String, String>> {
        self.policy.ready()
    }
}
