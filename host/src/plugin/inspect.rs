//! What a component is, read from its imports and exports before anything of it runs.

use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;
use wasmtime::{Engine, Precompiled};

use super::error::LoadError;
use super::spec::Grants;

const PACKAGE: &str = "plugway:plugin/";
const VERSION: &str = "0.1.";

/// Services for every plugin.
const SERVICES: [&str; 11] = [
    "types",
    "call",
    "caller",
    "catalogue",
    "outcome",
    "listing",
    "log",
    "clock",
    "random",
    "state",
    "handles",
];
const IMPORTS_LATER: [&str; 3] = ["workers", "transfers", "announce"];
const EXPORTS_LATER: [&str; 5] = ["dispatcher", "settling", "merging", "transfer", "filtering"];
/// Only the first of them makes a router.
const ROUTER: [&str; 4] = ["router", "routing", "answering", "learning"];
/// Any of them makes a policy.
const POLICY: [&str; 4] = ["visibility", "admission", "reviewing", "inbound"];
/// Part of a policy that is one already.
const EXPLAINING: &str = "explaining";
const WASI: [&str; 6] =
    ["wasi:io/", "wasi:clocks/", "wasi:random/", "wasi:cli/", "wasi:filesystem/", "wasi:sockets/"];

/// What a plugin is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Shapes the catalogue.
    Router,
    /// Judges callers, calls, results, and what servers send toward clients.
    Policy,
}

impl Kind {
    /// The word in logs and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Router => "router",
            Self::Policy => "policy",
        }
    }
}

/// Refuses what is no component, before the engine sees it.
pub fn check_bytes(bytes: &[u8]) -> Result<(), LoadError> {
    match Engine::detect_precompiled(bytes) {
        Some(Precompiled::Module | Precompiled::Component) => return Err(LoadError::Precompiled),
        None => {}
    }
    let what = match bytes {
        [b'\0', b'a', b's', b'm', 13, 0, 1, 0, ..] => return Ok(()),
        [b'\0', b'a', b's', b'm', 1, 0, 0, 0, ..] => "a core module",
        [b'\0', b'a', b's', b'm', ..] => "WebAssembly of another version",
        [0x7f, b'E', b'L', b'F', ..] => return Err(LoadError::Precompiled),
        _ => "some other file",
    };
    Err(LoadError::NotAComponent { what })
}

/// Checks imports and exports against contract and grants, and finds the kind.
pub fn check(engine: &Engine, component: &Component, grants: &Grants) -> Result<Kind, LoadError> {
    let types = component.component_type();
    let exports: Vec<&str> = types.exports(engine).map(|(name, _)| name).collect();
    check_exports(&exports)?;
    for (name, _) in types.imports(engine) {
        check_import(name, grants)?;
    }
    kind_of(&exports)
}

/// Whether the component reads requests where it judges what is visible.
pub fn reads_requests(engine: &Engine, component: &Component) -> bool {
    let types = component.component_type();
    types.imports(engine).any(|(name, item)| {
        let ComponentItem::ComponentInstance(instance) = item.ty else { return false };
        matches!(own(name), Ok(Some("listing")))
            && instance.exports(engine).any(|(name, _)| name == "header" || name == "query")
    })
}

fn check_import(name: &str, grants: &Grants) -> Result<(), LoadError> {
    let Some(interface) = own(name)? else {
        let version = name.rsplit_once('@').map_or("", |(_, version)| version);
        let served = WASI.iter().any(|prefix| name.starts_with(prefix));
        return if served && version.starts_with("0.2.") {
            Ok(())
        } else {
            Err(LoadError::UnknownImport { import: name.into() })
        };
    };
    let granted = match interface {
        "upstreams" => Some(grants.upstreams),
        "fetch" => Some(grants.fetch.is_some()),
        "reveal" => Some(grants.reveal),
        _ => None,
    };
    match granted {
        Some(true) => return Ok(()),
        Some(false) => return Err(LoadError::Ungranted { import: name.into() }),
        None => {}
    }
    if IMPORTS_LATER.contains(&interface) {
        return Err(LoadError::NotServed { name: format!("the import {name}") });
    }
    if SERVICES.contains(&interface) {
        return Ok(());
    }
    Err(LoadError::UnknownImport { import: name.into() })
}

/// Exports outside the contract's package are a guest language's own affair.
fn check_exports(exports: &[&str]) -> Result<(), LoadError> {
    for name in exports {
        let Some(interface) = own(name)? else { continue };
        if EXPORTS_LATER.contains(&interface) {
            return Err(LoadError::NotServed { name: format!("the export {name}") });
        }
        if interface != "lifecycle" && interface != "readiness" && kind_word(interface).is_none() {
            return Err(LoadError::UnknownExport { export: (*name).into() });
        }
    }
    Ok(())
}

fn kind_of(exports: &[&str]) -> Result<Kind, LoadError> {
    let has = |wanted: &str| {
        exports.iter().any(|name| matches!(own(name), Ok(Some(found)) if found == wanted))
    };
    let router = ROUTER.into_iter().any(has);
    let policy = POLICY.into_iter().any(has);
    match (router, policy || has(EXPLAINING)) {
        (true, true) => Err(LoadError::TwoKinds { first: "router", second: "policy" }),
        (true, false) if has("router") => Ok(Kind::Router),
        (false, true) if policy => Ok(Kind::Policy),
        _ => Err(LoadError::NoKind),
    }
}

fn kind_word(interface: &str) -> Option<Kind> {
    if ROUTER.contains(&interface) {
        return Some(Kind::Router);
    }
    (POLICY.contains(&interface) || interface == EXPLAINING).then_some(Kind::Policy)
}

/// The interface's own name, where it is one of the contract's package in a version that is served.
fn own(name: &str) -> Result<Option<&str>, LoadError> {
    let Some(rest) = name.strip_prefix(PACKAGE) else {
        return if name.starts_with("plugway:") && name.contains('/') {
            Err(LoadError::UnknownImport { import: name.into() })
        } else {
            Ok(None)
        };
    };
    match rest.split_once('@') {
        Some((interface, version)) if version.starts_with(VERSION) => Ok(Some(interface)),
        _ => Err(LoadError::WrongVersion { found: name.into() }),
    }
}
