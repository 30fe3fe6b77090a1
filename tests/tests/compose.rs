//! The compose files of `examples/compose`, run without Docker: the same environment, command, health check and end, with
//! folders in place of mounts and loopback in place of the containers' network.

use std::{collections::BTreeMap, fs, path::Path, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway, Scripted, binary, http, plugway::command, rpc::Client, scratch::Scratch, wait,
};
use serde_json::{Value, json};
use tokio::net::TcpStream;

const BOUND: Duration = Duration::from_secs(20);
const TOKEN: &str = "a-token-that-only-this-test-knows";
/// The home of the user of the image, as the Dockerfile says.
const HOME: &str = "/var/lib/plugway";

/// The service `plugway` of a compose file.
struct Service(Value);

impl Service {
    fn read(name: &str) -> Result<Self> {
        let path = binary::repository().join("examples/compose").join(name);
        let text = fs::read_to_string(&path)?;
        let file: Value = serde_saphyr::from_str(&text).context(path.display().to_string())?;
        let service = file.pointer("/services/plugway").context("no service `plugway`")?;
        Ok(Self(service.clone()))
    }

    fn words(&self, pointer: &str) -> Result<Vec<String>> {
        let words = self.0.pointer(pointer).and_then(Value::as_array);
        let words = words.with_context(|| format!("no list at {pointer}"))?;
        let word = |word: &Value| word.as_str().map(str::to_owned).context("a word is no string");
        words.iter().map(word).collect()
    }

    /// The environment, with the variables of the operator's shell put in.
    fn environment(&self, shell: &[(&str, &str)]) -> Result<BTreeMap<String, String>> {
        let written =
            self.0.get("environment").and_then(Value::as_object).context("no environment")?;
        let mut environment = BTreeMap::new();
        for (name, value) in written {
            let value = value.as_str().with_context(|| format!("{name} is no string"))?;
            let value = match value.strip_prefix("${").and_then(|rest| rest.split_once(":?")) {
                Some((variable, _)) => {
                    let found = shell.iter().find(|(known, _)| *known == variable);
                    found.with_context(|| format!("{variable} is not set"))?.1
                }
                None => value,
            };
            environment.insert(name.clone(), value.to_owned());
        }
        Ok(environment)
    }

    /// Where each folder of the container comes from, and whether it can only be read.
    fn mounts(&self) -> Result<Vec<(String, String, bool)>> {
        let split = |mount: String| {
            let mut parts = mount.split(':').map(str::to_owned);
            let (from, to) = (parts.next()?, parts.next()?);
            Some((from, to, parts.next().is_some_and(|mode| mode == "ro")))
        };
        let mounts = self.words("/volumes")?;
        mounts
            .into_iter()
            .map(|mount| split(mount).context("a mount is no SOURCE:TARGET"))
            .collect()
    }
}

/// The command of a service, started as its container would start it.
async fn start(service: &Service, folder: Scratch, home: &Path) -> Result<Plugway> {
    let tokens = json!({TOKEN: {"client_id": "me", "scopes": []}}).to_string();
    let mut environment = service.environment(&[("PLUGWAY_TOKENS", &tokens)])?;
    // Containers have ports of their own; here another program may have this one.
    ensure!(environment.insert("CONNECTOR_PORT".into(), "0".into()).as_deref() == Some("9000"));
    let here = folder.path().to_string_lossy().into_owned();
    let inside = |word: String| word.replace("/etc/plugway", &here);
    let mut command = command()?;
    command.env_clear().envs(environment).env("HOME", home).current_dir("/");
    command.args(service.words("/command")?.into_iter().map(inside));
    Plugway::of(command, folder).await
}

/// Runs the health check, and says whether it is content.
async fn healthy(service: &Service, port: u16) -> Result<bool> {
    let words = service.words("/healthcheck/test")?;
    ensure!(words.first().is_some_and(|word| word == "CMD"), "{words:?}");
    ensure!(words.get(1).is_some_and(|word| word == "plugway"), "{words:?}");
    let place = format!("127.0.0.1:{port}");
    let words = words.into_iter().skip(2).map(|word| word.replace("127.0.0.1:9000", &place));
    let mut command = command()?;
    let checked = command.args(words).stderr(Stdio::null()).status();
    Ok(wait::within("the health check ends", BOUND, checked).await??.success())
}

async fn call(port: u16, token: Option<&str>, tool: &str) -> Result<http::Answer> {
    let address = ([127, 0, 0, 1], port).into();
    let client = Client::modern(address, "/mcp");
    let (_, mut request) = client.request("tools/call", json!({"name": tool, "arguments": {}}))?;
    if let Some(token) = token {
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse()?);
    }
    http::send(address, request).await
}

/// The mounted configuration, with the server where it is here.
fn mounted(service: &Service, upstream: &Scripted) -> Result<Scratch> {
    let mounts = service.mounts()?;
    let (from, _, read_only) =
        mounts.iter().find(|(_, to, _)| to == "/etc/plugway").context("nothing at /etc/plugway")?;
    ensure!(*read_only, "the configuration can be written");
    let source = binary::repository().join("examples/compose").join(from).join("plugway.yaml");
    let text = fs::read_to_string(source)?;
    ensure!(text.contains("http://everything:3001/mcp"));
    let folder = Scratch::new()?;
    folder.write("plugway.yaml", text.replace("http://everything:3001/mcp", &upstream.url()))?;
    Ok(folder)
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string()));
    let mut names: Vec<String> =
        entries.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    names.sort();
    Ok(names)
}

#[tokio::test]
async fn the_router_example_serves_and_ends_as_it_is_written() -> Result<()> {
    let (service, upstream) = (Service::read("router.yaml")?, Scripted::start().await?);
    let home = Scratch::new()?;
    ensure!(
        service.mounts()?.iter().any(|(_, to, _)| to == HOME),
        "compiled plugins have no volume"
    );
    let mut plugway = start(&service, mounted(&service, &upstream)?, home.path()).await?;
    plugway.wait_until_ready().await?;
    let port = plugway.address().port();
    ensure!(plugway.address().ip().is_unspecified(), "others cannot reach it in its container");
    ensure!(healthy(&service, port).await?);
    ensure!(call(port, None, "everything_json").await?.status == 401, "anybody may call");
    ensure!(call(port, Some(TOKEN), "everything_json").await?.status == 200);
    ensure!(home.path().join(".cache/plugway").is_dir(), "compiled plugins are not kept");
    ensure!(names(plugway.folder())? == ["plugway.yaml"], "it wrote beside its configuration");

    let in_flight = tokio::spawn(call(port, Some(TOKEN), "everything_steps"));
    wait::until("the server has the call", BOUND, async || {
        Ok((upstream.calls() == 2).then_some(()))
    })
    .await?;
    plugway_tests::process::signal(plugway.pid()?, rustix::process::Signal::TERM)?;
    wait::until("it takes no more connections", BOUND, async || {
        Ok(TcpStream::connect(("127.0.0.1", port)).await.is_err().then_some(()))
    })
    .await?;
    upstream.release();
    let answer = in_flight.await??;
    ensure!(answer.status == 200 && answer.text().contains("done"), "{}", answer.text());
    ensure!(plugway.ended().await?.code() == Some(0));
    ensure!(!healthy(&service, port).await?, "healthy after its end");
    Ok(())
}

#[tokio::test]
async fn without_a_place_for_compiled_plugins_it_serves_and_says_so_once() -> Result<()> {
    let (service, upstream) = (Service::read("router.yaml")?, Scripted::start().await?);
    // No user may make a folder below it.
    let mut plugway =
        start(&service, mounted(&service, &upstream)?, Path::new("/dev/null")).await?;
    plugway.wait_until_ready().await?;
    ensure!(call(plugway.address().port(), Some(TOKEN), "everything_json").await?.status == 200);
    let said = plugway.stderr().iter().filter(|line| line.contains("not kept")).count();
    ensure!(said == 1, "{said} lines");
    ensure!(names(plugway.folder())? == ["plugway.yaml"]);
    Ok(())
}

#[tokio::test]
async fn a_changed_configuration_in_the_mounted_folder_is_put_in_place() -> Result<()> {
    let (service, upstream) = (Service::read("router.yaml")?, Scripted::start().await?);
    let home = Scratch::new()?;
    let mut plugway = start(&service, mounted(&service, &upstream)?, home.path()).await?;
    plugway.wait_until_ready().await?;
    let text = fs::read_to_string(plugway.folder().join("plugway.yaml"))?;
    plugway.reconfigure(&text.replace("name: everything", "name: all"))?;
    let port = plugway.address().port();
    wait::until("the new name is served", BOUND, async || {
        let answer = call(port, Some(TOKEN), "all_json").await?;
        Ok(answer.text().contains("\"result\"").then_some(()))
    })
    .await
}

#[test]
fn every_compose_file_keeps_its_container_small() -> Result<()> {
    let folder = binary::repository().join("examples/compose");
    let mut seen = 0;
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().into_string().ok().context("a name that is no text")?;
        if Path::new(&name).extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        seen += 1;
        let service = Service::read(&name)?;
        let has = |key: &str, value: Value| service.0.get(key) == Some(&value);
        ensure!(has("read_only", json!(true)), "{name}: the root file system can be written");
        ensure!(has("cap_drop", json!(["ALL"])), "{name}: capabilities are kept");
        ensure!(has("security_opt", json!(["no-new-privileges:true"])), "{name}: new privileges");
        ensure!(service.0.get("stop_grace_period").is_some(), "{name}: Docker kills after 10 s");
        for port in service.words("/ports")? {
            ensure!(port.starts_with("127.0.0.1:"), "{name}: {port} is open to other machines");
        }
    }
    ensure!(seen > 0);
    Ok(())
}
