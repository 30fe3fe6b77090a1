//! Servers that leave while others take their place, and addresses that are not promised any more.

use super::*;

impl Case {
    fn leaves(&self, name: &str, url: &str, now: u64) -> bool {
        let url = url.parse().unwrap();
        self.book.leave(("hub", name), &holder("ann"), &url, self.at(now)).unwrap().1
    }

    fn moved_on(&self, now: u64) -> usize {
        self.book.move_on(self.at(now)).len()
    }

    /// An entry that serves from `/one`, and whose holder said `/two`, where the tools differ.
    fn held() -> Self {
        let case = Self::new();
        case.done("ann", "chem", "http://h/one", 0);
        case.applied();
        assert_eq!(case.done("ann", "chem", "http://h/two", 30), Done::Weighed);
        let [trial] = &*case.book.trials(4) else { panic!("one look") };
        case.book.judged(trial, Verdict::Held("Its tools differ.".into())).unwrap();
        case
    }
}

#[test]
fn who_leaves_ends_no_lease_of_its_successor() {
    let case = Case::new();
    case.done("ann", "w", "http://h/one", 0);
    case.applied();
    case.done("ann", "w", "http://h/two", 1);
    let revision = case.book.revision();
    assert!(!case.leaves("w", "http://h/one", 2), "it serves from elsewhere");
    assert_eq!(case.book.revision(), revision);
    assert_eq!(case.book.leases("hub").len(), 1);
    let url = "http://h/two".parse().unwrap();
    for (name, who) in [("w", "bob"), ("v", "ann")] {
        let fault = case.book.leave(("hub", name), &holder(who), &url, case.at(2)).unwrap_err();
        assert_eq!(fault.code(), Code::UnknownName, "{who}");
    }
    assert!(case.leaves("w", "http://h/two", 3));
    assert!(case.book.leases("hub").is_empty() && case.book.revision() > revision);
    assert_eq!(case.code("bob", "w", 4), Code::NameTaken, "its name is kept");
}

#[test]
fn who_waits_takes_the_place_of_an_entry_that_leaves() {
    let case = Case::held();
    assert!(!case.leaves("chem", "http://h/two", 31), "who waits leaves");
    assert_eq!(case.state("chem"), ("serving", None));
    assert!(case.applied().contains(&"chem http://h/one".to_owned()));
    let case = Case::held();
    assert!(!case.leaves("chem", "http://h/one", 31), "who serves leaves");
    assert_eq!(case.state("chem").0, "joining");
    assert!(case.applied().contains(&"chem http://h/two".to_owned()));
    assert!(case.leaves("chem", "http://h/two", 32));
}

#[test]
fn an_address_that_nobody_promises_any_more_gives_way() {
    let case = Case::held();
    assert_eq!(case.book.next_end(), Some(case.at(60)), "what serves has an end of its own");
    assert_eq!(case.done("ann", "chem", "http://h/two", 50), Done::Weighed);
    assert_eq!((case.moved_on(59), case.lapsed(59).len()), (0, 0));
    let revision = case.book.revision();
    assert_eq!((case.moved_on(60), case.lapsed(60).len()), (1, 0));
    assert!(case.book.revision() > revision && case.book.next_end() == Some(case.at(110)));
    assert!(case.applied().contains(&"chem http://h/two".to_owned()));
    assert_eq!(case.moved_on(109), 0, "it is where it says");
    assert_eq!(case.lapsed(110), ["chem"]);
    // Whoever renews at that moment is not weighed against a server that is gone.
    let case = Case::held();
    assert_eq!(case.done("ann", "chem", "http://h/three", 60), Done::Moved);
    // An address that is said again is promised again.
    let case = Case::held();
    case.done("ann", "chem", "http://h/one", 40);
    case.done("ann", "chem", "http://h/two", 50);
    assert_eq!((case.moved_on(99), case.moved_on(100)), (0, 1));
}

#[test]
fn the_reason_stays_while_an_address_is_looked_at_again() {
    let case = Case::held();
    let said = ("held", Some("Its tools differ.".to_owned()));
    case.done("ann", "chem", "http://h/two", 31);
    assert_eq!(case.state("chem"), said);
    assert_eq!(case.book.trials(4).len(), 1, "it is looked at again");
    assert_eq!(case.state("chem"), said);
    case.done("ann", "chem", "http://h/three", 32);
    assert!(case.state("chem").1.unwrap().contains("are compared"), "that was another address");
}

#[test]
fn what_is_not_served_at_all_says_so_first() {
    let mut case = Case::held();
    case.file = settings(&["registry: {names: ['*'], hosts: [other]}\n", UPSTREAMS]);
    case.applied();
    let (state, reason) = case.state("chem");
    assert_eq!(state, "held");
    assert!(reason.unwrap().contains("allows no server at h."));
}

#[test]
fn who_waits_longest_is_looked_at_first() {
    let mut case = Case::new();
    let entries =
        "upstreams:\n- {name: a, accept_leases: [ann]}\n- {name: b, accept_leases: [ann]}\n";
    case.file = settings(&[REGISTRY, entries]);
    for name in ["a", "b"] {
        case.done("ann", name, "http://h/one", 0);
    }
    case.applied();
    case.done("ann", "b", "http://h/two", 1);
    case.done("ann", "a", "http://h/two", 2);
    case.done("ann", "b", "http://h/two", 3);
    let first = case.book.trials(1);
    assert_eq!(&*first[0].name, "b", "a renewal does not put it back");
    assert_eq!(&*case.book.trials(1)[0].name, "a");
}
