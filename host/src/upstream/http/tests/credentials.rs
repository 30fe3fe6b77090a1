//! Whose credential a server gets, and what a caller reads when the server refuses it.

use http::HeaderValue;

use super::super::fixture::Legacy;
use super::CALL;
use crate::fault::Code;
use crate::pipeline::port::Phase;
use crate::protocol::{Message, Revision};
use crate::upstream::testing::{Rig, order, party, reply, settings, soon, start};
use crate::upstream::{Access, Settings, Transport};

async fn rig(server: &Legacy, access: Access, headers: &[(&'static str, &str)]) -> Rig {
    let headers = headers.iter().map(|(name, value)| {
        (http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
    });
    let transport = Transport::Http { url: server.serve().await };
    let rig = start(&Settings { access, headers: headers.collect(), transport, ..settings() });
    rig.until(Phase::Connected).await;
    rig
}

fn credentials(server: &Legacy, what: &str) -> Vec<Option<String>> {
    let seen = server.seen.lock().unwrap();
    seen.iter().filter(|(of, _)| of == what).map(|(_, credential)| credential.clone()).collect()
}

async fn call(rig: &Rig, id: u64, credential: Option<&str>) -> Result<(), crate::fault::Fault> {
    let mut order = order(&party(id, Revision::V2025_11_25, false), CALL);
    order.credential = credential.map(|text| HeaderValue::from_str(text).unwrap());
    soon(rig.upstream.exchange(order)).await.map(drop)
}

#[tokio::test]
async fn the_callers_credential_goes_with_everything_of_that_caller_and_with_nothing_else() {
    let server = Legacy::echo();
    let own = Some(HeaderValue::from_static("Bearer own"));
    let rig = rig(&server, Access::Callers { own }, &[]).await;
    call(&rig, 1, Some("Bearer first")).await.unwrap();
    call(&rig, 2, Some("Bearer other")).await.unwrap();
    // A refreshed token keeps the session, and is the one that is used from then on.
    call(&rig, 1, Some("Bearer renewed")).await.unwrap();
    call(&rig, 3, None).await.unwrap();
    let note = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    let note = Message::parse(note.into()).unwrap();
    let first = party(1, Revision::V2025_11_25, false).id;
    soon(rig.upstream.notify(first, note)).await;
    soon(rig.upstream.leave(first)).await;
    rig.end().await;
    server.ended.reaches(4).await;

    let text = |words: &[Option<&str>]| -> Vec<Option<String>> {
        words.iter().map(|word| word.map(|word| format!("Bearer {word}"))).collect()
    };
    let opened = text(&[Some("own"), Some("first"), Some("other"), None]);
    assert_eq!(credentials(&server, "initialize"), opened);
    assert_eq!(credentials(&server, "notifications/initialized"), opened);
    let calls = text(&[Some("first"), Some("other"), Some("renewed"), None]);
    assert_eq!(credentials(&server, "tools/call"), calls);
    let renewed = text(&[Some("renewed")]);
    assert_eq!(credentials(&server, "notifications/roots/list_changed"), renewed);
    let mut ended = credentials(&server, "DELETE");
    assert_eq!(ended.remove(0), renewed[0], "the caller's session ends with the newest one");
    ended.sort();
    assert_eq!(ended, text(&[None, Some("other"), Some("own")]));
    for own in ["server/discover", "tools/list", "GET"] {
        assert_eq!(credentials(&server, own), text(&[Some("own")]), "{own}");
    }
}

#[tokio::test]
async fn a_fixed_credential_goes_with_every_request_and_no_caller_replaces_it() {
    let server = Legacy::echo();
    let rig = rig(&server, Access::Plugways, &[("authorization", "Bearer fixed")]).await;
    call(&rig, 1, Some("Bearer callers")).await.unwrap();
    let mut bold = order(&party(1, Revision::V2025_11_25, false), CALL);
    bold.headers = vec![(http::header::AUTHORIZATION, HeaderValue::from_static("Bearer x"))];
    soon(rig.upstream.exchange(bold)).await.unwrap();
    rig.end().await;
    let seen = server.seen.lock().unwrap();
    assert!(seen.len() > 8);
    assert!(seen.iter().all(|(_, credential)| credential.as_deref() == Some("Bearer fixed")));
}

#[tokio::test]
async fn without_a_credential_none_is_sent() {
    let server = Legacy::echo();
    let rig = rig(&server, Access::Open, &[("x-tenant", "a")]).await;
    call(&rig, 1, Some("Bearer callers")).await.unwrap();
    rig.end().await;
    assert!(server.seen.lock().unwrap().iter().all(|(_, credential)| credential.is_none()));
}

#[tokio::test]
async fn a_refusal_says_whose_credential_it_is_about() {
    let forward = || Access::Callers { own: None };
    for (access, credential, part) in [
        (Access::Plugways, None, "the credential that plugway has for it"),
        (forward(), Some("Bearer mine"), "your own credential"),
        (forward(), None, "you sent none"),
        (Access::Open, Some("Bearer mine"), "plugway has none for it"),
    ] {
        for status in [401, 403] {
            let server = Legacy::new(move |_| reply(status, "text/plain", "secret reason"));
            let rig = rig(&server, access.clone(), &[]).await;
            let fault = call(&rig, 1, credential).await.unwrap_err();
            assert_eq!(fault.code(), Code::UpstreamRefusedCredential);
            let sentence = fault.public();
            assert!(sentence.contains(part) && sentence.contains("demo"), "{sentence}");
            // One caller's refusal says nothing about the server.
            assert_eq!(server.pings.get(), 0);
            assert_eq!(rig.upstream.watch().borrow().phase, Phase::Connected);
            rig.end().await;
        }
    }
}
