//! What desktop files become, and what is said about them.

use std::path::Path;

use super::variables::Wanted;
use super::whole::Read;
use super::{desktop, import};
use crate::config::{
    Credential, Environment, Flags, HttpTransport, Problems, Settings, Target, parse,
};

const FILE: &str = "mcp.json";

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::of(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

/// A folder of its own with a desktop file in it.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(text: &str) -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("plugway-desktop-{}-{number}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&folder.0).unwrap();
        folder.write(FILE, text);
        folder
    }

    fn write(&self, name: &str, text: &str) {
        #[expect(clippy::disallowed_methods, reason = "a test lays out its own files")]
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn settings(&self, variables: &[(&str, &str)]) -> Result<Settings, Problems> {
        desktop(&self.0.join(FILE), &Flags::default(), &environment(variables))
    }

    /// The configuration and the secrets of an import that stays in this folder.
    fn imported(&self) -> (String, String) {
        let paths = (&*self.0.join("plugway.yaml"), &*self.0.join("plugway.secrets"));
        let imported = import(&self.0.join(FILE), paths, &environment(&[]));
        let imported = imported.unwrap_or_else(|problems| panic!("{problems}"));
        let secrets = imported.secrets.map(|secrets| secrets.reveal().to_owned());
        (imported.configuration, secrets.unwrap_or_default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// What is said, without the folder.
fn said(text: &str, variables: &[(&str, &str)]) -> String {
    let folder = Folder::new(text);
    let said = match folder.settings(variables) {
        Ok(settings) => settings.warnings.as_warnings().to_string(),
        Err(problems) => problems.to_string(),
    };
    said.replace(&format!("{}/", folder.0.display()), "")
}

/// One server with these members.
fn server(members: &str) -> String {
    format!("{{\"mcpServers\": {{\"a\": {{{members}}}}}}}")
}

#[test]
fn both_forms_are_read_with_comments_and_trailing_commas() {
    for text in [
        r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"],}, /* b */ "b": {"url": "http://h/mcp"}}}"#,
        "\u{feff}{ // VS Code\n\"servers\": {\"a\": {\"type\": \"stdio\", \"command\": \"npx\", \"args\": \
         [\"-y\", \"x\"]}, \"b\": {\"type\": \"http\", \"url\": \"http://h/mcp\"}}, \"inputs\": []}",
        r#"{"mcp": {"servers": {"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"url": "http://h/mcp"}}}}"#,
    ] {
        let folder = Folder::new(text);
        let settings = folder.settings(&[]).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(settings.warnings.list.is_empty(), "{}", settings.warnings.as_warnings());
        let [connector] = settings.connectors.as_slice() else { panic!("one connector") };
        assert_eq!((&*connector.name, connector.shown_path()), ("hub", "/"));
        let [a, b] = connector.upstreams.as_slice() else { panic!("two servers") };
        let Target::Stdio(child) = &a.target else { panic!("stdio") };
        assert_eq!((&*child.command, &child.args[..]), ("npx", &["-y".into(), "x".into()][..]));
        assert_eq!(child.cwd, std::path::absolute(&folder.0).unwrap());
        assert!(matches!(&b.target, Target::Http(address) if address.url == "http://h/mcp"));
    }
}

#[test]
fn variables_are_replaced() {
    let text = server(
        r#""command": "${userHome}/bin/x", "args": ["${workspaceFolder}/a", "${FOO}", "${FOO:-bar}",
        "${OWN}", "${unknown}", "${env:FOO", "$FOO"], "cwd": "${workspaceFolder}${/}sub",
        "env": {"OWN": "${env:FOO}", "FILE": "file:///not/a/reference", "N": 5, "GONE": null,
        "ID": "${input:my-id}"}"#,
    );
    let folder = Folder::new(&text);
    std::fs::create_dir_all(folder.0.join("sub")).unwrap();
    let variables = [("HOME", "/home/me"), ("FOO", "foo"), ("PLUGWAY_INPUT_MY_ID", "7")];
    let settings = folder.settings(&variables).unwrap_or_else(|problems| panic!("{problems}"));
    let Target::Stdio(child) = &settings.connectors[0].upstreams[0].target else { panic!("stdio") };
    let workspace = std::path::absolute(&folder.0).unwrap();
    let first = format!("{}/a", workspace.display());
    assert_eq!(child.command, "/home/me/bin/x");
    assert_eq!(child.args, [&*first, "foo", "foo", "${OWN}", "${unknown}", "${env:FOO", "$FOO"]);
    assert_eq!(child.cwd, workspace.join("sub"));
    let env: Vec<_> =
        child.env.iter().map(|(name, value)| format!("{name}={}", value.reveal())).collect();
    let wanted = ["FILE=file:///not/a/reference", "HOME=/home/me", "ID=7", "N=5", "OWN=foo"];
    assert_eq!(env, wanted);
}

#[test]
fn what_nobody_set_is_named_with_its_place() {
    let text = "{\"servers\": {\n  \"a\": {\"url\": \"http://h\", \"headers\": {\n    \
                \"X-Key\": \"${env:KEY}\",\n    \"X-Id\": \"${input:team id}\"}},\n  \
                \"b\": {\"command\": \"${TOOL}\"},\n  \
                \"c\": {\"command\": \"x\", \"args\": [\"${LATER}\"], \"envFile\": \".env\"}}}";
    let said = said(text, &[]);
    for line in [
        "error: mcp.json:3:5: `servers.a.headers.X-Key` refers to the variable `KEY`, which is not set",
        "hint: set KEY where plugway is started",
        "error: mcp.json:4:5: `servers.a.headers.X-Id` asks the user for `team id`, and plugway has \
         nobody to ask",
        "hint: set PLUGWAY_INPUT_TEAM_ID where plugway is started, or write `${env:NAME}` in its place",
        "error: mcp.json:5:9: `servers.b.command` refers to the variable `TOOL`, which is not set",
        "error: mcp.json:6:47: `servers.c.envFile` refers to .env, which cannot be read: No such file \
         or directory (os error 2)",
    ] {
        assert!(said.lines().any(|said| said == line), "no `{line}` in\n{said}");
    }
    assert_eq!(said.matches("error: ").count(), 4, "{said}");
}

#[test]
fn files_of_variables_are_read() {
    let folder = Folder::new(&server(
        r#""command": "x", "envFile": "${workspaceFolder}/.env", "env": {"B": "2"}"#,
    ));
    folder.write(".env", "A=1\nB=1\n");
    let settings = folder.settings(&[]).unwrap_or_else(|problems| panic!("{problems}"));
    let Target::Stdio(child) = &settings.connectors[0].upstreams[0].target else { panic!("stdio") };
    let env: Vec<_> =
        child.env.iter().map(|(name, value)| format!("{name}={}", value.reveal())).collect();
    assert_eq!(env, ["A=1", "B=2"]);
    let sources: Vec<_> = settings.sources.iter().filter_map(|path| path.file_name()).collect();
    assert_eq!(sources, [FILE, ".env"]);
}

#[test]
fn keys_of_clients_are_known_and_others_are_warned_about() {
    let text = r#"{"mcpServers": {"my server": {"command": "x", "autoApprove": ["t"], "alwaysAllow": [],
        "disabledTools": ["t"], "timeout": 60, "comand": "y", "whatever": 1, "description": "d"},
        "off": {"command": "${env:ABSENT}", "disabled": true},
        "old": {"type": "sse", "url": "http://h/sse", "env": {"A": "b"},
        "headers": {"Content-Type": "application/json"}}}, "globalShortcut": "x", "inputs": []}"#;
    let folder = Folder::new(text);
    let settings = folder.settings(&[]).unwrap_or_else(|problems| panic!("{problems}"));
    let warnings: Vec<_> = settings
        .warnings
        .list
        .iter()
        .map(|warning| format!("{} {}", warning.key, warning.sentence))
        .collect();
    let wanted = [
        "mcpServers.my server is called `my_server` by plugway",
        "mcpServers.my server.autoApprove means nothing here: it is the client that asks before a call",
        "mcpServers.my server.comand is not a key that plugway knows",
        "mcpServers.my server.whatever is not a key that plugway knows",
        "mcpServers.old.env is left out: it does not go with the way this server is reached",
        "mcpServers.old.headers.Content-Type is left out: plugway sets this header itself",
        " holds keys that mean nothing to plugway: `globalShortcut`",
    ];
    assert_eq!(warnings, wanted);
    let near =
        settings.warnings.list.iter().find(|warning| warning.key.last_key() == Some("comand"));
    assert_eq!(near.unwrap().hint.as_deref(), Some("did you mean `command`?"));
    let connector = &settings.connectors[0];
    assert_eq!(connector.disabled, ["off".into()]);
    let Target::Http(old) = &connector.upstreams[1].target else { panic!("an address") };
    assert_eq!(old.transport, HttpTransport::Sse);
    assert_eq!(connector.upstreams[0].naming.hide, ["t"]);
    assert_eq!(connector.upstreams[0].timeouts.answer, std::time::Duration::from_mins(1));
}

#[test]
fn secrets_in_the_file_are_taken_with_a_hint_and_not_shown() {
    let text = r#"{"mcpServers": {
        "a": {"command": "x", "args": ["--api-key", "s3cret", "--header", "Authorization: Bearer s3cret"],
            "env": {"GITHUB_TOKEN": "s3cret", "LEVEL": "info"}},
        "b": {"url": "http://h/mcp?api_key=s3cret", "headers": {"Authorization": "Bearer s3cret"}}}}"#;
    let said = said(text, &[]);
    for key in ["a.args[1]", "a.args[3]", "a.env.GITHUB_TOKEN", "b.url", "b.headers.Authorization"]
    {
        let wanted = format!("`mcpServers.{key}` holds what looks like a secret");
        assert!(said.contains(&wanted), "no `{wanted}` in\n{said}");
    }
    assert_eq!(said.matches("warning: ").count(), 5, "{said}");
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn what_is_no_desktop_file_is_refused() {
    for (text, wanted) in [
        ("{", "is not JSON: "),
        ("", "holds neither `mcpServers` nor `servers`"),
        ("[]", "is no set of keys"),
        (r#"{"mcpServer": {}}"#, "did you mean `mcpServers` or `servers` with `mcpServer`?"),
        (r#"{"mcpServers": []}"#, "`mcpServers` must be a set of servers"),
        (r#"{"mcpServers": {}}"#, "`mcpServers` holds no server"),
        (r#"{"mcpServers": {"a": "x"}}"#, "`mcpServers.a` must be a set of keys"),
        (r#"{"mcpServers": {"a": {}}}"#, "`mcpServers.a` has neither `url` nor `command`"),
        (r#"{"mcpServers": {"a": {"command": ["x"]}}}"#, "`mcpServers.a.command` must be text"),
        (
            r#"{"mcpServers": {"a": {"command": "x", "args": "y"}}}"#,
            "`mcpServers.a.args` must be a list",
        ),
        (
            r#"{"mcpServers": {"a": {"serverUrl": "ftp://x"}}}"#,
            "`mcpServers.a.serverUrl` has the scheme `ftp`",
        ),
        (
            r#"{"mcpServers": {"a": {"type": "ws", "url": "http://x"}}}"#,
            "`mcpServers.a.type` is `ws`",
        ),
        (
            r#"{"mcpServers": {"a": {"command": "x", "disabled": true}}}"#,
            "`mcpServers` are all disabled",
        ),
    ] {
        let said = said(text, &[]);
        assert!(said.starts_with("error: mcp.json") && said.contains(wanted), "{text}: {said}");
    }
    let given = parse(
        &server(r#""command": "x""#),
        Path::new("x.json"),
        &Flags::default(),
        &environment(&[]),
    );
    let given = given.unwrap_err().to_string();
    assert!(given.contains("`plugway serve --mcp-servers x.json`"), "{given}");
}

#[test]
fn every_key_that_is_known_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/desktop.md");
    #[expect(clippy::disallowed_methods, reason = "a test reads files of the repository")]
    let text = std::fs::read_to_string(path).unwrap();
    let unknown: Vec<_> =
        super::ignored::known().filter(|key| !text.contains(&format!("`{key}`"))).collect();
    assert!(unknown.is_empty(), "docs/desktop.md does not name {unknown:?}");
}

proptest::proptest! {
    /// Whatever stands in a file, plugway says something about it and goes on.
    #[test]
    fn no_text_makes_it_stop(text in ".{0,200}", value in "\\PC{0,40}") {
        let variables = environment(&[("A", "b")]);
        let quoted = serde_json::Value::from(value.as_str());
        let file = format!("{{\"mcpServers\": {{{quoted}: {{\"command\": {quoted}, \"args\": [{quoted}], \"env\": {{\"A\": {quoted}}}}}}}}}");
        for text in [text.as_str(), &file] {
            drop(Read::new(text, Path::new("/p/mcp.json"), Wanted::Serving, &variables));
            drop(Read::new(text, Path::new("/p/mcp.json"), Wanted::Importing, &variables));
        }
    }
}

#[test]
fn the_folder_of_a_client_is_inside_the_one_of_the_project() {
    let read = |path: &str| {
        let text = server(r#""command": "x""#);
        Read::new(&text, Path::new(path), Wanted::Serving, &environment(&[]))
            .ok()
            .unwrap()
            .workspace
    };
    for (path, wanted) in [
        ("/p/.vscode/mcp.json", "/p"),
        ("/p/.cursor/mcp.json", "/p"),
        ("/p/.mcp.json", "/p"),
        ("/h/.config/Claude/claude_desktop_config.json", "/h/.config/Claude"),
    ] {
        assert_eq!(read(path), Path::new(wanted), "{path}");
    }
}

#[test]
fn an_import_keeps_secrets_apart_and_means_the_same() {
    let text = r#"{"mcpServers": {
        "my server": {"command": "npx", "args": ["-y", "@x/y", "no"], "cwd": "sub",
            "env": {"TOKEN": "s3cret #1", "LEVEL": "info", "FROM": "${env:FROM}", "URI": "file:///x"}},
        "web": {"type": "http", "url": "https://h/mcp", "timeout": 30, "tools": ["a", "b"], "excludeTools": ["c"],
            "headers": {"Authorization": "Bearer t0ken", "X-Team": "red"}},
        "off": {"command": "x", "args": ["--${env:ABSENT}"], "disabled": true}}}"#;
    let folder = Folder::new(text);
    let (configuration, secrets) = folder.imported();
    let wanted = r#"# Made of mcp.json by `plugway import`.
name: hub
upstreams:
  # called "my server" in the file that was imported
  - name: my_server
    command: npx
    args: ["-y", "@x/y", "no"]
    cwd: sub
    env:
      FROM: env://FROM
      LEVEL: info
      TOKEN: "file://plugway.secrets#my_server.TOKEN"
      URI: "file://plugway.secrets#my_server.URI"
  - name: web
    url: https://h/mcp
    auth:
      mode: bearer
      token: "file://plugway.secrets#web.Authorization"
    headers:
      X-Team: red
    expose: [a, b]
    hide: [c]
    timeouts: {answer: 30000ms}
  - name: off
    disabled: true
    command: x
"#;
    assert_eq!(configuration, wanted);
    assert!(!secrets.is_empty());
    folder.write("plugway.secrets", &secrets);
    let variables = environment(&[("FROM", "there")]);
    let path = folder.0.join("plugway.yaml");
    let imported = parse(&configuration, &path, &Flags::default(), &variables);
    let imported = imported.unwrap_or_else(|problems| panic!("{problems}"));
    let served = folder.settings(&[("FROM", "there")]).unwrap();
    let (imported, served) = (&imported.connectors[0], &served.connectors[0]);
    assert_eq!(imported.disabled, served.disabled);
    let [stdio, web] = imported.upstreams.as_slice() else { panic!("two servers") };
    let (Target::Stdio(one), Target::Stdio(other)) = (&stdio.target, &served.upstreams[0].target)
    else {
        panic!("stdio")
    };
    assert_eq!((&one.command, &one.args, &one.env), (&other.command, &other.args, &other.env));
    assert_eq!(
        (&web.target, &web.naming),
        (&served.upstreams[1].target, &served.upstreams[1].naming)
    );
    let Credential::Header(name, token) = &web.credential else { panic!("a credential") };
    assert_eq!((name.as_str(), token.reveal()), ("authorization", "Bearer t0ken"));
}

#[test]
fn an_import_says_what_it_cannot_keep() {
    let text = server(r#""command": "x", "args": ["--root=${env:ROOT}", "--token", "s3cret"]"#);
    let folder = Folder::new(&text);
    let paths = (&*folder.0.join("plugway.yaml"), &*folder.0.join("plugway.secrets"));
    let imported = import(&folder.0.join(FILE), paths, &environment(&[("ROOT", "/r")])).unwrap();
    let warnings = imported.warnings.as_warnings().to_string();
    assert!(
        warnings.contains("`mcpServers.a.args[0]` holds what its variables are now"),
        "{warnings}"
    );
    assert!(
        warnings.contains("`mcpServers.a.args[2]` holds what looks like a secret"),
        "{warnings}"
    );
    assert!(imported.configuration.contains("    args: [\"--root=/r\", \"--token\", s3cret]\n"));
    assert_eq!((imported.kept_apart, imported.secrets.is_none()), (0, true));
}

#[test]
fn an_import_into_another_folder_keeps_where_programs_start() {
    let folder = Folder::new(&server(r#""command": "x", "env": {"A_KEY": "s3cret"}"#));
    let paths = (Path::new("/elsewhere/plugway.yaml"), Path::new("/secrets/x"));
    let imported = import(&folder.0.join(FILE), paths, &environment(&[])).unwrap();
    let cwd = format!("    cwd: {}\n", std::path::absolute(&folder.0).unwrap().display());
    assert!(imported.configuration.contains(&cwd), "{}", imported.configuration);
    let reference = "A_KEY: \"file:///secrets/x#a.A_KEY\"\n";
    assert!(imported.configuration.contains(reference), "{}", imported.configuration);
    assert_eq!((imported.servers, imported.kept_apart), (1, 1));
}
