//! Tests of the parts that need no component; those with real guests are in the workspace's `tests`.

mod breaker;
