//! Rules that no metric reads, and criteria of single cases.

use serde_json::json;

use super::super::{NotCompared, check_compatibility, check_needless, check_passable};
use crate::config::{Criterion, EvalConfig};
use crate::metric::MatchType;
use crate::model::{EvalCase, FunctionCall, Invocation, Rubric};
use crate::options::TurnAggregation;
use crate::problem::ProblemCode;
use crate::reader::check_set;
use crate::value::{Map, Value};

const TRAJECTORY: &str = "tool_trajectory_avg_score";
const ANSWER: &str = "response_match_score";

fn case(expect: serde_json::Value) -> EvalCase {
    let turn = Invocation::user("Hi").call(FunctionCall::new("f", json!({ "x": 1 }))).response("Hello!");
    EvalCase::new("c").turn(turn).with_extra(EvalCase::EXPECT_KEY, expect)
}

fn config(metric: &str, criterion: Criterion) -> EvalConfig {
    EvalConfig::default().with(ANSWER, Criterion::new(0.8)).with(metric, criterion)
}

/// The codes and the texts of what is found in a case.
fn found(config: &EvalConfig, answered: &[&str], case: &EvalCase) -> Vec<(ProblemCode, String)> {
    let found = check_compatibility(config, answered, TurnAggregation::Mean, std::slice::from_ref(case));
    found.iter().map(|found| (found.code, found.to_string())).collect()
}

#[test]
fn a_rule_that_no_metric_reads_is_an_error() {
    let words = EvalConfig::default().with(ANSWER, Criterion::new(0.8));
    let calls = || config(TRAJECTORY, Criterion::new(1.0));
    let ignored = || config(TRAJECTORY, Criterion::new(1.0).with("ignore_args", true));
    let args = || json!({"1": {"calls": {"f": {"x": "any"}}}});
    let responses = || json!({"1": {"responses": {"f": {"sky": "any"}}}});
    for (what, config, expect, says) in [
        (
            "no metric of calls",
            &words,
            args(),
            "no metric compares its calls, so nothing reads `calls` of `_expect`",
        ),
        ("no metric of calls", &words, json!({"1": {"order": "any"}}), "nothing reads `order` of `_expect`"),
        (
            "no metric of calls",
            &words,
            json!({"1": {"optional": ["f"]}}),
            "nothing reads `optional` of `_expect`",
        ),
        ("an answer alone", &words, json!({"1": {"answer": {"contains": "Hello"}}}), ""),
        ("calls", &calls(), args(), ""),
        ("ignored arguments", &ignored(), args(), "the criterion ignores all arguments of its calls"),
        ("ignored arguments", &ignored(), json!({"1": {"calls": {"f": "any"}}}), "ignores all arguments"),
        ("ignored arguments", &ignored(), json!({"1": {"order": "any"}}), ""),
        ("no metric of responses", &calls(), responses(), "nothing reads `responses` of `_expect`"),
        ("responses", &config("tool_response_match", Criterion::new(1.0)), responses(), ""),
    ] {
        let found = found(config, &[], &case(expect.clone()));
        match says {
            "" => assert_eq!(found, [], "{what} {expect}"),
            says => assert!(
                found.len() == 1 && found[0].0 == ProblemCode::UnreadRule && found[0].1.contains(says),
                "{what} {expect}: {found:?}"
            ),
        }
        // A metric of the user's own may read anything.
        let own = config.clone().with("mine", Criterion::new(0.5));
        assert_eq!(self::found(&own, &["mine"], &case(expect)), [], "{what}");
    }
}

#[test]
fn demands_whose_metric_the_case_takes_out_are_an_error() {
    let words = EvalConfig::default().with(ANSWER, Criterion::new(0.8));
    let demands = || case(json!({"1": {"answer": {"contains": "Hello"}}}));
    let out = demands().with_criterion("answer_demands", Value::Null);
    for answered in [&[][..], &["mine"]] {
        let config =
            if answered.is_empty() { words.clone() } else { words.clone().with("mine", Criterion::new(0.5)) };
        let [(ProblemCode::UnreadRule, text)] = &found(&config, answered, &out)[..] else {
            panic!("{answered:?}")
        };
        assert!(
            text.contains("`_criteria` takes `answer_demands` out, so nothing reads `answer` of `_expect`"),
            "{text}"
        );
    }
    let free = words.clone().with("answer_demands", Criterion::new(0.0));
    let [(ProblemCode::UnreadRule, text)] = &found(&free, &[], &demands())[..] else { panic!() };
    assert!(text.contains("no score of `answer_demands` misses its threshold"), "{text}");
    assert_eq!(found(&free, &["answer_demands"], &demands()), []);
    // Without demands there is nothing to take out, which a shared template may say.
    let plain = case(json!({"1": {"answer": {}}})).with_criterion("answer_demands", Value::Null);
    assert_eq!(found(&words, &[], &plain), []);
}

#[test]
fn a_program_reads_no_rules() {
    let program = json!({"command": ["m.py"]});
    let alone =
        EvalConfig::default().with("mine", Criterion::new(0.5)).with_custom_metric("mine", program.clone());
    let beside = config(TRAJECTORY, Criterion::new(1.0))
        .with("mine", Criterion::new(0.5))
        .with_custom_metric("mine", program);
    let calls = case(json!({"1": {"calls": {"f": {"x": "any"}}}}));
    let responses = case(json!({"1": {"responses": {"f": {"sky": "any"}}}}));
    for (config, case, key) in
        [(&alone, &calls, "calls"), (&alone, &responses, "responses"), (&beside, &responses, "responses")]
    {
        let [(ProblemCode::UnreadRule, text)] = &found(config, &[], case)[..] else { panic!("{key}") };
        assert!(text.contains(&format!("nothing reads `{key}` of `_expect`")), "{text}");
        assert_eq!(found(config, &["mine"], case), [], "a metric in Rust may read anything");
    }
    assert_eq!(found(&beside, &[], &calls), []);
}

#[test]
fn a_case_gives_no_metric_a_threshold_that_every_score_meets_unless_another_one_decides() {
    let program = EvalConfig::adk_default()
        .with("mm", Criterion::new(0.5))
        .with_custom_metric("mm", json!({"command": ["m.py"]}));
    let plain = || EvalCase::new("c").turn(Invocation::user("Hi").response("Hello!"));
    for (change, says) in [
        (json!(0.0), "no score of `mm` is below its threshold 0.0, so it would check nothing"),
        (json!(-1), "no score of `mm` is below its threshold -1.0"),
        (json!({"threshold": 1.0, "direction": "at_most"}), "no score of `mm` is above its threshold 1.0"),
        (json!(0.1), ""),
        (json!(null), ""),
    ] {
        let case = plain().with_criterion("mm", Value::from(change.clone()));
        match &found(&program, &[], &case)[..] {
            [] => assert_eq!(says, "", "{change}"),
            [(ProblemCode::CaseCriteria, text)] => assert!(!says.is_empty() && text.contains(says), "{text}"),
            other => panic!("{other:?}"),
        }
    }
    // A built-in metric may inform, as in a config, if another one decides.
    let informs = plain().with_criterion(ANSWER, 0.0);
    assert_eq!(found(&EvalConfig::adk_default(), &[], &informs), []);
    let informs = plain().with_criterion(TRAJECTORY, 0.0);
    assert_eq!(found(&EvalConfig::adk_default(), &[], &informs), []);
    let neither = informs.with_criterion(ANSWER, 0.0);
    let [(ProblemCode::NothingChecked, text)] = &found(&EvalConfig::adk_default(), &[], &neither)[..] else {
        panic!()
    };
    assert!(text.contains("no score is below its threshold 0.0"), "{text}");
}

#[test]
fn a_case_whose_rules_accept_any_calls_is_checked_by_its_answer_or_by_nothing() {
    let free = json!({"optional": ["f"], "others": "any"});
    let calls = EvalConfig::default().with(TRAJECTORY, Criterion::new(1.0));
    let found = found(&calls, &[], &case(json!({ "1": free })));
    let [(ProblemCode::NothingChecked, text)] = found.as_slice() else { panic!("{found:?}") };
    assert!(text.contains("no turn needs a tool call, and other calls are allowed"), "{text}");
    let mut demanded = free;
    demanded["answer"] = json!({"contains": "Hello"});
    assert_eq!(self::found(&calls, &[], &case(json!({ "1": demanded }))), []);
}

/// A selection of metrics is no statement about the case.
#[test]
fn a_rule_of_a_metric_that_a_selection_left_out_is_no_mistake() {
    let chosen = |config: EvalConfig| config.only(vec![(ANSWER.to_owned(), Criterion::new(0.8))]);
    let calls = case(json!({"1": {"calls": {"f": {"x": "any"}}, "order": "any"}}));
    assert_eq!(found(&chosen(config(TRAJECTORY, Criterion::new(1.0))), &[], &calls), []);
    assert_eq!(found(&chosen(config("trajectory_recall", Criterion::new(1.0))), &[], &calls), []);
    // No metric reads it, with the selection or without.
    let state = config("final_session_state_match", Criterion::new(1.0));
    assert_eq!(found(&chosen(state), &[], &calls).len(), 1);
    let ignored = config(TRAJECTORY, Criterion::new(1.0).with("ignore_args", true));
    let kept = ignored.only(vec![(TRAJECTORY.to_owned(), Criterion::new(1.0).with("ignore_args", true))]);
    assert_eq!(found(&kept, &[], &calls).len(), 1);
}

#[test]
fn a_rule_of_what_the_criteria_allow_is_a_warning_at_its_key() {
    let cases = [case(json!({"1": {"others": "any", "order": "any"}}))];
    for (match_type, needless) in
        [(MatchType::Exact, ""), (MatchType::InOrder, "others"), (MatchType::AnyOrder, "others")]
    {
        let config = config(TRAJECTORY, Criterion::new(1.0).with_match_type(match_type));
        let found = check_needless(&config, &[], &cases);
        assert_eq!(found.len(), usize::from(!needless.is_empty()), "{match_type:?}: {found:?}");
        for found in found {
            let text = crate::model::EvalSet::new("s").case(cases[0].clone()).to_json();
            let problem = found.problem(&check_set("s.evalset.json", text.as_bytes(), None));
            assert!(
                !problem.is_error() && problem.path.to_string() == "eval_cases[0]._expect.1.others",
                "{problem:?}"
            );
            assert_eq!(text[problem.range], format!("\"{needless}\""));
        }
    }
    let any_order = config(TRAJECTORY, Criterion::new(1.0).with_match_type(MatchType::AnyOrder));
    let order = [case(json!({"1": {"order": "any"}}))];
    assert!(
        check_needless(&any_order, &[], &order)[0]
            .message
            .starts_with("`order` of `_expect` loosens nothing")
    );
}

#[test]
fn others_loosen_nothing_where_no_metric_counts_them() {
    let cases = [case(json!({"1": {"others": "any"}}))];
    for (metric, is_needless) in [
        ("trajectory_recall", true),
        ("trajectory_in_order_match", true),
        ("trajectory_precision", false),
        ("trajectory_match_ratio", false),
        ("trajectory_exact_match", false),
    ] {
        let found = check_needless(&config(metric, Criterion::new(1.0)), &[], &cases);
        assert_eq!(found.len(), usize::from(is_needless), "{metric}");
    }
}

#[test]
fn a_case_changes_criteria_of_its_config_and_no_others() {
    let base = config(TRAJECTORY, Criterion::new(1.0).with_match_type(MatchType::InOrder));
    let plain = case(json!(null));
    let of = |changes: serde_json::Value| {
        base.of_case(&plain.clone().with_extra("_criteria", changes), &[]).map(std::borrow::Cow::into_owned)
    };
    let own = of(json!({ ANSWER: null, TRAJECTORY: { "match_type": "EXACT" } })).unwrap();
    assert_eq!(own.criteria.len(), 1);
    assert_eq!((own.criteria[0].1.threshold, own.criteria[0].1.match_type()), (1.0, MatchType::Exact));
    let own = of(json!({ TRAJECTORY: 0.5 })).unwrap();
    assert_eq!((own.criteria[1].1.threshold, own.criteria[1].1.match_type()), (0.5, MatchType::InOrder));
    assert_eq!(of(json!(null)).unwrap(), base);
    assert_eq!(of(json!({ "safety_v1": null })).unwrap(), base);

    for (changes, metric, says) in [
        (
            json!({ "response_match_scor": 0.5 }),
            Some("response_match_scor"),
            "the config has no criterion `response_match_scor`; did you mean `response_match_score`?",
        ),
        (
            json!({ "safety_v1": 0.5 }),
            Some("safety_v1"),
            "a case changes criteria of its config: `response_match_score` and `tool_trajectory_avg_score`",
        ),
        (json!({ ANSWER: { "match_type": "EXACT" } }), Some(ANSWER), "match_type"),
        (json!([1]), None, "must be an object of criteria, not an array"),
    ] {
        let error = of(changes.clone()).unwrap_err();
        assert!(error.metric.as_deref() == metric && error.to_string().contains(says), "{changes}: {error}");
        let found = found(&base, &[], &plain.clone().with_extra("_criteria", changes));
        assert!(found.len() == 1 && found[0].0 == ProblemCode::CaseCriteria, "{found:?}");
    }
    let nothing = plain.clone().with_criterion(ANSWER, Value::Null).with_criterion(TRAJECTORY, Value::Null);
    let left = found(&base, &[], &nothing);
    assert!(left.len() == 1 && left[0].0 == ProblemCode::NothingChecked, "{left:?}");
}

#[test]
fn every_check_asks_the_criteria_of_the_case() {
    // No expected answer: by the config no agent can pass it, and by the criteria of the case one can.
    let silent = EvalCase::new("c").turn(Invocation::user("Hi").call(FunctionCall::new("f", json!({}))));
    let own = silent.clone().with_criterion(ANSWER, Value::Null);
    assert_eq!(check_passable(None, &[], std::slice::from_ref(&silent)).len(), 1);
    assert_eq!(check_passable(None, &[], std::slice::from_ref(&own)), []);

    // A rubric metric that is taken out needs no rubrics.
    let rubric = "rubric_based_final_response_quality_v1";
    let judged = config(rubric, Criterion::new(0.5)).with(TRAJECTORY, Criterion::new(1.0));
    assert_eq!(found(&judged, &[], &silent).len(), 1);
    let without = own.clone().with_criterion(rubric, Value::Null);
    assert_eq!(found(&judged, &[], &without), []);
    let kind = Rubric::new("kind", "The answer is kind.").of_type("FINAL_RESPONSE_QUALITY");
    assert_eq!(found(&judged, &[], &silent.clone().with_rubrics([kind])), []);

    let counted = |case: &EvalCase| {
        let default = EvalConfig::adk_default();
        let criteria = default.criteria.iter().map(|(name, criterion)| (name.as_str(), criterion));
        NotCompared::of(criteria, &[], [case]).to_string()
    };
    let spoken = case(json!(null));
    assert_eq!(counted(&spoken), "");
    assert_eq!(counted(&spoken.with_criterion(TRAJECTORY, Value::Null)), "1 tool call");
}

#[test]
fn a_metric_that_a_case_takes_out_decides_it_no_more_whether_its_config_names_it_or_not() {
    const STATE: &str = "final_session_state_match";
    let unnamed =
        EvalConfig::default().with(TRAJECTORY, Criterion::new(1.0).with_match_type(MatchType::InOrder));
    let named = unnamed.clone().with(STATE, Criterion::new(1.0));
    let state = EvalCase::new("c").turn(Invocation::user("Hi")).final_state(Map::from([("k", 1)]));
    for config in [unnamed, named] {
        assert_eq!(found(&config, &[], &state), []);
        let found = found(&config, &[], &state.clone().with_criterion(STATE, Value::Null));
        assert_eq!(found.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [ProblemCode::NothingChecked]);
    }
}
