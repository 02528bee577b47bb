//! The advice about cases, by the causes of their verdicts.

use eval_format::options::parse_timeout;

use super::*;
use crate::page::Run;

#[test]
fn what_to_do_depends_on_the_cause() {
    let raised = "the agent failed:\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no city";
    for (cause, has_golden, verb, why) in [
        (Cause::Passed, false, "Run it again", "It passed"),
        (
            Cause::Failed { is_flaky: false },
            true,
            "Run it again",
            "If what the agent did is wrong, change the agent",
        ),
        (Cause::Failed { is_flaky: false }, false, "Run it again", "Change the agent, and run"),
        (Cause::Failed { is_flaky: true }, false, "Run it again", "Change the agent, or run the case again."),
        (Cause::NotRecorded, false, "Record it", "The judge's answer to this is not recorded"),
        (
            Cause::CallNotRecorded(MissingCall::New),
            false,
            "Record it",
            "The model's answer to this is not recorded",
        ),
        (
            Cause::CallNotRecorded(MissingCall::Changed),
            false,
            "Record it",
            "What the agent asks its model changed since the answer was recorded",
        ),
        // The line above the advice says what went wrong.
        (Cause::Error(Role::Agent, raised), false, "Run it again", "Fix the agent, then run the case again."),
        (
            Cause::Error(Role::Setup, "run 1 of 3: setup error in turn 1: the agent failed: 503: x"),
            false,
            "Run it again",
            "The setup failed: 503: x",
        ),
        (
            Cause::Error(Role::Metric, "\n  \nrefused\nmore"),
            false,
            "Run it again",
            "The metric failed: refused",
        ),
        (Cause::Error(Role::Judge, "429"), false, "Run it again", "The judge failed: 429"),
        (Cause::Error(Role::Harness, "stale: x"), false, "Run it again", "stale: x"),
        (Cause::Without(Some("no score\n")), false, "Run it again", "It has no verdict: no score"),
        (Cause::Without(None), false, "Run it again", "It has no verdict."),
        (Cause::Unfinished, false, "Run it again", "Its process ended"),
    ] {
        assert_eq!(cause.verb(), verb, "{cause:?}");
        let told = cause.why(&Advice { has_golden, is_stable: false, seen: &CauseFacts::default() });
        assert!(told.starts_with(why) && !told.contains('\n'), "{cause:?}: {told}");
    }
}

#[test]
fn what_the_runs_did_decides_what_is_said() {
    let failed = || Cause::Failed { is_flaky: false };
    let late = "agent error in turn 2: timed out after 3s (`timeout` sets the limit)";
    let seen = CauseFacts::default();
    let refuses = CauseFacts { refuses: true, ..CauseFacts::default() };
    let unanswered = CauseFacts { unanswered: Some("get_warnings"), ..CauseFacts::default() };
    let [known, unknown] = [true, false].map(|is_of_golden| Miss { is_of_golden, ..Miss::default() });
    let [known, unknown] =
        [&known, &unknown].map(|miss| CauseFacts { miss: Some(miss), ..CauseFacts::default() });
    let lacks_fault = CauseFacts { lacks_fault: true, ..CauseFacts::default() };
    let (seen, refuses, unanswered) = (&seen, &refuses, &unanswered);
    for (cause, has_golden, is_stable, seen, why) in [
        (
            failed(),
            true,
            true,
            seen,
            "If what the agent did is wrong, change the agent and run it again. If it is right, review it, and accept it as the new golden. \
             All runs did the same.",
        ),
        (failed(), true, false, seen, "If what the agent did is wrong, change the agent"),
        (
            failed(),
            true,
            true,
            &lacks_fault,
            "Change the agent, or the fault in `_tools`, and run the case again.",
        ),
        (failed(), true, true, refuses, "The agent refused, or gave up, where the golden has an answer."),
        (
            Cause::Error(Role::Agent, late),
            false,
            false,
            unanswered,
            "`get_warnings` gave no response within 3s. Whether it hangs or is slow cannot be told",
        ),
        (
            Cause::Error(Role::Agent, late),
            false,
            false,
            seen,
            "The agent had no answer within 3s. Whether it hangs",
        ),
        (
            Cause::Error(Role::Tools, "tools error in turn 2: no golden answers book_table(..)"),
            false,
            false,
            &known,
            "The case has no response for this call. Fix the agent, or let the argument vary in the case (`_expect`), or add the call",
        ),
        // A tool that the golden does not call has no argument there that could vary.
        (
            Cause::Error(Role::Tools, "tools error in turn 2: no golden answers search(..)"),
            false,
            false,
            &unknown,
            "The case has no response for this call. Fix the agent, or add the call",
        ),
        (Cause::Error(Role::Tools, "tools error: gone"), false, false, seen, "The tools failed: gone"),
    ] {
        let advice = Advice { has_golden, is_stable, seen };
        let told = cause.why(&advice);
        assert!(told.starts_with(why), "{told}");
    }
    assert_eq!(["the same", "`x` y", ""].map(sentence), ["The same", "`x` y", ""]);
}

#[test]
fn the_runs_are_named_that_failed_and_that_have_no_verdict() {
    let outcomes = |states: &[&'static str]| {
        let run = |(at, state): (usize, &&'static str)| Run { number: at + 1, state, ..Run::default() };
        Outcomes::new(&states.iter().enumerate().map(run).collect::<Vec<_>>(), states.len())
    };
    let failed = || Cause::Failed { is_flaky: false };
    let error = || Cause::Error(Role::Agent, "gone");
    for (cause, states, about) in [
        (failed(), &["failed"][..], None),
        (failed(), &["failed", "failed"], None),
        (failed(), &["passed", "failed"], Some("run 2 of 2 failed, the others passed")),
        (failed(), &["failed", "error"], Some("run 1 of 2 failed")),
        (error(), &["failed", "error"], Some("run 2 of 2 ended in an error")),
        (error(), &["passed", "error"], Some("run 2 of 2 ended in an error")),
        (error(), &["error", "error"], None),
        (
            Cause::CallNotRecorded(MissingCall::New),
            &["failed", "error"],
            Some("run 2 of 2 ended in an error"),
        ),
        (Cause::NotRecorded, &["failed", "not_evaluated"], Some("run 2 of 2 has no verdict")),
        (Cause::Passed, &["passed", "failed"], None),
    ] {
        assert_eq!(cause.about(&outcomes(states)).as_deref(), about, "{cause:?} {states:?}");
    }
}

#[test]
fn a_group_has_a_sentence_of_its_own() {
    for (count, has_golden, records, why) in [
        (60, true, false, "If what the agent did is right in all of them, change the set at once"),
        (10, true, false, "If what the agent did is right, review them one by one"),
        (4, false, true, "One command records the answers"),
        (4, false, false, "Fix the cause once"),
    ] {
        assert!(of_group(count, has_golden, records).starts_with(why), "{why}");
    }
    let command = |does: &str, records: bool| Command { records, ..Command::new(does, "x".to_owned()) };
    for (records, kept) in [(true, &["Install"][..]), (false, &["Install", "Record it"])] {
        let commands = vec![command("Install", false), command("Record it", true)];
        let step = NextStep { about: None, why: "Alone.".to_owned(), commands };
        let mut next = Next { steps: vec![step], group: None };
        let commands = vec![command("Record all 3", records)];
        add_group(&mut next, &NextOfGroup { cases: 3, why: "All.".to_owned(), commands });
        let [step] = next.steps.as_slice() else { panic!("{:?}", next.steps) };
        assert_eq!(step.why, "Alone.");
        assert_eq!(step.commands.iter().map(|it| it.does.as_str()).collect::<Vec<_>>(), kept);
        assert_eq!(next.group.map(|it| (it.cases, it.commands.len())), Some((3, 1)));
    }
}

#[test]
fn more_time_is_ten_times_the_limit() {
    for (limit, longer) in
        [(3_000, "30s"), (60_000, "600s"), (150, "1500ms"), (1_500, "15s"), (120_500, "1205s")]
    {
        assert_eq!(longer_limit(Duration::from_millis(limit)).as_deref(), Some(longer));
        assert!(parse_timeout(longer).is_ok());
    }
    assert_eq!(longer_limit(Duration::from_nanos(1)).as_deref(), Some("1ms"));
    assert_eq!(longer_limit(Duration::MAX), None);
}
