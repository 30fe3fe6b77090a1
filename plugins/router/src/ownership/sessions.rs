//! Lists and numbers of sessions, without those of others.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::text;

/// What stands before the number of everybody's sessions in the sentence about a session that is not there.
const ACTIVE: &str = "Active sessions: ";
/// The number of everybody's sessions that are left when one was closed.
const REMAINING: &str = "remaining_sessions";

/// The text of a list with the sessions for which this is true, and how many those are. What stays is written as it was.
/// None where it is no list.
pub fn filtered(list: &str, mut is_own: impl FnMut(&str) -> bool) -> Option<(String, usize)> {
    let array = text::member(list, "sessions")?;
    let items = text::items(list, &array)?;
    let own: Vec<&str> = items
        .iter()
        .filter_map(|item| list.get(item.clone()))
        .filter(|item| {
            serde_json::from_str::<Session>(item).is_ok_and(|session| is_own(&session.session_id))
        })
        .collect();
    let sessions = match (items.as_slice(), own.as_slice()) {
        ([], _) => list.get(array.clone())?.to_owned(),
        (_, []) => "[]".to_owned(),
        ([first, rest @ ..], _) => {
            let last = rest.last().unwrap_or(first);
            let before = list.get(array.start..first.start)?;
            let after = list.get(last.end..array.end)?;
            let between = rest.first().and_then(|next| list.get(first.end..next.start));
            [before, &own.join(between.unwrap_or(",")), after].concat()
        }
    };
    let count = own.len();
    let made = text::spliced(list, &array, &sessions);
    let made = match text::member(&made, "count") {
        Some(place) => text::spliced(&made, &place, &count.to_string()),
        None => made,
    };
    Some((made, count))
}

#[derive(Deserialize)]
struct Session {
    session_id: String,
}

/// The result of a list with the caller's own sessions; none where it says something that cannot be read as a list, or as
/// that there is none.
pub fn own_list(result: &str, is_own: &dyn Fn(&str) -> bool) -> Option<(String, usize)> {
    let read: ListResult = serde_json::from_str(result).ok()?;
    let plain = read.is_error;
    let structured = read.structured.as_ref().map(|wrapped| &wrapped.result);
    let mut count = 0;
    for text in read.content.iter().map(|content| &content.text).chain(structured) {
        match filtered(text, is_own) {
            Some((_, own)) => count = own,
            None if plain && !text::is_structure(text) => {}
            None if failed(text) => {}
            None => return None,
        }
    }
    let made = text::map_texts(result, |text| Some(filtered(text, is_own)?.0));
    Some((made, count))
}

/// Whatever else a list says: nothing in it may be about somebody else.
#[derive(Deserialize)]
struct ListResult {
    content: Vec<Text>,
    #[serde(default, rename = "structuredContent")]
    structured: Option<Wrapped>,
    #[serde(default, rename = "isError")]
    is_error: bool,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapped {
    result: String,
}

/// Whether the text says of itself that it reports a failure, and holds no list.
pub fn failed(text: &str) -> bool {
    text::member(text, "success").is_some_and(|place| text.get(place) == Some("false"))
        && text::member(text, "sessions").is_none()
}

/// Whether a result tells how many sessions everybody has.
pub fn counts(result: &str) -> bool {
    result.contains(ACTIVE) || result.contains(REMAINING)
}

/// The text of an answer with the caller's own number in place of everybody's; none where it has no such number.
pub fn recounted(text: &str, own: usize) -> Option<String> {
    let counted =
        text::member(text, REMAINING).map(|place| text::spliced(text, &place, &own.to_string()));
    let so_far = counted.as_deref().unwrap_or(text);
    match text::map_inner(so_far, |string| text::renumbered(string, ACTIVE, own)) {
        Some(made) => Some(made),
        None => counted,
    }
}

/// The first text of a tool's result.
pub fn first_text(result: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Result<'a> {
        #[serde(borrow)]
        content: Vec<&'a RawValue>,
    }
    let read: Result<'_> = serde_json::from_str(result).ok()?;
    let text: Text = serde_json::from_str(read.content.first()?.get()).ok()?;
    Some(text.text)
}
