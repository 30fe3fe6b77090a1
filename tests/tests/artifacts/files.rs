//! What a link leads to.

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt as _;
use plugway_tests::{
    Plugway, Shelf, http as web,
    plugway::Setup,
    shelf::{CREDENTIAL, CSV, PIECE},
    wait,
};

use super::{BOUND, fetch, hub, link, parts, request, said};

#[tokio::test]
async fn a_link_leads_to_the_file_and_to_nothing_else_of_the_server() -> Result<()> {
    let shelf = Shelf::start().await?;
    let plugway = Plugway::start(hub(&shelf, "", "")).await?;
    let client = plugway.legacy().await?;
    let csv = link(&client, "a.csv").await?;
    let answer = fetch(&plugway, Method::GET, &csv, None).await?;
    ensure!(answer.status == 200 && answer.text() == CSV, "{} {}", answer.status, answer.text());
    for (name, value) in [
        ("content-type", Some("text/csv; charset=utf-8")),
        ("content-disposition", Some("attachment; filename=\"a.csv\"; filename*=UTF-8''a.csv")),
        ("x-content-type-options", Some("nosniff")),
        ("content-security-policy", Some("default-src 'none'; sandbox")),
        ("cache-control", Some("no-store")),
        ("referrer-policy", Some("no-referrer")),
        ("content-length", Some("8")),
        ("set-cookie", None),
        ("x-of-the-server", None),
        ("access-control-allow-origin", None),
    ] {
        ensure!(answer.header(name) == value, "{name}: {:?}", answer.header(name));
    }
    let head = fetch(&plugway, Method::HEAD, &csv, None).await?;
    ensure!(
        head.status == 200 && head.body.is_empty() && head.header("content-length") == Some("8")
    );
    ensure!(head.headers.len() == answer.headers.len(), "{:?}", head.headers);
    let fetched = shelf.fetched();
    ensure!(
        fetched.iter().map(|one| one.method.clone()).collect::<Vec<_>>()
            == [Method::GET, Method::HEAD]
    );
    ensure!(fetched.iter().all(|one| one.path == "/artifacts/session-1/0a1b2c/a.csv"));
    let host = fetched[0].headers.get("host").context("no Host")?.to_str()?;
    ensure!(shelf.origin() == format!("http://{host}"));
    ensure!(fetched[0].headers.get("authorization").is_none());
    for (name, kind) in [("page.html", "text/html"), ("odd.bin", "application/octet-stream")] {
        let answer = fetch(&plugway, Method::GET, &link(&client, name).await?, None).await?;
        ensure!(answer.header("content-type") == Some(kind), "{name}: {:?}", answer.headers);
        let disposition = answer.header("content-disposition").unwrap_or_default();
        ensure!(disposition.starts_with("attachment;"), "{name} must not be shown in a page");
    }
    let spaces = link(&client, "my file (1).csv").await?;
    ensure!(parts(&plugway, &spaces)?.1 == "my%20file%20%281%29.csv", "{spaces}");
    let answer = fetch(&plugway, Method::GET, &spaces, None).await?;
    ensure!(answer.text() == CSV, "{}", answer.text());
    let named = answer.header("content-disposition").unwrap_or_default();
    ensure!(named.ends_with("filename*=UTF-8''my%20file%20%281%29.csv"), "{named}");
    Ok(())
}

#[tokio::test]
async fn a_file_is_fetched_with_the_credential_of_its_server() -> Result<()> {
    let shelf = Shelf::start().await?;
    let secret = CREDENTIAL.trim_start_matches("Bearer ");
    let bearer =
        hub(&shelf, ", auth: {mode: bearer, token: 'env://OF_SERVER'}, headers: {x-more: '1'}", "");
    let plugway = Setup::new(bearer).environment("OF_SERVER", secret).start().await?;
    let guarded = link(&plugway.modern(), "guarded.csv").await?;
    let answer = fetch(&plugway, Method::GET, &guarded, None).await?;
    ensure!(answer.text() == CSV, "{}", answer.text());
    ensure!(shelf.fetched()[0].headers.get("x-more").is_some_and(|value| value == "1"));
    // What the client sends is nobody's business where nothing is forwarded.
    fetch(&plugway, Method::GET, &guarded, Some("of-the-client-0123456789")).await?;
    ensure!(shelf.fetched()[1].headers.get("authorization").is_some_and(|sent| sent == CREDENTIAL));

    let plugway = Plugway::start(hub(&shelf, ", auth: forward", "")).await?;
    let guarded = link(&plugway.modern(), "guarded.csv").await?;
    ensure!(fetch(&plugway, Method::GET, &guarded, Some(secret)).await?.text() == CSV);
    for (token, words) in [(None, "you sent none"), (Some("wrong"), "refuses your own credential")]
    {
        let answer = fetch(&plugway, Method::GET, &guarded, token).await?;
        let (status, body) = said(&answer)?;
        ensure!(status == 502 && body["error"]["code"] == "upstream-refused-credential", "{body}");
        ensure!(
            body["error"]["message"].as_str().is_some_and(|text| text.contains(words)),
            "{body}"
        );
        ensure!(answer.header("www-authenticate").is_none());
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_misbehaves_gives_one_sentence_and_no_bytes_of_its_own() -> Result<()> {
    let shelf = Shelf::start().await?;
    let plugway = Plugway::start(hub(&shelf, "", "")).await?;
    let client = plugway.modern();
    for (name, code, words) in [
        ("elsewhere.csv", "upstream-broken", "redirects to another address"),
        ("broken.csv", "upstream-broken", "failed"),
        ("packed.csv", "upstream-broken", "compressed a file"),
        ("huge.bin", "upstream-too-large", "more than 256 MiB"),
    ] {
        let answer = fetch(&plugway, Method::GET, &link(&client, name).await?, None).await?;
        let (status, body) = said(&answer)?;
        ensure!(status == 502 && body["error"]["code"] == code, "{name}: {status} {body}");
        let text = body["error"]["message"].as_str().unwrap_or_default();
        ensure!(text.contains(words) && text.contains("\"up\""), "{name}: {text}");
        ensure!(!answer.text().contains("trace of the server"));
    }
    let csv = link(&client, "a.csv").await?;
    drop(shelf);
    wait::until("the server is gone", BOUND, async || {
        let (status, _) = said(&fetch(&plugway, Method::GET, &csv, None).await?)?;
        Ok((status == 502).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_file_streams_and_is_not_held() -> Result<()> {
    let shelf = Shelf::start().await?;
    let plugway = Plugway::start(hub(&shelf, "", "")).await?;
    let slow = link(&plugway.modern(), "slow.bin").await?;
    let response =
        web::open(plugway.address(), request(&plugway, Method::GET, &slow, None)?).await?;
    ensure!(!response.headers().contains_key("content-length"));
    let (mut body, mut read) = (response.into_body(), 0);
    for pieces in 1..=3 {
        while read < pieces * PIECE {
            let frame =
                wait::within("a piece", BOUND, body.frame()).await?.context("the end")??;
            read += frame.data_ref().map_or(0, Bytes::len);
        }
        ensure!(read == pieces * PIECE, "nothing comes before the server sends it");
        shelf.release();
    }
    ensure!(wait::within("the end", BOUND, body.frame()).await?.is_none());
    Ok(())
}

#[tokio::test]
async fn a_file_that_breaks_off_does_not_look_whole() -> Result<()> {
    let shelf = Shelf::start().await?;
    let plugway = Plugway::start(hub(&shelf, "", "")).await?;
    let cut = link(&plugway.modern(), "cut.bin").await?;
    let wanted = request(&plugway, Method::GET, &cut, None)?;
    let response = web::open(plugway.address(), wanted).await?;
    ensure!(response.headers().get("content-length").is_some_and(|length| length == "262144"));
    shelf.release();
    shelf.release();
    let mut body = response.into_body();
    let broken = loop {
        match wait::within("a piece", BOUND, body.frame()).await? {
            Some(Ok(_)) => {}
            Some(Err(_broken)) => break true,
            None => break false,
        }
    };
    ensure!(broken, "the connection must not end well");
    Ok(())
}

#[tokio::test]
async fn heavy_a_file_without_end_breaks_off() -> Result<()> {
    let shelf = Shelf::start().await?;
    let plugway = Plugway::start(hub(&shelf, "", "")).await?;
    let endless = link(&plugway.modern(), "endless.bin").await?;
    let response =
        web::open(plugway.address(), request(&plugway, Method::GET, &endless, None)?).await?;
    let (mut body, mut read) = (response.into_body(), 0);
    let broken = loop {
        match wait::within("a piece", BOUND, body.frame()).await? {
            Some(Ok(frame)) => read += frame.data_ref().map_or(0, Bytes::len),
            Some(Err(_broken)) => break true,
            None => break false,
        }
    };
    ensure!(broken, "a file that is cut must not look whole");
    ensure!((255 << 20..=256 << 20).contains(&read), "{read}");
    Ok(())
}
