//! Who waits for which answer of a child.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::pipeline::party::PartyId;
use crate::pipeline::port::{Incoming, Notification};
use crate::protocol::subscription::tagged;
use crate::protocol::{Field, Id, Message, Span, splice};
use crate::upstream::limits::{ASKED, NOTE_QUEUE, ROOM};
use crate::upstream::permission::Permission;
use crate::upstream::rewrite;

/// What belongs to one request of a party.
#[derive(Debug)]
pub(super) struct Ticket {
    /// Whose request it is; none for plugway's own.
    pub(super) party: Option<PartyId>,
    /// The id as the client wrote it.
    pub(super) id: Id,
    /// JSON text of the client's progress token.
    pub(super) token: Option<String>,
    /// What the server may ask on the way.
    pub(super) permission: Permission,
    /// Whether it is `subscriptions/listen`.
    pub(super) subscribes: bool,
}

/// Where the answer arrives.
#[derive(Debug)]
pub(super) struct Receipt {
    pub(super) notes: mpsc::Receiver<Incoming>,
    pub(super) done: oneshot::Receiver<Result<Bytes, TooLong>>,
}

/// The answer was there, and is longer than plugway takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooLong;

#[derive(Debug)]
struct Pending {
    ticket: Option<Ticket>,
    notes: mpsc::Sender<Incoming>,
    done: oneshot::Sender<Result<Bytes, TooLong>>,
    /// Ids of the server's requests that went along with it, the newest last.
    asked: VecDeque<Id>,
    /// Whether its client took nothing for a while.
    slow: bool,
}

/// A call with which something that the server says can be handed on.
#[derive(Debug)]
pub(super) struct InFlight {
    number: u64,
    notes: mpsc::Sender<Incoming>,
    /// What the server may ask on the way.
    pub(super) permission: Permission,
}

/// A call with its number, whose it is, and where what belongs to it goes.
fn flight<'a>(
    (number, call): (&u64, &'a Pending),
) -> Option<(u64, &'a Ticket, &'a mpsc::Sender<Incoming>)> {
    call.flight().map(|(ticket, notes)| (*number, ticket, notes))
}

impl InFlight {
    fn of(number: u64, ticket: &Ticket, notes: &mpsc::Sender<Incoming>) -> Self {
        Self { number, notes: notes.clone(), permission: ticket.permission.clone() }
    }

    /// Hands a message on. One that does not fit is dropped; it comes back when the call ended meanwhile.
    pub(super) fn send(&self, message: Incoming) -> Option<Incoming> {
        match self.notes.try_send(message) {
            Ok(()) => None,
            Err(TrySendError::Full(_)) => {
                tracing::debug!("a message of a child was dropped: its client reads too slowly");
                None
            }
            Err(TrySendError::Closed(message)) => Some(message),
        }
    }
}

#[derive(Debug)]
struct Table {
    calls: HashMap<u64, Pending>,
    next: u64,
    closed: bool,
    used: Instant,
}

/// The requests in flight at one child.
#[derive(Debug)]
pub(super) struct Routes {
    upstream: Arc<str>,
    table: Mutex<Table>,
}

impl Pending {
    /// Whose call it is, and where what belongs to it goes; none for plugway's own, and for a subscription, which takes nothing
    /// but its own.
    fn flight(&self) -> Option<(&Ticket, &mpsc::Sender<Incoming>)> {
        let ticket = self.ticket.as_ref().filter(|ticket| !ticket.subscribes);
        ticket.map(|ticket| (ticket, &self.notes))
    }
}

/// The child takes no requests any more: nothing was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed;

impl Routes {
    /// `upstream` is the name of the server.
    pub(super) fn new(upstream: Arc<str>) -> Self {
        let table = Table { calls: HashMap::new(), next: 1, closed: false, used: Instant::now() };
        Self { upstream, table: Mutex::new(table) }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a route: the number that stands for the request, and where its answer arrives.
    pub(super) fn open(&self, ticket: Option<Ticket>) -> Result<(u64, Receipt), Closed> {
        let mut table = self.table();
        if table.closed {
            return Err(Closed);
        }
        let number = table.next;
        table.next += 1;
        table.used = Instant::now();
        let (notes, noted) = mpsc::channel(NOTE_QUEUE);
        let (done, answered) = oneshot::channel();
        table
            .calls
            .insert(number, Pending { ticket, notes, done, asked: VecDeque::new(), slow: false });
        Ok((number, Receipt { notes: noted, done: answered }))
    }

    /// Nobody waits any more; says whether the request was still in flight.
    pub(super) fn forget(&self, number: u64) -> bool {
        let mut table = self.table();
        table.used = Instant::now();
        table.calls.remove(&number).is_some()
    }

    /// Hands a response to who waits for it, with the id that the client gave; false when nobody waits.
    pub(super) fn response(&self, text: Bytes, id: &str, span: Span) -> bool {
        let Some(pending) =
            id.parse().ok().and_then(|number: u64| self.table().calls.remove(&number))
        else {
            return false;
        };
        let text = match &pending.ticket {
            Some(ticket) => rewrite::response(&text, span, &ticket.id),
            None => text,
        };
        pending.done.send(Ok(text)).is_ok()
    }

    /// The answer to this request was too long to be taken: whoever waits for it is told so; false when nobody waits.
    pub(super) fn too_long(&self, number: u64) -> bool {
        let pending = self.table().calls.remove(&number);
        pending.is_some_and(|pending| pending.done.send(Err(TooLong)).is_ok())
    }

    /// Hands a progress notification to the call that it belongs to, with the token that the client gave.
    pub(super) fn progress(&self, note: &Message) -> bool {
        let number = note.field(Field::ProgressToken).and_then(|token| token.parse::<u64>().ok());
        let table = self.table();
        let pending = number.and_then(|number| table.calls.get(&number));
        let Some(Pending { ticket: Some(Ticket { token: Some(token), .. }), notes, .. }) = pending
        else {
            return false;
        };
        let span = note.span(Field::ProgressToken);
        let text = splice(note.text(), &[(span, token.as_bytes())]);
        let upstream = Arc::clone(&self.upstream);
        notes.try_send(Incoming::Notification(Notification { upstream, text })).is_ok()
    }

    /// The call that was sent last, if all that are in flight are of one party: what the server says without naming a call
    /// goes along with it.
    pub(super) fn newest(&self) -> Option<InFlight> {
        let table = self.table();
        let calls = || table.calls.iter().filter_map(flight);
        let (number, newest, notes) = calls().max_by_key(|(number, ..)| *number)?;
        calls()
            .all(|(_, ticket, _)| ticket.party == newest.party)
            .then(|| InFlight::of(number, newest, notes))
    }

    /// The calls in flight, the newest first; none where they are of several parties.
    pub(super) fn in_flight(&self) -> Vec<InFlight> {
        let table = self.table();
        let mut calls: Vec<_> = table.calls.iter().filter_map(flight).collect();
        calls.sort_unstable_by_key(|(number, ..)| std::cmp::Reverse(*number));
        let party = calls.first().map(|(_, ticket, _)| ticket.party);
        if calls.iter().any(|(_, ticket, _)| Some(ticket.party) != party) {
            return Vec::new();
        }
        calls
            .into_iter()
            .map(|(number, ticket, notes)| InFlight::of(number, ticket, notes))
            .collect()
    }

    /// Waits a moment for room with a call whose client has much to read still. One that takes nothing meanwhile is not waited
    /// for again.
    pub(super) async fn room(&self) {
        let crowded = {
            let table = self.table();
            let is_crowded = |call: &Pending| !call.slow && call.notes.capacity() == 0;
            let found = table.calls.iter().find(|(_, call)| is_crowded(call));
            found.map(|(number, call)| (*number, call.notes.clone()))
        };
        let Some((number, notes)) = crowded else { return };
        if timeout(ROOM, notes.reserve()).await.is_err()
            && let Some(call) = self.table().calls.get_mut(&number)
        {
            call.slow = true;
        }
    }

    /// A request of the server goes along with this call. So many are remembered.
    pub(super) fn asks(&self, call: &InFlight, id: Id) {
        let mut table = self.table();
        let Some(pending) = table.calls.get_mut(&call.number) else { return };
        if pending.asked.len() >= ASKED {
            pending.asked.pop_front();
        }
        pending.asked.push_back(id);
    }

    /// The call with which the request went that a server gives up.
    pub(super) fn asked(&self, cancelled: &Message) -> Option<InFlight> {
        let id = cancelled.field(Field::RequestId).and_then(Id::parse)?;
        let table = self.table();
        let went_along = table.calls.iter().filter(|(_, call)| call.asked.contains(&id));
        let (number, call) = went_along.max_by_key(|(number, _)| **number)?;
        let (ticket, notes) = call.flight()?;
        Some(InFlight::of(*number, ticket, notes))
    }

    /// Hands a notification to the subscription that it belongs to, with the id that the client gave. One whose reader is too
    /// slow is given up: it is asked for anew.
    pub(super) fn subscribed(&self, note: &Message) -> bool {
        let number = note.field(Field::MetaSubscriptionId).and_then(|id| id.parse::<u64>().ok());
        let Some(number) = number else { return false };
        let mut table = self.table();
        let Some(Pending { ticket: Some(ticket), notes, .. }) = table.calls.get(&number) else {
            return false;
        };
        let (text, upstream) = (tagged(note, &ticket.id), Arc::clone(&self.upstream));
        let taken = notes.try_send(Incoming::Notification(Notification { upstream, text })).is_ok();
        if !taken {
            table.calls.remove(&number);
        }
        taken
    }

    /// The server ends a subscription by itself (MCP 2026-07-28, "Cancellation"); false when it speaks of something else.
    pub(super) fn unsubscribed(&self, note: &Message) -> bool {
        let number = note.field(Field::RequestId).and_then(|id| id.parse::<u64>().ok());
        let Some(number) = number else { return false };
        let mut table = self.table();
        let pending = table.calls.get(&number);
        let subscribes = pending.and_then(|pending| pending.ticket.as_ref());
        subscribes.is_some_and(|ticket| ticket.subscribes) && table.calls.remove(&number).is_some()
    }

    /// The number that stands for a party's request.
    pub(super) fn number(&self, party: PartyId, id: &Id) -> Option<u64> {
        let table = self.table();
        let belongs = |pending: &Pending| {
            let ticket = pending.ticket.as_ref();
            ticket.is_some_and(|ticket| ticket.party == Some(party) && ticket.id == *id)
        };
        table.calls.iter().find(|(_, pending)| belongs(pending)).map(|(number, _)| *number)
    }

    /// No answer will come any more: whoever waits is told so.
    pub(super) fn close(&self) {
        let mut table = self.table();
        table.closed = true;
        table.calls.clear();
    }

    /// Closes if nothing is in flight and nothing was for so long; says whether it did.
    pub(super) fn retire(&self, idle: Duration) -> bool {
        let mut table = self.table();
        if table.calls.is_empty() && table.used.elapsed() >= idle {
            table.closed = true;
        }
        table.closed
    }

    pub(super) fn is_closed(&self) -> bool {
        self.table().closed
    }
}
