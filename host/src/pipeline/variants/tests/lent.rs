//! Catalogues of one caller each.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use http::HeaderValue;

use super::super::build::Built;
use super::super::kinds::CALLERS;
use super::{Server, built, stage};
use crate::pipeline::keeper::shape_now;
use crate::pipeline::port::{Offering, Phase, Snapshot};
use crate::pipeline::{Caller, Connector, Shows, Viewer};

/// What a caller sees who comes with this credential.
async fn built_for(connector: &Connector, caller: &str, credential: Option<&str>) -> Arc<Built> {
    let caller = Arc::new(Caller { anonymous: false, ..Caller::anonymous(caller) });
    let credential = credential.map(|text| HeaderValue::from_str(text).unwrap());
    let shows = Shows::Request(credential.as_ref());
    connector.built(Viewer { shows, ..Viewer::unasked(&caller, None) }).await.unwrap()
}

/// A server that answers callers only.
async fn veiled() -> (Connector, Arc<Server>) {
    let (connector, server) = stage(None).await;
    let veiled = Offering { veiled: Some("Come as somebody.".into()), ..Offering::default() };
    let snapshot = Snapshot {
        offering: Some(Arc::new(veiled)),
        ..Snapshot::new(Phase::Connected, Instant::now())
    };
    server.snapshot.send_replace(Arc::new(snapshot));
    shape_now(&connector).await;
    (connector, server)
}

fn shown(built: &Arc<Built>) -> Vec<String> {
    built.view.catalogue().entries().iter().map(|entry| entry.key.to_string()).collect()
}

#[tokio::test]
async fn each_caller_sees_its_own_and_who_has_no_credential_nothing() {
    let (connector, server) = veiled().await;
    for caller in ["ann", "bob"] {
        let built = built_for(&connector, caller, Some(caller)).await;
        assert_eq!(shown(&built), [format!("srv_{caller}")]);
    }
    assert_eq!(server.asked.load(Ordering::SeqCst), 2);
    let ann = built_for(&connector, "ann", Some("ann")).await;
    assert!(Arc::ptr_eq(&ann, &built_for(&connector, "ann", None).await), "it is known");
    assert_eq!(server.asked.load(Ordering::SeqCst), 2, "each was read once");
    // Somebody whom nobody identified, and who has nothing, is not asked for.
    assert!(built(&connector, None).await.is_none());
    let nobody = Arc::new(Caller::anonymous("a"));
    let shows = Shows::Request(None);
    let nobody = Viewer { shows, ..Viewer::unasked(&nobody, None) };
    assert!(connector.built(nobody).await.is_none());
    assert_eq!(connector.unseen(nobody).await, ["Come as somebody.".into()]);
    assert_eq!(server.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn another_credential_of_a_caller_is_told_to_the_server_at_once() {
    let (connector, server) = veiled().await;
    let refused = built_for(&connector, "ann", Some("wrong")).await;
    assert!(refused.everybodys && shown(&refused).is_empty());
    // With the same one the server is not asked again and again.
    assert!(Arc::ptr_eq(&refused, &built_for(&connector, "ann", Some("wrong")).await));
    assert_eq!(shown(&built_for(&connector, "ann", Some("ann")).await), ["srv_ann"]);
    assert_eq!(*server.lent.lock().unwrap(), ["wrong", "ann"]);
    // A credential that is no good any more ends it; the others keep theirs.
    assert_eq!(shown(&built_for(&connector, "bob", Some("bob")).await), ["srv_bob"]);
    assert!(shown(&built_for(&connector, "ann", Some("ended")).await).is_empty());
    assert_eq!(shown(&built_for(&connector, "bob", Some("bob")).await), ["srv_bob"]);
}

#[tokio::test]
async fn of_too_many_callers_those_who_did_not_come_the_longest_are_read_again() {
    let (connector, server) = veiled().await;
    for number in 0..=CALLERS {
        let name = format!("c{number}");
        assert_eq!(
            shown(&built_for(&connector, &name, Some(&name)).await),
            [format!("srv_{name}")]
        );
    }
    assert_eq!(connector.kinds.callers(), CALLERS);
    let asked = server.asked.load(Ordering::SeqCst);
    built_for(&connector, "c1", Some("c1")).await;
    assert_eq!(server.asked.load(Ordering::SeqCst), asked);
    assert_eq!(shown(&built_for(&connector, "c0", Some("c0")).await), ["srv_c0"]);
    assert_eq!(server.asked.load(Ordering::SeqCst), asked + 1);
    assert_eq!(connector.kinds.callers(), CALLERS);
}

#[tokio::test]
async fn a_credential_of_somebody_unknown_stands_for_nobody_else() {
    let caller = |text: &str| {
        let credential = HeaderValue::from_str(text).unwrap();
        Arc::new(Caller::anonymous("anonymous").with_credential(Some(&credential)))
    };
    let (one, other) = (caller("one"), caller("other"));
    let lender = |caller: &Arc<Caller>, shows: Shows<'_>| {
        Viewer { shows, ..Viewer::unasked(caller, None) }.lender()
    };
    assert_eq!(lender(&one, Shows::Earlier), lender(&caller("one"), Shows::Earlier));
    assert_ne!(lender(&one, Shows::Earlier), lender(&other, Shows::Earlier));
    assert_eq!(lender(&one, Shows::Request(None)), None, "a request without one is nobody's");
    let credential = HeaderValue::from_static("other");
    let shows = Shows::Request(Some(&credential));
    assert_eq!(
        lender(&one, shows),
        lender(&other, Shows::Earlier),
        "whatever the session began with"
    );
    assert!(!lender(&one, shows).unwrap().contains("other"));
}
