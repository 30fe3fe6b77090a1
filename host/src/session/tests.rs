//! What sessions promise: bounds, one owner, expiry by the injected clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;

use super::flight::{Flights, MAX_FLIGHTS};
use super::outbox::SessionOutbox;
use super::{Session, SessionLimits, Sessions, Waiting};
use crate::fault::{Code, Fault};
use crate::pipeline::port::Audience as _;
use crate::pipeline::{Caller, Level, Outbox as _};
use crate::protocol::{Era, Id, Message, Revision};

/// The text of plugway's own message.
fn own(waiting: Option<Waiting>) -> Option<Bytes> {
    match waiting? {
        Waiting::Own(text) => Some(text),
        Waiting::Server(message) => panic!("{message:?}"),
    }
}

fn identified(id: &str) -> Caller {
    Caller { anonymous: false, display: id.into(), ..Caller::anonymous(id) }
}

struct Fixture {
    now: Arc<AtomicU64>,
    sessions: Sessions,
    connector: Arc<str>,
}

impl Fixture {
    fn new(max: usize) -> Self {
        let now = Arc::new(AtomicU64::new(1_000_000));
        let clock = now.clone();
        let limits = SessionLimits { max, idle: Duration::from_secs(10) };
        let sessions = Sessions::new(limits, Box::new(move || clock.load(Ordering::Relaxed)));
        Self { now, sessions: sessions.unwrap(), connector: "c".into() }
    }

    fn open(&self, caller: Option<&str>) -> Result<Arc<Session>, Fault> {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
        let message = Message::parse(Bytes::from(text)).unwrap();
        let caller = caller.map(|id| Arc::new(identified(id)));
        self.sessions.open(&self.connector, caller.into(), Revision::V2025_11_25, &message)
    }

    fn find(&self, session: &Session) -> bool {
        let id = session.id.to_string();
        self.sessions.find(&self.connector, None, &id).is_ok()
    }

    fn wait(&self, seconds: u64) {
        self.now.fetch_add(seconds * 1000, Ordering::Relaxed);
    }
}

#[test]
fn the_number_of_sessions_is_bounded() {
    let fixture = Fixture::new(2);
    let first = fixture.open(None).unwrap();
    fixture.open(None).unwrap();
    assert_eq!(fixture.open(None).unwrap_err().code(), Code::Overloaded);
    fixture.sessions.remove(first.id).unwrap();
    assert!(fixture.open(None).is_ok());
    assert_eq!(fixture.sessions.take(|_| true).len(), 2);
    assert!(fixture.sessions.is_empty());
}

#[test]
fn elsewhere_and_to_others_a_session_is_unknown() {
    let fixture = Fixture::new(9);
    let session = fixture.open(Some("alice")).unwrap();
    let id = session.id.to_string();
    let find = |connector: &str, caller: Option<&str>, id: &str| {
        let caller = caller.map(identified);
        fixture.sessions.find(connector, caller.as_ref(), id).map_err(|fault| fault.code())
    };
    assert!(find(&fixture.connector, Some("alice"), &id).is_ok());
    for (connector, caller, id) in [
        ("other", Some("alice"), id.as_str()),
        ("c", Some("bob"), &id),
        ("c", None, &id),
        ("c", Some("alice"), "v1.00000000000000000000000000000000"),
        ("c", Some("alice"), "x"),
    ] {
        assert_eq!(find(connector, caller, id).err(), Some(Code::SessionUnknown), "{id}");
    }
    let nobodys = fixture.open(None).unwrap().id.to_string();
    assert!(find("c", None, &nobodys).is_ok());
    assert_eq!(find("c", Some("alice"), &nobodys).err(), Some(Code::SessionUnknown));
}

#[test]
fn a_caller_has_one_party_in_each_connector_until_it_is_idle() {
    let fixture = Fixture::new(3);
    let (ann, bob) = (Arc::new(identified("ann")), Arc::new(identified("bob")));
    let other: Arc<str> = "other".into();
    let enter = |connector: &Arc<str>, caller: &Arc<Caller>| {
        fixture.sessions.enter(connector, caller).map_err(|fault| fault.code())
    };
    let first = enter(&fixture.connector, &ann).unwrap();
    let again = enter(&fixture.connector, &ann).unwrap();
    assert_eq!(first.id(), again.id());
    let elsewhere = enter(&other, &ann).unwrap().id();
    let bobs = enter(&fixture.connector, &bob).unwrap().id();
    assert!(first.id() != elsewhere && first.id() != bobs && elsewhere != bobs);
    assert_eq!(enter(&other, &bob).err(), Some(Code::Overloaded), "there are three");
    assert_eq!(fixture.sessions.parties(), 3);

    drop(first);
    fixture.wait(60);
    let mut expired: Vec<_> = fixture.sessions.expired_parties().iter().map(|p| p.id).collect();
    expired.sort_by_key(|id| id.0);
    assert_eq!(expired, [elsewhere, bobs], "one request of ann is still in flight");
    let id = again.id();
    drop(again);
    assert!(fixture.sessions.expired_parties().is_empty(), "it was in use a moment ago");
    assert_eq!(enter(&fixture.connector, &ann).unwrap().id(), id);
    fixture.wait(11);
    assert_eq!(fixture.sessions.expired_parties().len(), 1);
    assert_ne!(enter(&fixture.connector, &ann).unwrap().id(), id, "ids are never used again");
    assert_eq!(
        fixture.sessions.take_parties(|party| *party.connector == *fixture.connector).len(),
        1
    );
}

#[test]
fn what_is_listed_names_nobody_by_what_could_be_used() {
    let fixture = Fixture::new(9);
    let session = fixture.open(Some("ann")).unwrap();
    let _flight = session.flights.begin(&Id::number(1)).unwrap();
    fixture.wait(5);
    fixture.open(None).unwrap();
    let guard = fixture.sessions.enter(&fixture.connector, &Arc::new(identified("bob"))).unwrap();
    let all = fixture.sessions.list("", 10);
    assert_eq!(all.len(), 3);
    assert!(all.is_sorted_by(|one, other| one.tag < other.tag));
    let anns = all.iter().find(|listed| listed.tag == session.tag).unwrap();
    assert_eq!((&*anns.caller, anns.in_flight, anns.age.as_secs()), ("ann", 1, 5));
    assert!(all.iter().any(|listed| listed.era == Era::Modern && listed.in_flight == 1));
    assert!(!format!("{all:?}").contains(&session.id.to_string()));
    let mut pages = fixture.sessions.list("", 2);
    pages.extend(fixture.sessions.list(&pages.last().unwrap().tag.clone(), 2));
    assert_eq!(pages, all);
    drop(guard);
}

#[test]
fn without_identity_a_session_is_its_own_caller_and_its_id_stays_secret() {
    let fixture = Fixture::new(9);
    let (one, other) = (fixture.open(None).unwrap(), fixture.open(None).unwrap());
    assert_ne!(one.caller.id, other.caller.id);
    assert_ne!(one.party.id, other.party.id);
    assert!(!one.id.to_string().contains(&*one.tag));
    assert!(!format!("{one:?}").contains(&one.id.to_string()));
}

#[test]
fn idle_sessions_expire_and_used_ones_do_not() {
    let fixture = Fixture::new(9);
    let (idle, used) = (fixture.open(None).unwrap(), fixture.open(None).unwrap());
    fixture.wait(8);
    assert!(fixture.find(&used));
    fixture.wait(8);
    let expired: Vec<_> = fixture.sessions.expired().iter().map(|session| session.id).collect();
    assert_eq!(expired, [idle.id]);
    assert!(!fixture.find(&idle) && fixture.find(&used));
}

#[test]
fn busy_sessions_do_not_expire_and_are_idle_from_their_last_use() {
    let fixture = Fixture::new(9);
    let (asking, listening) = (fixture.open(None).unwrap(), fixture.open(None).unwrap());
    let guard = asking.flights.begin(&Id::number(1)).unwrap();
    let listener = listening.outbox.listen();
    fixture.wait(60);
    assert!(fixture.sessions.expired().is_empty());
    drop((guard, listener));
    assert!(fixture.sessions.expired().is_empty(), "they were in use a moment ago");
    fixture.wait(11);
    assert_eq!(fixture.sessions.expired().len(), 2);
}

#[test]
fn an_id_is_in_flight_once_until_its_guard_is_dropped() {
    let flights = Arc::new(Flights::default());
    let id = Id::parse(r#""a""#).unwrap();
    let guard = flights.begin(&id).unwrap();
    let same = Id::parse(r#""\u0061""#).unwrap();
    assert_eq!(flights.begin(&same).unwrap_err().code(), Code::DuplicateId);
    assert!(flights.begin(&Id::number(1)).is_ok(), "freed at once");
    assert!(Arc::ptr_eq(&flights.find(&same).unwrap(), &guard.flight));
    drop(guard);
    assert!(flights.is_empty() && flights.find(&id).is_none());
}

#[test]
fn the_number_of_flights_is_bounded() {
    let flights = Arc::new(Flights::default());
    let all: Vec<_> = (0..MAX_FLIGHTS as u64).map(|n| flights.begin(&Id::number(n))).collect();
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(flights.begin(&Id::parse("-1").unwrap()).unwrap_err().code(), Code::Overloaded);
    drop(all);
    assert!(flights.is_empty());
}

#[test]
fn an_outbox_is_bounded_in_messages_and_bytes() {
    let outbox = Arc::new(SessionOutbox::default());
    let taken = (0..1000).filter(|_| outbox.offer(Bytes::from_static(b"x"))).count();
    assert_eq!(taken, 128);
    let outbox = Arc::new(SessionOutbox::default());
    let large = Bytes::from(vec![b' '; 400 * 1024]);
    let taken = (0..10).filter(|_| outbox.offer(large.clone())).count();
    assert_eq!(taken, 2);
    // What was read makes room.
    let listener = outbox.listen();
    assert_eq!(own(listener.next().now_or_never().flatten()), Some(large.clone()));
    assert!(outbox.offer(large.clone()) && !outbox.offer(large));
}

#[test]
fn messages_come_in_order_to_the_newest_stream_only() {
    let outbox = Arc::new(SessionOutbox::default());
    let text =
        |waiting: Option<Waiting>| own(waiting).map(|m| String::from_utf8(m.to_vec()).unwrap());
    assert!(outbox.offer(Bytes::from_static(b"1")) && outbox.offer(Bytes::from_static(b"2")));
    let older = outbox.listen();
    assert_eq!(text(older.next().now_or_never().unwrap()).as_deref(), Some("1"));
    let newer = outbox.listen();
    assert!(older.next().now_or_never().unwrap().is_none(), "it was taken over");
    assert_eq!(text(newer.next().now_or_never().unwrap()).as_deref(), Some("2"));
    assert!(newer.next().now_or_never().is_none(), "it waits");
    drop(older);
    assert!(outbox.has_listener());
    drop(newer);
    assert!(!outbox.has_listener());
}

#[test]
fn a_message_that_waits_already_is_not_queued_twice() {
    let outbox = Arc::new(SessionOutbox::default());
    let (one, other) = (Bytes::from_static(b"1"), Bytes::from_static(b"2"));
    assert!(outbox.offer_once(one.clone()) && outbox.offer_once(other.clone()));
    assert!(outbox.offer_once(one.clone()), "it counts as told");
    let listener = outbox.listen();
    let next = || own(listener.next().now_or_never().flatten());
    assert_eq!((next(), next(), next()), (Some(one.clone()), Some(other), None));
    assert!(outbox.offer_once(one.clone()));
    assert_eq!(next(), Some(one), "what was read may come again");
    outbox.close();
    assert!(!outbox.offer_once(Bytes::new()));
}

#[test]
fn a_session_gets_messages_of_the_level_that_it_asked_for() {
    let outbox = SessionOutbox::default();
    assert!(outbox.wants(Level::Notice) && !outbox.wants(Level::Debug));
    outbox.set_level(Level::Error);
    assert!(
        outbox.wants(Level::Error) && outbox.wants(Level::Alert) && !outbox.wants(Level::Warning)
    );
}

#[test]
fn a_mark_tells_sessions_before_it_from_those_after_it() {
    let fixture = Fixture::new(9);
    let before = fixture.open(None).unwrap();
    let mark = fixture.sessions.mark();
    let after = fixture.open(None).unwrap();
    assert!(before.party.id.0 < mark.0 && after.party.id.0 >= mark.0);
    assert_eq!(fixture.sessions.listeners("c").len(), 2);
    assert!(fixture.sessions.listeners("other").is_empty());
}

#[tokio::test]
async fn a_waiting_stream_wakes_for_a_message_a_takeover_and_the_end() {
    let outbox = Arc::new(SessionOutbox::default());
    let first = outbox.listen();
    let (got, ()) = tokio::join!(first.next(), async {
        assert!(outbox.offer(Bytes::from_static(b"1")));
    });
    assert_eq!(own(got).as_deref(), Some(&b"1"[..]));
    let (got, second) = tokio::join!(first.next(), async { outbox.listen() });
    assert!(got.is_none());
    let (got, ()) = tokio::join!(second.next(), async { outbox.close() });
    assert!(got.is_none());
    assert!(!outbox.offer(Bytes::from_static(b"late")), "nobody will read it");
}
