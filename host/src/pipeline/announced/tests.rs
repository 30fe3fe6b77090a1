use super::*;
use crate::catalogue::{Entry, Shaped, ShapedEntry, ShapedTarget};

fn catalogue(generation: u32, tools: &[(&str, &str)], away: &[bool]) -> Arc<Catalogue> {
    let entries = tools.iter().map(|(upstream, name)| ShapedEntry {
        kind: "tool".to_owned(),
        definition: format!(r#"{{"name":"{name}"}}"#),
        target: ShapedTarget::Fixed((*upstream).to_owned(), (*name).to_owned()),
    });
    let shaped = Shaped { entries: entries.collect(), ..Shaped::default() };
    let upstreams = vec!["a".into(), "b".into()];
    let (made, refused) = Catalogue::compile(generation, upstreams, shaped);
    assert!(refused.is_empty());
    Arc::new(made.with_away(generation, away.to_vec()))
}

fn names(news: &News, listed: bool) -> Vec<&str> {
    let entries = news.entries.iter().zip(&news.listed).filter(|(_, now)| **now == listed);
    entries.map(|((entry, _), _)| &*entry.key).collect()
}

const BOTH: &[(&str, &str)] = &[("a", "x"), ("a", "y"), ("b", "z")];

/// What is told to who heard everything so far.
fn renewed(announced: &Announced, catalogue: &Arc<Catalogue>) -> News {
    announced.renew(catalogue, Vec::new()).baselines.remove(0).1
}

#[test]
fn what_left_and_came_is_told_once() {
    let announced = Announced::default();
    let news = renewed(&announced, &catalogue(1, BOTH, &[]));
    assert_eq!((names(&news, true), names(&news, false)), (vec!["x", "y", "z"], vec![]));
    assert!(news.left.is_empty() && news.back.is_empty());
    assert!(renewed(&announced, &catalogue(2, BOTH, &[])).is_empty(), "nothing differs");

    let news = renewed(&announced, &catalogue(3, BOTH, &[true, false]));
    assert_eq!((names(&news, true), names(&news, false)), (vec![], vec!["x", "y"]));
    assert_eq!((&*news.left, &*news.back), (&["a".into()][..], &[][..]));

    let fewer = [("a", "y"), ("b", "z"), ("a", "new")];
    let news = renewed(&announced, &catalogue(4, &fewer, &[]));
    assert_eq!((names(&news, true), names(&news, false)), (vec!["y", "new"], vec![]));
    assert_eq!((&*news.left, &*news.back), (&[][..], &["a".into()][..]));
    let turned: Vec<_> = fewer.iter().rev().copied().collect();
    assert!(renewed(&announced, &catalogue(5, &turned, &[])).is_empty(), "order is no news");
}

#[test]
fn who_listed_what_was_there_for_a_moment_is_told_of_its_end() {
    let announced = Announced::default();
    renewed(&announced, &catalogue(1, BOTH, &[]));
    for (generation, away) in [(2, true), (3, false)] {
        announced.note(&catalogue(generation, BOTH, &[away]));
    }
    let bulletin = announced.renew(&catalogue(3, BOTH, &[false]), Vec::new());
    let of = |seen| bulletin.baseline(seen).and_then(|place| bulletin.news(place));
    assert!(bulletin.news(0).is_some_and(News::is_empty), "it flapped back to what was told");
    assert!(of(0).is_none() && of(1).is_none(), "it was told");
    let news = of(2).unwrap();
    assert_eq!((names(news, true), &*news.back), (vec!["x", "y"], &["a".into()][..]));
    assert!(of(3).is_none() && of(4).is_none(), "it saw what there is");
}

#[test]
fn what_nobody_but_a_session_lists_is_news_for_that_session_alone() {
    let lazily = |generation: u32, away: &[bool]| {
        let all = Catalogue::clone(&catalogue(generation, BOTH, away));
        Arc::new(all.with_residents(Some(|entry: &Entry| *entry.key == *"z")))
    };
    let announced = Announced::default();
    renewed(&announced, &lazily(1, &[]));
    let news = renewed(&announced, &lazily(2, &[true, true]));
    let shown = |loaded: &[Arc<str>]| {
        let mut sights = vec![Sight::Shown; news.entries.len()];
        news.narrow(&mut sights, loaded);
        let all = news.entries.iter().zip(sights);
        let shown = all.filter(|(_, sight)| *sight == Sight::Shown);
        shown.map(|((entry, _), _)| entry.key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&[]), ["z"]);
    assert_eq!(shown(&["y".into()]), ["y", "z"]);
    // Where everything is listed from now on, what nobody listed is new.
    let news = renewed(&announced, &catalogue(3, BOTH, &[true, true]));
    assert!(news.is_empty(), "it is away: {news:?}");
    let news = renewed(&announced, &catalogue(4, BOTH, &[]));
    assert_eq!(names(&news, true), ["x", "y", "z"]);
    let news = renewed(&announced, &lazily(5, &[]));
    assert_eq!((names(&news, false), names(&news, true)), (vec!["x", "y"], vec!["x", "y"]));
    assert_eq!(news.resident, [true, true, false, false]);
}

#[test]
fn what_is_not_remembered_is_told_as_new() {
    let announced = Announced::default();
    renewed(&announced, &catalogue(1, BOTH, &[]));
    for generation in 2..20 {
        announced.note(&catalogue(generation, BOTH, &[]));
    }
    let bulletin = announced.renew(&catalogue(19, BOTH, &[]), Vec::new());
    let told = |seen| bulletin.news(bulletin.baseline(seen).unwrap()).unwrap().entries.len();
    assert_eq!((told(2), told(18)), (3, 0));
}
