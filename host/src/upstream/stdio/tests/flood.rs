//! A child that says more than its client takes.

use std::sync::Arc;

use bytes::Bytes;

use super::super::routes::{Routes, Ticket, TooLong};
use crate::pipeline::party::PartyId;
use crate::pipeline::port::Incoming;
use crate::protocol::{Id, Message};
use crate::upstream::limits::NOTE_QUEUE;
use crate::upstream::peek::Peek;
use crate::upstream::permission::Permission;

fn ticket(id: u64) -> Ticket {
    let name: Arc<str> = "demo".into();
    Ticket {
        party: Some(PartyId(1)),
        id: Id::number(id),
        token: Some("\"tok\"".to_owned()),
        permission: Permission::nothing(&name),
        subscribes: false,
    }
}

fn answer(routes: &Routes, number: u64) -> bool {
    let text = Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#));
    let peek = Peek::read(&text).unwrap();
    let (id, span) = (peek.id().unwrap().to_owned(), peek.id_span(&text).unwrap());
    routes.response(text.clone(), &id, span)
}

#[tokio::test]
async fn what_a_reader_does_not_take_is_dropped_and_the_response_never_is() {
    let routes = Routes::new("demo".into());
    let (number, mut receipt) = routes.open(Some(ticket(7))).unwrap();
    let (other, mut others) = routes.open(Some(ticket(8))).unwrap();
    let progress = |number: u64| {
        let params = format!(r#"{{"progressToken":{number},"progress":1}}"#);
        let text =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#);
        routes.progress(&Message::parse(text.into()).unwrap())
    };
    let taken = (0..2 * NOTE_QUEUE).filter(|_| progress(number)).count();
    assert_eq!(taken, NOTE_QUEUE);
    assert!(progress(other), "another call has room of its own");
    assert!(answer(&routes, number) && answer(&routes, other));
    let mut notes = 0;
    while let Some(note) = receipt.notes.recv().await {
        assert!(matches!(note, Incoming::Notification(_)));
        notes += 1;
    }
    assert_eq!(notes, NOTE_QUEUE);
    assert_eq!(receipt.done.await.unwrap().unwrap(), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    assert!(others.notes.recv().await.is_some() && others.done.await.unwrap().is_ok());
}

#[tokio::test]
async fn whoever_waits_for_an_answer_that_was_too_long_is_told_so() {
    let routes = Routes::new("demo".into());
    let (number, receipt) = routes.open(Some(ticket(7))).unwrap();
    assert!(routes.too_long(number) && !routes.too_long(number));
    assert!(matches!(receipt.done.await, Ok(Err(TooLong))));
    assert!(!answer(&routes, number));
}
