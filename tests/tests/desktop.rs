//! Files of desktop clients as people have them: each is served as it is, and imported and served again.
//!
//! Programs are found in a folder of this test, where each of them notes its arguments and variables and then is the
//! demo server; `@CLOCK@` in an address stands for the other demo server.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Plugway, binary, demo_notes_path,
    plugway::{Setup, run_in},
    scratch::Scratch,
    wait,
};

const PROGRAMS: &[&str] = &["npx", "uvx", "docker"];
const NOTED_WITHIN: Duration = Duration::from_secs(10);

/// A file in `tests/desktop` and what it becomes.
struct Case {
    file: &'static str,
    /// Name of the file where its client keeps it.
    place: &'static str,
    /// Names of tools that clients see.
    tools: &'static [&'static str],
    /// Names of tools that clients do not see.
    hidden: &'static [&'static str],
    /// Upstreams that are never reached.
    absent: &'static [&'static str],
    /// Parts of what the programs were given.
    given: &'static [&'static str],
    /// Parts of what `check` warns about.
    warned: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        file: "claude_desktop",
        place: "claude_desktop_config.json",
        tools: &["filesystem_add_note", "github_add_note"],
        hidden: &[],
        absent: &[],
        given: &[
            "npx -y @modelcontextprotocol/server-filesystem /tmp",
            "GITHUB_PERSONAL_ACCESS_TOKEN=ghp_s3cretS3cretS3cret",
        ],
        warned: &["keys that mean nothing to plugway: `globalShortcut`"],
    },
    Case {
        file: "claude_desktop_remote",
        place: "claude_desktop_config.json",
        tools: &["Remote_Tools_add_note", "time_add_note"],
        hidden: &[],
        absent: &[],
        given: &[
            "npx mcp-remote https://mcp.example.com/mcp --header Authorization: Bearer ${AUTH_TOKEN}",
            "AUTH_TOKEN=s3cret-of-the-remote",
            "uvx mcp-server-time --local-timezone=Europe/Berlin",
        ],
        warned: &["is called `Remote_Tools` by plugway"],
    },
    Case {
        file: "claude_code_project",
        place: "mcp.json",
        tools: &["api_echo", "local_add_note"],
        hidden: &[],
        absent: &[],
        given: &["npx -y server-local /", "CACHE=/tmp"],
        warned: &[],
    },
    Case {
        file: "claude_code_user",
        place: "claude.json",
        tools: &["context7_echo"],
        hidden: &[],
        absent: &[],
        given: &[],
        warned: &["`numStartups`, `theme`, `autoUpdates`, `projects`"],
    },
    Case {
        file: "cursor_project",
        place: "mcp.json",
        tools: &["web-server_add_note", "remote_echo"],
        hidden: &[],
        absent: &[],
        given: &["npx -y mcp-server --root /", "API_KEY=s3cret-of-cursor", "FROM_FILE=there"],
        warned: &[],
    },
    Case {
        file: "cursor_global",
        place: "mcp.json",
        tools: &["memory_add_note"],
        hidden: &[],
        absent: &["Linear"],
        given: &["npx -y @modelcontextprotocol/server-memory"],
        warned: &[],
    },
    Case {
        file: "vscode_workspace",
        place: "mcp.json",
        tools: &["Perplexity_add_note", "Fetch_echo", "database_add_note"],
        hidden: &[],
        absent: &[],
        given: &["PERPLEXITY_API_KEY=s3cret-input", "uvx db-server /", "FROM_FILE=there"],
        warned: &["`servers.database.dev` is not honoured"],
    },
    Case {
        file: "vscode_settings",
        place: "settings.json",
        tools: &["fetch_add_note"],
        hidden: &[],
        absent: &[],
        given: &["uvx mcp-server-fetch", "PORT=8080"],
        warned: &["and 1 more"],
    },
    Case {
        file: "windsurf",
        place: "mcp_config.json",
        tools: &["figma_echo"],
        hidden: &["figma_add", "off_add_note"],
        absent: &[],
        given: &[],
        warned: &[],
    },
    Case {
        file: "cline",
        place: "cline_mcp_settings.json",
        tools: &["github_com_modelcontextprotocol_add_note", "remote_echo"],
        hidden: &[],
        absent: &[],
        given: &["npx -y @modelcontextprotocol/server-sequential-thinking"],
        warned: &[
            "autoApprove` means nothing here",
            "alwaysAllow` means nothing here",
            "Content-Type` is left out",
        ],
    },
    Case {
        file: "gemini_and_copilot",
        place: "settings.json",
        tools: &["gemini_echo", "gemini_add", "copilot_add_note"],
        hidden: &["gemini_now"],
        absent: &[],
        given: &["npx -y server-copilot"],
        warned: &[],
    },
];

/// Variables that the files refer to.
const VARIABLES: &[(&str, &str)] = &[
    ("API_KEY", "s3cret-api-key"),
    ("CURSOR_API_KEY", "s3cret-of-cursor"),
    ("PLUGWAY_INPUT_PERPLEXITY_KEY", "s3cret-input"),
];

/// A folder with programs that note what they are given.
fn programs() -> Result<Scratch> {
    let scratch = Scratch::new()?;
    let notes = demo_notes_path()?;
    for name in PROGRAMS {
        let script = format!(
            "#!/bin/sh\n{{ printf '{name}'; printf ' %s' \"$@\"; echo; env; }} > \"{0}/.$$\"\n\
             mv \"{0}/.$$\" \"{0}/given.$$\"\nexec '{1}'\n",
            scratch.path().display(),
            notes.display()
        );
        let path = scratch.write(name, script)?;
        fs::set_permissions(path, Permissions::from_mode(0o755))?;
    }
    Ok(scratch)
}

/// What every program that ran was given.
fn given(programs: &Path) -> Result<String> {
    let mut given = String::new();
    for entry in fs::read_dir(programs)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("given.")) {
            given.push_str(&fs::read_to_string(path)?);
        }
    }
    Ok(given)
}

/// A file of `tests/desktop` with the address of the demo server in it.
fn text_of(case: &Case, clock: &DemoHttp) -> Result<String> {
    let path = binary::repository().join(format!("tests/desktop/{}.json", case.file));
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(text.replace("@CLOCK@", &clock.address().to_string()))
}

fn with_surroundings(mut setup: Setup, programs: &Path) -> Setup {
    let path = format!("{}:/usr/bin:/bin", programs.display());
    setup =
        setup.environment("PATH", path).environment("HOME", "/").file(".env", "FROM_FILE=there\n");
    for (name, value) in VARIABLES {
        setup = setup.environment(name, *value);
    }
    setup
}

/// The tools are there, and the programs were given what the file says.
async fn ensure_served(case: &Case, plugway: &Plugway, programs: &Path) -> Result<()> {
    let names = plugway.modern().tool_names().await?;
    for tool in case.tools {
        ensure!(names.iter().any(|name| name == tool), "no `{tool}` in {names:?}");
    }
    for tool in case.hidden {
        ensure!(!names.iter().any(|name| name == tool), "`{tool}` in {names:?}");
    }
    for part in case.given {
        let what = format!("`{part}` was given to a program");
        wait::until(&what, NOTED_WITHIN, async || {
            Ok(given(programs)?.contains(part).then_some(()))
        })
        .await
        .with_context(|| given(programs).unwrap_or_default())?;
    }
    let log = plugway.stderr().join("\n");
    ensure!(!log.to_lowercase().contains("s3cret"), "a secret in the log:\n{log}");
    Ok(())
}

async fn serve_as_it_is(case: &Case, clock: &DemoHttp) -> Result<()> {
    let programs = programs()?;
    let mut setup = Setup::new(text_of(case, clock)?).desktop(case.place);
    setup = with_surroundings(setup, programs.path());
    let checked = setup.check().await?;
    ensure!(checked.status.success() && checked.stdout.ends_with("ok\n"), "{checked:?}");
    for part in case.warned {
        ensure!(checked.stdout.contains(part), "no `{part}` in\n{}", checked.stdout);
    }
    let said = [checked.stdout, checked.stderr].concat().to_lowercase();
    ensure!(!said.contains("s3cret"), "a secret in what `check` says:\n{said}");
    for name in case.absent {
        setup = setup.absent(name);
    }
    let setup = setup.argument("--log-level").argument("debug");
    let plugway = setup.start().await?;
    ensure_served(case, &plugway, programs.path()).await?;
    ensure!(plugway.stop().await?.success());
    Ok(())
}

async fn import_and_serve(case: &Case, clock: &DemoHttp) -> Result<()> {
    let (programs, scratch) = (programs()?, Scratch::new()?);
    scratch.write(case.place, text_of(case, clock)?)?;
    scratch.write(".env", "FROM_FILE=there\n")?;
    let path = format!("{}:/usr/bin:/bin", programs.path().display());
    let mut variables: BTreeMap<&str, &str> = VARIABLES.iter().copied().collect();
    variables.extend([("HOME", "/"), ("PATH", &path)]);
    let variables: Vec<_> = variables.into_iter().collect();
    let imported = run_in(scratch.path(), &variables, &["import", case.place]).await?;
    ensure!(imported.status.success(), "{imported:?}");
    let configuration = fs::read_to_string(scratch.path().join("plugway.yaml"))?;
    ensure!(!configuration.to_lowercase().contains("s3cret"), "{configuration}");
    ensure!(!imported.stdout.to_lowercase().contains("s3cret"), "{imported:?}");

    let mut setup = with_surroundings(Setup::new(configuration), programs.path());
    let secrets = scratch.path().join("plugway.secrets");
    if secrets.exists() {
        let mode = fs::metadata(&secrets)?.permissions().mode() & 0o777;
        ensure!(mode == 0o600, "the secrets have mode {mode:o}");
        setup = setup.file_with_mode("plugway.secrets", fs::read(&secrets)?, 0o600);
    }
    let checked = setup.check().await?;
    ensure!(checked.status.success() && checked.stdout.ends_with("ok\n"), "{checked:?}");
    for name in case.absent {
        setup = setup.absent(name);
    }
    let plugway = setup.start().await?;
    ensure_served(case, &plugway, programs.path()).await?;
    ensure!(plugway.stop().await?.success());
    Ok(())
}

#[tokio::test]
async fn every_file_is_served_as_it_is() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    for case in CASES {
        serve_as_it_is(case, &clock).await.context(case.file)?;
    }
    Ok(())
}

#[tokio::test]
async fn every_file_is_imported_and_served() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    for case in CASES {
        import_and_serve(case, &clock).await.context(case.file)?;
    }
    Ok(())
}

#[tokio::test]
async fn a_changed_file_is_put_in_place() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let text = |names: &[&str]| {
        let server = |name: &&str| format!("\"{name}\": {{\"url\": \"{}\"}}", clock.url());
        let servers: Vec<String> = names.iter().map(server).collect();
        format!("{{\"mcpServers\": {{{}}}}}", servers.join(", "))
    };
    let plugway = Setup::new(text(&["one"])).desktop("mcp.json").start().await?;
    plugway.write("mcp.json", text(&["one", "two"]))?;
    wait::until("the tools of the new server are listed", NOTED_WITHIN, async || {
        let names = plugway.modern().tool_names().await?;
        Ok(names.iter().any(|name| name == "two_echo").then_some(()))
    })
    .await?;
    ensure!(plugway.stop().await?.success());
    Ok(())
}

#[tokio::test]
async fn every_file_in_the_folder_is_a_case() -> Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(binary::repository().join("tests/desktop"))? {
        let path = entry?.path();
        files.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    }
    files.sort();
    let mut cases: Vec<_> = CASES.iter().map(|case| case.file.to_owned()).collect();
    cases.sort();
    ensure!(files == cases && cases.len() >= 10, "{files:?}");
    Ok(())
}

#[tokio::test]
async fn an_import_overwrites_nothing_and_leaves_no_secret_for_others() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.write(
        "mcp.json",
        r#"{"mcpServers": {"a": {"command": "cat", "env": {"TOKEN": "s3cret"}}}}"#,
    )?;
    let import = async |words: &[&str]| {
        run_in(scratch.path(), &[], &[&["import", "mcp.json"], words].concat()).await
    };
    let first = import(&[]).await?;
    ensure!(first.status.success() && first.stdout.contains("1 secrets"), "{first:?}");

    let again = import(&[]).await?;
    ensure!(again.status.code() == Some(1), "{again:?}");
    ensure!(again.stderr.contains("plugway.yaml exists already"), "{again:?}");
    ensure!(again.stderr.contains("--force"), "{again:?}");
    ensure!(import(&["--force"]).await?.status.success());

    let secrets = scratch.path().join("plugway.secrets");
    fs::set_permissions(&secrets, Permissions::from_mode(0o644))?;
    let open = import(&["--force"]).await?;
    ensure!(open.status.code() == Some(1), "{open:?}");
    ensure!(open.stderr.contains("plugway.secrets can be read by every user"), "{open:?}");
    Ok(())
}

#[tokio::test]
async fn a_desktop_file_in_place_of_a_configuration_is_named_as_such() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.write("mcp.json", r#"{"mcpServers": {"a": {"command": "cat"}}}"#)?;
    let output = run_in(scratch.path(), &[], &["check", "mcp.json"]).await?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(output.stderr.contains("`plugway serve --mcp-servers mcp.json`"), "{output:?}");
    let both = run_in(scratch.path(), &[], &["check", "x.yaml", "--mcp-servers", "mcp.json"]);
    ensure!(both.await?.status.code() == Some(2));
    Ok(())
}
