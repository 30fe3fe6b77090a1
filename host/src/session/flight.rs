//! Requests in flight in one session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::fault::{Code, Fault};
use crate::pipeline::Flight;
use crate::protocol::Id;

/// Requests that one session may have in flight at once.
pub const MAX_FLIGHTS: usize = 256;

/// The requests in flight, by their ids.
#[derive(Debug, Default)]
pub struct Flights(Mutex<HashMap<Id, Arc<Flight>>>);

impl Flights {
    /// Enters a request until the guard is dropped.
    pub fn begin(self: &Arc<Self>, id: &Id) -> Result<FlightGuard, Fault> {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if flights.contains_key(id) {
            let text = format!("A request with the id {id} is in flight in this session already.");
            return Err(Fault::new(Code::DuplicateId, text));
        }
        if flights.len() >= MAX_FLIGHTS {
            let text =
                format!("This session has {MAX_FLIGHTS} requests in flight: wait for answers.");
            return Err(Fault::new(Code::Overloaded, text));
        }
        let flight = Arc::new(Flight::default());
        flights.insert(id.clone(), flight.clone());
        drop(flights);
        Ok(FlightGuard { flights: self.clone(), id: id.clone(), flight })
    }

    /// Nobody wants an answer to any of them.
    pub fn cancel_all(&self) {
        let flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        flights.values().for_each(|flight| flight.cancel());
    }

    /// The request with this id.
    pub fn find(&self, id: &Id) -> Option<Arc<Flight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// How many requests are in flight.
    pub fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// Keeps a request entered; lives as long as its answer is being sent.
#[derive(Debug)]
pub struct FlightGuard {
    flights: Arc<Flights>,
    id: Id,
    /// The request.
    pub flight: Arc<Flight>,
}

impl Drop for FlightGuard {
    fn drop(&mut self) {
        self.flights.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
