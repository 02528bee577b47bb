use super::super::check_compatibility;
use crate::config::{Criterion, EvalConfig};
use crate::model::{EvalCase, Invocation, Rubric};
use crate::options::TurnAggregation;
use crate::problem::ProblemCode;
use crate::reader::check_set;

const FINAL: &str = "rubric_based_final_response_quality_v1";
const TRAJECTORY: &str = "rubric_based_multi_turn_trajectory_quality_v1";

fn incompatibilities(criterion: Criterion, cases: &[EvalCase], metric: &str) -> Vec<String> {
    let config = EvalConfig::default().with(metric, criterion);
    assert!(config.checked(&[]).is_ok());
    check_compatibility(&config, &[], TurnAggregation::Mean, cases).iter().map(ToString::to_string).collect()
}

fn case(rubrics: &[Rubric], turns: &[&[Rubric]]) -> EvalCase {
    let turns =
        turns.iter().map(|rubrics| Invocation { rubrics: Some(rubrics.to_vec()), ..Invocation::user("Hi") });
    EvalCase { rubrics: Some(rubrics.to_vec()), conversation: turns.collect(), ..EvalCase::new("c") }
}

#[test]
fn a_metric_without_rubrics_is_found_before_anything_runs() {
    let mine = || Rubric::new("a", "x").of_type("FINAL_RESPONSE_QUALITY");
    let other = || Rubric::new("b", "x").of_type("TOOL_USE_QUALITY");
    let general = Criterion::new(1.0).with_rubrics([Rubric::new("g", "x")]);
    let none = |turn: &str| {
        vec![format!(
            "case `c`: `{FINAL}` has no rubrics to judge by{turn}; add `rubrics` to its criterion, or rubrics with \
             `\"type\": \"FINAL_RESPONSE_QUALITY\"` to the case or its turns"
        )]
    };
    for (criterion, case, expected) in [
        (Criterion::new(1.0), case(&[], &[&[]]), none("")),
        (Criterion::new(1.0), case(&[other()], &[&[]]), none("")),
        (Criterion::new(1.0), case(&[], &[&[mine()], &[]]), none(" in turn 2")),
        (Criterion::new(1.0), case(&[], &[]), none("")),
        (Criterion::new(1.0), case(&[mine()], &[&[], &[]]), vec![]),
        (Criterion::new(1.0), case(&[mine()], &[]), vec![]),
        (Criterion::new(1.0), case(&[], &[&[mine()], &[mine()]]), vec![]),
        (general, case(&[], &[&[]]), vec![]),
    ] {
        assert_eq!(incompatibilities(criterion, &[case], FINAL), expected);
    }
}

#[test]
fn rubrics_of_the_conversation_are_those_of_the_last_turn() {
    let mine = [Rubric::new("a", "x").of_type("TRAJECTORY_QUALITY")];
    assert!(incompatibilities(Criterion::new(1.0), &[case(&[], &[&[], &mine])], TRAJECTORY).is_empty());
    let found = incompatibilities(Criterion::new(1.0), &[case(&[], &[&mine, &[]])], TRAJECTORY);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("has no rubrics"), "{found:?}");
    assert!(found[1].contains("`a` is about the whole conversation and is in an earlier turn"), "{found:?}");
}

#[test]
fn ids_are_unique_across_criterion_and_case() {
    let general = || Criterion::new(1.0).with_rubrics([Rubric::new("a", "x")]);
    let mine = [Rubric::new("a", "y").of_type("FINAL_RESPONSE_QUALITY")];
    let other = [Rubric::new("a", "y").of_type("TOOL_USE_QUALITY")];
    let said = |turn: &str| {
        vec![format!(
            "case `c`: the rubric `a`{turn} has the id of a rubric of the criterion of `{FINAL}`; rename one of them; \
             verdicts are told apart by the id"
        )]
    };
    assert_eq!(incompatibilities(general(), &[case(&mine, &[&[]])], FINAL), said(""));
    assert_eq!(incompatibilities(general(), &[case(&[], &[&[], &mine])], FINAL), said(" in turn 2"));
    assert!(incompatibilities(general(), &[case(&other, &[&[]])], FINAL).is_empty());
}

#[test]
fn weights_are_of_rubrics_that_exist_and_leave_something_to_score() {
    let criterion = |id: &str, weight: f64| {
        Criterion::new(1.0).with_rubrics([Rubric::new("kind", "x")]).with_weights([(id, weight)])
    };
    let own = [Rubric::new("brief", "y").of_type("FINAL_RESPONSE_QUALITY")];
    let cases = [case(&own, &[&[]]), case(&[], &[&[]])];
    assert!(incompatibilities(criterion("kind", 2.0), &cases, FINAL).is_empty());
    assert!(incompatibilities(criterion("brief", 0.0), &cases, FINAL).is_empty());
    assert_eq!(
        incompatibilities(criterion("kid", 2.0), &cases, FINAL),
        [format!("`weights` of `{FINAL}` names a rubric `kid` that does not exist; did you mean `kind`?")]
    );
    let found = incompatibilities(criterion("kind", 0.0), &cases, FINAL);
    assert_eq!(
        found,
        [format!(
            "case `c`: every rubric of `{FINAL}` has the weight 0, so nothing would be scored; give one of them a weight \
         above 0 in `weights`"
        )]
    );
}

#[test]
fn a_metric_of_ones_own_reads_what_it_likes() {
    let config = EvalConfig::default().with(FINAL, Criterion::new(1.0));
    assert!(check_compatibility(&config, &[FINAL], TurnAggregation::Mean, &[case(&[], &[&[]])]).is_empty());
}

#[test]
fn an_incompatibility_is_a_problem_at_the_id_of_its_case() {
    let text = r#"{"eval_set_id": "s", "eval_cases": [
        {"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}
    ]}"#;
    let checked = check_set("s.evalset.json", text.as_bytes(), None);
    let config = EvalConfig::default().with(FINAL, Criterion::new(1.0));
    let set = checked.set.as_ref().unwrap();
    let problem =
        check_compatibility(&config, &[], TurnAggregation::Mean, &set.eval_cases)[0].problem(&checked);
    assert_eq!(
        (problem.code, problem.path.to_string()),
        (ProblemCode::NoRubrics, "eval_cases[0]".to_owned())
    );
    assert_eq!(&text[problem.range], "\"c\"");
}

/// A set with rubrics of the case and of its one turn, as Google's samples have them.
fn set(of_case: &str, of_turn: &str) -> String {
    format!(
        r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "rubrics": [{of_case}],
            "conversation": [{{"user_content": {{"parts": [{{"text": "Hi"}}]}}, "rubrics": [{of_turn}]}}]}}]}}"#
    )
}

/// The problems of a config and a set: path and message.
fn problems(config: &EvalConfig, text: &str) -> Vec<String> {
    let checked = check_set("s.evalset.json", text.as_bytes(), None);
    let set = checked.set.as_ref().expect("a set that ADK loads");
    let found = check_compatibility(config, &[], TurnAggregation::Mean, &set.eval_cases);
    found.iter().map(|it| it.problem(&checked)).map(|it| format!("{}: {}", it.path, it.message)).collect()
}

#[test]
fn a_rubric_written_wrongly_is_an_error_where_a_metric_would_have_read_it() {
    let content = r#""rubric_content": {"text_property": "It is kind."}"#;
    let untyped = format!(r#"{{"rubric_id": "r", {content}}}"#);
    let typed = |kind: &str| format!(r#"{{"rubric_id": "r", {content}, "type": "{kind}"}}"#);
    let silent = r#"{"rubric_id": "r", "rubric_content": {}, "type": "FINAL_RESPONSE_QUALITY"}"#.to_owned();
    let general = Criterion::new(1.0).with_rubrics([Rubric::new("g", "x")]);
    let judged = EvalConfig::default().with(FINAL, general);
    for (rubric, expected) in [
        (untyped, Some("the rubric `r` has no `type`")),
        (
            typed("FINAL_RESPONSE_QUALTY"),
            Some("the rubric `r` has the type `FINAL_RESPONSE_QUALTY`, which does not exist"),
        ),
        (silent, Some("the rubric `r` says nothing")),
        (typed("FINAL_RESPONSE_QUALITY"), None),
        (typed("TOOL_USE_QUALITY"), None),
        (typed("TOOL_USE_QUALTY"), None),
        (typed("TONE"), None),
    ] {
        for (text, path) in [
            (set(&rubric, ""), "eval_cases[0].rubrics[0]"),
            (set("", &rubric), "eval_cases[0].conversation[0].rubrics[0]"),
        ] {
            assert!(problems(&EvalConfig::adk_default(), &text).is_empty(), "{text}");
            let found = problems(&judged, &text);
            let expected: Vec<String> =
                expected.iter().map(|message| format!("{path}: case `c`: {message}")).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
