//! References to secrets, credentials and headers of upstreams.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use http::header::AUTHORIZATION;

use super::support::{environment, refused, said, upstream, with_secrets};
use crate::config::{Credential, Flags, Problems, Settings, Target, parse};

/// A folder with files of secrets, removed with this value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("plugway-secrets-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, content: &[u8], mode: u32) {
        let path = self.0.join(name);
        #[expect(clippy::disallowed_methods, reason = "a test lays out its own files")]
        fs::write(&path, content).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn settings(&self, text: &str) -> Result<Settings, Problems> {
        parse(text, &self.0.join("plugway.yaml"), &Flags::default(), &environment(&[]))
    }

    /// The value of the header `X-Key`, whose secret is the file of this name.
    fn secret(&self, name: &str) -> Result<(String, Vec<String>), String> {
        let text = upstream(&format!("url: http://x, headers: {{X-Key: 'file://{name}'}}"));
        let settings =
            self.settings(&text).map_err(|problems| problems.list[0].sentence.clone())?;
        let warnings = settings.warnings.list.iter().map(|warning| warning.sentence.clone());
        let (_, secret) = &settings.connectors[0].upstreams[0].headers[0];
        Ok((secret.reveal().to_owned(), warnings.collect()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn a_file_holds_a_secret_and_perhaps_one_line_end() {
    let folder = Folder::new("files");
    for (name, content, wanted) in
        [("plain", "s3cret", "s3cret"), ("line", "s3cret\n", "s3cret"), ("crlf", "a b\r\n", "a b")]
    {
        folder.write(name, content.as_bytes(), 0o640);
        assert_eq!(folder.secret(name), Ok((wanted.to_owned(), Vec::new())), "{name}");
    }
    let absolute = folder.0.join("plain");
    let absolute = absolute.to_str().unwrap();
    assert_eq!(folder.secret(absolute), Ok(("s3cret".to_owned(), Vec::new())));

    folder.write("open", b"s3cret", 0o644);
    let (_, warnings) = folder.secret("open").unwrap();
    let path = folder.0.display();
    let sentence = format!("refers to {path}/open, which every user of this machine can read");
    assert_eq!(warnings, [sentence]);
}

#[test]
fn a_file_that_is_no_secret_is_named_and_not_shown() {
    let folder = Folder::new("refused");
    folder.write("large", &vec![b'x'; (64 << 10) + 1], 0o600);
    folder.write("binary", b"s3cret\xff", 0o600);
    folder.write("empty", b"\n", 0o600);
    folder.write("lines", b"s3cret\ns3cret\n", 0o600);
    fs::create_dir_all(folder.0.join("folder")).unwrap();
    for (name, end) in [
        ("absent", "which cannot be read: No such file or directory (os error 2)"),
        ("folder", "which is no regular file"),
        ("large", "which is larger than 64 KiB"),
        ("binary", "which is not UTF-8"),
        ("empty", "which is empty"),
    ] {
        let sentence = format!("refers to {}, {end}", folder.0.join(name).display());
        assert_eq!(folder.secret(name), Err(sentence));
    }
    let found = folder.secret("lines").unwrap_err();
    assert!(found.starts_with("is no value of a header"), "{found}");
}

#[test]
fn references_that_name_nothing() {
    let header = |value: &str| upstream(&format!("url: http://x, headers: {{A: '{value}'}}"));
    refused(&[
        (
            &header("env://NAME"),
            ":3:38: `upstreams[0].headers.A` refers to the variable `NAME`, which is not set",
            "set it",
        ),
        (
            &header("env://my secret"),
            ":3:38: `upstreams[0].headers.A` refers to a variable whose name is none",
            "write `env://NAME`",
        ),
        (&header("file://"), ":3:38: `upstreams[0].headers.A` names no file", "write"),
        (
            &header("openbao://kv/a"),
            ":3:38: `upstreams[0].headers.A` refers to OpenBao, which does nothing yet",
            "write",
        ),
    ]);
}

#[test]
fn children_get_secrets_by_reference_too() {
    let text = upstream("command: x, inherit_env: [], env: {A: 'env://B', C: d, E: 5}");
    let settings = with_secrets(&text, &[("B", "s3cret")]).unwrap();
    let Target::Stdio(child) = &settings.connectors[0].upstreams[0].target else { panic!("stdio") };
    let env: Vec<_> =
        child.env.iter().map(|(name, value)| format!("{name}={}", value.reveal())).collect();
    assert_eq!(env, ["A=s3cret", "C=d", "E=5"]);
    assert!(settings.warnings.list.is_empty());
    let shown = format!("{settings:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn credentials() {
    let secrets = [("T", "t0ken"), ("V", "v4lue")];
    let credential = |auth: &str| {
        let settings = with_secrets(&upstream(&format!("url: http://x, auth: {auth}")), &secrets);
        let settings = settings.unwrap_or_else(|problems| panic!("{problems}"));
        (settings.connectors[0].upstreams[0].credential.clone(), settings.warnings.list.len())
    };
    let shown = |auth: &str| match credential(auth).0 {
        Credential::None => "none".to_owned(),
        Credential::Forward { own } => {
            format!("forward {}", own.map_or(String::new(), |own| own.reveal().to_owned()))
        }
        Credential::Header(name, value) => format!("{name}: {}", value.reveal()),
    };
    for (auth, wanted) in [
        ("none", "none"),
        ("{mode: none}", "none"),
        ("forward", "forward "),
        ("{mode: forward, own: 'env://T'}", "forward t0ken"),
        ("{mode: bearer, token: 'env://T'}", "authorization: Bearer t0ken"),
        ("{mode: header, name: X-Api-Key, value: 'env://V'}", "x-api-key: v4lue"),
    ] {
        assert_eq!(shown(auth), wanted, "{auth}");
        assert_eq!(credential(auth).1, 0, "{auth}");
    }
    assert!(
        matches!(credential("{mode: bearer, token: t0ken}"), (Credential::Header(name, _), 1) if name == AUTHORIZATION)
    );
}

#[test]
fn credentials_that_are_none_are_not_shown() {
    let auth = |text: &str| upstream(&format!("url: http://x, auth: {text}"));
    refused(&[
        (
            &auth("s3cret"),
            ":3:28: `upstreams[0].auth` is none of `none`, `forward`, `{mode: bearer, token: ..}` \
             and `{mode: header, name: .., value: ..}`",
            "for a token write",
        ),
        (&auth("bearer"), ":3:28: `upstreams[0].auth.token` is missing", "write `env://NAME`"),
        (&auth("{token: a}"), ":3:28: `upstreams[0].auth` has no `mode`", "write"),
        (
            &auth("{mode: forward, token: 'env://T'}"),
            ":3:50: `upstreams[0].auth.token` belongs to the mode `bearer`",
            "take it out",
        ),
        (
            &auth("{mode: bearer, token: 'Bearer s3cret'}"),
            ":3:49: `upstreams[0].auth.token` begins with `Bearer `, which plugway adds itself",
            "write the token alone",
        ),
        (
            &auth("{mode: bearer, token: 1.5}"),
            ":3:49: `upstreams[0].auth.token` must be text",
            "put the value in quotes",
        ),
        (
            &auth("{mode: header, name: Host, value: s3cret}"),
            ":3:49: `upstreams[0].auth.name` is `host`, which belongs to plugway",
            "the protocol",
        ),
    ]);
    for text in [
        auth("{mode: bearer, token: 's3cret\\ns3cret'}").replace('\'', "\""),
        auth("{mode: [s3cret]}"),
        upstream("command: x, auth: {mode: bearer, token: s3cret}"),
    ] {
        let found = said(&text);
        assert!(found.starts_with("error: ") && !found.contains("s3cret"), "{found}");
    }
}

#[test]
fn headers_that_an_operator_may_not_set() {
    let headers = |text: &str| upstream(&format!("url: http://x, headers: {{{text}}}"));
    for (name, word) in [
        ("Host", "host"),
        ("Connection", "connection"),
        ("Mcp-Session-Id", "mcp-session-id"),
        ("Mcp-Method", "mcp-method"),
        ("Transfer-Encoding", "transfer-encoding"),
        ("Proxy-Authorization", "proxy-authorization"),
    ] {
        let found = said(&headers(&format!("{name}: a")));
        assert!(found.contains(&format!("is `{word}`, which belongs to plugway")), "{found}");
    }
    refused(&[
        (
            &headers("a b: c"),
            ":3:38: `upstreams[0].headers.a b` is `a b`, which is no header name",
            "write a name",
        ),
        (
            &headers("X-A: b, x-a: c"),
            ":3:46: `upstreams[0].headers.x-a` stands twice: case makes no difference in names of \
             headers",
            "keep",
        ),
        (
            &upstream("url: http://x, auth: forward, headers: {Authorization: a}"),
            ":3:43: `upstreams[0].headers` sets `authorization`, which `auth` sets too",
            "keep",
        ),
        (
            &upstream("command: x, headers: {A: b}"),
            ":3:25: `upstreams[0].headers` belongs to `url`, but this upstream has a `command`",
            "give the program its secrets in `env`",
        ),
    ]);
    let text = headers("Authorization: 'Bearer a', Cookie: b");
    let settings = with_secrets(&text, &[]).unwrap();
    assert_eq!(settings.connectors[0].upstreams[0].headers.len(), 2);
    assert_eq!(settings.file.as_deref(), Some(Path::new(super::support::PATH)));
}
