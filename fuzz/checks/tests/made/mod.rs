//! Strategies for texts that nearly are what they should be.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Short bytes of no kind.
pub(crate) fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..48),
        "[\\[\\]{}\":,0-9eE.+\\\\u\u{1e} \r\n-]{0,32}".prop_map(String::into_bytes),
        ".{0,32}".prop_map(String::into_bytes),
    ]
}

/// A text as it is, or with one byte taken out, put in or replaced.
pub(crate) fn mutated(text: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        select(b"\"\\{}[],:0123456789.eE+- \n\r\tu\x00\x1f\x7f\xff".to_vec()),
        any::<u8>()
    ];
    (text, 0..8_u8, any::<Index>(), byte).prop_map(|(text, what, place, byte)| {
        let mut bytes = text.into_bytes();
        let place = if bytes.is_empty() { 0 } else { place.index(bytes.len()) };
        match what {
            0 if !bytes.is_empty() => {
                bytes.remove(place);
            }
            1 => bytes.insert(place, byte),
            2 => {
                if let Some(old) = bytes.get_mut(place) {
                    *old = byte;
                }
            }
            3 => bytes.truncate(place),
            _ => {}
        }
        bytes
    })
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just(""), 1 => select(vec![" ", "\n", "\r", "\r\n", "\t", "  "])]
}

fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => r#""([a-z~/é]|\\u00[46][1-9a]|\\[nrtbf/"\\]|\\ud83d\\ude00){0,6}""#,
        1 => r#""(\\ud83d|\\udc00|a){0,3}""#,
    ]
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec!["null", "true", "false", "{}", "[]", "-0", "0", "1"]).prop_map(str::to_owned),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?",
        Just("1e999".to_owned()),
        string(),
    ]
}

/// A key: few letters, so that some stand twice, in more than one spelling.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "\"[a-f]{1,2}\"",
        1 => select(vec![r#""\u0061""#, r#""\u0062b""#, r#""~/""#, r#""""#, r#""é""#]).prop_map(str::to_owned),
    ]
}

fn members(
    keys: impl Strategy<Value = String>,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    let member = (space(), keys, space(), space(), value, space())
        .prop_map(|(a, key, b, c, value, d)| format!("{a}{key}{b}:{c}{value}{d}"));
    prop::collection::vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(",")))
}

/// Any JSON text.
pub(crate) fn json() -> impl Strategy<Value = String> {
    scalar().prop_recursive(5, 48, 5, |inner| {
        let items = prop::collection::vec((space(), inner.clone()), 0..4).prop_map(|items| {
            let items: Vec<String> = items.into_iter().map(|(a, b)| format!("{a}{b}")).collect();
            format!("[{}]", items.join(","))
        });
        prop_oneof![1 => items, 2 => members(key(), inner)]
    })
}

/// A JSON object.
pub(crate) fn object() -> impl Strategy<Value = String> {
    members(key(), json())
}

/// Known keys as they are, now and then spelled in another way.
fn known(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    (select(names), 0..24_u8).prop_map(|(name, how)| match how {
        0 => format!("\"{}\"", name.to_uppercase()),
        1 => format!("\"{}\"", name.replace('k', "\u{212a}").replace('s', "\u{17f}")),
        2 => format!("\"{}\"", name.replace('o', "\\u006f").replace('i', "\\u0069")),
        3 => format!("\"{}\"", name.replace('i', "\u{131}")),
        4 => format!("\"{name}\\ud800\""),
        _ => format!("\"{name}\""),
    })
}

fn params() -> impl Strategy<Value = String> {
    let meta = members(
        known(&[
            "progressToken",
            "io.modelcontextprotocol/protocolVersion",
            "io.modelcontextprotocol/clientInfo",
            "x",
            "y",
        ]),
        json(),
    );
    let names: &[&str] = &[
        "name",
        "uri",
        "arguments",
        "_meta",
        "cursor",
        "ref",
        "requestId",
        "protocolVersion",
        "x",
        "y",
    ];
    prop_oneof![8 => members(known(names), prop_oneof![2 => json(), 1 => meta]), 1 => json()]
}

/// A message, or nearly one.
pub(crate) fn message() -> impl Strategy<Value = String> {
    let version = prop_oneof![9 => Just(r#""jsonrpc":"2.0""#.to_owned()), 1 => Just(r#""jsonrpc":2"#.to_owned())];
    let member = |name: &'static [&'static str], value: BoxedStrategy<String>| {
        (known(name), space(), value)
            .prop_map(|(key, space, value)| format!("{key}:{space}{value}"))
            .boxed()
    };
    let id = member(&["id"], prop_oneof![scalar(), string()].boxed());
    let method = member(&["method"], prop_oneof![9 => string(), 1 => scalar()].boxed());
    let params = member(&["params"], params().boxed());
    let outcome = member(&["result", "error"], json().boxed());
    let other = member(&["x", "y", "id", "method"], json().boxed());
    let sometimes =
        |strategy: BoxedStrategy<String>, weight| prop::option::weighted(weight, strategy);
    let request = (
        version,
        sometimes(id, 0.8),
        sometimes(method, 0.8),
        sometimes(params, 0.8),
        sometimes(outcome, 0.2),
        sometimes(other, 0.2),
    );
    request
        .prop_map(|(version, a, b, c, d, e)| {
            [Some(version), a, b, c, d, e].into_iter().flatten().collect::<Vec<_>>()
        })
        .prop_shuffle()
        .prop_map(|members| format!("{{{}}}", members.join(",")))
}

/// A stream of events, or nearly one.
pub(crate) fn stream() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "data(: ?[a-c: é]{0,6})?",
        1 => "event: ?(message|endpoint)?",
        1 => "id(: ?[0-9a]{0,3}\u{0}?)?",
        1 => "retry: ?\\+?[0-9]{0,22}",
        1 => ":[a-z ]{0,40}",
        1 => "[a-z]{0,4}",
        4 => Just(String::new()),
    ];
    let end = select(vec!["\n", "\r\n", "\r"]);
    let bom = select(vec!["", "", "\u{feff}"]);
    (bom, prop::collection::vec((line, end), 0..24)).prop_map(|(bom, lines)| {
        let lines: Vec<String> =
            lines.into_iter().map(|(line, end)| format!("{line}{end}")).collect();
        format!("{bom}{}", lines.concat()).into_bytes()
    })
}

/// A template with a literal scheme, mostly.
pub(crate) fn template() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        3 => select(vec!["{a}", "{+a}", "{a*}", "{/a}"]).prop_map(str::to_owned),
        3 => "[ab/é]{1,2}",
    ];
    let start = select(vec!["a:", "git://", "git://a/", "http:", ""]);
    (start, prop::collection::vec(part, 0..6))
        .prop_map(|(start, parts)| format!("{start}{}", parts.concat()))
}

/// A letter for kind and target, and a definition.
pub(crate) fn definition() -> impl Strategy<Value = String> {
    let name =
        select(vec![r#""a""#, r#""b""#, r#""\u0061""#, r#""a:b""#, r#""a:{x}""#, "1", "null"]);
    let keys = select(vec!["name", "uri", "uriTemplate"]);
    let member = (keys, name).prop_map(|(key, name)| format!(r#""{key}":{name}"#));
    let all = prop::collection::vec(member, 0..4)
        .prop_map(|members| format!("{{{}}}", members.join(",")));
    ("[@-_]", prop_oneof![6 => all, 1 => json()])
        .prop_map(|(letter, text)| format!("{letter}{text}"))
}
