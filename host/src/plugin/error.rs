//! Why a plugin was not loaded: one sentence each, with what to do about it.

use std::io;
use std::path::PathBuf;

/// A plugin that was not loaded. The plugin's name is said by whoever reports it.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{path} cannot be read; check the path and its permissions")]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else may write the file or its directory.
    #[error(
        "{path} can be written by others ({why}), and who writes it decides about every call; \
         give it to the user plugway runs as, and take the write permission from group and others"
    )]
    Unsafe {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong.
        why: &'static str,
    },
    /// Larger than the limit.
    #[error("the component has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Its size.
        size: u64,
        /// The limit.
        limit: usize,
    },
    /// Another file than the one that was pinned.
    #[error(
        "the component has the digest sha256:{found}, but the configuration pins sha256:{pinned}"
    )]
    Digest {
        /// What was pinned.
        pinned: String,
        /// What was found.
        found: String,
    },
    /// No component.
    #[error(
        "this is {what}, not a WebAssembly component; in Rust, build with `--target wasm32-wasip2`"
    )]
    NotAComponent {
        /// What it is instead.
        what: &'static str,
    },
    /// Compiled code instead of a component.
    #[error(
        "precompiled code is refused, since it would run outside the sandbox; give the .wasm component itself"
    )]
    Precompiled,
    /// The engine refuses the component.
    #[error("the component does not compile: {reason}")]
    Compile {
        /// The engine's sentence.
        reason: String,
    },
    /// A capability without the grant.
    #[error(
        "the component imports {import}, which `grants` does not allow; grant it, or build the plugin without it"
    )]
    Ungranted {
        /// The import.
        import: String,
    },
    /// An import that no version of plugway has.
    #[error("the component imports {import}, which plugway does not have")]
    UnknownImport {
        /// The import.
        import: String,
    },
    /// An export below `plugway:plugin/` that no version of plugway knows.
    #[error("the component exports {export}, which plugway does not know")]
    UnknownExport {
        /// The export.
        export: String,
    },
    /// A part of the contract whose time has not come.
    #[error("{name} is not served by this version of plugway yet")]
    NotServed {
        /// The import or export.
        name: String,
    },
    /// No main interface.
    #[error(
        "the component exports no hook that makes it a plugin: a router exports `router`, \
         a policy `visibility`, `admission`, `reviewing` or `inbound`"
    )]
    NoKind,
    /// Two main interfaces.
    #[error("the component is both a {first} and a {second}; make it two plugins")]
    TwoKinds {
        /// One kind.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Used for what it is not.
    #[error("the plugin is a {found}, but it is used as a {wanted}")]
    WrongKind {
        /// What it is.
        found: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
    /// Made for another contract.
    #[error("the component is made for {found}; this plugway serves plugway:plugin@0.1")]
    WrongVersion {
        /// The interface with its version.
        found: String,
    },
    /// A type of an import or export differs from the contract's.
    #[error(
        "the component does not fit the contract plugway:plugin@0.1: {reason}; rebuild it with the current contract"
    )]
    Mismatch {
        /// The engine's sentence.
        reason: String,
    },
    /// The plugin refuses its configuration.
    #[error("the plugin refuses its configuration: {reason}")]
    Configuration {
        /// The plugin's sentence, which names the key's path.
        reason: String,
    },
    /// The trial run failed.
    #[error("the plugin failed in `{hook}` while it was tried: {reason}")]
    Trial {
        /// Which hook.
        hook: &'static str,
        /// What happened.
        reason: String,
    },
    /// plugway's own failure.
    #[error("the plugin engine failed: {reason}")]
    Engine {
        /// The engine's sentence.
        reason: String,
    },
}

/// The engine's sentence with its causes, on one line.
pub(super) fn sentence(error: &wasmtime::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let line = cause.to_string();
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(line.lines().next().unwrap_or_default());
    }
    text
}
