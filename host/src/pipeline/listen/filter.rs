//! What a client wants to hear of.

use std::ops::Range;

use crate::fault::{Code, Fault};
use crate::pipeline::announced::LISTS;
use crate::protocol::{Document, Message, message, scan};

/// URIs that one client may want to hear of in one stream, and tasks.
const MAX: usize = 256;

/// The members that ask for changes of the lists, in their order.
pub(super) const LIST_KEYS: [&str; LISTS.len()] =
    ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];
/// The member that names resources.
pub(super) const URIS: &str = "resourceSubscriptions";

/// The member that names tasks (SEP-2663, "Task Status Notifications").
pub(super) const TASKS: &str = "taskIds";

/// `params.notifications`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Filter {
    /// Which lists, in the order of [`LIST_KEYS`].
    pub(super) lists: [bool; LISTS.len()],
    /// Resources.
    pub(super) uris: Vec<String>,
    /// Tasks, by the ids that the client knows.
    pub(super) tasks: Vec<String>,
    /// JSON texts of the members that other extensions add, each with its name.
    pub(super) extensions: Vec<(String, String)>,
}

impl Filter {
    /// Whether nothing is asked for that only servers tell.
    pub(super) fn is_of_lists_only(&self) -> bool {
        self.uris.is_empty() && self.tasks.is_empty() && self.extensions.is_empty()
    }

    /// What a request asks for.
    pub(super) fn of(request: &Message) -> Result<Self, Fault> {
        let text = place(request).and_then(|place| text_at(request, place));
        let text = text.filter(|text| text.starts_with('{')).ok_or_else(|| {
            invalid("The params need an object \"notifications\" that says what to listen for.")
        })?;
        if let Err(error) = Document::parse(text) {
            return Err(invalid("The object \"notifications\" is ambiguous.").because(error));
        }
        let mut filter = Self::default();
        for (key, value) in scan::members(text).unwrap_or_default() {
            let name = text.get(key.range()).and_then(message::string).unwrap_or_default();
            let value = text.get(value.range()).unwrap_or_default();
            if let Some(list) = LIST_KEYS.iter().position(|known| *known == name) {
                if let Some(wanted) = filter.lists.get_mut(list) {
                    *wanted = value == "true";
                }
            } else if name == URIS {
                filter.uris = strings(value).ok_or_else(|| {
                    invalid("The member \"resourceSubscriptions\" is an array of URIs.")
                })?;
            } else if name == TASKS {
                filter.tasks = strings(value)
                    .ok_or_else(|| invalid("The member \"taskIds\" is an array of strings."))?;
            } else {
                filter.extensions.push((name.into_owned(), value.to_owned()));
            }
        }
        for (what, count) in [("resources", filter.uris.len()), ("tasks", filter.tasks.len())] {
            if count > MAX {
                let text = format!("One stream can tell of {MAX} {what}: open another one.");
                return Err(Fault::new(Code::InvalidParams, text));
            }
        }
        Ok(filter)
    }
}

/// Where the value of `params.notifications` stands in the text of a message.
pub(super) fn place(message: &Message) -> Option<Range<usize>> {
    let value = scan::member(message.params()?, "notifications")?.range();
    let start = message.params_span().range().start;
    Some(start + value.start..start + value.end)
}

/// JSON text of `params.notifications`.
pub(super) fn text_at(message: &Message, place: Range<usize>) -> Option<&str> {
    message.text().get(place).and_then(|text| std::str::from_utf8(text).ok())
}

/// The strings of an array of strings.
pub(super) fn strings(array: &str) -> Option<Vec<String>> {
    let items = scan::items(array)?;
    let text = |item: scan::Span| array.get(item.range()).and_then(message::string);
    items.into_iter().map(|item| text(item).map(std::borrow::Cow::into_owned)).collect()
}

fn invalid(text: &'static str) -> Fault {
    Fault::new(Code::InvalidParams, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(params: &str) -> Result<Filter, Code> {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{params}}}"#
        );
        Filter::of(&Message::parse(text.into()).unwrap()).map_err(|fault| fault.code())
    }

    #[test]
    fn what_is_known_is_read_and_the_rest_is_kept() {
        let filter = of(
            r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":false,"taskIds":["a","\u0062"],"y/z":["a", 1.0],"resourceSubscriptions":["x","\u0079"]}}"#,
        );
        let expected = Filter {
            lists: [true, false, false],
            uris: vec!["x".to_owned(), "y".to_owned()],
            tasks: vec!["a".to_owned(), "b".to_owned()],
            extensions: vec![("y/z".to_owned(), r#"["a", 1.0]"#.to_owned())],
        };
        assert_eq!(filter, Ok(expected));
        assert_eq!(of(r#"{"notifications":{}}"#), Ok(Filter::default()));
        assert!(!filter.unwrap().is_of_lists_only());
        assert!(of(r#"{"notifications":{"toolsListChanged":true}}"#).unwrap().is_of_lists_only());
        let many = vec!["\"u\""; MAX + 1].join(",");
        for wrong in [
            "{}",
            r#"{"notifications":[]}"#,
            r#"{"notifications":{"a":1,"a":2}}"#,
            r#"{"notifications":{"resourceSubscriptions":"x"}}"#,
            r#"{"notifications":{"resourceSubscriptions":[1]}}"#,
            r#"{"notifications":{"taskIds":"x"}}"#,
            r#"{"notifications":{"taskIds":["x",1]}}"#,
            &format!(r#"{{"notifications":{{"resourceSubscriptions":[{many}]}}}}"#),
            &format!(r#"{{"notifications":{{"taskIds":[{many}]}}}}"#),
        ] {
            assert_eq!(of(wrong), Err(Code::InvalidParams), "{wrong}");
        }
    }
}
