//! Functions among the entries: what they are known by, and all of one upstream at once.

use std::sync::{Arc, OnceLock};

use super::entry::{Entry, EntryKind, Target, function_key};
use super::table::{BadEntry, ShapedTarget};

/// What a function of this name is known by. It has to be an upstream's, and its names without the characters that would keep
/// them apart.
pub(super) fn key(shown: String, target: &ShapedTarget) -> Result<Arc<str>, BadEntry> {
    match target {
        ShapedTarget::Fixed(upstream, own) if is_plain(&shown) && is_plain(own) => {
            Ok(function_key(upstream, &shown, own).into())
        }
        _ => Err(BadEntry::Function { name: shown }),
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_control)
}

/// For each upstream the names of its functions, once somebody asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions(Box<[OnceLock<Option<Arc<str>>>]>);

impl Functions {
    /// Of so many upstreams.
    pub(super) fn of(upstreams: usize) -> Self {
        Self(std::iter::repeat_with(OnceLock::new).take(upstreams).collect())
    }

    /// Those of one upstream, out of these entries: each on a line, its name in the code, and behind a tab the shown one where
    /// that is another.
    pub(super) fn names(&self, upstream: usize, entries: &[Arc<Entry>]) -> Option<&str> {
        let made = self.0.get(upstream)?.get_or_init(|| joined(upstream, entries));
        made.as_deref()
    }
}

fn joined(of: usize, entries: &[Arc<Entry>]) -> Option<Arc<str>> {
    let mut names = String::new();
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Function) {
        if let Target::Fixed { upstream, name, .. } = &entry.target
            && *upstream == of
        {
            names.push_str(name);
            if entry.name() != &**name {
                names.push('\t');
                names.push_str(entry.name());
            }
            names.push('\n');
        }
    }
    (!names.is_empty()).then(|| names.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Shaped, ShapedEntry, View};

    fn function(upstream: &str, shown: &str, own: &str) -> ShapedEntry {
        ShapedEntry {
            kind: "function".to_owned(),
            definition: serde_json::json!({"name": shown}).to_string(),
            target: ShapedTarget::Fixed(upstream.to_owned(), own.to_owned()),
        }
    }

    fn compiled(entries: Vec<ShapedEntry>) -> (Catalogue, Vec<BadEntry>) {
        let shaped = Shaped { entries, ..Shaped::default() };
        Catalogue::compile(1, vec!["a".into(), "b".into(), "c".into()], shaped)
    }

    #[test]
    fn functions_of_the_same_name_stand_side_by_side_and_in_no_list() {
        let tool = ShapedEntry { kind: "tool".to_owned(), ..function("a", "run", "run") };
        let entries = vec![
            tool,
            function("a", "run", "run"),
            function("b", "run", "run"),
            function("a", "run", "walk"),
            function("a", "run", "run"),
        ];
        let (catalogue, refused) = compiled(entries);
        assert_eq!(refused, [BadEntry::Taken { key: "a.run".into() }]);
        let found = |key: &str| catalogue.find(EntryKind::Function, key);
        assert_eq!(
            (found("a.run"), found("b.run"), found("a.run\twalk")),
            (Some(1), Some(2), Some(3))
        );
        assert_eq!(catalogue.find(EntryKind::Tool, "run"), Some(0));
        let names: Vec<&str> = catalogue.entries().iter().map(|entry| entry.name()).collect();
        assert_eq!(names, ["run"; 4]);
        let view = View::whole(Arc::new(catalogue));
        let page = view.page(EntryKind::Tool, crate::catalogue::list::Form::Legacy, 0).unwrap();
        assert_eq!(page.text, r#"{"tools":[{"name":"run"}]}"#);
        assert!(view.page(EntryKind::Function, crate::catalogue::list::Form::Legacy, 0).is_none());
    }

    #[test]
    fn a_function_has_an_upstream_and_names_that_tell_it_apart() {
        let local = ShapedEntry { target: ShapedTarget::Local, ..function("a", "f", "f") };
        let guarded = ShapedTarget::Guarded("a".to_owned(), "f".to_owned());
        let guarded = ShapedEntry { target: guarded, ..function("a", "f", "f") };
        let odd = [
            local,
            guarded,
            function("a", "f\tg", "f"),
            function("a", "f", "f\n"),
            function("a", "f", ""),
        ];
        let (catalogue, refused) = compiled(odd.to_vec());
        assert!(catalogue.entries().is_empty());
        assert_eq!(refused.len(), 5, "{refused:?}");
        assert!(refused.iter().all(|one| matches!(one, BadEntry::Function { .. })), "{refused:?}");
    }

    #[test]
    fn all_names_of_one_upstream_are_one_text() {
        let entries =
            vec![function("a", "f", "f"), function("b", "f", "f"), function("a", "shown", "own")];
        let (catalogue, _) = compiled(entries);
        assert_eq!(catalogue.functions_of(0), Some("f\nown\tshown\n"));
        assert_eq!(catalogue.functions_of(1), Some("f\n"));
        assert_eq!((catalogue.functions_of(2), catalogue.functions_of(3)), (None, None));
        let again = catalogue.functions_of(0).unwrap();
        assert!(std::ptr::eq(again, catalogue.functions_of(0).unwrap()), "it is made once");
    }
}
