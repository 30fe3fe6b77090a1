//! The plugin behind a host that says what the test wants.

use plugway_sdk::prelude::*;
use plugway_sdk::testing::{Host, plugin};
use serde_json::json;

use super::token;
use crate::component::Masking;

#[test]
fn answers_are_kept_replaced_or_refused() {
    let (secret, host) = (token(), Host::new());
    host.call("tools/call", "mail_list");
    let masks: Masking = plugin("{}").unwrap();
    let refuses: Masking = plugin(r#"{"action":"refuse"}"#).unwrap();
    let other: Masking = plugin(r#"{"only":{"tools":["files_*"]}}"#).unwrap();
    host.answered(json!({"content": [{"type": "text", "text": "nothing"}]}));
    for policy in [&masks, &refuses, &other] {
        assert!(matches!(host.run(|| policy.review()), Ok(Review::Keep)));
    }
    host.answered(json!({"content": [{"type": "text", "text": secret}]}));
    let Ok(Review::Replace(left)) = host.run(|| masks.review()) else { panic!("not replaced") };
    assert_eq!(left, r#"{"content":[{"type":"text","text":"[masked github]"}]}"#);
    let Ok(Review::Reject(refusal)) = host.run(|| refuses.review()) else { panic!("not refused") };
    assert_eq!(
        refusal.message,
        "The answer holds what may not leave this server (github), and was held back."
    );
    assert!(matches!(host.run(|| other.review()), Ok(Review::Keep)));
}
