use std::collections::{HashMap, HashSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(ids: &[&str], expected: &[&str]) {
    assert_eq!(test_names(ids.iter().copied()), expected, "{ids:?}");
}

fn hash8(id: &str) -> String {
    let hash = content_hash(id.as_bytes());
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

#[test]
fn identifiers_stay_as_they_are() {
    for id in ["refund_happy_path", "UPPER", "a__b", "Ελληνικά", "天気_払い戻し", "x", "ﬁx", "r2d2", "union"]
    {
        check(&[id], &[id]);
    }
}

#[test]
fn other_characters_become_one_underscore_and_none_at_the_ends() {
    for (id, name) in [
        ("a-b", "a_b"),
        ("a - b", "a_b"),
        ("a_-_b", "a___b"),
        ("what is 1 + 1?", "what_is_1_1"),
        ("__private__", "private"),
        ("x²", "x"),
        ("party 🎉🎉 time", "party_time"),
        ("tab\tand\nnewline\0nul", "tab_and_newline_nul"),
        ("c:\\evals/a.json", "c_evals_a_json"),
        ("e\u{301}te\u{301}", "été"),
    ] {
        check(&[id], &[name]);
    }
}

#[test]
fn what_does_not_begin_with_a_letter_gets_a_prefix() {
    check(&["2nd"], &["case_2nd"]);
    check(&["-2nd"], &["case_2nd"]);
    check(&["\u{301}x"], &["case_\u{301}x"]);
}

#[test]
fn an_id_without_usable_characters_is_named_by_its_hash() {
    for id in ["", " ", "___", "🎉", "?!"] {
        check(&[id], &[&format!("case_{}", hash8(id))]);
    }
}

#[test]
fn keywords_get_an_underscore_behind() {
    for id in ["gen", "async", "self", "Self", "super", "crate", "try", "is_current", "--type--"] {
        let word = id.trim_matches('-');
        check(&[id], &[&format!("{word}_")]);
    }
    check(&["SELF"], &["SELF"]);
}

#[test]
fn a_long_id_is_cut_and_ends_in_its_hash() {
    check(&[&"x".repeat(80)], &[&"x".repeat(80)]);
    let long = "天".repeat(81);
    check(&[&long], &[&format!("{}_{}", "天".repeat(71), hash8(&long))]);
    let ends_in_space = format!("{} {}", "x".repeat(70), "y".repeat(70));
    check(&[&ends_in_space], &[&format!("{}_{}", "x".repeat(70), hash8(&ends_in_space))]);
}

#[test]
fn ids_that_would_get_one_name_all_get_a_hash() {
    for ids in [["a-b", "a b"], ["type", "type_"], ["case_1", "1"], ["café", "cafe\u{301}"]] {
        let stem = test_names([ids[0]]).remove(0);
        let stem = stem.trim_end_matches('_');
        check(&ids, &ids.map(|id| format!("{stem}_{}", hash8(id))).each_ref().map(String::as_str));
    }
    check(&["a-b", "A-b"], &["a_b", "A_b"]);
}

#[test]
fn an_id_that_is_spelt_like_the_hashed_name_of_another_gives_way() {
    let spelt = format!("a_b_{}", hash8("a-b"));
    let names = test_names(["a-b", "a b", &spelt]);
    assert_eq!(names[0], format!("a_b_{:016x}", content_hash(b"a-b")));
    assert_eq!(names[1], format!("a_b_{}", hash8("a b")));
    assert_eq!(names[2], format!("{spelt}_{}", hash8(&spelt)));
}

#[test]
fn an_id_that_is_spelt_like_the_hashed_name_of_another_is_kept_while_that_name_is_not_taken() {
    let spelt = format!("a_b_{}", hash8("a b"));
    check(&["a b", &spelt], &["a_b", &spelt]);
    let names = test_names(["a b", &spelt, "a-b"]);
    assert_eq!(names[1], format!("{spelt}_{}", hash8(&spelt)));
}

#[test]
fn equal_ids_get_equal_names() {
    let names = test_names(["a b", "a b", "a-b", "a b"]);
    assert!(names[0] == names[1] && names[0] == names[3] && names[0] != names[2], "{names:?}");
}

#[test]
fn many_ids_in_each_others_way_take_no_longer_than_their_number() {
    // Each id is spelt like the hashed name of the one before it.
    let mut ids = vec!["a-b".to_owned(), "a b".to_owned()];
    for at in 1..20_000 {
        let mut last = Candidate::new(&ids[at]);
        last.lengthen();
        let spelt = last.name();
        ids.push(spelt);
    }
    let ids: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let names = test_names(ids.iter().copied());
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), ids.len());
}

/// Ids as people write them, and others; from few characters, so that they collide.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab _-]{0,4}",
        "[a-zé0-9 .:/-]{0,100}",
        "\\PC{0,20}",
        any::<String>(),
        proptest::sample::select(KEYWORDS).prop_map(str::to_owned),
        Just("is_current".to_owned()),
        "[ab]-[ab]".prop_map(|id| test_names([id.as_str(), "a b", "b b"]).remove(0)),
    ]
}

proptest! {
    #[test]
    fn names_are_identifiers_in_the_composed_form(ids in vec(id(), 0..20)) {
        for name in test_names(ids.iter().map(String::as_str)) {
            prop_assert!(syn::parse_str::<syn::Ident>(&name).is_ok_and(|ident| ident == name), "{name:?}");
            prop_assert!(name.starts_with(is_xid_start), "{name:?}");
            prop_assert!(name.chars().count() <= MAX_NAME_CHARS, "{name:?}");
            prop_assert_eq!(name.nfc().collect::<String>(), name);
        }
    }

    #[test]
    fn distinct_ids_get_distinct_names(ids in vec(id(), 0..20)) {
        let ids: HashSet<&str> = ids.iter().map(String::as_str).collect();
        let names: HashSet<String> = test_names(ids.iter().copied()).into_iter().collect();
        prop_assert_eq!(names.len(), ids.len());
    }

    #[test]
    fn the_order_of_the_ids_does_not_matter(ids in vec(id(), 0..20), seed in any::<u64>()) {
        let named = |ids: &[String]| -> HashMap<String, String> {
            ids.iter().cloned().zip(test_names(ids.iter().map(String::as_str))).collect()
        };
        let mut shuffled = ids.clone();
        shuffled.sort_by_key(|id| content_hash(format!("{seed}{id}").as_bytes()));
        prop_assert_eq!(named(&ids), named(&shuffled));
    }

    #[test]
    fn a_name_is_its_own_name(id in id()) {
        let name = module_name(&id);
        prop_assert_eq!(module_name(&name), name);
    }

    #[test]
    fn a_new_id_renames_only_those_it_would_share_a_name_with(ids in vec("[ab _-]{1,3}", 1..8), new in "[ab _-]{1,3}") {
        let before = test_names(ids.iter().map(String::as_str));
        let after = test_names(ids.iter().chain([&new]).map(String::as_str));
        for (id, (before, after)) in ids.iter().zip(before.iter().zip(&after)) {
            prop_assert!(before == after || module_name(id) == module_name(&new), "{id:?} for {new:?}");
        }
    }
}
