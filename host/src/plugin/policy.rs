//! The pipeline's policies: seats of policy plugins.

use std::sync::Arc;

use plugway_bindings::exports as e;

use super::ask::{
    Admit, Ask as _, Explain as AskExplain, Inbound as AskInbound, Review as AskReview, Visible,
};
use super::convert::{
    Columns, confirmation, edits, object, rejection, said, sights, understood as understood_of,
};
use super::failure::Failure;
use super::limits::Hook;
use super::seat::{Seat, who};
use super::spec::OnError;
use super::task::{Call, Task};
use crate::catalogue::Sight;
use crate::fault::Fault;
use crate::pipeline::port::{
    Admission, Inbound, Outcome, Page, Policy, PolicyHooks, Promise, Review, Sights, Understood,
};
use crate::pipeline::{CallContext, Caller};

/// A policy plugin in a connector.
#[derive(Debug)]
pub(super) struct PolicySeat {
    pub(super) seat: Arc<Seat>,
    pub(super) on_error: OnError,
}

impl PolicySeat {
    /// What stands for a decision that did not come: the operator's word, but never while the plugin is put aside, and
    /// never where the call itself is wrong.
    fn instead<T>(&self, hook: Hook, failure: Failure, allowed: T) -> Result<T, Fault> {
        let deny = matches!(failure, Failure::Aside(_) | Failure::Disabled | Failure::Arguments(_));
        if self.on_error == OnError::Allow && !deny {
            return Ok(allowed);
        }
        Err(failure.into_fault(&self.seat.place.plugin, hook.as_str()))
    }

    async fn ask_admit(&self, call: Arc<CallContext>) -> Result<Admission, Failure> {
        let (who, request) = (who(&call.caller), call.request_id.clone());
        let task = Task::Call(Box::new(Call::new(Hook::Admit, call, None)));
        let (given, task) = self.seat.ask(who, task, Admit).await?;
        let decision = unambiguous(&task).and_then(|()| match given {
            Err(failure) => Err(said(&failure)),
            Ok(e::admission::Decision::Pass) => Ok(Admission::Pass),
            Ok(e::admission::Decision::Edit(given)) => {
                edits(&self.seat.place, given).map(Admission::Edit)
            }
            Ok(e::admission::Decision::Reject(given)) => rejection(given).map(Admission::Reject),
            Ok(e::admission::Decision::Answer(text)) => {
                object(text, "its answer").map(Admission::Answer)
            }
            Ok(e::admission::Decision::Confirm(given)) => {
                confirmation(given).map(Admission::Confirm)
            }
        });
        self.seat.checked(Hook::Admit, decision, Some(&request))
    }

    async fn ask_review(
        &self,
        call: Arc<CallContext>,
        outcome: Outcome,
    ) -> Result<Review, Failure> {
        let (who, request) = (who(&call.caller), call.request_id.clone());
        let task = Task::Call(Box::new(Call::new(Hook::Review, call, Some(outcome))));
        let (given, task) = self.seat.ask(who, task, AskReview).await?;
        let decision = unambiguous(&task).and_then(|()| match given {
            Err(failure) => Err(said(&failure)),
            Ok(e::reviewing::Decision::Keep) => Ok(Review::Keep),
            Ok(e::reviewing::Decision::Replace(text)) => {
                object(text, "its result").map(Review::Replace)
            }
            Ok(e::reviewing::Decision::Reject(given)) => rejection(given).map(Review::Reject),
        });
        self.seat.checked(Hook::Review, decision, Some(&request))
    }

    async fn ask_inbound(&self, message: Arc<CallContext>) -> Result<Inbound, Failure> {
        let (who, request) = (who(&message.caller), message.request_id.clone());
        let task = Task::Call(Box::new(Call::new(Hook::Inbound, message, None)));
        let (given, task) = self.seat.ask(who, task, AskInbound).await?;
        let decision = unambiguous(&task).and_then(|()| match given {
            Err(failure) => Err(said(&failure)),
            Ok(e::inbound::Decision::Pass) => Ok(Inbound::Pass),
            Ok(e::inbound::Decision::Replace(text)) => {
                object(text, "what it puts in place of `params`").map(Inbound::Replace)
            }
            Ok(e::inbound::Decision::Reject(given)) => rejection(given).map(Inbound::Reject),
        });
        self.seat.checked(Hook::Inbound, decision, Some(&request))
    }

    async fn ask_understood(&self, page: Arc<Page>) -> Result<Vec<Understood>, Failure> {
        let ask = AskExplain(Columns::of(&page));
        let items = page.entries.len();
        let (given, _) = self.seat.ask(0, Task::Whole(page), ask).await?;
        let understood = given.map_err(|failure| said(&failure));
        let understood = understood.and_then(|given| understood_of(given, items));
        self.seat.checked(Hook::Explain, understood, None)
    }

    async fn ask_visible(&self, caller: Arc<Caller>, page: Arc<Page>) -> Result<Sights, Failure> {
        let ask = Visible(Columns::of(&page));
        let who = who(&caller);
        let wanted = page.entries.len();
        let (given, _) = self.seat.ask(who, Task::Page { caller, page }, ask).await?;
        let decision = match given {
            Err(failure) => Err(said(&failure)),
            Ok(view) => sights(&view, wanted),
        };
        self.seat.checked(Visible::HOOK, decision, None)
    }
}

/// The arguments were read the same way by everybody, or not at all.
pub(super) fn unambiguous(task: &Task) -> Result<(), Failure> {
    match task {
        Task::Call(call) => match &call.ambiguous {
            Some(why) => Err(Failure::Arguments(why.clone())),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

impl Policy for PolicySeat {
    fn name(&self) -> &str {
        &self.seat.place.plugin
    }

    fn hooks(&self) -> PolicyHooks {
        let generation = self.seat.current.load();
        let found = &generation.compiled.found;
        PolicyHooks {
            visibility: found.visibility(),
            admission: found.admission(),
            reviewing: found.reviewing(),
            inbound: found.inbound(),
        }
    }

    fn revision(&self) -> Arc<str> {
        self.seat.current.load().revision.clone()
    }

    fn fails_open(&self) -> bool {
        let place = &self.seat.place;
        self.on_error == OnError::Allow && !place.aside() && !place.disabled()
    }

    fn generation(&self) -> u64 {
        self.seat.version()
    }

    fn reads_requests(&self) -> bool {
        let compiled = &self.seat.current.load().compiled;
        compiled.reads_requests
            && compiled.found.visibility()
            && self.seat.place.headers.reads_any()
    }

    fn may_read_header(&self, name: &str) -> bool {
        self.seat.place.headers.reads(name)
    }

    fn may_read_query(&self, name: &str) -> bool {
        self.seat.place.headers.reads_query(name)
    }

    fn visible(&self, caller: Arc<Caller>, page: Page) -> Promise<'_, Result<Sights, Fault>> {
        Box::pin(async move {
            let count = page.entries.len();
            match self.ask_visible(caller, Arc::new(page)).await {
                Ok(sights) => Ok(sights),
                Err(failure) => {
                    let all =
                        Sights { sights: vec![Sight::Shown; count], valid: None, notice: None };
                    self.instead(Hook::Visible, failure, all)
                }
            }
        })
    }

    fn admit(&self, call: Arc<CallContext>) -> Promise<'_, Result<Admission, Fault>> {
        Box::pin(async move {
            match self.ask_admit(call).await {
                Ok(decision) => Ok(decision),
                Err(failure) => self.instead(Hook::Admit, failure, Admission::Pass),
            }
        })
    }

    fn review(
        &self,
        call: Arc<CallContext>,
        outcome: Outcome,
    ) -> Promise<'_, Result<Review, Fault>> {
        Box::pin(async move {
            match self.ask_review(call, outcome).await {
                Ok(decision) => Ok(decision),
                Err(failure) => self.instead(Hook::Review, failure, Review::Keep),
            }
        })
    }

    fn inbound(&self, message: Arc<CallContext>) -> Promise<'_, Result<Inbound, Fault>> {
        Box::pin(async move {
            match self.ask_inbound(message).await {
                Ok(decision) => Ok(decision),
                Err(failure) => self.instead(Hook::Inbound, failure, Inbound::Pass),
            }
        })
    }

    fn understood(&self, page: Page) -> Promise<'_, Result<Option<Vec<Understood>>, Fault>> {
        Box::pin(async move {
            if !self.seat.current.load().compiled.found.explaining() {
                return Ok(None);
            }
            let understood = self.ask_understood(Arc::new(page)).await;
            understood.map(Some).map_err(|failure| {
                failure.into_fault(&self.seat.place.plugin, Hook::Explain.as_str())
            })
        })
    }

    fn ready(&self) -> Promise<'_, Result<String, String>> {
        Box::pin(self.seat.ready())
    }
}
