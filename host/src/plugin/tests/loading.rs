//! What is refused when it is loaded, each with its own sentence, and what the cache does.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::stage::{bytes_of, guest, policy, runtime, runtime_with, spec};
use crate::plugin::{LoadError, PluginSpec, Source, bundled};

/// A folder of a test, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plugway-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

async fn refusal(spec: PluginSpec) -> LoadError {
    let runtime = runtime();
    match runtime.load(spec).await {
        Err(error) => error,
        Ok(slot) => slot.policy(&"hub".into(), None).await.err().expect("it was taken"),
    }
}

fn bytes(bytes: &'static [u8]) -> PluginSpec {
    PluginSpec::new("p", Source::Bundled(bytes))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refusal_names_what_is_wrong() {
    let cases = [
        ("exports_dispatcher", "is not served by this version of plugway yet"),
        ("exports_transfer", "is not served by this version of plugway yet"),
        ("ungranted_fetch", "imports plugway:plugin/fetch@0.1.0, which `grants` does not allow"),
        ("unknown_import", "which plugway does not have"),
        ("wrong_version", "plugway:plugin/admission@0.9.0"),
        ("no_kind", "exports no hook that makes it a plugin"),
        ("two_kinds", "both a router and a policy"),
        ("bad_config", "limits.rules[2].rate"),
        ("configure_loops", "`configure`"),
    ];
    for (name, part) in cases {
        let said = refusal(spec(name)).await.to_string();
        assert!(said.contains(part), "{name}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_component_is_refused_before_it_is_compiled() {
    let cases: [(&'static [u8], &str); 4] = [
        (b"garbage", "not a WebAssembly component"),
        (b"\0asm\x01\0\0\0", "a core module"),
        (b"\x7fELF\x02\x01\x01", "precompiled code is refused"),
        (b"\0asm\x0d\0\x01\0\xff\xff\xff", "does not compile"),
    ];
    for (data, part) in cases {
        let said = refusal(bytes(data)).await.to_string();
        assert!(said.contains(part), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capability_needs_its_grant() {
    let runtime = runtime();
    let error = runtime.load(spec("answer_upstreams")).await.unwrap_err();
    assert!(
        matches!(&error, LoadError::Ungranted { import } if import.contains("upstreams")),
        "{error}"
    );
    let mut granted = spec("answer_upstreams");
    granted.grants.upstreams = true;
    runtime.load(granted).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pinned_digest_must_match() {
    let mut pinned = spec("panics");
    pinned.digest = Some([7; 32]);
    let error = refusal(pinned).await;
    assert!(matches!(error, LoadError::Digest { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_router_is_no_policy() {
    let error = refusal(bundled::router("p")).await;
    assert!(matches!(error, LoadError::WrongKind { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_others_may_write_are_refused() {
    let folder = Folder::new("unsafe");
    let file = folder.0.join("p.wasm");
    fs::copy(guest("admit_reject"), &file).unwrap();
    for (mode, folder_mode, safe) in
        [(0o666, 0o700, false), (0o664, 0o700, false), (0o644, 0o777, false), (0o644, 0o755, true)]
    {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        fs::set_permissions(&folder.0, Permissions::from_mode(folder_mode)).unwrap();
        let result = runtime().load(PluginSpec::new("p", Source::File(file.clone()))).await;
        assert_eq!(result.is_ok(), safe, "{mode:o} in {folder_mode:o}");
        assert!(safe || matches!(result, Err(LoadError::Unsafe { .. })));
    }
    let missing = Source::File(folder.0.join("missing.wasm"));
    let error = refusal(PluginSpec::new("p", missing)).await;
    assert!(matches!(error, LoadError::Unreadable { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cache_spares_compiling_and_trusts_nobody() {
    let folder = Folder::new("cache");
    let load = || async {
        let runtime = runtime_with(Some(folder.0.clone()));
        policy(&runtime, spec("admit_reject")).await;
    };
    let code = || {
        let files = fs::read_dir(&folder.0).unwrap().map(|file| file.unwrap().path());
        let mut code: Vec<_> =
            files.filter(|file| file.extension().is_some_and(|word| word == "code")).collect();
        assert_eq!(code.len(), 1);
        code.remove(0)
    };
    load().await;
    let file = code();
    let stamp = fs::metadata(&file).unwrap().modified().unwrap();
    load().await;
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), stamp, "read, not written again");
    // one changed byte, and the code is made anew
    let key = fs::metadata(folder.0.join("key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
    tamper(&file);
    load().await;
    assert_ne!(fs::metadata(&file).unwrap().modified().unwrap(), stamp);
    // an open folder is no cache
    fs::set_permissions(&folder.0, Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(&file).unwrap();
    load().await;
    assert!(!file.exists());
}

#[expect(clippy::disallowed_methods, reason = "a test changes its own files")]
fn tamper(file: &std::path::Path) {
    let mut bytes = fs::read(file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(file, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_is_too_large_is_refused() {
    let large: &'static [u8] = Box::leak(vec![0; (32 << 20) + 1].into_boxed_slice());
    let error = refusal(bytes(large)).await;
    assert!(matches!(error, LoadError::TooLarge { .. }), "{error}");
    assert!(!bytes_of("panics").is_empty());
}
