//! Where ids of tasks stand in messages.

use bytes::Bytes;
use memchr::memmem;

use crate::protocol::union::without;
use crate::protocol::{Kind, Message, Span, message, scan, splice};

/// Says in any message which task it belongs to (2025-11-25, "Tasks").
const RELATED: [&str; 3] = ["_meta", "io.modelcontextprotocol/related-task", "taskId"];

/// Tells of a task on a stream of the modern era on which a client listens (SEP-2663).
pub(super) const TOLD: &str = "notifications/tasks";

/// Tell of a task.
const NOTIFICATIONS: [&str; 2] = ["notifications/tasks/status", TOLD];

/// The server's message with other ids of its tasks; `show` makes them. None where it holds none.
pub(super) fn of_server(text: &Bytes, show: impl FnMut(&str) -> Option<String>) -> Option<Bytes> {
    let message = parsed(text)?;
    let mut found = Found::new(text);
    match message.kind() {
        Kind::Response => found.in_result(message.result_span()),
        Kind::Request | Kind::Notification => {
            found.at(message.params_span(), &RELATED);
            if NOTIFICATIONS.contains(&&*message.method_name()) {
                found.at(message.params_span(), &["taskId"]);
            }
        }
    }
    found.replaced(show)
}

/// The server's list of tasks with those alone that `keep` says yes to; none where that are all. A task without an id is
/// nobody's.
pub(super) fn listed(text: &Bytes, keep: impl Fn(&str) -> bool) -> Option<Bytes> {
    let message = Message::parse(text.clone()).ok()?;
    let found = Found::new(text);
    let tasks = found.member(message.result_span(), &["tasks"])?;
    let array = found.raw(tasks);
    let items = scan::items(array)?;
    let all = items.len();
    let is_kept = |task: &&str| {
        let id = scan::member(task, "taskId").and_then(|span| task.get(span.range()));
        id.and_then(message::string).is_some_and(|id| keep(&id))
    };
    let kept: Vec<&str> =
        items.into_iter().filter_map(|item| array.get(item.range())).filter(is_kept).collect();
    let kept = (kept.len() < all).then(|| format!("[{}]", kept.join(",")))?;
    Some(splice(text, &[(tasks, kept.as_bytes())]))
}

/// The client's message with the ids that the server gave to tasks that the message is related to.
pub(super) fn of_client(text: &Bytes, own: impl FnMut(&str) -> Option<String>) -> Option<Bytes> {
    let message = parsed(text)?;
    let mut found = Found::new(text);
    found.at(message.params_span(), &RELATED);
    found.at(message.result_span(), &RELATED);
    found.replaced(own)
}

/// The client's request about a task, with another id of it.
pub(super) fn with_id(message: &Message, id: &str) -> Option<Bytes> {
    let mut found = Found::new(message.text());
    found.at(message.params_span(), &["taskId"]);
    found.replaced(|_| Some(id.to_owned()))
}

/// The request of a client of the modern era without the wish for a task, for a server of the legacy era: in the client's era
/// the wish means nothing (SEP-2663, "task"), and the client could not ask for the task that the server would make of it.
pub(in crate::pipeline) fn without_wish(message: Message) -> Message {
    let wish = message.params().filter(|params| scan::member(params, "task").is_some());
    let Some(params) = wish.map(|params| without(params, &["task"])) else { return message };
    let text = splice(message.text(), &[(message.params_span(), params.as_bytes())]);
    Message::parse(text).unwrap_or(message)
}

/// The message, if it may hold the id of a task.
fn parsed(text: &Bytes) -> Option<Message> {
    memmem::find(text, b"askId\"")?;
    Message::parse(text.clone()).ok()
}

/// Ids that were found in a text.
struct Found<'a> {
    text: &'a Bytes,
    spans: Vec<Span>,
}

impl<'a> Found<'a> {
    fn new(text: &'a Bytes) -> Self {
        Self { text, spans: Vec::new() }
    }

    fn raw(&self, span: Span) -> &'a str {
        let bytes = self.text.get(span.range()).unwrap_or_default();
        // The text was parsed, and spans begin and end at ASCII bytes.
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    fn member(&self, object: Span, path: &[&str]) -> Option<Span> {
        path.iter().try_fold(object, |object, name| {
            let member = scan::member(self.raw(object), name)?;
            Some(within(object, member))
        })
    }

    fn at(&mut self, object: Span, path: &[&str]) {
        self.spans.extend(self.member(object, path));
    }

    /// A task that was made, a task, a list of tasks, or what a task came to.
    fn in_result(&mut self, result: Span) {
        self.at(result, &RELATED);
        self.at(result, &["task", "taskId"]);
        if self.member(result, &["status"]).is_some() {
            self.at(result, &["taskId"]);
        }
        if let Some(inner) = self.member(result, &["result"]) {
            self.at(inner, &RELATED);
        }
        if let Some(tasks) = self.member(result, &["tasks"]) {
            for task in scan::items(self.raw(tasks)).unwrap_or_default() {
                self.at(within(tasks, task), &["taskId"]);
            }
        }
    }

    fn replaced(mut self, mut new: impl FnMut(&str) -> Option<String>) -> Option<Bytes> {
        self.spans.sort_unstable_by_key(|span| span.range().start);
        let edits: Vec<(Span, String)> = self
            .spans
            .iter()
            .filter_map(|span| {
                let id = new(&message::string(self.raw(*span))?)?;
                Some((*span, crate::pipeline::answer::json_string(&id)))
            })
            .collect();
        let edits: Vec<_> = edits.iter().map(|(span, id)| (*span, id.as_bytes())).collect();
        (!edits.is_empty()).then(|| splice(self.text, &edits))
    }
}

fn within(outer: Span, inner: Span) -> Span {
    let start = outer.range().start;
    Span::new(start + inner.range().start, start + inner.range().end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let changed =
            of_server(&Bytes::copy_from_slice(text.as_bytes()), |id| Some(format!("<{id}>")));
        changed.map(|text| String::from_utf8(text.to_vec()).unwrap())
    }

    #[test]
    fn ids_change_where_the_shapes_have_them_and_nothing_else_does() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"task":{ "taskId" : "t", "ttl":1.0}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t","status":"working"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"t"},{"taskId":"t"}],"nextCursor":"taskId"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"taskId":"t","status":"completed","result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t","status":"working"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","_meta":{"x":1}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#,
        ] {
            assert_eq!(shown(text), Some(text.replace(r#""t""#, r#""<t>""#)), "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"taskId":"t"},"content":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"taskId":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"taskId":7,"status":"x"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"taskId":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"the client's"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"taskId"}}"#,
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_keeps_the_callers_own() {
        let list = |tasks: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{ "tasks" : {tasks},"nextCursor":"c"}}}}"#
            )
        };
        let keep = |tasks: &str| {
            let kept = listed(&list(tasks).into(), |id| id.starts_with('m'));
            kept.map(|text| String::from_utf8(text.to_vec()).unwrap())
        };
        let all = r#"[ {"taskId":"m1","n":1.0}, {"taskId":"\u006d2"}]"#;
        assert_eq!(keep(all), None);
        assert_eq!(keep("[ ]"), None);
        let some = r#"[ {"taskId":"x"} , {"n":1.0, "taskId":"m1"},{"taskId":7},{},"m"]"#;
        assert_eq!(keep(some), Some(list(r#"[{"n":1.0, "taskId":"m1"}]"#)));
        assert_eq!(keep(r#"[{"taskId":"x"}]"#), Some(list("[]")));
        assert_eq!(listed(&r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into(), |_| true), None);
    }

    #[test]
    fn a_wish_for_a_task_is_taken_out_and_nothing_else_is() {
        let text = |task: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t",{task}"arguments":{{"task":1.0}}}}}}"#
            )
        };
        let message = |text: String| Message::parse(text.into()).unwrap();
        let plain = without_wish(message(text(r#""task":{"ttl":1},"#)));
        assert_eq!(plain.text(), text("").as_bytes());
        assert_eq!(without_wish(plain).text(), text("").as_bytes());
    }

    #[test]
    fn a_clients_message_gets_the_servers_id_where_it_is_one() {
        let text = |id| {
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"result":{{"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{id}"}}}}}}}}"#
            )
        };
        let own = |id: &str| id.strip_prefix('<')?.strip_suffix('>').map(str::to_owned);
        assert_eq!(of_client(&text("<t>").into(), own).unwrap(), text("t"));
        assert_eq!(of_client(&text("the client's").into(), own), None);
    }
}
