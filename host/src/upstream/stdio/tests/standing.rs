//! What a party wants for as long as it lives is told to the child in the place of another.

use std::time::Duration;

use super::{ask, connected, gone, legacy, pid, text_of};
use crate::pipeline::Level;
use crate::protocol::Revision;
use crate::upstream::testing::{leveled, soon, text};
use crate::upstream::{Limits, Sharing};

#[tokio::test]
async fn a_child_in_the_place_of_another_is_told_subscriptions_and_level_and_is_kept() {
    let limits = Limits { child_idle: Duration::from_millis(300), ..Limits::default() };
    let rig = connected(Sharing::Session, limits).await;
    let (one, level) = leveled(1, Revision::V2025_11_25);
    let subscribe =
        r#"{"jsonrpc":"2.0","id":"x","method":"resources/subscribe","params":{"uri":"u:1"}}"#;
    text(rig.call(&one, subscribe).await.unwrap()).await.unwrap();
    level.set(Level::Error);
    soon(rig.upstream.set_level(one.id, Level::Error)).await;
    assert_eq!(ask(&rig, &one, "told").await, "\" sub level\"");
    assert!(rig.call(&one, &text_of("die")).await.is_err());
    assert_eq!(ask(&rig, &one, "told").await, "\" level sub\"");
    // Another party's child is stopped meanwhile for want of calls; this one is not.
    let (kept, other) = (pid(&rig, &one).await, pid(&rig, &legacy(2)).await);
    gone(other).await;
    assert_eq!(pid(&rig, &one).await, kept);
    rig.end().await;
}
