//! What holds for all lists and all requests.

use super::*;

fn pairs(names: &'static [&'static str]) -> impl Strategy<Value = Pairs> {
    prop::collection::vec((prop::sample::select(names), glob()), 0..4)
}

fn lists() -> impl Strategy<Value = Value> {
    let globs = || prop::collection::vec(glob(), 1..4);
    (prop::option::of(globs()), prop::option::of(globs())).prop_map(|(enabled, disabled)| {
        let some = [("enabled", enabled), ("disabled", disabled)].into_iter();
        some.filter_map(|(word, globs)| Some((word.to_owned(), json!(globs?)))).collect()
    })
}

fn set() -> impl Strategy<Value = Value> {
    (lists(), lists(), lists(), lists()).prop_map(|(tools, prompts, resources, tags)| {
        json!({"tools": tools, "prompts": prompts, "resources": resources, "tags": tags})
    })
}

fn asked(query: &Pairs, headers: &Pairs) -> Vec<Set> {
    let plain = |pairs: &Pairs| -> Vec<(&'static str, String)> { pairs.clone() };
    let (query, headers) = (plain(query), plain(headers));
    let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (*name, &**value)).collect();
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (*name, &**value)).collect();
    read(&query, &headers).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_request_never_sees_more_by_its_filters(
        rule in set(), query in pairs(&PARAMETERS), headers in pairs(&HEADERS)
    ) {
        let rules = rules(rule);
        let whole = shown(&rules, &[]);
        let by_query = shown(&rules, &asked(&query, &Vec::new()));
        let by_both = shown(&rules, &asked(&query, &headers));
        prop_assert!(by_query.iter().all(|place| whole.contains(place)));
        prop_assert!(by_both.iter().all(|place| by_query.contains(place)));
    }

    #[test]
    fn further_lists_never_show_more(one in set(), other in set()) {
        let mut both = one.clone();
        both["also"] = json!([&other]);
        let both = shown(&rules(both), &[]);
        prop_assert!(both.iter().all(|place| shown(&rules(one.clone()), &[]).contains(place)));
        let mut turned = other;
        turned["also"] = json!([one]);
        prop_assert_eq!(both, shown(&rules(turned), &[]));
    }

    #[test]
    fn the_order_of_parameters_means_nothing(
        query in pairs(&PARAMETERS), headers in pairs(&HEADERS)
    ) {
        let turned = |pairs: &Pairs| -> Pairs { pairs.iter().rev().cloned().collect() };
        let there = shown(&[], &asked(&query, &headers));
        prop_assert_eq!(there, shown(&[], &asked(&turned(&query), &turned(&headers))));
    }

    #[test]
    fn any_text_is_read_or_refused(value in "\\PC{0,40}", name in prop::sample::select(&PARAMETERS[..])) {
        let values = BTreeMap::from([(name, value.clone())]);
        let read = asked::read(|name| values.get(name).cloned(), |_| None);
        let plain = |one: &str| one != "all" && one.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:/-*".contains(&b));
        let fits = value.split(',').map(str::trim).all(plain);
        prop_assert_eq!(read.is_ok(), fits, "{}", value);
    }
}
