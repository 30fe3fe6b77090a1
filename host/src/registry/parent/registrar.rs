//! Keeps a connector registered until it ends, and leaves then.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::course::{Course, Outcome};
use super::troubles::Troubles;
use crate::chance;

/// How long leaving may take when plugway stops or is told to register elsewhere.
pub const LEAVE: Duration = Duration::from_secs(2);

/// Another plugway, as this one sees it.
pub trait Parent: Send + Sync {
    /// Registers the connector there, or renews its lease.
    fn register(&self) -> impl Future<Output = Outcome> + Send;
    /// Ends the lease.
    fn leave(&self) -> impl Future<Output = Outcome> + Send;
    /// Waits between two requests.
    fn wait(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// Keeps one connector registered.
#[derive(Debug)]
pub struct Registrar<P> {
    /// The connector.
    pub connector: Arc<str>,
    /// Where it registers, for logs.
    pub at: String,
    /// How long one lease lasts.
    pub ttl: Duration,
    /// Where it registers.
    pub parent: P,
    /// What `/ready` says.
    pub troubles: Troubles,
}

impl<P: Parent> Registrar<P> {
    /// Registers, and renews until `stop`; `leave` says whether the lease is ended then, which takes a bounded time.
    pub async fn run(&self, stop: &CancellationToken, leave: impl Fn() -> bool + Send) {
        let mut course = Course::new(self.ttl);
        let mut may_stand = false;
        loop {
            let asked = stop.run_until_cancelled(self.parent.register()).await;
            // A request that was given up may have arrived.
            may_stand |= asked
                .as_ref()
                .is_none_or(|outcome| matches!(outcome, Outcome::Held | Outcome::HeldBack(_)));
            let Some(outcome) = asked else { break };
            let wait = course.next(&outcome, chance::byte());
            self.report(outcome);
            if stop.run_until_cancelled(self.parent.wait(wait)).await.is_none() {
                break;
            }
        }
        self.troubles.clear(&self.connector);
        if may_stand && leave() {
            self.leave().await;
        }
    }

    async fn leave(&self) {
        let (connector, at) = (&*self.connector, &*self.at);
        let left = tokio::time::timeout(LEAVE, self.parent.leave()).await;
        match left {
            Ok(Outcome::Held | Outcome::HeldBack(_)) => {
                tracing::info!(connector, at, "no longer registered");
            }
            Ok(Outcome::Refused(why) | Outcome::Unreachable(why)) => {
                tracing::warn!(connector, at, why, "the lease could not be ended: it will lapse");
            }
            Err(_elapsed) => {
                tracing::warn!(connector, at, "ending the lease takes long: it will lapse");
            }
        }
    }

    /// Says what became of it, once for each thing that there is to say.
    fn report(&self, outcome: Outcome) {
        let (connector, at) = (&*self.connector, &*self.at);
        let trouble = match outcome {
            Outcome::Held => {
                if self.troubles.clear(connector) {
                    tracing::info!(connector, at, "registered again");
                } else {
                    tracing::debug!(connector, at, "registered");
                }
                return;
            }
            Outcome::HeldBack(why) => {
                format!("it is registered at {at}, which does not serve it: {why}")
            }
            Outcome::Refused(why) => format!("it is not registered at {at}, which says: {why}"),
            Outcome::Unreachable(why) => {
                format!("it is not registered at {at}, which cannot be asked: {why}")
            }
        };
        if self.troubles.set(&self.connector, &trouble) {
            tracing::warn!(connector, "{trouble}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Answers by a list; each wait is noted rather than waited for, and the last one ends it all.
    #[derive(Debug)]
    struct Scripted {
        answers: Mutex<Vec<Outcome>>,
        seen: Mutex<Vec<String>>,
        troubles: Troubles,
        stop: CancellationToken,
    }

    impl Scripted {
        fn see(&self, what: impl Into<String>) {
            self.seen.lock().unwrap().push(what.into());
        }
    }

    impl Parent for Scripted {
        async fn register(&self) -> Outcome {
            self.see("register");
            let next = {
                let mut answers = self.answers.lock().unwrap();
                if answers.is_empty() { None } else { Some(answers.remove(0)) }
            };
            if let Some(outcome) = next {
                return outcome;
            }
            self.stop.cancel();
            std::future::pending().await
        }

        async fn leave(&self) -> Outcome {
            self.see("leave");
            Outcome::Held
        }

        async fn wait(&self, time: Duration) {
            let troubles = self.troubles.all().len();
            self.see(format!("wait {} {troubles}", time.as_secs_f64().ceil()));
            if self.answers.lock().unwrap().is_empty() {
                self.stop.cancel();
                std::future::pending::<()>().await;
            }
        }
    }

    async fn run(answers: &[Outcome], leave: bool) -> Vec<String> {
        let (stop, troubles) = (CancellationToken::new(), Troubles::default());
        let parent = Scripted {
            answers: Mutex::new(answers.to_vec()),
            seen: Mutex::default(),
            troubles: troubles.clone(),
            stop: stop.clone(),
        };
        let (connector, at) = ("hub".into(), "http://parent".to_owned());
        let ttl = Duration::from_secs(3);
        let registrar = Registrar { connector, at, ttl, parent, troubles: troubles.clone() };
        registrar.run(&stop, || leave).await;
        assert!(troubles.all().is_empty(), "nothing is wrong once it ended");
        registrar.parent.seen.into_inner().unwrap()
    }

    #[tokio::test]
    async fn it_registers_renews_and_leaves() {
        let held = Outcome::Held;
        let refused = Outcome::Refused("The name is taken.".to_owned());
        let lost = Outcome::Unreachable("nobody answers".to_owned());
        let seen = run(&[held.clone(), refused.clone(), held], true).await;
        let expected =
            ["register", "wait 1 0", "register", "wait 1 1", "register", "wait 1 0", "leave"];
        assert_eq!(seen, expected);
        let seen = run(&[refused, lost], true).await;
        assert_eq!(seen.last().unwrap(), "wait 1 1", "what never stood is not left: {seen:?}");
        let back = Outcome::HeldBack("The tools differ.".to_owned());
        assert_eq!(run(&[back], true).await, ["register", "wait 1 1", "leave"]);
        assert_eq!(run(&[], true).await, ["register", "leave"], "a request under way may arrive");
        assert_eq!(run(&[Outcome::Held], false).await, ["register", "wait 1 0"]);
    }
}
