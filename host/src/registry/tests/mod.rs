//! Leases over time, and what a configuration makes of them. The clock is given.

use std::path::Path;
use std::time::{Duration, Instant};

use super::book::Book;
use super::join::join;
use super::lease::{Holder, Known, Lease, Verdict};
use super::names::KEPT;
use super::request::Registration;
use super::rules::Rules;
use super::shelf::Done;
use crate::config::{Credential, Environment, Flags, Prefix, Settings, Target, parse};
use crate::fault::{Code, Fault};

mod moves;
mod others;

const TOP: &str = "name: hub\nauth: {mode: static, tokens: {0123456789abcdef: {client_id: ann, scopes: ['plugway:registry']}, fedcba9876543210: {client_id: bob, scopes: ['plugway:registry']}}}\n";
const REGISTRY: &str = "registry: {names: ['*'], hosts: [h], max: 4, max_of_identity: 2}\n";
const UPSTREAMS: &str = "upstreams:\n- {name: clock, url: http://x/mcp}\n- {name: chem, accept_leases: [ann], prefix: never, auth: {mode: bearer, token: secret-token}}\n- {name: last, url: http://x/mcp}\n";

fn settings(parts: &[&str]) -> Settings {
    let text = [&[TOP], parts].concat().concat();
    let environment = Environment::default();
    parse(&text, Path::new("/c/plugway.yaml"), &Flags::default(), &environment).unwrap()
}

struct Case {
    book: Book,
    file: Settings,
    start: Instant,
}

impl Case {
    fn new() -> Self {
        let file = settings(&[REGISTRY, UPSTREAMS]);
        Self { book: Book::default(), file, start: Instant::now() }
    }

    fn at(&self, seconds: u64) -> Instant {
        self.start + Duration::from_secs(seconds)
    }

    fn asks(&self, who: &str, name: &str, url: &str, now: u64) -> Result<(Done, Lease), Fault> {
        let body = format!(r#"{{"name": "{name}", "url": "{url}", "ttl": 60}}"#);
        let asked = Registration::read(body.as_bytes()).unwrap();
        let rules = Rules::of(&self.file.connectors[0]).unwrap();
        self.book.make_way(&rules, &holder(who), &asked);
        self.book.register(&rules, &holder(who), asked, self.at(now))
    }

    fn done(&self, who: &str, name: &str, url: &str, now: u64) -> Done {
        self.asks(who, name, url, now).unwrap().0
    }

    fn code(&self, who: &str, name: &str, now: u64) -> Code {
        self.asks(who, name, "http://h/mcp", now).unwrap_err().code()
    }

    fn lapsed(&self, now: u64) -> Vec<String> {
        self.book.sweep(self.at(now)).iter().map(|(_, lease)| lease.name.to_string()).collect()
    }

    /// Puts in place what there is: the upstreams in order, and the address of each.
    fn applied(&self) -> Vec<String> {
        let joined = join(&self.file, &self.book);
        self.book.settle(&joined.placed);
        let upstreams = joined.settings.connectors[0].upstreams.iter();
        let shown = upstreams.map(|one| match &one.target {
            Target::Http(address) => format!("{} {}", one.name, address.url),
            other => format!("{} {other:?}", one.name),
        });
        shown.collect()
    }

    fn state(&self, name: &str) -> (&'static str, Option<String>) {
        let leases = self.book.leases("hub");
        let lease = leases.iter().find(|lease| &*lease.name == name).unwrap();
        let (state, why) = lease.state();
        (state, why.map(|why| why.to_string()))
    }
}

fn holder(who: &str) -> Holder {
    Holder { id: format!("id of {who}").into(), shown: who.into() }
}

#[test]
fn a_lease_lasts_as_long_as_it_is_renewed() {
    let case = Case::new();
    assert_eq!(case.done("ann", "w", "http://h/mcp", 0), Done::Registered);
    let revision = case.book.revision();
    assert!(case.lapsed(59).is_empty());
    assert_eq!(case.done("ann", "w", "http://h/mcp", 59), Done::Renewed);
    assert_eq!(case.book.next_end(), Some(case.at(119)));
    assert_eq!(case.book.revision(), revision, "a renewal changes nothing for clients");
    assert!(case.lapsed(118).is_empty());
    assert_eq!(case.lapsed(119), ["w"]);
    assert!(case.lapsed(119).is_empty() && case.book.next_end().is_none());
    assert_ne!(case.book.revision(), revision);
    assert!(case.book.leases("hub").is_empty());
}

#[test]
fn a_name_stays_its_holders_while_it_is_leased_and_for_a_day() {
    let case = Case::new();
    case.done("ann", "w", "http://h/mcp", 0);
    assert_eq!(case.code("bob", "w", 1), Code::NameTaken);
    let unknown = case.book.lease("hub", "w", &holder("bob")).unwrap_err();
    assert_eq!(unknown.code(), Code::UnknownName);
    let foreign = case.book.remove("hub", "w", &holder("bob"), case.at(1)).unwrap_err();
    assert_eq!(foreign.public(), unknown.public(), "nobody learns what others have");
    assert_eq!(case.lapsed(60), ["w"]);
    let day = 60 + KEPT.as_secs();
    assert_eq!(case.code("bob", "w", day - 1), Code::NameTaken);
    assert_eq!(case.done("ann", "w", "http://h/mcp", day - 1), Done::Registered, "its holder may");
    case.book.remove("hub", "w", &holder("ann"), case.at(day)).unwrap();
    assert_eq!(case.code("bob", "w", day + 1), Code::NameTaken, "also when it was removed");
    assert_eq!(case.done("bob", "w", "http://h/mcp", day + KEPT.as_secs()), Done::Registered);
}

#[test]
fn leases_are_bounded_for_each_identity_and_in_all() {
    let case = Case::new();
    for name in ["a", "b"] {
        case.done("ann", name, "http://h/mcp", 0);
    }
    assert_eq!(case.code("ann", "c", 1), Code::Forbidden);
    assert_eq!(case.done("ann", "a", "http://h/mcp", 1), Done::Renewed, "what there is goes on");
    for name in ["c", "d"] {
        case.done("bob", name, "http://h/mcp", 1);
    }
    assert_eq!(case.code("eve", "e", 1), Code::Overloaded);
    assert_eq!(case.lapsed(60), ["b"]);
    assert_eq!(case.done("eve", "e", "http://h/mcp", 60), Done::Registered);
}

#[test]
fn no_server_takes_names_of_tools_of_another_identitys() {
    let case = Case::new();
    case.done("ann", "w_x", "http://h/mcp", 0);
    for name in ["w", "w_x_y"] {
        assert_eq!(case.code("bob", name, 1), Code::NameTaken, "{name}");
    }
    case.done("bob", "w_y", "http://h/mcp", 1);
    case.done("ann", "w_x_y", "http://h/mcp", 1);
}

#[test]
fn leases_stand_behind_the_file_or_in_the_entry_that_takes_them() {
    let case = Case::new();
    let file = ["clock http://x/mcp", "chem Leased(Streamable)", "last http://x/mcp"];
    assert_eq!(case.applied(), file);
    case.done("bob", "z", "http://h/z", 0);
    case.done("bob", "b", "http://h/b", 1);
    case.done("ann", "chem", "http://h/chem", 2);
    assert_eq!(case.state("z"), ("joining", None));
    let joined = join(&case.file, &case.book).settings;
    let upstreams = &joined.connectors[0].upstreams;
    assert_eq!(
        (upstreams[1].naming.prefix, upstreams[3].naming.prefix),
        (Prefix::Never, Prefix::Always)
    );
    assert!(matches!(upstreams[1].credential, Credential::Header(..)), "the entry says so");
    assert!(upstreams[3].credential == Credential::None && upstreams[3].headers.is_empty());
    assert_eq!(
        case.applied(),
        [
            "clock http://x/mcp",
            "chem http://h/chem",
            "last http://x/mcp",
            "z http://h/z",
            "b http://h/b"
        ]
    );
    assert_eq!(case.state("z"), ("serving", None));
    assert_eq!(case.book.holder("hub", "chem").as_deref(), Some("ann"));
    let counts = &case.book.counts()[0];
    assert_eq!((counts.joining, counts.serving, counts.held), (0, 3, 0));
    assert_eq!(case.lapsed(100), ["b", "chem", "z"]);
    assert_eq!(case.applied(), file);
}

#[test]
fn what_the_file_does_not_allow_any_more_is_held_and_comes_back() {
    let mut case = Case::new();
    case.done("bob", "w", "http://h/mcp", 0);
    assert_eq!(case.code("bob", "chem", 0), Code::NameTaken, "the entry accepts ann alone");
    case.done("ann", "chem", "http://h/mcp", 0);
    case.applied();
    for (changed, name, why) in [
        (
            &[REGISTRY, UPSTREAMS, "- {name: w, url: http://own}\n"][..],
            "w",
            "belongs to the configuration",
        ),
        (&["registry: {names: ['*'], hosts: [other]}\n", UPSTREAMS], "w", "allows no server at h."),
        (&["registry: {names: [v], hosts: [h]}\n", UPSTREAMS], "w", "to register as \"w\""),
        (&["upstreams: [{name: clock, url: http://x}]\n"], "w", "no registry any more"),
        (&[REGISTRY, "upstreams: [{name: chem, url: http://own}]\n"], "chem", "belongs to the"),
    ] {
        case.file = settings(changed);
        assert!(!case.applied().iter().any(|one| *one == format!("{name} http://h/mcp")));
        let (state, reason) = case.state(name);
        assert_eq!(state, "held", "{name}");
        assert!(reason.as_deref().is_some_and(|reason| reason.contains(why)), "{reason:?}");
        assert!(case.book.holder("hub", name).is_none());
    }
    case.file = settings(&[REGISTRY, UPSTREAMS]);
    case.applied();
    assert_eq!((case.state("w").0, case.state("chem").0), ("serving", "serving"));
}

#[test]
fn another_address_replaces_the_old_one_of_a_server_of_its_own() {
    let case = Case::new();
    case.done("bob", "w", "http://h/one", 0);
    case.applied();
    let revision = case.book.revision();
    assert_eq!(case.done("bob", "w", "http://h/two", 1), Done::Moved);
    assert!(case.book.revision() > revision && case.state("w").0 == "joining");
    // What was put in place before it moved says nothing about where it is now.
    assert!(case.applied().contains(&"w http://h/two".to_owned()));
    assert_eq!(case.state("w").0, "serving");
}

#[test]
fn another_address_of_an_entry_counts_once_its_tools_are_the_same() {
    let case = Case::new();
    case.done("ann", "chem", "http://h/one", 0);
    assert_eq!(case.done("ann", "chem", "http://h/two", 0), Done::Moved, "nothing served yet");
    case.applied();
    let revision = case.book.revision();
    assert_eq!(case.done("ann", "chem", "http://h/three", 1), Done::Weighed);
    let [trial] = &*case.book.trials(4) else { panic!("one look") };
    assert!(matches!(&trial.settings.target, Target::Http(at) if at.url.path() == "/three"));
    assert_eq!(case.done("ann", "chem", "http://h/three", 2), Done::Weighed);
    assert!(case.book.trials(4).is_empty(), "it is being looked at");
    let differs = Verdict::Held("Its tools differ.".into());
    case.book.judged(trial, differs).unwrap();
    assert_eq!(case.state("chem"), ("held", Some("Its tools differ.".to_owned())));
    assert!(case.applied().contains(&"chem http://h/two".to_owned()), "the old one stays");
    assert_eq!(case.book.revision(), revision);
    // The next renewal asks for another look, and then it is the same.
    case.done("ann", "chem", "http://h/three", 3);
    let [trial] = &*case.book.trials(4) else { panic!("another look") };
    case.book.judged(trial, Verdict::Same).unwrap();
    assert!(case.applied().contains(&"chem http://h/three".to_owned()));
    assert_eq!(case.state("chem"), ("serving", None));
}

#[test]
fn a_look_that_nobody_waits_for_any_more_decides_nothing() {
    let case = Case::new();
    case.done("ann", "chem", "http://h/one", 0);
    case.applied();
    case.done("ann", "chem", "http://h/two", 1);
    let trials = case.book.trials(0);
    assert!(trials.is_empty(), "as many as there is room for");
    let trials = case.book.trials(1);
    case.done("ann", "chem", "http://h/three", 2);
    assert!(case.book.judged(&trials[0], Verdict::Same).is_none());
    let wanted = case.book.leases("hub").remove(0).wanted.unwrap();
    assert_eq!((wanted.url.path(), wanted.known), ("/three", Known::Nothing));
    assert_eq!(case.done("ann", "chem", "http://h/one", 3), Done::Renewed, "back where it was");
    assert_eq!(case.state("chem"), ("serving", None));
}

#[test]
fn one_that_cannot_be_used_is_held_and_keeps_nothing_back() {
    let case = Case::new();
    case.done("bob", "w", "http://h/mcp", 0);
    case.done("bob", "v", "http://h/mcp", 0);
    assert!(case.book.refuse("hub", "w", "It has no certificates."));
    assert!(!case.book.refuse("hub", "w", "It has no certificates."), "it is known");
    assert!(!case.book.refuse("hub", "clock", "It is not leased."));
    assert!(!case.book.refuse("other", "v", "That is another connector."));
    assert_eq!(case.applied().len(), 4);
    assert_eq!(case.state("w"), ("held", Some("It has no certificates.".to_owned())));
    assert_eq!(case.state("v"), ("serving", None));
    // A renewal is another chance, wherever it is.
    for url in ["http://h/mcp", "http://h/other"] {
        let revision = case.book.revision();
        case.done("bob", "w", url, 1);
        assert!(case.book.revision() > revision, "{url}");
        case.applied();
        assert_eq!(case.state("w"), ("serving", None));
        case.book.refuse("hub", "w", "It has no certificates.");
        case.applied();
    }
}

#[tokio::test]
async fn whoever_waits_hears_of_every_change() {
    let case = Case::new();
    let bound = Duration::from_secs(10);
    let heard = async || tokio::time::timeout(bound, case.book.changed()).await.is_ok();
    case.done("ann", "w", "http://h/mcp", 0);
    assert!(heard().await, "registered");
    case.done("ann", "w", "http://h/mcp", 1);
    assert!(heard().await, "its end is another one");
    case.lapsed(61);
    assert!(heard().await, "lapsed");
    assert_eq!(case.lapsed(62).len(), 0);
    case.done("ann", "w", "http://h/mcp", 63);
    assert!(heard().await);
    case.book.remove("hub", "w", &holder("ann"), case.at(64)).unwrap();
    assert!(heard().await, "removed");
}
