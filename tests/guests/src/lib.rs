//! Tiny components for plugway's tests: one for each thing that the host must serve, survive or refuse.
//!
//! ```text
//! cargo build -p plugway-guests --examples --target wasm32-wasip2 --release --target-dir target/guests
//! ```
//!
//! puts them into [`FOLDER`]. On other targets the examples are empty.

/// Where the build above puts `<name>.wasm`, from the root of the workspace.
pub const FOLDER: &str = "target/guests/wasm32-wasip2/release/examples";

/// They do what plugins are for: every hook and every import that the host serves.
pub const GOOD: &[&str] = &[
    "admit_answer",
    "admit_edit",
    "admit_fails",
    "admit_rate",
    "admit_reject",
    "answer_local",
    "answer_upstreams",
    "explains",
    "fetching",
    "hides_functions",
    "imports_echo",
    "inbound_by_method",
    "learns",
    "lifecycle_ready",
    "review_echo",
    "review_replace",
    "route_dynamic",
    "visibility_by_request",
    "visibility_by_scope",
    "visibility_details",
];

/// They load, and then misbehave in a hook: the host loses an instance at most.
pub const MISBEHAVING: &[&str] = &[
    "confirming",
    "fails_sometimes",
    "giant_result",
    "host_call_flood",
    "leaks",
    "log_flood",
    "loop_forever",
    "memory_bomb",
    "panics",
    "shape_fails",
    "traps_on_argument",
];

/// They never load: the host says by name what it does not take.
pub const REFUSED: &[&str] = &[
    "bad_config",
    "call_outside",
    "configure_loops",
    "exports_dispatcher",
    "exports_transfer",
    "no_kind",
    "two_kinds",
    "ungranted_fetch",
    "unknown_import",
    "wrong_version",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::{GOOD, MISBEHAVING, REFUSED};

    #[test]
    fn no_guest_is_forgotten() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let named: BTreeSet<String> =
            [GOOD, MISBEHAVING, REFUSED].concat().into_iter().map(str::to_owned).collect();
        let files: BTreeSet<String> = fs::read_dir(here.join("examples"))
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        let manifest = fs::read_to_string(here.join("Cargo.toml")).unwrap();
        let built: BTreeSet<String> = manifest
            .split("[[example]]")
            .skip(1)
            .filter_map(|entry| Some(entry.split('"').nth(1)?.to_owned()))
            .collect();
        assert_eq!(named, files, "lists in src/lib.rs and files in examples/");
        assert_eq!(built, files, "[[example]] entries in Cargo.toml and files in examples/");
    }

    #[test]
    fn every_guest_is_empty_on_other_targets() {
        for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains("\n#![cfg(target_family = \"wasm\")]\n"), "{}", path.display());
        }
    }
}
