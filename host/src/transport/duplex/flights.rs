//! Requests in flight, and their cancellation.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::fault::{Code, Fault};
use crate::protocol::{Id, Message};

/// The requests in flight by their ids. How many there may be is bounded by whoever begins them.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Id, Option<oneshot::Sender<Message>>>>);

/// One request; it is in flight as long as this lives.
#[derive(Debug)]
pub(super) struct Flight {
    flights: Arc<Flights>,
    id: Id,
    cancelled: oneshot::Receiver<Message>,
}

impl Flights {
    /// Enters a request.
    pub(super) fn begin(self: &Arc<Self>, id: &Id) -> Result<Flight, Fault> {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if flights.contains_key(id) {
            let text = format!("A request with the id {id} is in flight already.");
            return Err(Fault::new(Code::DuplicateId, text));
        }
        let (sender, cancelled) = oneshot::channel();
        flights.insert(id.clone(), Some(sender));
        drop(flights);
        Ok(Flight { flights: Arc::clone(self), id: id.clone(), cancelled })
    }

    /// The client gave a request up. One that is unknown, or was answered already, is none of ours.
    pub(super) fn cancel(&self, id: &Id, notification: Message) {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = flights.get_mut(id).and_then(Option::take) {
            // An error means that the answer was there first.
            drop(sender.send(notification));
        }
    }
}

impl Flight {
    /// Does the work unless the client gives the request up: then the work stands still while `pass_on` tells the
    /// server, is dropped after that, and nothing comes of it.
    pub(super) async fn run<T, P>(
        mut self,
        work: impl Future<Output = T>,
        pass_on: impl FnOnce(Message) -> P,
    ) -> Option<T>
    where
        P: Future<Output = ()>,
    {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            Ok(notification) = &mut self.cancelled => {
                pass_on(notification).await;
                None
            }
            done = &mut work => Some(done),
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::atomic::{AtomicBool, Ordering};

    use bytes::Bytes;

    use super::*;

    fn note() -> Message {
        let text = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
        Message::parse(Bytes::from(text)).unwrap()
    }

    #[tokio::test]
    async fn an_id_is_in_flight_once_and_free_afterwards() {
        let flights = Arc::new(Flights::default());
        let id = Id::number(1);
        let flight = flights.begin(&id).unwrap();
        assert_eq!(flights.begin(&id).unwrap_err().code(), Code::DuplicateId);
        let done = flight.run(async { 7 }, |_| async { panic!("nobody cancelled it") }).await;
        assert_eq!(done, Some(7));
        drop(flights.begin(&id).unwrap());
        assert!(flights.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_request_that_was_given_up_is_passed_on_once_and_comes_to_nothing() {
        let flights = Arc::new(Flights::default());
        let id = Id::number(1);
        let flight = flights.begin(&id).unwrap();
        flights.cancel(&Id::number(2), note());
        flights.cancel(&id, note());
        flights.cancel(&id, note());
        let told = AtomicBool::new(false);
        let done = flight
            .run(pending::<()>(), |_| async {
                assert!(!told.swap(true, Ordering::Relaxed));
            })
            .await;
        assert!(done.is_none() && told.into_inner());
        assert!(flights.begin(&id).is_ok());
    }
}
