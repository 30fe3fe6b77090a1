//! Hostile arguments, and many calls that wait at once.

use anyhow::{Context as _, Result, ensure};
use futures_util::future::join_all;
use plugway_tests::Recorder;
use serde_json::{Value, json};

use super::{
    again, careful, confirming, done, look, modern, question, required, session, text_of, yes,
};

/// Longest question that anybody may get.
const LONGEST: usize = 8 * 1024;

#[tokio::test]
async fn hostile_arguments_are_shown_as_what_they_are() -> Result<()> {
    let upstream = Recorder::start().await?;
    let hub = careful(&upstream).policy(
        confirming(json!({"says": "`x`\n\u{1b}[2J[a](http://b)", "reads": true})).named("b"),
    );
    let plugway = hub.start().await?;
    let client = modern(&plugway);
    let session = session(&plugway).await?;
    let tags: String =
        "ok".chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect();
    for (arguments, shown) in [
        (json!({"path": "a\u{202e}txt.exe"}), r#""path": "a\u{202e}txt.exe""#),
        (json!({"path": format!("safe{tags}")}), r#""path": "safe\u{e006f}\u{e006b}""#),
        (json!({"x": "\u{1b}[2K\u{1b}[1Gnothing"}), r#""x": "\u{1b}[2K\u{1b}[1Gnothing""#),
        (json!({"x": "a\u{200b}b\u{feff}"}), r#""x": "a\u{200b}b\u{feff}""#),
        (
            json!({"x": "\n```\nconfirming: all is well"}),
            r#""x": "\n\u{60}\u{60}\u{60}\nconfirming: all is well""#,
        ),
        (json!({"\u{2066}k": 1}), r#""\u{2066}k": 1"#),
        (json!({"a": "x".repeat(1 << 20), "target": "prod"}), r#""target": "prod""#),
        (json!({"a": vec![json!({"k": "v"}); 50_000]}), "bytes of them are not shown"),
        (json!({"a": "x".repeat(1 << 20)}), "1,048,320 more bytes"),
    ] {
        let call = look(&arguments);
        let (asked, state) = required(&client.call("tools/call", call.clone()).await?)?;
        let mut stream = session.open("tools/call", call.clone()).await?;
        let wanted = question(&mut stream).await?;
        for params in [&asked, &wanted["params"]] {
            let message = params["message"].as_str().context("no message")?;
            ensure!(message.len() <= LONGEST, "{} bytes", message.len());
            ensure!(message.contains(shown), "{shown}: {message}");
            let hidden = |letter: char| {
                letter.is_control() && letter != '\n'
                    || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
            };
            ensure!(!message.contains(hidden), "{message:?}");
            // Three blocks begin and end, and nothing else does.
            let fences = message.lines().filter(|line| line.contains('`')).count();
            ensure!(fences == 6 && message.matches('`').count() == 18, "{message}");
        }
        session.answer(&wanted, json!({"action": "decline"})).await?;
        done(&mut stream).await?;
        // What was shown in part is sent as a whole.
        let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
        ensure!(text_of(reply.response()?)? == "seen", "{reply:?}");
        let sent: Value = serde_json::from_str(&upstream.last()?.text())?;
        ensure!(sent["params"]["arguments"] == arguments);
    }
    Ok(())
}

#[tokio::test]
async fn a_thousand_questions_of_the_modern_era_hold_nothing() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    let client = modern(&plugway);
    let call = look(&json!({}));
    let mut states = Vec::new();
    for _ in 0..20 {
        let asked = join_all((0..50).map(|_| client.call("tools/call", call.clone()))).await;
        for reply in asked {
            states.push(required(&reply?)?.1);
        }
    }
    ensure!(states.len() == 1000 && upstream.calls().is_empty());
    // The first is as good as the last.
    for state in [&states[0], &states[500], &states[999]] {
        let reply = client.call("tools/call", again(&call, state, &yes())).await?;
        ensure!(text_of(reply.response()?)? == "seen", "{reply:?}");
    }
    Ok(())
}

#[tokio::test]
async fn of_one_caller_so_many_wait_on_their_streams_and_no_more() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    let client = session(&plugway).await?;
    let mut waiting = Vec::new();
    for _ in 0..32 {
        let mut stream = client.open("tools/call", look(&json!({}))).await?;
        let asked = question(&mut stream).await?;
        waiting.push((stream, asked));
    }
    let reply = client.call("tools/call", look(&json!({}))).await?;
    ensure!(reply.text.contains("Too many calls"), "{reply:?}");
    ensure!(reply.text.contains("\"overloaded\""), "{reply:?}");
    // Somebody else is asked, and so is who has answered.
    let other = session(&plugway).await?;
    question(&mut other.open("tools/call", look(&json!({}))).await?).await?;
    let (mut stream, asked) = waiting.pop().context("nothing waits")?;
    client.answer(&asked, yes()).await?;
    ensure!(text_of(&done(&mut stream).await?)? == "seen");
    question(&mut client.open("tools/call", look(&json!({}))).await?).await?;
    ensure!(upstream.calls().len() == 1);
    Ok(())
}
