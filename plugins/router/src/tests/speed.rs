//! A shape of 20 upstreams with 50 tools of 500 bytes stays far from its deadline.

use std::time::{Duration, Instant};

use super::{connector, upstream};
use crate::config::Options;
use crate::shape::shape;

#[test]
fn a_large_connector_is_shaped_quickly() {
    let filler = "An ordinary sentence. ".repeat(20);
    let upstreams = (0..20).map(|index| {
        let mut one = upstream(&format!("upstream{index}"), &[]);
        one.tools = (0..50)
            .map(|tool| {
                serde_json::json!({"description": filler, "name": format!("tool{tool}"), "inputSchema": {}})
                    .to_string()
            })
            .collect();
        one
    });
    let input = connector(upstreams.collect());
    let started = Instant::now();
    let (shaped, warnings) = shape(input, &Options::default()).unwrap();
    let took = started.elapsed();
    assert_eq!((shaped.entries.len(), warnings.len()), (1_000, 0));
    // about 0.6 ms with optimisation; the bound leaves room for a debug build on a busy machine
    assert!(took < Duration::from_millis(200), "{took:?}");
}
