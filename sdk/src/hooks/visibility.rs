//! What a caller sees: the one hook of policies that looks at many things at once.

use std::ops::ControlFlow;

use crate::{Failure, Plugin};

/// Many items in columns; [`Page::items`] reads them one by one.
pub use crate::glue::visibility::Page;
/// Shown, unlisted (a call reaches `admit` and gets its reason) or hidden (unknown).
pub use crate::glue::visibility::Sight;
/// A sight for each item, how long it holds, and what the client is told about it.
pub use crate::glue::visibility::View;

/// `visibility`: judge items one by one with [`sight`](Self::sight), or a whole page with [`visible`](Self::visible).
pub trait Visibility: Plugin {
    /// Judges one item. There is a [`caller`](crate::host::caller) but no call.
    fn sight(&self, item: &Item<'_>) -> Result<Sight, Failure>;

    /// How long an answer holds, in milliseconds; none = until caller, scopes, catalogue or policy change.
    fn valid_ms(&self) -> Option<u32> {
        None
    }

    /// One sentence for the client's `instructions`, about what it asked for; none = nothing to say.
    fn notice(&self) -> Option<String> {
        None
    }

    /// Judges a page of at most 1,000 items, within 2 s; by itself it asks [`sight`](Self::sight) for each.
    fn visible(&self, page: Page) -> Result<View, Failure> {
        let sights = page.items()?.iter().map(|item| self.sight(item)).collect::<Result<_, _>>()?;
        Ok(View { sights, valid_ms: self.valid_ms(), notice: self.notice() })
    }
}

/// One thing of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item<'a> {
    /// Place in the page, for [`listing`](crate::host::listing).
    pub index: u32,
    /// `tool`, `prompt`, `resource`, `template` or `function`: what the code of a server can call.
    pub kind: &'a str,
    /// As clients see it; the URI of a resource.
    pub name: &'a str,
    /// The server behind it; empty for an entry that the router answers.
    pub upstream: &'a str,
    /// The server's tags.
    pub tags: &'a [String],
    /// Annotations after the operator's trust rules.
    pub hints: &'a [(String, String)],
}

impl Item<'_> {
    /// Whether the server gave it this tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|have| have == tag)
    }

    /// A hint by its name, such as `readOnlyHint`.
    pub fn hint(&self, name: &str) -> Option<&str> {
        self.hints.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
    }
}

impl Page {
    /// The items one by one; a column that does not fit the others is a failure, never a guess.
    pub fn items(&self) -> Result<Vec<Item<'_>>, Failure> {
        let mut items = Vec::with_capacity(self.names.len());
        let walked =
            (0_u32..).zip(&self.names).try_for_each(|(index, name)| match self.item(index, name) {
                Some(item) => {
                    items.push(item);
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(index),
            });
        match walked {
            ControlFlow::Continue(()) => Ok(items),
            ControlFlow::Break(index) => {
                Err(Failure::new(format!("item {index} of the page is incomplete")))
            }
        }
    }

    fn item<'a>(&'a self, index: u32, name: &'a str) -> Option<Item<'a>> {
        Some(Item {
            index,
            name,
            kind: at(&self.kinds, &self.kind_of, index)?,
            upstream: at(&self.upstreams, &self.upstream_of, index)?,
            tags: at(&self.tag_sets, &self.tags_of, index)?,
            hints: at(&self.hint_sets, &self.hints_of, index)?,
        })
    }
}

fn at<'a, T>(values: &'a [T], places: &[u32], index: u32) -> Option<&'a T> {
    let place = *places.get(usize::try_from(index).ok()?)?;
    values.get(usize::try_from(place).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        Page {
            names: vec!["a".into(), "b".into()],
            kind_of: vec![0, 0],
            upstream_of: vec![1, 0],
            tags_of: vec![0, 1],
            hints_of: vec![0, 0],
            kinds: vec!["tool".into()],
            upstreams: vec!["x".into(), "y".into()],
            tag_sets: vec![vec![], vec!["admin".into()]],
            hint_sets: vec![vec![("readOnlyHint".into(), "true".into())]],
        }
    }

    #[test]
    fn columns_become_items() {
        let page = page();
        let items = page.items().unwrap();
        assert_eq!((items[0].upstream, items[1].upstream), ("y", "x"));
        assert!(items[1].has_tag("admin") && !items[0].has_tag("admin"));
        assert_eq!(items[0].hint("readOnlyHint"), Some("true"));
        assert_eq!(items[0].hint("openWorldHint"), None);
    }

    #[test]
    fn a_torn_page_is_a_failure() {
        let mut page = page();
        page.tags_of.pop();
        assert_eq!(page.items().unwrap_err().message, "item 1 of the page is incomplete");
    }
}
