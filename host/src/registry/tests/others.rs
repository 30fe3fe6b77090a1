//! Names that others have, or had.

use super::*;

#[test]
fn a_kept_name_keeps_those_that_overlap_it_from_others() {
    let case = Case::new();
    case.done("ann", "w", "http://h/mcp", 0);
    case.book.remove("hub", "w", &holder("ann"), case.at(1)).unwrap();
    let day = 1 + KEPT.as_secs();
    assert_eq!(case.code("bob", "w_get", 2), Code::NameTaken);
    assert_eq!(case.code("bob", "w_get", day - 1), Code::NameTaken);
    assert_eq!(case.done("bob", "w-get", "http://h/mcp", 2), Done::Registered, "no overlap");
    assert_eq!(case.done("ann", "w_x", "http://h/mcp", 2), Done::Registered, "it is its own");
    case.lapsed(62);
    assert_eq!(case.done("bob", "w_get", "http://h/mcp", day + 62), Done::Registered);
}

#[test]
fn whom_an_entry_does_not_accept_keeps_nobody_out_of_it() {
    let entry = |who: &str| format!("upstreams: [{{name: chem, accept_leases: [{who}]}}]\n");
    for lapsed in [false, true] {
        let mut case = Case::new();
        case.file = settings(&[REGISTRY, &entry("ann")]);
        case.done("ann", "chem", "http://h/one", 0);
        case.applied();
        if lapsed {
            assert_eq!(case.lapsed(60), ["chem"]);
        }
        case.file = settings(&[REGISTRY, &entry("'ann', bob")]);
        assert_eq!(case.code("bob", "chem", 59), Code::NameTaken, "both may: the first one has it");
        case.file = settings(&[REGISTRY, &entry("bob")]);
        case.applied();
        let revision = case.book.revision();
        assert_eq!(case.code("ann", "chem", 62), Code::NameTaken);
        assert_eq!(case.book.revision(), revision, "who is refused ends nothing");
        assert_eq!(case.done("bob", "chem", "http://h/two", 62), Done::Registered);
        assert_eq!(case.applied(), ["chem http://h/two"]);
        assert_eq!(case.book.leases("hub").len(), 1);
        assert_eq!(case.code("ann", "chem", 63), Code::NameTaken);
        case.lapsed(200);
        case.file = settings(&[REGISTRY, &entry("ann")]);
        assert_eq!(case.done("ann", "chem", "http://h/one", 201), Done::Registered);
    }
}
