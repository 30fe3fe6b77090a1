use plugway_sdk::testing::{Host, plugin};

use super::*;

#[test]
fn refuses_what_matches() {
    let policy: TeamPolicy = plugin(r#"{"refuse": ["*_delete", "admin_*"]}"#).unwrap();
    let host = Host::new();
    host.caller("alice").call("tools/call", "files_delete");
    let Ok(Admit::Reject(rejection)) = host.run(|| policy.admit()) else { panic!("admitted") };
    assert!(rejection.message.contains("files_delete"), "{}", rejection.message);
}

#[test]
fn counts_calls_of_each_caller() {
    let policy: TeamPolicy = plugin("{}").unwrap();
    let host = Host::new();
    host.call("tools/call", "files_read");
    for caller in ["alice", "bob", "alice"] {
        host.caller(caller);
        host.run(|| policy.admit()).unwrap();
    }
    assert_eq!(host.stored("alice").as_deref(), Some("2"));
    assert_eq!(host.stored("bob").as_deref(), Some("1"));
}

#[test]
fn says_which_key_is_wrong() {
    let refused = |config| plugin::<TeamPolicy>(config).unwrap_err().to_string();
    assert!(refused(r#"{"refuse": ["a", 1]}"#).starts_with("refuse[1]: "));
    assert!(refused(r#"{"refuse": [""]}"#).starts_with("refuse[0]: "));
    assert!(refused(r#"{"refused": []}"#).contains("unknown field `refused`"));
}
