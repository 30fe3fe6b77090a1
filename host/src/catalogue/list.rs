//! Results of the list methods, page by page.

use std::sync::Arc;

use bytes::Bytes;

use super::entry::{Entry, EntryKind};
use super::view::View;

/// Entries of one page: a client that reads page by page is not to hold more at once.
const ITEMS: usize = 1_000;
/// Bytes of the definitions of one page, unless a single one is larger: what clients read in one message.
const BYTES: usize = 4 * 1024 * 1024;

/// Which members a list result has besides the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// None: the legacy era.
    Legacy,
    /// Those of the modern era, for a caller that was identified.
    Private,
    /// Those of the modern era, for anybody.
    Shared,
}

/// One page of a list result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its JSON text; without the last brace where another page follows, for the cursor to stand there.
    pub text: Bytes,
    /// The number of the page that follows.
    pub next: Option<u32>,
}

/// Places at which pages of the entries of a kind begin, the first one at 0. They depend on these entries alone, each given
/// with its place in the catalogue, and not on what a caller sees of them: a page is the same whatever the pages before it
/// show to a caller.
pub(super) fn cut(entries: impl Iterator<Item = (Arc<Entry>, u32)>, kind: EntryKind) -> Box<[u32]> {
    cut_at(entries, kind, ITEMS, BYTES)
}

fn cut_at(
    entries: impl Iterator<Item = (Arc<Entry>, u32)>,
    kind: EntryKind,
    items: usize,
    most: usize,
) -> Box<[u32]> {
    let mut starts = vec![0];
    let (mut count, mut bytes) = (0, 0);
    for (entry, place) in entries.filter(|(entry, _)| entry.kind == kind) {
        let length = entry.definition.len() + 1;
        if count > 0 && (count >= items || bytes + length > most) {
            starts.push(place);
            (count, bytes) = (0, 0);
        }
        count += 1;
        bytes += length;
    }
    starts.into()
}

/// Every page of a list: the definitions stand in it as the router gave them, but for hidden functions that they name.
pub(super) fn render(view: &View, kind: EntryKind, form: Form) -> Box<[Page]> {
    let starts = view.pages(kind);
    let ends = starts.iter().skip(1).map(|start| Some(*start)).chain([None]);
    let pages = starts.iter().zip(ends).zip(1..).map(|((start, end), next)| {
        let on_page = |place: u32| place >= *start && end.is_none_or(|end| place < end);
        let text = page(view, kind, form, on_page, end.is_none());
        Page { text, next: end.map(|_| next) }
    });
    pages.collect()
}

fn page(
    view: &View,
    kind: EntryKind,
    form: Form,
    on_page: impl Fn(u32) -> bool,
    last: bool,
) -> Bytes {
    let entries = view.listed_places();
    let entries = entries.filter(|(entry, place)| entry.kind == kind && on_page(*place));
    let entries: Vec<&str> = entries.map(|(entry, place)| view.definition(entry, place)).collect();
    let size: usize = entries.iter().map(|definition| definition.len() + 1).sum();
    let mut out = String::with_capacity(size + 128);
    out.push('{');
    if form != Form::Legacy {
        out.push_str(r#""resultType":"complete","#);
        out.push_str(&view.caching(kind, form).members());
    }
    out.push('"');
    out.push_str(kind.list_member());
    out.push_str("\":[");
    for (place, definition) in entries.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        out.push_str(definition);
    }
    out.push_str(if last { "]}" } else { "]" });
    Bytes::from(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::catalogue::{Hints, Sight, Target};

    fn entry(kind: EntryKind, key: &str, length: usize) -> Arc<Entry> {
        Arc::new(Entry {
            kind,
            key: key.into(),
            definition: format!("{key}{}", "x".repeat(length)).into(),
            target: Target::Local,
            hints: Hints::default(),
            arguments: None,
            mirrored: Box::default(),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pages_end_to_end_are_the_whole_list(
            all in prop::collection::vec((any::<bool>(), 0..40_usize, 0..3_u8), 0..40),
            items in 1..9_usize,
            bytes in 1..120_usize,
        ) {
            let kind = |tool: bool| if tool { EntryKind::Tool } else { EntryKind::Prompt };
            let entries: Vec<Arc<Entry>> = all
                .iter()
                .enumerate()
                .map(|(at, (tool, length, _))| entry(kind(*tool), &format!("{at}."), *length))
                .collect();
            let sights = [Sight::Shown, Sight::Unlisted, Sight::Hidden];
            let sights: Vec<Sight> = all.iter().map(|(.., sight)| sights[usize::from(*sight)]).collect();
            let starts = cut_at(entries.iter().cloned().zip(0..), EntryKind::Tool, items, bytes);
            for place in starts.windows(2) {
                prop_assert!(place[0] < place[1]);
            }
            let catalogue = crate::catalogue::Catalogue::of_entries(entries.clone(), starts.clone());
            let view = View::filtered(Arc::new(catalogue), sights.clone());
            let pages = render(&view, EntryKind::Tool, Form::Legacy);
            prop_assert_eq!(pages.len(), starts.len());
            let mut definitions: Vec<String> = Vec::new();
            for (number, page) in pages.iter().enumerate() {
                let text = std::str::from_utf8(&page.text).unwrap();
                let text = text.strip_prefix(r#"{"tools":["#).unwrap();
                let last = number + 1 == pages.len();
                prop_assert_eq!(page.next.map(|next| next as usize), (!last).then_some(number + 1));
                let inner = text.strip_suffix(if last { "]}" } else { "]" }).unwrap();
                let found: Vec<&str> = inner.split(',').filter(|one| !one.is_empty()).collect();
                prop_assert!(found.len() <= items);
                prop_assert!(found.len() == 1 || inner.len() <= bytes);
                definitions.extend(found.into_iter().map(str::to_owned));
            }
            let shown = entries.iter().zip(&sights);
            let shown = shown.filter(|(entry, sight)| entry.kind == EntryKind::Tool && **sight == Sight::Shown);
            let expected: Vec<String> = shown.map(|(entry, _)| entry.definition.to_string()).collect();
            prop_assert_eq!(definitions, expected);
        }
    }
}
