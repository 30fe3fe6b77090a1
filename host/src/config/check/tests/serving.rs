//! How a connector introduces itself, and what servers may ask of clients.

use super::support::{refused, settings, upstream};
use crate::config::{Asks, HttpTransport, Target, UpstreamSettings};

fn first(keys: &str) -> (UpstreamSettings, String) {
    let settings = settings(&upstream(keys)).unwrap();
    let warnings = settings.warnings.as_warnings().to_string();
    (settings.connectors[0].upstreams[0].clone(), warnings)
}

#[test]
fn what_is_not_listed_is_not_asked() {
    let asks = |keys: &str| first(&format!("url: http://x{keys}")).0.server_requests;
    assert_eq!(asks(""), Asks { elicitation: true, ..Asks::NOTHING });
    assert_eq!(asks(", server_requests: []"), Asks::NOTHING);
    assert_eq!(asks(", server_requests: [roots]"), Asks { roots: true, ..Asks::NOTHING });
    let all = asks(", server_requests: [elicitation, sampling, roots, include_context]");
    assert!(all.words().iter().all(|(_, said)| *said), "{all:?}");
}

#[test]
fn context_without_sampling_means_nothing() {
    let (upstream, warnings) = first("url: http://x, server_requests: [include_context]");
    assert!(upstream.server_requests.include_context);
    let said = "`upstreams[0].server_requests` has `include_context`, which means nothing without \
                `sampling`\nhint: add `sampling`, or take it out";
    assert!(warnings.ends_with(said), "{warnings}");
    let (_, warnings) = first("url: http://x, server_requests: [include_context, sampling]");
    assert_eq!(warnings, "");
}

#[test]
fn instructions_and_transport_have_their_defaults() {
    let transport = |upstream: &UpstreamSettings| match &upstream.target {
        Target::Http(address) => address.transport,
        Target::Stdio(_) | Target::Leased(_) => panic!("an address"),
    };
    let (plain, _) = first("url: http://x");
    assert_eq!((plain.instructions, transport(&plain)), (true, HttpTransport::Streamable));
    let (written, _) = first("url: http://x, instructions: include, transport: http");
    assert_eq!(written, plain);
    let (other, _) = first("url: http://x/sse, instructions: omit, transport: sse");
    assert_eq!((other.instructions, transport(&other)), (false, HttpTransport::Sse));
}

#[test]
fn a_channel_carries_no_credential_of_callers() {
    let problems = settings(&upstream("url: http://x, transport: sse, auth: forward")).unwrap_err();
    let said = "`upstreams[0].auth` is `forward`, which does not go with `transport: sse`";
    assert!(problems.to_string().contains(said), "{problems}");
}

#[test]
fn a_connector_introduces_itself() {
    let info = |keys: &str| {
        let settings = settings(&(upstream("url: http://x") + keys)).unwrap();
        serde_json::from_str::<serde_json::Value>(&settings.connectors[0].server_info.to_json())
            .unwrap()
    };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(info(""), serde_json::json!({"name": "hub", "version": version}));
    let keys = "server_info: {title: Tools, version: 2, description: All of them, \
                website_url: 'https://example.com/#top', icons: [{src: 'https://example.com/i', \
                mime_type: image/png, sizes: [48x48, any], theme: dark}, {src: 'data:image/png;base64,AA=='}]}\n";
    assert_eq!(
        info(keys),
        serde_json::json!({
            "name": "hub", "title": "Tools", "version": "2", "description": "All of them",
            "websiteUrl": "https://example.com/#top",
            "icons": [
                {"src": "https://example.com/i", "mimeType": "image/png",
                 "sizes": ["48x48", "any"], "theme": "dark"},
                {"src": "data:image/png;base64,AA=="},
            ],
        })
    );
    let several =
        "connectors:\n- {name: b, server_info: {name: c}, upstreams: [{name: u, url: http://x}]}\n";
    let settings = settings(several).unwrap();
    assert_eq!(settings.connectors[0].server_info.name, "c");
}

#[test]
fn what_clients_could_not_use_is_refused() {
    let info = |keys: &str| upstream("url: http://x") + &format!("server_info: {{{keys}}}\n");
    refused(&[
        (&info("title: ' '"), ":4:15: `server_info.title` is empty", "leave"),
        (&info("version: 1.0"), ":4:15: `server_info.version` must be text, not the number 1", ""),
        (
            &info("website_url: example.com"),
            ":4:15: `server_info.website_url` is no address of http or https",
            "write",
        ),
        (&info("icons: [{theme: dark}]"), ":4:23: `server_info.icons[0]` has no `src`", "write"),
        (
            &info("icons: [{src: 'javascript:x'}]"),
            ":4:24: `server_info.icons[0].src` is no address of a picture",
            "write",
        ),
        (
            &info("icons: [{src: 'http://x/i', sizes: [big]}]"),
            ":4:51: `server_info.icons[0].sizes[0]` is `big`, which is no size of a picture",
            "write",
        ),
        (
            &info("websiteUrl: x"),
            ":4:15: `server_info.websiteUrl` is not a key that plugway knows",
            "did you mean `website_url`?",
        ),
        (
            "server_info: {name: x}\nconnectors:\n- {name: b, upstreams: [{name: u, url: http://x}]}\n",
            ":1:1: `server_info` stands at the top beside `connectors`",
            "move it",
        ),
        (
            &upstream("url: http://x, server_requests: [ping]"),
            ":3:46: `upstreams[0].server_requests[0]` is `ping`, but can only be elicitation \
             or sampling or roots or include_context",
            "",
        ),
        (
            &upstream("url: http://x, instructions: no"),
            ":3:28: `upstreams[0].instructions` is `no`, but can only be include or omit",
            "",
        ),
        (
            &upstream("command: x, transport: sse"),
            ":3:25: `upstreams[0].transport` belongs to `url`, but this upstream has a `command`",
            "take it out",
        ),
    ]);
}
