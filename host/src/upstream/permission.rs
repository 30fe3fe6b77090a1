//! What a server may ask of a client, and in which words it arrives there.
//!
//! Three have a say: the operator allows, the client declares, and what is not both is neither claimed to the server nor
//! handed on to the client.

use std::sync::Arc;

use bytes::Bytes;

use super::authored;
use super::peek::Peek;
use super::settings::Asks;
use crate::pipeline::declared;
use crate::pipeline::party::Party;
use crate::protocol::{Id, Message, Method, Span, message, scan, splice};

/// What the client is not asked for.
const REFUSED: &str = r#"{"code":-32601,"message":"The client does not take this request from this server: it declared no capability for it, or the operator does not allow it."}"#;
/// What no client could make sense of.
const UNREADABLE: &str = r#"{"code":-32600,"message":"The request cannot be read: a member is wrong, missing, or there twice."}"#;

/// What one server may ask of one party.
#[derive(Clone, Debug)]
pub(super) struct Permission {
    /// The operator's name for the server.
    upstream: Arc<str>,
    /// What the operator allows.
    allowed: Asks,
    /// Who declared what it can be asked; nobody can be asked anything.
    party: Option<Arc<Party>>,
}

impl Permission {
    /// A server that may ask nothing.
    pub(super) fn nothing(upstream: &Arc<str>) -> Self {
        Self { upstream: Arc::clone(upstream), allowed: Asks::NOTHING, party: None }
    }

    /// What this party declared of what the operator allows.
    pub(super) fn of(upstream: &Arc<str>, allowed: Asks, party: &Arc<Party>) -> Self {
        let (upstream, party) = (Arc::clone(upstream), Some(Arc::clone(party)));
        Self { upstream, allowed, party }
    }

    /// Whether requests that belong to this capability of clients are handed on.
    fn covers(&self, capability: &str) -> bool {
        let declared = self.party.as_ref().and_then(|party| party.capabilities.as_deref());
        allows(self.allowed, capability)
            && declared.is_some_and(|declared| declares(declared, capability))
    }

    /// Whether the client declared the way in which it is to be asked.
    fn takes(&self, asked: &Message) -> bool {
        let given = self.party.as_ref().and_then(|party| party.capabilities.as_deref());
        given.is_some_and(|given| declared(asked, given))
    }

    /// The name of the server.
    pub(super) fn upstream(&self) -> &Arc<str> {
        &self.upstream
    }

    /// A request of the server as the client gets it, or else the response that the server gets at once.
    pub(super) fn prepare(&self, request: &Bytes) -> Result<Message, Bytes> {
        let Ok(asked) = Message::parse(request.clone()) else {
            let id = Peek::read(request).ok().and_then(|peek| peek.id().map(str::to_owned));
            return refuse(id.as_deref(), UNREADABLE);
        };
        let id = asked.id().map(Id::as_json);
        let edit = match &*asked.method_name() {
            name if name == Method::Ping.as_str() => {
                return Err(authored::pong(id.unwrap_or("null")));
            }
            "elicitation/create" if self.covers("elicitation") && self.takes(&asked) => {
                self.signed(&asked)
            }
            "sampling/createMessage" if self.covers("sampling") => {
                Some(self.without_context(&asked))
            }
            "roots/list" if self.covers("roots") => Some(None),
            "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel"
                if self.covers("tasks") =>
            {
                Some(None)
            }
            _ => return refuse(id, REFUSED),
        };
        match edit {
            None => refuse(id, UNREADABLE),
            Some(None) => Ok(asked),
            Some(Some((span, text))) => {
                let text = splice(asked.text(), &[(span, text.as_bytes())]);
                Message::parse(text).or_else(|_| refuse(id, UNREADABLE))
            }
        }
    }

    /// Whoever is asked for something sees who asks.
    fn signed(&self, asked: &Message) -> Option<Edit> {
        let (span, text) = member(asked, "message")?;
        text.starts_with('"').then_some(())?;
        let name = serde_json::to_string(&format!("[{}] ", self.upstream)).ok()?;
        let start = span.range().start + 1;
        let name = name.strip_prefix('"')?.strip_suffix('"')?;
        Some(Some((Span::new(start, start), name.to_owned())))
    }

    /// What other servers said is nobody's business, unless the operator says so.
    fn without_context(&self, asked: &Message) -> Edit {
        let (span, text) = member(asked, "includeContext")?;
        let none = message::string(text).is_some_and(|text| text == "none");
        (!none && !self.allowed.include_context).then(|| (span, r#""none""#.to_owned()))
    }
}

/// The one place of a request that changes, if any does.
type Edit = Option<(Span, String)>;

fn refuse(id: Option<&str>, error: &str) -> Result<Message, Bytes> {
    Err(authored::error_response(id.unwrap_or("null"), error))
}

/// Where a member of `params` stands, and its JSON text.
fn member<'a>(asked: &'a Message, name: &str) -> Option<(Span, &'a str)> {
    let params = asked.params()?;
    let inside = scan::member(params, name)?.range();
    let start = asked.params_span().range().start;
    let span = Span::new(start + inside.start, start + inside.end);
    Some((span, params.get(inside)?))
}

/// Whether the operator allows what a capability of clients stands for. What leads to no request of a server is free.
fn allows(allowed: Asks, capability: &str) -> bool {
    match capability {
        "elicitation" => allowed.elicitation,
        "sampling" => allowed.sampling,
        "roots" => allowed.roots,
        // They are tasks of elicitation or of sampling.
        "tasks" => allowed.elicitation || allowed.sampling,
        _ => true,
    }
}

fn declares(capabilities: &str, name: &str) -> bool {
    let found = scan::member(capabilities, name).and_then(|span| capabilities.get(span.range()));
    found.is_some_and(|value| value.starts_with('{'))
}

/// A client's capabilities without those that the operator does not allow; none where nothing is to go.
pub(super) fn claimed(capabilities: &str, allowed: Asks) -> Option<String> {
    let part = |span: Span| capabilities.get(span.range()).unwrap_or_default();
    let is_allowed =
        |key: Span| message::string(part(key)).is_some_and(|key| allows(allowed, &key));
    let Some(members) = scan::members(capabilities) else { return Some("{}".to_owned()) };
    if members.iter().all(|(key, _)| is_allowed(*key)) {
        return None;
    }
    let kept = members.into_iter().filter(|(key, _)| is_allowed(*key));
    let kept: Vec<&str> =
        kept.map(|(key, value)| part(Span::new(key.range().start, value.range().end))).collect();
    Some(format!("{{{}}}", kept.join(",")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::protocol::Revision;
    use crate::upstream::testing::party_with;

    const ALL: Asks =
        Asks { elicitation: true, sampling: true, roots: true, include_context: false };
    const EVERYTHING: &str = r#"{"elicitation":{},"sampling":{},"roots":{},"tasks":{}}"#;

    fn permission(allowed: Asks, capabilities: &str) -> Permission {
        let party = party_with(1, Revision::V2025_11_25, capabilities);
        Permission::of(&"demo".into(), allowed, &party)
    }

    fn request(method: &str, params: &str) -> Bytes {
        format!(r#"{{"jsonrpc":"2.0","id":"s-1","method":"{method}","params":{params}}}"#).into()
    }

    /// What the client is asked, or the error's code.
    fn outcome(permission: &Permission, request: &Bytes) -> Result<String, i64> {
        match permission.prepare(request) {
            Ok(message) => Ok(String::from_utf8(message.text().to_vec()).unwrap()),
            Err(reply) => {
                let reply: Value = serde_json::from_slice(&reply).unwrap();
                assert_eq!(reply["id"], "s-1");
                Err(reply["error"]["code"].as_i64().unwrap_or_default())
            }
        }
    }

    #[test]
    fn what_is_not_both_allowed_and_declared_is_refused() {
        let nothing = Asks::NOTHING;
        let asks = [
            ("elicitation/create", r#"{"message":"m"}"#, Asks { elicitation: true, ..nothing }),
            ("sampling/createMessage", "{}", Asks { sampling: true, ..nothing }),
            ("roots/list", "{}", Asks { roots: true, ..nothing }),
            ("tasks/get", "{}", Asks { sampling: true, ..nothing }),
            ("tasks/cancel", "{}", Asks { elicitation: true, ..nothing }),
        ];
        for (method, params, allowed) in asks {
            let ask = |permission: &Permission| outcome(permission, &request(method, params));
            assert!(ask(&permission(allowed, EVERYTHING)).is_ok(), "{method}");
            for refused in [
                permission(allowed, "{}"),
                permission(
                    allowed,
                    r#"{"elicitation":null,"sampling":false,"roots":[],"tasks":1}"#,
                ),
                permission(nothing, EVERYTHING),
                Permission::nothing(&"demo".into()),
            ] {
                assert_eq!(ask(&refused), Err(-32601), "{method}");
            }
        }
        let all = permission(ALL, EVERYTHING);
        assert_eq!(outcome(&all, &request("tools/list", "{}")), Err(-32601));
        assert_eq!(outcome(&all, &request("ping", "{}")), Err(0), "a result");
        assert_eq!(outcome(&all, &request("elicitation/create", r#"{"message":5}"#)), Err(-32600));
        assert_eq!(outcome(&all, &request("elicitation/create", "{}")), Err(-32600));
        assert_eq!(outcome(&all, &request("roots/list", r#"{"a":1,"a":2}"#)), Err(-32600));
        // A client that says no more is asked by forms.
        let page = request("elicitation/create", r#"{"mode":"url","message":"m"}"#);
        assert_eq!(outcome(&all, &page), Err(-32601));
        assert!(outcome(&permission(ALL, r#"{"elicitation":{"url":{}}}"#), &page).is_ok());
    }

    #[test]
    fn the_default_is_elicitation_alone_and_a_client_reads_who_asks() {
        let default = permission(Asks::default(), EVERYTHING);
        let asked = request("elicitation/create", r#"{ "message" : "\u0041?", "x":1.0}"#);
        let text = outcome(&default, &asked).unwrap();
        let before = String::from_utf8(asked.to_vec()).unwrap();
        assert_eq!(text, before.replace(r#""\u0041?""#, r#""[demo] \u0041?""#));
        assert_eq!(outcome(&default, &request("sampling/createMessage", "{}")), Err(-32601));
        assert_eq!(outcome(&default, &request("roots/list", "{}")), Err(-32601));
    }

    #[test]
    fn context_is_not_included_unless_that_is_allowed() {
        let asked = |context: &str| {
            request(
                "sampling/createMessage",
                &format!(r#"{{"includeContext": {context} ,"n":1e2}}"#),
            )
        };
        let text =
            |allowed, context| outcome(&permission(allowed, EVERYTHING), &asked(context)).unwrap();
        let want = |context| String::from_utf8(asked(context).to_vec()).unwrap();
        for context in [r#""allServers""#, r#""thisServer""#, "null", "7"] {
            assert_eq!(text(ALL, context), want(r#""none""#));
            assert_eq!(text(Asks { include_context: true, ..ALL }, context), want(context));
        }
        assert_eq!(text(ALL, r#""\u006eone""#), want(r#""\u006eone""#));
    }

    #[test]
    fn claims_lose_what_is_not_allowed_and_nothing_else() {
        let claims =
            r#"{ "sampling":{"x":1.0}, "roots":{} ,"extensions" : {"x/y":{ }},"ta\u0073ks":{}}"#;
        assert_eq!(
            claimed(claims, Asks::default()).unwrap(),
            r#"{"extensions" : {"x/y":{ }},"ta\u0073ks":{}}"#
        );
        assert_eq!(claimed(claims, ALL), None);
        assert_eq!(claimed("{}", Asks::NOTHING), None);
        assert_eq!(claimed(claims, Asks::NOTHING).unwrap(), r#"{"extensions" : {"x/y":{ }}}"#);
        assert_eq!(claimed("[]", ALL).unwrap(), "{}");
    }

    proptest! {
        #[test]
        fn nothing_but_its_one_place_changes(
            words in proptest::collection::btree_map("[a-z]{1,6}", "[ -~\u{e4}\u{1f600}]{0,12}", 0..6),
            text in "[ -~\n\u{e4}\u{1f600}]{0,20}",
            spaces in "[ \t]{0,3}",
            number in any::<u64>(),
        ) {
            let mut params = json!({"message": text, "includeContext": "allServers", "n": number});
            for (word, value) in &words {
                params[format!("x-{word}")] = json!(value);
            }
            let params = serde_json::to_string(&params).unwrap().replacen(':', &format!(":{spaces}"), 1);
            let all = permission(ALL, EVERYTHING);
            let (asked, quoted) = (request("elicitation/create", &params), json!(text).to_string());
            let before = String::from_utf8(asked.to_vec()).unwrap();
            let message = |text: &str| format!(r#""message":{spaces}{text}"#);
            let signed = json!(format!("[demo] {text}")).to_string();
            prop_assert_eq!(
                outcome(&all, &asked).unwrap(),
                before.replacen(&message(&quoted), &message(&signed), 1)
            );
            let asked = request("sampling/createMessage", &params);
            let before = String::from_utf8(asked.to_vec()).unwrap();
            let (from, to) = (r#""includeContext":"allServers""#, r#""includeContext":"none""#);
            prop_assert_eq!(outcome(&all, &asked).unwrap(), before.replacen(from, to, 1));
            let asked = request("roots/list", &params);
            prop_assert_eq!(outcome(&all, &asked).unwrap(), asked);
        }
    }
}
