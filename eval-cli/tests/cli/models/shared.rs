//! Cases that share one program: each gets its own answers, or an error that names those whose it may be.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use super::provider::Provider;
use super::{assert_ran, case, folder, record, run, said};

const SHARED: [&str; 4] = ["--program-concurrency", "6", "--concurrency", "6"];
/// Turns of several conversations at the same time.
const AT_ONCE: [(&str, &str); 1] = [("AGENT_SHARED", "1")];

#[test]
fn several_cases_of_one_program_get_their_own_answers_or_an_error_that_names_them() {
    let names: Vec<String> = (0..6).map(|n| format!("case{n}")).collect();
    // The same first words. The answer to the second message has the name of its case, and another number each time.
    let cases: Vec<Value> = names
        .iter()
        .map(|name| {
            let mut case = case(name, &["Paris?", &format!("count {name}")]);
            case["conversation"][1]["final_response"]["parts"][0]["text"] = json!(name);
            case
        })
        .collect();
    let folder = folder("models-shared", &cases);
    let provider = Provider::start().steady();
    let args = [&SHARED[..], &["--runs", "17"]].concat();
    assert_ran(&record(&folder, &provider, &args, &AT_ONCE), 0, &["6 passed"]);
    let recorded = said(&folder);
    drop(provider);
    assert_ran(&run(&folder, &args, &AT_ONCE), 0, &["6 passed"]);
    assert_eq!(recorded.len(), 102);
    assert_eq!(said(&folder), recorded);
    for (eval_id, _, texts) in &recorded {
        assert!(texts[1].starts_with(&format!("{eval_id}-")), "{eval_id}: {texts:?}");
    }
}

#[test]
fn cases_that_begin_alike_never_get_the_answer_of_another_in_a_hundred_conversations() {
    let cases: Vec<Value> = ["one", "two"].map(|name| case(name, &["count Paris", name])).into();
    let folder = folder("models-ambiguous", &cases);
    let provider = Provider::start();
    let args = [&SHARED[..], &["--runs", "50"]].concat();
    record(&folder, &provider, &args, &AT_ONCE);
    let recorded = said(&folder);
    drop(provider);
    let ran = run(&folder, &args, &AT_ONCE);
    let mut own = 0;
    let replayed = said(&folder);
    assert_eq!((recorded.len(), replayed.len()), (100, 100));
    for (before, now) in recorded.iter().zip(&replayed) {
        assert!(before.2[0].starts_with("Paris-"), "{before:?}");
        assert_eq!((&before.0, before.1), (&now.0, now.1));
        match now.2.first() {
            Some(text) => {
                assert_eq!(*text, before.2[0], "{now:?}");
                own += 1;
            }
            None => assert_ran(&ran, 2, &["may be of any of the cases `one` and `two`"]),
        }
    }
    eprintln!("{own} of 100 conversations had their own answer, and {} the error of both", 100 - own);
}

#[test]
fn a_case_without_a_recording_gets_no_answer_of_a_case_that_begins_alike() {
    let with =
        |names: &[&str]| -> Vec<Value> { names.iter().map(|name| case(name, &["count Paris"])).collect() };
    let folder = folder("models-shared-new", &with(&["old"]));
    let provider = Provider::start();
    record(&folder, &provider, &SHARED, &AT_ONCE);
    let recorded = said(&folder);
    drop(provider);
    folder.write("trip.evalset.json", crate::run::set("trip", &with(&["new", "old"])));
    for _ in 0..5 {
        let ran = run(&folder, &SHARED, &AT_ONCE);
        assert_ran(&ran, 2, &["there is no recording `trip.evalset.models/new.json`", "1 failed, 1 error"]);
        let now = said(&folder);
        let old: Vec<_> = now.iter().filter(|(eval_id, _, _)| eval_id == "old").collect();
        assert_eq!(old, [&recorded[0]]);
        assert!(now.iter().all(|(eval_id, _, texts)| eval_id == "old" || texts.is_empty()), "{now:?}");
    }
}

#[test]
fn a_miss_ends_the_turn_and_the_program_goes_on_with_the_next_case() {
    let names: Vec<String> = (0..8).map(|n| format!("case{n}")).collect();
    let cases: Vec<Value> = names.iter().map(|name| case(name, &[name])).collect();
    let folder = folder("models-shared-misses", &cases);
    let provider = Provider::start().steady();
    let one = ["--program-concurrency", "1", "--concurrency", "1"];
    assert_ran(&record(&folder, &provider, &one, &AT_ONCE), 0, &["8 passed"]);
    drop(provider);
    let starts = folder.path("starts.txt").to_string_lossy().into_owned();
    let variables = [AT_ONCE[0], ("AGENT_STARTS", &starts), ("AGENT_SYSTEM", "Be very brief.")];
    let begun = Instant::now();
    assert_ran(&run(&folder, &one, &variables), 2, &["0 passed, 8 errors", "the system prompt changed"]);
    eprintln!("8 misses took {:?}", begun.elapsed());
    assert_eq!(fs::read_to_string(&starts).expect("it started").lines().count(), 1, "one program for all");
}
