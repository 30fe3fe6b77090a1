//! Leases by the clock of the machine.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tokio::time::timeout;

use super::super::reload::Cause;
use super::{Ground, Reloader, keep};
use crate::config::{Environment, Flags, Settings, parse};
use crate::outbound::OwnListeners;
use crate::registry::Rules;
use crate::registry::lease::Holder;
use crate::registry::request::Registration;
use crate::transport::guard::Hosts;
use crate::transport::{Bounds, Site};

const BOUND: Duration = Duration::from_secs(30);
const FILE: &str = "name: hub\nregistry: {names: ['*'], hosts: [h]}\n\
    auth: {mode: static, tokens: {0123456789abcdef: {client_id: ann, scopes: ['plugway:registry']}}}\n";

fn settings() -> Settings {
    let (flags, environment) = (Flags::default(), Environment::default());
    parse(FILE, Path::new("/c/plugway.yaml"), &flags, &environment).unwrap()
}

/// A site that serves nothing.
fn site(ground: &Ground) -> Arc<ArcSwap<Site>> {
    Arc::new(ArcSwap::from_pointee(Site {
        endpoints: HashMap::new(),
        annexes: HashMap::new(),
        channels: ground.channels.clone(),
        sessions: ground.sessions.clone(),
        auth: None,
        hosts: Hosts::Any,
        bounds: Bounds::default(),
        counts: ground.counts.clone(),
        metrics: Box::new(|_| String::new()),
        degraded: Box::new(Vec::new),
    }))
}

#[tokio::test]
async fn what_is_registered_is_put_in_place_and_ends_at_its_time_by_itself() {
    let settings = settings();
    let ground = Ground::new(&settings, OwnListeners::new()).unwrap();
    let rules = Rules::of(&settings.connectors[0]).unwrap();
    let (reloader, mut requests) = Reloader::new();
    ground.beside(keep(ground.clone(), site(&ground), reloader));
    let holder = Holder { id: "1".into(), shown: "ann".into() };
    // It was registered almost a minute ago.
    let ends = Instant::now() + Duration::from_millis(500);
    let begun = ends.checked_sub(Duration::from_mins(1)).unwrap();
    for name in ["a", "b"] {
        let body = format!(r#"{{"name": "{name}", "url": "http://h", "ttl": 60}}"#);
        let asked = Registration::read(body.as_bytes()).unwrap();
        ground.leases.register(&rules, &holder, asked, begun).unwrap();
    }
    let mut changes = 0;
    while !ground.leases.leases("hub").is_empty() || changes == 0 {
        let request = timeout(BOUND, requests.recv()).await.unwrap().unwrap();
        assert_eq!(request.done(), Cause::Leases);
        changes += 1;
    }
    assert!(Instant::now() >= ends, "not before its time");
    assert!((1..=2).contains(&changes), "those that change together are one change: {changes}");
    ground.stop.cancel();
}
