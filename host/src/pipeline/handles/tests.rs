use super::*;

fn name(text: &str) -> Arc<str> {
    text.into()
}

fn known(caller: &Arc<str>) -> Keeper<'_> {
    Keeper { caller, apart: true }
}

#[test]
fn the_first_one_has_an_id_and_keeps_it() {
    let handles = Handles::default();
    let (ann, bob) = (name("ann"), name("bob"));
    let (ann, bob) = (known(&ann), known(&bob));
    assert!(handles.claim(&ann, "chem", "session", "s1"));
    assert!(handles.claim(&ann, "chem", "session", "s1"), "again");
    assert!(!handles.claim(&bob, "chem", "session", "s1"));
    assert!(handles.owns(&ann, Some("chem"), "session", "s1"));
    assert!(!handles.owns(&bob, Some("chem"), "session", "s1"));
    // Another server or another kind is another id.
    assert!(!handles.owns(&ann, Some("gis"), "session", "s1"));
    assert!(!handles.owns(&ann, Some("chem"), "job", "s1"));
    assert!(handles.claim(&bob, "gis", "session", "s2"));
    assert!(handles.owns(&bob, None, "session", "s2"));
    assert!(!handles.owns(&bob, None, "session", "s3"));
    assert_eq!(handles.list(&ann, "chem", "session"), ["s1"]);
    assert!(handles.list(&bob, "chem", "session").is_empty());
    // Nobody gives up what belongs to somebody else.
    handles.release(&bob, "chem", "session", "s1");
    assert!(handles.owns(&ann, Some("chem"), "session", "s1"));
    handles.release(&ann, "chem", "session", "s1");
    assert!(!handles.owns(&ann, Some("chem"), "session", "s1"));
    assert!(handles.claim(&bob, "chem", "session", "s1"), "it is free again");
}

#[test]
fn no_other_server_gives_away_what_somebody_has() {
    let handles = Handles::default();
    let (ann, bob) = (name("ann"), name("bob"));
    let (ann, bob) = (known(&ann), known(&bob));
    assert!(handles.claim(&bob, "gis", "session", "s1"));
    assert!(!handles.claim(&ann, "evil", "session", "s1"));
    assert!(!handles.owns(&ann, None, "session", "s1"));
    assert!(handles.claim(&ann, "evil", "job", "s1"), "another kind");
    // Two ways to one server: each has to be given up before somebody else can have the id.
    assert!(handles.claim(&bob, "also gis", "session", "s1"));
    assert_eq!(handles.lock().ids, 3);
    handles.release(&bob, "gis", "session", "s1");
    assert!(!handles.owns(&bob, Some("gis"), "session", "s1"));
    assert!(handles.owns(&bob, None, "session", "s1"));
    assert!(!handles.claim(&ann, "gis", "session", "s1"));
    handles.release(&bob, "also gis", "session", "s1");
    assert!(handles.claim(&ann, "gis", "session", "s1"));
    assert_eq!(handles.lock().ids, 2);
}

#[test]
fn what_was_used_last_is_listed_first() {
    let handles = Handles::default();
    let ann = name("ann");
    let ann = known(&ann);
    for id in ["a", "b", "c"] {
        assert!(handles.claim(&ann, "gis", "session", id));
    }
    assert_eq!(handles.list(&ann, "gis", "session"), ["c", "b", "a"]);
    assert!(handles.owns(&ann, Some("gis"), "session", "a"));
    assert!(handles.claim(&ann, "gis", "session", "b"), "given again");
    assert_eq!(handles.list(&ann, "gis", "session"), ["b", "a", "c"]);
}

#[test]
fn strangers_use_what_they_present_and_list_nothing() {
    let handles = Handles::default();
    let nobody = name("nobody");
    let strangers = Keeper { caller: &nobody, apart: false };
    assert!(handles.claim(&strangers, "chem", "session", "s1"));
    assert!(handles.owns(&strangers, Some("chem"), "session", "s1"));
    assert!(handles.list(&strangers, "chem", "session").is_empty());
    let ann = name("ann");
    assert!(!handles.claim(&known(&ann), "chem", "session", "s1"));
}

#[test]
fn what_is_no_id_belongs_to_nobody() {
    let handles = Handles::default();
    let ann = name("ann");
    let ann = known(&ann);
    let (long, word) = ("x".repeat(LONGEST + 1), "k".repeat(KIND + 1));
    for (upstream, kind, id) in [
        ("", "job", "a"),
        ("chem", "", "a"),
        ("chem", "job", ""),
        ("chem", "job", &long),
        ("chem", &word, "a"),
    ] {
        assert!(!handles.claim(&ann, upstream, kind, id), "{upstream:?} {kind:?}");
        assert!(!handles.owns(&ann, Some(upstream), kind, id), "{upstream:?} {kind:?}");
        handles.release(&ann, upstream, kind, id);
    }
    assert!(handles.claim(&ann, "chem", &"k".repeat(KIND), &"x".repeat(LONGEST)));
}

#[test]
fn an_id_that_nobody_uses_is_forgotten_after_a_day() {
    let (ann, bob) = (name("ann"), name("bob"));
    let mut table = Table::default();
    let start = Instant::now();
    let handle = |id: &str| Handle::new("chem", "job", id).unwrap();
    let minute = Duration::from_mins(1);
    assert!(table.claim(&ann, handle("a"), start));
    assert!(table.claim(&ann, handle("b"), start));
    // A use starts the day anew.
    assert!(table.owns(&ann, (Some("chem"), "job", "a"), start + minute));
    assert!(table.owns(&ann, (Some("chem"), "job", "a"), start + IDLE));
    assert!(!table.owns(&ann, (Some("chem"), "job", "b"), start + IDLE));
    assert!(!table.claim(&bob, handle("a"), start + IDLE));
    assert!(table.claim(&bob, handle("b"), start + IDLE), "it was free");
    assert!(table.owns(&bob, (None, "job", "b"), start + IDLE));
    assert!(!table.owns(&ann, (None, "job", "b"), start + IDLE));
}

#[test]
fn one_caller_forgets_what_it_did_not_use_the_longest() {
    let handles = Handles::default();
    let ann = name("ann");
    let ann = known(&ann);
    for number in 0..IDS {
        assert!(handles.claim(&ann, "chem", "job", &number.to_string()));
    }
    assert!(handles.owns(&ann, Some("chem"), "job", "0"));
    assert!(handles.claim(&ann, "chem", "job", "one more"));
    assert!(!handles.owns(&ann, Some("chem"), "job", "1"));
    for id in ["0", "2", "one more"] {
        assert!(handles.owns(&ann, Some("chem"), "job", id), "{id}");
    }
    let table = handles.lock();
    assert_eq!((table.owners.len(), table.ids), (IDS, IDS));
}

#[test]
fn the_quietest_callers_lose_theirs_when_there_are_too_many() {
    let handles = Handles::default();
    let all: Vec<Arc<str>> = (0..=ALL / IDS).map(|number| name(&number.to_string())).collect();
    for caller in &all {
        for number in 0..IDS {
            let id = format!("{caller}.{number}");
            assert!(handles.claim(&known(caller), "chem", "job", &id));
        }
        // The first one is never quiet.
        assert!(handles.owns(&known(&all[0]), Some("chem"), "job", "0.0"));
    }
    assert!(!handles.owns(&known(&all[1]), Some("chem"), "job", "1.0"));
    assert!(handles.owns(&known(&all[2]), Some("chem"), "job", "2.0"));
    let table = handles.lock();
    assert!(table.ids <= ALL);
    assert_eq!(table.owners.len(), table.ids);
    assert_eq!(table.ids, table.callers.values().map(|own| own.ids.len()).sum::<usize>());
}

#[test]
fn there_are_not_too_many_callers() {
    let handles = Handles::default();
    for number in 0..=CALLERS {
        let caller = name(&number.to_string());
        assert!(handles.claim(&known(&caller), "chem", "job", &number.to_string()));
    }
    let (first, second) = (name("0"), name("1"));
    assert!(!handles.owns(&known(&first), Some("chem"), "job", "0"));
    assert!(handles.owns(&known(&second), Some("chem"), "job", "1"));
    assert_eq!(handles.lock().callers.len(), CALLERS);
}
