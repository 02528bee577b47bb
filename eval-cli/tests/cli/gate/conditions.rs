//! Runs that were made in another way, on changed files, or again: they do not pass for runs of the build.

use serde_json::{Value, json};

use super::{Desk, blessed, set};
use crate::folder::{AGENT, Ran};

/// Runs all cases with further options.
fn run_with(desk: &Desk, options: &[&str]) -> Ran {
    desk.0.run(&[&["run", "evals/desk.evalset.json", "--agent-cmd", AGENT], options].concat())
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

#[test]
fn suspects_do_not_run_again_while_tracked_files_differ() {
    let desk = Desk::new("gate-dirty", 3);
    desk.0.write("evals/x.evalset.models/a.txt", "a");
    desk.commit();
    desk.run(10);
    assert_eq!(desk.bless(&[]).code, Some(0));
    desk.commit();
    desk.agent(&json!({ "c01": ["no"] }));
    desk.run(1);
    // Running writes recordings, and `bless` the baseline.
    desk.0.write("evals/x.evalset.models/a.txt", "b");
    desk.0.write("evalset-baseline.jsonl", desk.0.read("evalset-baseline.jsonl") + "\n");
    let agent = desk.0.read("agent.py");
    desk.0.write("agent.py", agent.clone() + "\n# changed\n");
    desk.agent(&json!({}));
    let gate = desk.gate(&["--retry-suspects"]);
    assert_eq!(gate["verdict"], "UNMEASURABLE", "{gate}");
    assert_eq!(
        strings(&gate["reasons"])[0],
        "1 tracked file differs from the commit: `agent.py`; `--retry-suspects` would run another build again; commit and run the \
         cases again, or leave the option out"
    );
    assert_eq!(desk.gate(&[])["verdict"], "CANNOT TELL");
    desk.0.write("agent.py", agent);
    desk.agent(&json!({ "c01": ["no"] }));
    assert_eq!(desk.gate(&["--retry-suspects"])["verdict"], "REGRESSION");
}

#[test]
fn suspects_of_an_earlier_gate_count_in_place_of_new_runs() {
    let desk = blessed("gate-twice", 5, 10);
    desk.agent(&json!({ "c01": ["no"] }));
    desk.run(1);
    let first = desk.gate(&["--retry-suspects"]);
    assert_eq!(first["verdict"], "REGRESSION", "{first}");
    // Another build, under the name of the old run.
    desk.agent(&json!({}));
    let again = desk.gate(&["--retry-suspects"]);
    assert_eq!((&again["verdict"], &again["runs"]), (&json!("REGRESSION"), &first["runs"]), "{again}");
    let suspects = strings(&first["runs"])[1];
    let says =
        format!("suspects of this run ran again for an earlier gate, and these runs count: `{suspects}`");
    assert!(strings(&again["notes"]).iter().any(|note| note.starts_with(&says)), "{again}");
    assert_eq!(desk.run(1).code, Some(0));
    assert_eq!(desk.gate(&["--retry-suspects"])["verdict"], "PASS");
}

#[test]
fn runs_with_other_criteria_or_tools_are_no_runs_of_one_baseline() {
    let desk = Desk::new("bless-mixed", 2);
    let strict = Desk::id(&desk.run(4));
    let lenient = Desk::id(&run_with(&desk, &["-m", "response_match_score=0.05"]));
    let refused = desk.bless(&[]);
    let says = format!(
        "`evals/desk.evalset.json:c00` was measured in another way in `{lenient}` than in `{strict}` (`response_match_score`: another \
         criterion); so was 1 more case"
    );
    assert!(refused.code == Some(2) && refused.err.contains(&says), "{}", refused.shown());
    assert_eq!(desk.bless(&["--only", &strict]).code, Some(0));
    let both = desk.gate(&[&strict, &lenient]);
    assert!(
        strings(&both["notes"]).iter().any(|note| note.ends_with("too: only the last runs count")),
        "{both}"
    );

    let desk = Desk::new("bless-other-agents", 2);
    desk.run(2);
    let other = format!("{AGENT} --other");
    assert_eq!(desk.0.run(&["run", "evals/desk.evalset.json", "--agent-cmd", &other]).code, Some(0));
    let told = desk.bless(&[]);
    let says = "the runs of 2 cases are of several agents, and count together: `--agent-cmd ";
    assert!(told.code == Some(0) && told.out.contains(says), "{}", told.shown());
}

#[test]
fn a_run_of_changed_files_is_not_blessed_though_the_files_are_as_before_by_now() {
    let desk = Desk::new("bless-ran-dirty", 2);
    desk.commit();
    let agent = desk.0.read("agent.py");
    desk.0.write("agent.py", agent.clone() + "\n# changed\n");
    let dirty = Desk::id(&desk.run(2));
    desk.0.write("agent.py", agent);
    let says = format!("tracked files differed from the commit when `{dirty}` began");
    for args in [&[][..], &["--only", &dirty]] {
        let refused = desk.bless(args);
        assert!(refused.code == Some(2) && refused.err.contains(&says), "{}", refused.shown());
    }
    let clean = Desk::id(&desk.run(3));
    let blessed = desk.bless(&[]);
    let says =
        format!("1 run not counted, as tracked files differed from the commit when it began: `{dirty}`");
    assert!(blessed.code == Some(0) && blessed.out.contains(&says), "{}", blessed.shown());
    assert!(desk.0.read("evalset-baseline.jsonl").contains(&format!(r#""runs": ["{clean}"]"#)));
    assert_eq!(desk.bless(&["--only", &dirty, "--allow-dirty"]).code, Some(0));
    assert!(desk.0.read("evalset-baseline.jsonl").contains(r#""dirty": true"#));
    // Its suspects would be another build too.
    let gate = desk.gate(&["--retry-suspects", &dirty]);
    let says =
        format!("tracked files differed from the commit when `{dirty}` ran; `--retry-suspects` would run");
    assert!(strings(&gate["reasons"])[0].starts_with(&says), "{gate}");
}

#[test]
fn cases_are_blessed_by_the_words_that_run_and_review_take() {
    let desk = Desk::new("bless-words", 3);
    desk.run(1);
    for (words, lines) in [
        (&["desk:c00"][..], 1),
        (&["./evals/desk.evalset.json:c00,c01"], 2),
        (&["desk:c00", "evals/desk.evalset.json:c02"], 2),
        (&["evals"], 3),
        (&["desk"], 3),
        (&["evals/*.evalset.json"], 3),
    ] {
        let _ = std::fs::remove_file(desk.0.path("evalset-baseline.jsonl"));
        let ran = desk.bless(words);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
        assert_eq!(desk.0.read("evalset-baseline.jsonl").matches(r#""case": "#).count(), lines, "{words:?}");
    }
    let unknown = desk.bless(&["other"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("no run of this build has `other`"));
}

#[test]
fn a_new_case_is_held_to_its_own_verdict() {
    let desk = blessed("gate-new-case", 3, 3);
    desk.0.write("evals/desk.evalset.json", set(4));
    desk.agent(&json!({ "c03": ["c03", "no", "no"] }));
    assert_eq!(desk.run(3).code, Some(1));
    let gate = desk.gate(&[]);
    assert_eq!(gate["verdict"], "CANNOT TELL", "{gate}");
    let says = "1 case failed, and no run before is comparable: `evals/desk.evalset.json:c03` passed 1/3; fix the case";
    assert!(strings(&gate["reasons"])[0].starts_with(says), "{gate}");
    // One of three is what this run demands.
    desk.agent(&json!({ "c03": ["c03", "no", "no"] }));
    assert_eq!(run_with(&desk, &["--runs", "3", "--pass", "any"]).code, Some(0));
    assert_eq!(desk.gate(&[])["verdict"], "PASS");
}

#[test]
fn limits_that_are_kept_and_broken_say_by_what() {
    let desk = blessed("gate-demands", 2, 5);
    desk.run(5);
    let limits = ["--min-pass-rate", "0.5", "--min-reliability", "0.5"];
    let kept = desk.gate(&limits);
    let notes = strings(&kept["notes"]);
    assert!(
        notes.iter().any(|it| it.starts_with("10 of 10 runs passed (95% interval ")
            && it.ends_with("`--min-pass-rate 0.5` is kept: this is a demand, no test")),
        "{kept}"
    );
    let says = "`--min-reliability 0.5` is kept: no case is shown to pass less often; the lowest is evals/desk.evalset.json:c00, which \
                passed 5 of 5 runs (95% interval ";
    assert!(notes.iter().any(|it| it.starts_with(says)), "{kept}");
    desk.agent(&json!({ "c01": ["no"] }));
    desk.run(5);
    let broken = desk.gate(&["--min-reliability", "0.8"]);
    let says = "passes less often than `--min-reliability 0.8` demands (p = 0.00032; limit 5% over 2 cases, Holm): this is a demand";
    assert!(strings(&broken["reasons"]).iter().any(|it| it.contains(says)), "{broken}");
}

#[test]
fn a_run_compared_with_itself_is_told() {
    let desk = blessed("diff-itself", 2, 2);
    let id = Desk::id(&desk.run(1));
    let says = format!("`{id}` is on both sides");
    let diff = desk.0.run(&["diff", &id, &id]);
    assert!(diff.code == Some(0) && diff.out.contains(&says), "{}", diff.shown());
    let diff = desk.0.run(&["diff", "evalset-baseline.jsonl", &id]);
    assert!(diff.code == Some(0) && !diff.out.contains("on both sides"), "{}", diff.shown());
}

#[test]
fn a_comment_is_printed_and_a_number_of_runs_is_given_with_its_sign() {
    let desk = blessed("gate-printed", 2, 2);
    desk.run(1);
    let printed = desk.0.run(&["gate", "--markdown", "-"]);
    assert!(
        printed.code == Some(0) && printed.out.starts_with("<!-- evalset-gate -->"),
        "{}",
        printed.shown()
    );
    assert!(!desk.0.path("-").exists());
    let both = desk.0.run(&["gate", "--markdown", "-", "--format", "json"]);
    assert!(both.code == Some(2) && both.out.contains("would both be printed"), "{}", both.shown());
    let number = desk.0.run(&["gate", "--retry-suspects", "5"]);
    assert!(number.code == Some(2) && number.err.contains("`--retry-suspects=5`"), "{}", number.shown());
}
