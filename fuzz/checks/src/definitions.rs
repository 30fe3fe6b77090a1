//! What a router shaped, compiled into a catalogue.

use std::collections::HashSet;
use std::sync::Arc;

use plugway::catalogue::list::Form;
use plugway::catalogue::{Catalogue, EntryKind, Shaped, ShapedEntry, ShapedTarget, Sight, View};
use serde_json::Value;

use crate::SEPARATOR;

/// Definitions; the first character of each says its kind and its target.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let entries: Vec<ShapedEntry> = text.split(SEPARATOR).take(64).filter_map(entry).collect();
    let given: Vec<String> = entries.iter().map(|entry| entry.definition.clone()).collect();
    let shaped = Shaped { entries, ..Shaped::default() };
    let (catalogue, refused) = Catalogue::compile(1, vec!["up".into()], shaped);
    assert_eq!(catalogue.entries().len() + refused.len(), given.len(), "none gets lost");

    let mut rest = given.iter();
    let mut names = HashSet::new();
    for (entry, place) in catalogue.entries().iter().zip(0..) {
        assert!(rest.any(|definition| **definition == *entry.definition), "the order is kept");
        assert!(names.insert((entry.kind, entry.key.clone())), "no name stands twice");
        assert_eq!(catalogue.find(entry.kind, &entry.key), Some(place), "the index");
        let value: Value = serde_json::from_str(&entry.definition).unwrap_or_default();
        assert_eq!(value.get(entry.kind.key()).and_then(Value::as_str), Some(&*entry.key));
    }
    let catalogue = Arc::new(catalogue);
    lists(&View::whole(catalogue.clone()));
    let sights = [Sight::Shown, Sight::Unlisted, Sight::Hidden];
    let count = catalogue.entries().len();
    let view = View::filtered(catalogue, sights.into_iter().cycle().take(count).collect());
    lists(&view);
    sight(&view);
}

fn entry(text: &str) -> Option<ShapedEntry> {
    let mut letters = text.chars();
    let number = u32::from(letters.next()?);
    let kinds = ["tool", "prompt", "resource", "template", "tools", "tool", "tool", "tool"];
    let kind = *kinds.iter().cycle().nth((number % 8) as usize)?;
    let target = match number / 8 % 7 {
        0 => ShapedTarget::Dynamic,
        1 => ShapedTarget::Local,
        2 => ShapedTarget::Bound("up".to_owned(), "x".to_owned(), "{}".to_owned()),
        3 => ShapedTarget::Bound("up".to_owned(), "x".to_owned(), "[]".to_owned()),
        4 => ShapedTarget::Fixed("up".to_owned(), "x".to_owned()),
        5 => ShapedTarget::Guarded("up".to_owned(), "x".to_owned()),
        _ => ShapedTarget::Fixed("down".to_owned(), "x".to_owned()),
    };
    Some(ShapedEntry { kind: kind.to_owned(), definition: letters.as_str().to_owned(), target })
}

/// Every list is JSON that holds exactly what is shown, in order.
fn lists(view: &View) {
    for kind in EntryKind::ALL {
        for form in [Form::Legacy, Form::Private, Form::Shared] {
            if kind == EntryKind::Function {
                assert!(view.page(kind, form, 0).is_none(), "functions stand in no list");
                continue;
            }
            // So few entries stand on one page.
            let page = view.page(kind, form, 0).map(|page| page.text).unwrap_or_default();
            let list: Value = serde_json::from_slice(&page).unwrap_or_default();
            let listed = list.get(kind.list_member()).and_then(Value::as_array);
            let shown = view.listed().filter(|entry| entry.kind == kind);
            let shown: Vec<Value> = shown
                .map(|entry| serde_json::from_str(&entry.definition).unwrap_or_default())
                .collect();
            // Numbers beyond all floats and halves of surrogate pairs pass as they are; no value is read from them.
            if !shown.contains(&Value::Null) {
                assert_eq!(listed, Some(&shown));
            }
        }
    }
}

/// Hidden is unknown, unlisted is found.
fn sight(view: &View) {
    for (entry, place) in view.catalogue().entries().iter().zip(0..) {
        let is_hidden = view.sight(place) == Sight::Hidden;
        assert_eq!(view.find(entry.kind, &entry.key).is_none(), is_hidden);
        if entry.kind == EntryKind::Resource {
            assert_eq!(view.find_uri(&entry.key).is_none(), is_hidden);
        }
    }
}
