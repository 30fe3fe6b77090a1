//! Servers that may not register themselves, and what they are told.

use anyhow::{Context as _, Result, ensure};
use http::Method;
use plugway_tests::{
    DemoHttp, Plugway,
    plugway::Setup,
    registry::{LAB, RIVAL, Registry, audited, hub, setup},
    tokens::{ANN, identified},
};
use serde_json::{Value, json};

async fn started(more: &Value) -> Result<(DemoHttp, Plugway)> {
    let clock = DemoHttp::start(&[]).await?;
    let upstreams = json!([{"name": "clock", "url": clock.url()}]);
    let plugway = setup(&hub(&upstreams, more)).start().await?;
    Ok((clock, plugway))
}

/// The sentence of a refusal, which has a code and an id beside it.
fn sentence(answer: &plugway_tests::http::Answer) -> Result<String> {
    let body = answer.json()?;
    let text = |name: &str| body.pointer(&format!("/error/{name}")).and_then(Value::as_str);
    ensure!(text("code").is_some() && text("requestId").is_some(), "{body}");
    let sentence = text("message").context("no sentence")?;
    ensure!(sentence.ends_with('.'), "{sentence}");
    Ok(sentence.to_owned())
}

#[tokio::test]
async fn nobody_registers_without_the_scope() -> Result<()> {
    // Not even where the connector lets others in without a token.
    let (clock, plugway) = started(&json!({"anonymous": true})).await?;
    for (registry, status) in [
        (Registry::unknown(&plugway), 401),
        (Registry::of(&plugway, "wrong-0123456789abcdef"), 401),
        (Registry::of(&plugway, ANN), 403),
    ] {
        for (method, item) in [
            (Method::POST, ""),
            (Method::GET, ""),
            (Method::GET, "/w1"),
            (Method::DELETE, "/w1"),
            (Method::PUT, "/w1"),
        ] {
            let body = json!({"name": "w1", "url": clock.url()}).to_string();
            let answer = registry.ask(method.clone(), item, body).await?;
            ensure!(
                answer.status == status,
                "{method} {item}: {} {}",
                answer.status,
                answer.text()
            );
            ensure!(answer.header("www-authenticate").is_some(), "no challenge");
            sentence(&answer)?;
        }
    }
    let lines = audited(&plugway);
    ensure!(lines.len() == 12, "each but PUT leaves a line about leases: {lines:?}");
    ensure!(lines.iter().all(|line| line.ends_with(" refused")), "{lines:?}");
    ensure!(lines.iter().any(|line| line.starts_with("ann lease-register hub/")), "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn a_name_belongs_to_who_registered_it() -> Result<()> {
    let (clock, plugway) = started(&json!({})).await?;
    let (lab, rival) = (Registry::of(&plugway, LAB), Registry::of(&plugway, RIVAL));
    lab.registered("w1", clock.url()).await?;
    rival.registered("w2", clock.url()).await?;
    let refused = rival.register("w1", clock.url()).await?;
    ensure!(refused.status == 409, "{}", refused.status);
    ensure!(sentence(&refused)? == "The name \"w1\" belongs to somebody else.");
    for method in [Method::GET, Method::DELETE] {
        let foreign = rival.ask(method.clone(), "/w1", "").await?;
        let nobodys = rival.ask(method, "/w3", "").await?;
        ensure!(foreign.status == 404 && nobodys.status == 404);
        ensure!(sentence(&foreign)?.replace("w1", "w3") == sentence(&nobodys)?);
    }
    let own = rival.ask(Method::GET, "", "").await?.json()?;
    let own: Vec<&str> = own
        .pointer("/servers")
        .and_then(Value::as_array)
        .context("no list")?
        .iter()
        .filter_map(|lease| lease.get("name")?.as_str())
        .collect();
    ensure!(own == ["w2"], "{own:?}");
    lab.remove("w1").await?;
    ensure!(rival.register("w1", clock.url()).await?.status == 409, "also for a day after");
    ensure!(lab.register("w1", clock.url()).await?.status == 201);
    Ok(())
}

#[tokio::test]
async fn an_entry_takes_leases_of_those_that_it_names_and_of_nobody_else() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let entry = json!([{"name": "chem", "accept_leases": ["lab"]}]);
    let plugway = setup(&hub(&entry, &json!({}))).start().await?;
    let (lab, rival) = (Registry::of(&plugway, LAB), Registry::of(&plugway, RIVAL));
    // Before there is a lease, while there is one, and after it.
    for turn in ["before", "while", "after"] {
        let refused = rival.register("chem", clock.url()).await?;
        ensure!(refused.status == 409, "{turn}: {} {}", refused.status, refused.text());
        let said = sentence(&refused)?;
        ensure!(said == "The name \"chem\" belongs to the configuration.", "{turn}: {said}");
        for method in [Method::GET, Method::DELETE] {
            ensure!(rival.ask(method, "/chem", "").await?.status == 404, "{turn}");
        }
        if turn == "before" {
            lab.registered("chem", clock.url()).await?;
            lab.until("chem", "serving").await?;
        } else if turn == "while" {
            ensure!(lab.lease("chem").await?["state"] == "serving", "it is the lab's still");
            ensure!(lab.remove("chem").await?.status == 200);
        }
    }
    let lines = audited(&plugway);
    let refused = lines.iter().filter(|line| *line == "rival lease-register hub/chem refused");
    ensure!(refused.count() == 3, "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn each_bad_request_has_its_status_and_its_sentence() -> Result<()> {
    let more = json!({
        "registry": {"names": ["w*"], "hosts": ["127.0.0.1", "h:80", "169.254.169.254"]},
    });
    let (_clock, plugway) = started(&more).await?;
    let lab = Registry::of(&plugway, LAB);
    let of = |name: &str, url: &str| json!({"name": name, "url": url}).to_string();
    let own = plugway.mcp_url();
    let large = of("w1", &format!("http://h/{}", "x".repeat(20_000)));
    for (body, status, said) in [
        (String::new(), 400, "The body is no registration"),
        ("{".to_owned(), 400, "The body is no registration"),
        ("\u{0}".to_owned(), 400, "The body is no registration"),
        ("[".repeat(5_000), 400, "The body is no registration"),
        (
            json!({"name": "w1", "url": "http://h", "weight": 2}).to_string(),
            400,
            "unknown field `weight`",
        ),
        (
            json!({"name": "w1", "url": "http://h", "ttl": 5}).to_string(),
            400,
            "The ttl must be 60 to 3600",
        ),
        (
            json!({"name": "w1", "url": "http://h", "labels": []}).to_string(),
            400,
            "no registration",
        ),
        (large, 413, "larger than"),
        (of("w 1", "http://h"), 400, "The name must be"),
        (of("w1", "ftp://h"), 400, "The url must begin"),
        (of("w1", "http://u:secret@h"), 400, "The url must hold no user name"),
        (of("w1", "http://other"), 403, "The operator allows no server at other."),
        (of("w1", "http://h:81"), 403, "The operator allows no server at h:81."),
        (of("x1", "http://h"), 403, "no server to register as \"x1\""),
        (of("clock", "http://h"), 409, "belongs to the configuration"),
        (of("hub", "http://h"), 409, "belongs to the configuration"),
        (of("w1", &own), 403, "plugway itself listens there"),
        (of("w1", "http://169.254.169.254/latest"), 403, "cloud metadata"),
    ] {
        let shown: String = body.chars().take(80).collect();
        let answer = lab.ask(Method::POST, "", body).await?;
        ensure!(answer.status == status, "{shown}: {} {}", answer.status, answer.text());
        let sentence = sentence(&answer)?;
        ensure!(sentence.contains(said) && !sentence.contains("secret"), "{shown}: {sentence}");
        ensure!(sentence.len() < 400, "{sentence}");
    }
    let lines = audited(&plugway);
    ensure!(lines.contains(&"lab lease-register hub/x1 refused".to_owned()), "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn other_methods_and_paths_and_too_many_leases_are_refused() -> Result<()> {
    let registry = json!({"names": ["w*"], "hosts": ["127.0.0.1"], "max_of_identity": 1});
    let (_clock, plugway) = started(&json!({"registry": registry})).await?;
    let lab = Registry::of(&plugway, LAB);
    for (method, item, status) in [
        (Method::PUT, "", 405),
        (Method::DELETE, "", 405),
        (Method::POST, "/w1", 405),
        (Method::GET, "/w1/x", 404),
        (Method::GET, "/..", 404),
        (Method::GET, "/%2e%2e", 404),
    ] {
        let answer = lab.ask(method.clone(), item, "").await?;
        ensure!(answer.status == status, "{method} {item}: {}", answer.status);
        ensure!(status != 405 || answer.header("allow").is_some(), "{method} {item}");
    }
    lab.registered("w1", "http://127.0.0.1:9").await?;
    let second = lab.register("w2", "http://127.0.0.1:9").await?;
    ensure!(second.status == 403 && sentence(&second)?.contains("as many as you may"));
    Ok(())
}

#[tokio::test]
async fn without_the_key_there_is_no_such_path() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let configuration =
        json!({"name": "hub", "upstreams": [{"name": "clock", "url": clock.url()}]});
    let plugway = Plugway::start(configuration.to_string()).await?;
    ensure!(Registry::of(&plugway, LAB).register("w1", clock.url()).await?.status == 404);
    Ok(())
}

#[tokio::test]
async fn a_registry_that_lets_nobody_in_does_not_start_and_check_describes_one() -> Result<()> {
    let registry = json!({"names": ["w-*"], "hosts": ["*.example.com:8000"]});
    let without = json!({
        "name": "hub", "registry": registry, "upstreams": [{"name": "a", "url": "http://127.0.0.1:9"}],
    });
    for output in [
        Setup::new(without.to_string()).check().await?,
        identified(Setup::new(hub(&json!([]), &json!({})).to_string()), &json!({})).check().await?,
    ] {
        let said = [output.stdout.clone(), output.stderr.clone()].concat();
        ensure!(!output.status.success(), "{said}");
        ensure!(said.contains("lets nobody in: no token of `auth` has the scope"), "{said}");
    }
    let entry = json!([{"name": "chem", "accept_leases": ["lab"]}]);
    let register = json!({
        "url": "https://parent.example/registry", "public_url": "https://me.example/mcp", "token": "env://T",
    });
    let whole = hub(&entry, &json!({"registry": registry, "register": register}));
    let output = setup(&whole).environment("T", "token").check().await?;
    let said = [output.stdout.clone(), output.stderr.clone()].concat();
    ensure!(output.status.success(), "{said}");
    for line in [
        "servers may register at /registry/v1/servers as w-*, if they are at *.example.com:8000; at most 64, 16 of one identity",
        "registers itself as hub (https://me.example/mcp) at https://parent.example/registry/v1/servers for 300 s each time",
        "upstream chem: waits for a lease of lab",
    ] {
        ensure!(said.contains(line), "no `{line}` in {said}");
    }
    Ok(())
}

#[tokio::test]
async fn who_leaves_says_where_it_was_and_ends_nothing_of_its_successor() -> Result<()> {
    let (_clock, plugway) = started(&json!({})).await?;
    let lab = Registry::of(&plugway, LAB);
    for url in ["http://127.0.0.1:9/old", "http://127.0.0.1:9/new"] {
        lab.registered("w1", url).await?;
    }
    let leaves = async |query: &str| lab.ask(Method::DELETE, &format!("/w1?{query}"), "").await;
    let refused = leaves("uri=http://127.0.0.1:9/old").await?;
    ensure!(refused.status == 400, "{}", refused.status);
    ensure!(sentence(&refused)? == "The query may only be `url=ADDRESS`.");
    let left = leaves("url=http%3A//127.0.0.1:9/old").await?;
    ensure!(left.status == 200 && left.json()?["removed"].is_null(), "{}", left.text());
    ensure!(lab.lease("w1").await?["url"] == "http://127.0.0.1:9/new");
    let left = leaves("url=http://127.0.0.1:9/new").await?;
    ensure!(left.status == 200 && left.json()?["removed"] == "w1", "{}", left.text());
    let lines = audited(&plugway);
    ensure!(lines.contains(&"lab lease-leave hub/w1 done".to_owned()), "{lines:?}");
    ensure!(lines.last().is_some_and(|line| line == "lab lease-remove hub/w1 done"), "{lines:?}");
    Ok(())
}
