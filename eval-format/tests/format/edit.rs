//! Edits of any set change what they are meant to change, and no other byte.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use eval_format::reader::{SetFormat, check_set};
use eval_format::{EvalCase, EvalSet, FunctionCall, Invocation, Map, SetEditor, Value};
use proptest::prelude::*;

/// An edit, by the position of its case.
#[derive(Clone, Debug)]
enum Edit {
    Add { answer: String, calls: bool, draft: bool },
    Remove(usize),
    Rename(usize, String),
    Accept(usize),
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let at = 0..8_usize;
    prop_oneof![
        (".{0,8}", any::<bool>(), any::<bool>()).prop_map(|(answer, calls, draft)| Edit::Add {
            answer,
            calls,
            draft
        }),
        at.clone().prop_map(Edit::Remove),
        (at.clone(), "\\PC{1,6}").prop_map(|(at, id)| Edit::Rename(at, id)),
        at.prop_map(Edit::Accept),
    ]
}

/// White space as people and programs have it.
fn any_space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " ", "\n", "\r\n", "\n\t", "\n    ", "\n\n  "])
}

/// A set as text, laid out in any way.
fn any_set() -> impl Strategy<Value = String> {
    let case = (any_space(), any_space(), any_space(), 0..4_u8);
    (prop::collection::vec(case, 0..5), any_space(), any_space(), any::<bool>()).prop_map(
        |(cases, before, after, camel)| {
            let (id, said) = if camel { ("evalId", "userContent") } else { ("eval_id", "user_content") };
            let cases: Vec<String> = cases
                .iter()
                .enumerate()
                .map(|(at, (one, two, three, kind))| {
                    let draft = format!("\"_draft\"{one}: {{{two}\"from\" :\"x\"}}");
                    let own = format!("\"{id}\":{one}\"case {at}\"");
                    let turns = format!("\"conversation\" : [{two}{{\"{said}\": {{}}}}{one}]");
                    let entries = match kind {
                        0 => format!("{own}{two},{three}{turns}"),
                        1 => format!("{draft},{own},{three}{turns}"),
                        2 => format!("{turns}{one},{two}{own},{three}\"_note\": [1.50, 1e3]{three},{one}{draft}"),
                        _ => format!("{own}{one},{two}{draft}{three},{one}{turns}"),
                    };
                    format!("{one}{{{two}{entries}{three}}}{one}")
                })
                .collect();
            let cases = if cases.is_empty() { before.to_owned() } else { cases.join(",") };
            format!("{before}{{{after}\"_c\" : 1.0,{before}\"eval_cases\"{after}:[{cases}]{after},\"eval_set_id\":\"s\"{before}}}{after}")
        },
    )
}

/// The editor after an edit that could be made, and what the cases should be.
fn edited(text: &str, edit: &Edit) -> Option<(SetEditor, Vec<EvalCase>)> {
    let mut editor = SetEditor::new(text).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    let mut cases: Vec<EvalCase> = editor.cases().cloned().collect();
    let id_at = |at: &usize, cases: &[EvalCase]| Some(cases.get(at % cases.len().max(1))?.eval_id.clone());
    match edit {
        Edit::Add { answer, calls, draft } => {
            let mut turn = Invocation::user("Hi").response(answer.as_str());
            if *calls {
                turn = turn.call(FunctionCall::new("f", Map::from([("user_content", answer.as_str())])));
            }
            let mut case = EvalCase::new(editor.free_id("new")).turn(turn);
            if *draft {
                case = case.with_draft(Map::from([("from", answer.as_str())]));
            }
            editor.add_case(&case).expect("it is free and sound");
            cases.push(case);
        }
        Edit::Remove(at) => {
            let id = id_at(at, &cases)?;
            assert_eq!(editor.remove_case(&id).expect("it is there").eval_id, id);
            cases.retain(|case| case.eval_id != id);
        }
        Edit::Rename(at, new_id) => {
            let id = id_at(at, &cases)?;
            if editor.case(new_id).is_some() {
                return None;
            }
            editor.rename_case(&id, new_id).expect("it is free");
            cases
                .iter_mut()
                .filter(|case| case.eval_id == id)
                .for_each(|case| case.eval_id.clone_from(new_id));
        }
        Edit::Accept(at) => {
            let id = id_at(at, &cases)?;
            let case = cases.iter_mut().find(|case| case.eval_id == id)?;
            if case.draft().is_none() {
                assert!(editor.accept(&id).is_err());
                return None;
            }
            editor.accept(&id).expect("it is a draft");
            case.extra.remove("_draft");
        }
    }
    Some((editor, cases))
}

/// The bytes that an edit took out and put in: what is left when the beginning and the end that are alike are taken
/// away.
fn difference<'t>(before: &'t str, after: &'t str) -> (&'t str, &'t str) {
    let alike = |(one, other): &(char, char)| one == other;
    let start = before.chars().zip(after.chars()).take_while(alike).map(|(c, _)| c.len_utf8()).sum::<usize>();
    let (before, after) = (&before[start..], &after[start..]);
    let ends = before.chars().rev().zip(after.chars().rev());
    let end = ends.take_while(alike).map(|(c, _)| c.len_utf8()).sum::<usize>();
    (&before[..before.len() - end], &after[..after.len() - end])
}

/// Holds an edit to what it may do.
fn check_edit(text: &str, edit: &Edit) -> Option<String> {
    let (editor, expected) = edited(text, edit)?;
    let now = editor.text();
    assert_eq!(editor.cases().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>(), "{text}");
    let again = SetEditor::new(&now).unwrap_or_else(|problems| panic!("{edit:?}\n{text}\n{now}\n{problems}"));
    assert_eq!(
        again.cases().collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>(),
        "{edit:?}\n{text}\n{now}"
    );
    assert_eq!(again.eval_set_id(), editor.eval_set_id());
    let (gone, new) = difference(text, &now);
    let blank = |text: &str| text.trim_matches(|c: char| c.is_whitespace() || c == ',').is_empty();
    match edit {
        Edit::Add { .. } => assert!(blank(gone), "{gone:?} went\n{text}\n{now}"),
        Edit::Remove(_) | Edit::Accept(_) => assert!(blank(new), "{new:?} came\n{text}\n{now}"),
        Edit::Rename(at, new_id) => {
            let ids = SetEditor::new(text).map(|set| set.case_ids().map(str::to_owned).collect::<Vec<_>>());
            let ids = ids.unwrap_or_default();
            let literal = |id: &str| Value::from(id).to_string();
            assert!(literal(&ids[at % ids.len()]).contains(gone), "{gone:?} went\n{text}\n{now}");
            assert!(literal(new_id).contains(new), "{new:?} came\n{text}\n{now}");
        }
    }
    // The value beside the cases is the same.
    let beside = |text: &str| {
        let Some(Value::Object(mut map)) = Value::parse(text).ok() else { return None };
        for key in ["eval_cases", "evalCases"] {
            map.remove(key);
        }
        Some(map)
    };
    assert_eq!(beside(text), beside(&now), "{edit:?}");
    Some(now)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_of_any_set_read_back_and_leave_every_other_byte(
        text in any_set(),
        edits in prop::collection::vec(any_edit(), 1..6),
    ) {
        let mut text = text;
        prop_assert_eq!(SetEditor::new(&text).map(|editor| editor.text()).ok(), Some(text.clone()));
        for edit in &edits {
            if let Some(now) = check_edit(&text, edit) {
                text = now;
            }
        }
    }

    #[test]
    fn a_case_that_is_added_and_removed_leaves_the_text_as_it_was(text in any_set(), answer in ".{0,8}") {
        let mut editor = SetEditor::new(&text).expect("a set");
        if editor.cases().len() > 0 {
            editor.add_case(&EvalCase::new("new").turn(Invocation::user(answer))).expect("it is sound");
            editor.remove_case("new").expect("it is there");
            prop_assert_eq!(editor.text(), text);
        }
    }
}

#[test]
fn edits_of_real_files_read_back_and_leave_every_other_byte() {
    let Some(folder) = std::env::var_os("EVALSET_CORPUS").map(PathBuf::from) else { return };
    let index = fs::read_to_string(folder.join("INDEX.tsv")).expect("the corpus has an index");
    let header: Vec<&str> = index.lines().next().expect("a header").split('\t').collect();
    let at = header.iter().position(|name| *name == "path").expect("a column of paths");
    let (mut sets, mut old) = (0, 0);
    for path in index.lines().skip(1).filter_map(|line| line.split('\t').nth(at)) {
        let bytes = fs::read(folder.join(path)).expect("the file is there");
        let checked = check_set(path, &bytes, None);
        let Ok(mut editor) = SetEditor::of_file(path, &bytes) else {
            assert!(checked.set.is_none(), "{path}");
            continue;
        };
        assert!(editor.text().as_bytes() == bytes, "{path}");
        if checked.form != SetFormat::EvalSet {
            old += 1;
            let refused = editor.add_case(&EvalCase::new("new").turn(Invocation::user("Hi")));
            assert!(refused.is_err() && editor.text().as_bytes() == bytes, "{path}");
            continue;
        }
        sets += 1;
        let text = checked.text;
        for edit in [
            Edit::Add { answer: "é\n\"".to_owned(), calls: true, draft: true },
            Edit::Rename(1, "another id".to_owned()),
            Edit::Remove(0),
            Edit::Remove(3),
        ] {
            check_edit(&text, &edit);
        }
        // What was added goes without a trace, and so does a mark.
        let mut editor = SetEditor::new(&text).expect("a set");
        if editor.cases().len() > 0 {
            let case = EvalCase::new(editor.free_id("new")).turn(Invocation::user("Hi"));
            editor.add_case(&case).expect("it is sound");
            let golden = editor.text();
            let mut marked = SetEditor::new(&text).expect("a set");
            marked.add_case(&case.clone().with_draft(Map::from([("from", "x")]))).expect("it is sound");
            marked.accept(&case.eval_id).expect("it is a draft");
            assert_eq!(marked.text(), golden, "{path}");
            editor.remove_case(&case.eval_id).expect("it is there");
            assert_eq!(editor.text(), text, "{path}");
        }
    }
    assert!(sets > 10 && old > 0, "{sets} sets, {old} in old forms");
}

#[test]
fn adding_a_case_costs_the_same_whatever_the_size_of_the_set() {
    let mut editor = SetEditor::create("s");
    let mut add = |from: usize, to: usize| {
        let begun = Instant::now();
        for at in from..to {
            let case = EvalCase::new(format!("case_{at}")).turn(Invocation::user("Hi"));
            editor.add_case(&case).expect("it is free");
        }
        begun.elapsed()
    };
    let first = add(0, 500);
    add(500, 7_500);
    let last = add(7_500, 8_000);
    assert!(last < first * 5 + Duration::from_millis(100), "{first:?}, then {last:?}");
    let read = EvalSet::parse(&editor.into_text()).expect("a set");
    assert_eq!(read.eval_cases.len(), 8_000);
}
