//! BM25: the reference's numbers, a plain model of the formula, and the packed form.

use std::collections::HashMap;

use proptest::prelude::*;

use crate::unified::bm25::{Index, words};
use crate::unified::packed::{Joined, Packed, numbers};
use crate::unified::shares::shares;

/// The reference's router over two servers.
const TOOLS: [&str; 3] = [
    "parse_molecule Parse and validate a SMILES string into a molecule validate a SMILES string",
    "compute_descriptors Compute molecular descriptors such as weight ",
    "map_points Render points on a map ",
];
const SKILLS: [&str; 1] = ["drug-screening Screen molecules by descriptors chem.molecule_parsed"];

fn same(found: &[(u32, f64)], wanted: &[(u32, f64)]) {
    let places = |hits: &[(u32, f64)]| -> Vec<u32> { hits.iter().map(|hit| hit.0).collect() };
    assert_eq!(places(found), places(wanted), "{found:?}");
    for (one, other) in found.iter().zip(wanted) {
        assert!((one.1 - other.1).abs() < 1e-12, "{found:?} is not {wanted:?}");
    }
}

#[test]
fn the_references_router_ranks_so() {
    let index = Index::of(TOOLS);
    let found = index.rank("molecule descriptors", 5, &[true; 3]);
    same(&found, &[(1, 1.089_810_281_124_140_4), (0, 0.784_663_402_409_381)]);
    let found = Index::of(SKILLS).rank("molecule descriptors", 5, &[true]);
    same(&found, &[(0, 0.287_682_072_451_780_85)]);
}

#[test]
fn a_server_alone_ranks_so() {
    let parse = "parse_molecule Parse and validate a SMILES string into a molecule \
                 identify a molecule validate a SMILES string";
    let found = Index::of([parse, TOOLS[1]]).rank("molecule descriptors", 5, &[true; 2]);
    same(&found, &[(0, 0.873_256_290_469_222_4), (1, 0.853_104_222_227_625)]);
}

#[test]
fn words_are_runs_of_small_letters_digits_and_underscores() {
    let of =
        |text: &str| -> Vec<String> { words(&text.to_lowercase()).map(str::to_owned).collect() };
    assert_eq!(of("parse_molecule drug-screening"), ["parse_molecule", "drug", "screening"]);
    assert_eq!(of("Größe 42, naïve\u{212a}elvin"), ["gr", "e", "42", "na", "vekelvin"]);
    assert!(of("¿…?").is_empty());
}

#[test]
fn a_blank_query_lists_and_one_without_words_finds_nothing() {
    let index = Index::of(TOOLS);
    same(&index.rank(" \n", 2, &[true; 3]), &[(0, 0.0), (1, 0.0)]);
    same(&index.rank("", 9, &[false, true, true]), &[(1, 0.0), (2, 0.0)]);
    same(&index.rank("!", 9, &[true; 3]), &[]);
    same(&index.rank("map", 0, &[true; 3]), &[]);
    same(&Index::of([""; 0]).rank("map", 5, &[]), &[]);
    assert!(Index::of([""]).rank("map", 5, &[true]).is_empty());
}

/// The formula as it is written down, over whole texts.
fn model(texts: &[&str], query: &str) -> Vec<(usize, f64)> {
    let split =
        |text: &str| -> Vec<String> { words(&text.to_lowercase()).map(str::to_owned).collect() };
    let count = |number: usize| f64::from(u32::try_from(number).unwrap());
    let all: Vec<Vec<String>> = texts.iter().map(|text| split(text)).collect();
    let average = count(all.iter().map(Vec::len).sum()) / count(all.len()).max(1.0);
    let score = |document: &Vec<String>| -> f64 {
        split(query)
            .iter()
            .map(|word| {
                let holding = count(all.iter().filter(|one| one.contains(word)).count());
                let idf = ((count(all.len()) - holding + 0.5) / (holding + 0.5) + 1.0).ln();
                let tf = count(document.iter().filter(|one| *one == word).count());
                let length = if average == 0.0 {
                    1.0
                } else {
                    0.25 + 0.75 * count(document.len()) / average
                };
                idf * tf * 2.5 / (tf + 1.5 * length)
            })
            .sum()
    };
    let mut ranked: Vec<(usize, f64)> = all.iter().map(score).enumerate().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.retain(|(_, score)| *score > 0.0);
    ranked
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-e ]{0,12}", "([a-c]{1,3} ){0,9}", "[A-Ca-c_0-9é -]{0,20}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_hidden_changes_no_score_and_no_order(
        texts in prop::collection::vec((any_text(), any::<bool>()), 0..12),
        query in any_text(),
        top in 0_usize..14,
    ) {
        prop_assume!(!query.trim().is_empty());
        let index = Index::of(texts.iter().map(|(text, _)| text.as_str()));
        let seen: Vec<bool> = texts.iter().map(|(_, seen)| *seen).collect();
        let found = index.rank(&query, top, &seen);
        let visible: Vec<usize> = (0..texts.len()).filter(|place| seen[*place]).collect();
        let shown: Vec<&str> = visible.iter().map(|place| texts[*place].0.as_str()).collect();
        let scores: HashMap<usize, f64> =
            model(&shown, &query).into_iter().map(|(place, score)| (visible[place], score)).collect();
        prop_assert_eq!(found.len(), top.min(scores.len()));
        for (place, score) in &found {
            let wanted = scores.get(&(*place as usize));
            prop_assert!(wanted.is_some_and(|wanted| (wanted - score).abs() < 1e-12), "{} {}", place, score);
        }
        // Best first; nothing that is left out is better.
        prop_assert!(found.windows(2).all(|two| two[0].1 > two[1].1 - 1e-12));
        let worst = found.last().map_or(f64::INFINITY, |hit| hit.1);
        let inside = |place: &usize| found.iter().any(|hit| hit.0 as usize == *place);
        prop_assert!(top == 0 || scores.iter().all(|(place, score)| inside(place) || *score <= worst + 1e-12));
    }

    #[test]
    fn equals_keep_their_order(text in "[a-c]{1,3}", copies in 1_usize..20, top in 1_usize..25) {
        let index = Index::of(std::iter::repeat_n(text.as_str(), copies));
        let places: Vec<u32> =
            index.rank(&text, top, &vec![true; copies]).iter().map(|hit| hit.0).collect();
        let wanted: Vec<u32> = (0..u32::try_from(copies.min(top)).unwrap()).collect();
        prop_assert_eq!(places, wanted);
    }

    #[test]
    fn an_index_survives_its_journey(texts in prop::collection::vec(any_text(), 0..8)) {
        let index = Index::of(texts.iter());
        let (lengths, words, found) = index.lines();
        prop_assert_eq!(Index::read(lengths.text(), words, found), index);
    }

    #[test]
    fn packed_numbers_come_back(wanted in prop::collection::vec(any::<u32>(), 0..20)) {
        let packed = Packed::of(wanted.clone());
        prop_assert!(packed.text().bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\'));
        prop_assert_eq!(numbers(packed.text()).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn any_text_unpacks_to_something_that_ends(text in ".{0,40}") {
        prop_assert!(numbers(&text).count() <= text.len());
    }

    #[test]
    fn joined_texts_come_back_and_are_found(wanted in prop::collection::btree_set("[a-d_]{1,5}", 0..20), other in "[a-d_]{1,5}") {
        let joined = Joined::of(&wanted);
        prop_assert_eq!(&Joined::read(joined.text()), &joined);
        let parts: Vec<&str> = (0..joined.len()).filter_map(|place| joined.get(place)).collect();
        prop_assert!(parts.iter().copied().eq(wanted.iter().map(String::as_str)));
        let place = wanted.iter().position(|one| *one == other);
        prop_assert_eq!(joined.find(&other), place);
        prop_assert_eq!(joined.is_empty(), wanted.is_empty());
    }

    #[test]
    fn shares_are_fair(wanted in prop::collection::vec(0_usize..100, 0..8), total in 0_usize..300) {
        let given = shares(&wanted, total);
        prop_assert_eq!(given.len(), wanted.len());
        prop_assert!(given.iter().sum::<usize>() <= total);
        let most = given.iter().copied().max().unwrap_or(0);
        for (gets, wants) in given.iter().zip(&wanted) {
            // Who is cut has, but for what cannot be divided, as much as anybody.
            prop_assert!(gets <= wants && (gets == wants || gets + wanted.len() >= most), "{:?}", given);
        }
        if wanted.iter().sum::<usize>() <= total {
            prop_assert_eq!(given, wanted);
        }
    }
}
