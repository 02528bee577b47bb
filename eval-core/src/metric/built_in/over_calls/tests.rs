use std::collections::HashMap;
use std::sync::LazyLock;

use eval_format::expect::Rules;
use eval_format::{ArgsMatch, EvalCase};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::*;
use crate::metric::built_in::{built_in, tool_trajectory, trajectory_share};
use crate::metric::tests::computed::score_case;

/// A case of one turn with these calls and rules; `None` if the check refuses it.
fn case(expected: &serde_json::Value, rules: &serde_json::Value) -> Option<EvalCase> {
    let turn =
        json!({"user_content": {"parts": [{"text": "q"}]}, "intermediate_data": {"tool_uses": expected}});
    EvalCase::parse(&json!({"eval_id": "c", "conversation": [turn], "_expect": {"1": rules}}).to_string())
        .ok()
}

fn turn(calls: &serde_json::Value) -> Invocation {
    let calls = calls.as_array().unwrap().iter().map(|call| {
        let mut made = FunctionCall::new(call["name"].as_str().unwrap(), json!({}));
        made.args = eval_format::Value::from(call["args"].clone()).as_object().cloned();
        made
    });
    calls.fold(Invocation::user("q"), Invocation::call)
}

/// A criterion with this match type, for the metric that takes one.
fn criterion(metric: &str, match_type: MatchType) -> Criterion {
    let plain = Criterion::new(1.0);
    if metric == tool_trajectory::NAME { plain.with_match_type(match_type) } else { plain }
}

fn score(
    metric: &str,
    match_type: MatchType,
    expected: &serde_json::Value,
    rules: &serde_json::Value,
    made: &serde_json::Value,
) -> Score {
    let case = case(expected, rules).unwrap();
    let criterion = criterion(metric, match_type);
    score_case(&built_in(metric).unwrap(), &case, &[turn(made)], &criterion).scores()[0].clone()
}

#[expect(clippy::needless_pass_by_value, reason = "arguments are written where they are used")]
fn call(name: &str, args: serde_json::Value) -> serde_json::Value {
    json!({"name": name, "args": args})
}

/// The points of a score: name, whether it was needed.
fn named(score: &Score) -> Vec<(String, bool)> {
    score.loosened().iter().map(|point| (point.name(), point.needed)).collect()
}

#[test]
fn a_turn_has_both_scores_and_says_which_rules_were_needed() {
    let expected = json!([
        call("get_weather", json!({"city": "Oslo", "day": "2026-11-22"})),
        call("search", json!({"q": "a"})),
        call("search", json!({"q": "b"})),
    ]);
    let rules = json!({
        "calls": {"get_weather": {"day": "date"}, "search#1": {"q": "any"}},
        "order": "any", "others": ["log"], "optional": ["search#2"],
    });
    let made = json!([
        call("search", json!({"q": "a"})),
        call("get_weather", json!({"city": "Oslo", "day": "2026-11-23"})),
        call("log", json!({})),
    ]);
    let found = score("tool_trajectory_avg_score", MatchType::Exact, &expected, &rules, &made);
    assert_eq!((found.value(), found.literal()), (Some(1.0), Some(0.0)));
    let needed = [
        ("get_weather day: date", true),
        ("search#1 q: any", false),
        ("search#2: optional", true),
        ("order: any", true),
        ("others: log", true),
    ];
    assert_eq!(named(&found), needed.map(|(name, needed)| (name.to_owned(), needed)));
    // What is equal needs no rule.
    let found = score("tool_trajectory_avg_score", MatchType::Exact, &expected, &rules, &expected);
    assert_eq!((found.value(), found.literal()), (Some(1.0), Some(1.0)));
    assert!(named(&found).iter().all(|(_, needed)| !needed) && found.loosened().len() == 5);
    // A mismatch is one under any rule.
    let made = json!([call("get_weather", json!({"city": "Oslo", "day": "tomorrow"}))]);
    let found = score("tool_trajectory_avg_score", MatchType::Exact, &expected, &rules, &made);
    assert_eq!((found.value(), found.literal()), (Some(0.0), Some(0.0)));
}

#[test]
fn calls_are_paired_by_a_search_and_not_by_the_first_that_fits() {
    let expected = json!([call("f", json!({"x": "A"})), call("f", json!({"x": "P"}))]);
    let made = json!([call("f", json!({"x": "P"})), call("f", json!({"x": "Q"}))]);
    let rules = json!({"calls": {"f#1": {"x": "any"}}, "order": "any"});
    let found = score("tool_trajectory_avg_score", MatchType::Exact, &expected, &rules, &made);
    assert_eq!(found.value(), Some(1.0));
}

#[test]
fn all_metrics_over_calls_have_one_relation() {
    let expected = json!([call("a", json!({"x": 1})), call("b", json!({})), call("c", json!({}))]);
    let rules =
        json!({"calls": {"a": {"x": "number"}}, "optional": ["b"], "others": ["log"], "repeat": {"c": 2}});
    for (made, scores) in [
        ("a1 b c", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("a2 c", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("a2 log c c", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("c a2", [0.0, 0.0, 1.0, 1.0, 1.0, 0.5]),
        ("a2", [0.0, 0.0, 0.0, 1.0, 0.5, 0.5]),
        // An optional call counts where it was made.
        ("a2 b", [0.0, 0.0, 0.0, 1.0, 2.0 / 3.0, 2.0 / 3.0]),
        ("a2 x c", [0.0, 1.0, 1.0, 2.0 / 3.0, 1.0, 2.0 / 3.0]),
        ("a2 c c c", [0.0, 1.0, 1.0, 0.75, 1.0, 0.75]),
        ("", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("log", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ] {
        let calls: Vec<_> = made
            .split_whitespace()
            .map(|word| match word.strip_prefix('a') {
                Some(number) => call("a", json!({"x": number.parse::<i64>().unwrap()})),
                None => call(word, json!({})),
            })
            .collect();
        let metrics = [
            "trajectory_exact_match",
            "trajectory_in_order_match",
            "trajectory_any_order_match",
            "trajectory_precision",
            "trajectory_recall",
            "trajectory_match_ratio",
        ];
        for (metric, wanted) in metrics.into_iter().zip(scores) {
            let found = score(metric, MatchType::Exact, &expected, &rules, &json!(calls));
            assert_eq!(found.value(), Some(wanted), "{metric}: {made}");
        }
    }
}

#[test]
fn true_null_and_nan_match_as_the_specification_says() {
    for (golden, rule, made, passes) in [
        (json!(1), json!({"within": 0}), json!(true), true),
        (json!(2), json!({"within": 5}), json!(true), false),
        (json!(2), json!("any"), json!(null), true),
    ] {
        let rules = json!({"calls": {"f": {"x": rule}}});
        let [expected, made] = [golden, made].map(|x| json!([call("f", json!({"x": x}))]));
        let found = score("tool_trajectory_avg_score", MatchType::Exact, &expected, &rules, &made);
        assert_eq!(found.value(), Some(f64::from(u8::from(passes))), "{expected} {made}");
    }
    let rules = json!({"calls": {"f": {"x": "any"}}});
    let expected = json!([call("f", json!({"x": 1}))]);
    let absent = score(
        "tool_trajectory_avg_score",
        MatchType::Exact,
        &expected,
        &rules,
        &json!([call("f", json!({}))]),
    );
    assert_eq!(absent.value(), Some(0.0));
}

#[test]
fn many_calls_with_rules_are_scored_or_given_up() {
    const CALLS: i64 = 3_000;
    let calls =
        |from: i64| json!((from..from + CALLS).map(|x| call("f", json!({"x": x}))).collect::<Vec<_>>());
    for rules in [
        json!({"calls": {"f#*": {"x": "any"}}}),
        json!({"calls": {"f#*": {"x": "any"}}, "order": "any"}),
        json!({"calls": {"f#*": {"x": "any"}}, "others": ["g"]}),
    ] {
        let found = score("tool_trajectory_avg_score", MatchType::Exact, &calls(0), &rules, &calls(CALLS));
        let is_given_up = found.reason().is_some_and(|reason| reason.contains("too many"));
        assert!(found.value() == Some(1.0) || is_given_up, "{rules}: {:?}", found.value());
    }
    // Rules for one of many calls cost as much as that call.
    let rules = json!({"calls": {"g": {"x": "any"}}, "order": "any"});
    let with = |x: i64| {
        let mut calls = calls(0).as_array().unwrap().clone();
        calls.push(call("g", json!({"x": x})));
        json!(calls)
    };
    let found = score("tool_trajectory_avg_score", MatchType::Exact, &with(0), &rules, &with(1));
    assert_eq!(found.value(), Some(1.0));
}

static VALUES: LazyLock<Vec<serde_json::Value>> = LazyLock::new(|| {
    vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(1.0),
        json!(2.5),
        json!(""),
        json!("a"),
        json!("A"),
        json!("2026-11-23"),
        json!("2026-02-30"),
        json!("http://x/y"),
        json!([]),
        json!(["a", "b"]),
        json!(["b", "a"]),
        json!([1, true]),
        json!({"k": 1}),
        json!({"k": 1.0, "l": 2}),
    ]
});

static MATCHERS: LazyLock<Vec<serde_json::Value>> = LazyLock::new(|| {
    vec![
        json!("any"),
        json!("date"),
        json!("date_time"),
        json!("uuid"),
        json!("url"),
        json!("number"),
        json!("integer"),
        json!("text"),
        json!("ignore_case"),
        json!("unordered"),
        json!("at_least"),
        json!("optional"),
        json!({"regex": ".*"}),
        json!({"regex": "a|2.*"}),
        json!({"within": 1}),
        json!({"within": "1%"}),
        json!({"min": 0, "max": 9}),
        json!({"one_of": [1, "a", null]}),
        json!({"contains": "a"}),
        json!({"optional": "any"}),
        json!({"optional": {"one_of": [1]}}),
    ]
});

fn args() -> impl Strategy<Value = serde_json::Value> {
    let value = prop::sample::select(VALUES.clone());
    prop::collection::btree_map("[x-z]", value, 0..=3).prop_map(|args| json!(args))
}

/// ADK knows neither `args_match` nor `forbidden_tools`.
#[test]
fn the_score_of_adk_is_the_one_without_our_keys_in_every_turn() {
    let golden = |rules: serde_json::Value| {
        let turn = json!({"user_content": {"parts": [{"text": "q"}]}, "intermediate_data": {"tool_uses": [
            {"name": "f", "args": {"day": "2026-11-22"}}]}});
        let case = json!({"eval_id": "c", "conversation": [turn.clone(), turn], "_expect": rules});
        EvalCase::parse(&case.to_string()).unwrap()
    };
    let day = json!({"calls": {"f": {"day": "date"}}});
    let made = turn(&json!([call("f", json!({"day": "2026-11-22", "n": 1}))]));
    let subset = Criterion::new(1.0).with_args_match(ArgsMatch::Subset);
    let trajectory = built_in(tool_trajectory::NAME).unwrap();
    let of = |rules, made: &Invocation, criterion: &Criterion| {
        let scores = score_case(&trajectory, &golden(rules), &[made.clone(), made.clone()], criterion);
        scores.scores().iter().map(|score| (score.value(), score.literal())).collect::<Vec<_>>()
    };
    let (full, none) = (Some(1.0), Some(0.0));
    assert_eq!(of(json!({"1": day}), &made, &subset), [(full, none), (full, none)]);
    assert_eq!(
        of(json!(null), &made, &subset),
        [(full, full), (full, full)],
        "without rules no score is literal"
    );
    let forbidden = Criterion::new(1.0).with_forbidden_tools(["f"]);
    let same = turn(&json!([call("f", json!({"day": "2026-11-22"}))]));
    assert_eq!(of(json!({"1": day}), &same, &forbidden), [(none, full), (none, full)]);
}

#[test]
fn calls_that_are_too_many_to_be_compared_are_shown_in_little_time() {
    let long: Vec<i64> = (0..300).collect();
    let golden: Vec<serde_json::Value> = (0..200).map(|at| call("f", json!({"x": long, "n": at}))).collect();
    let rules = json!({"calls": {"f#*": {"x": "unordered", "n": "any"}}});
    let case = case(&json!(golden), &rules).unwrap();
    let reversed: Vec<i64> = long.iter().rev().map(|at| at + 1).collect();
    let mut made: Vec<serde_json::Value> =
        (0..200).map(|_| call("f", json!({"x": reversed, "n": 0}))).collect();
    // The first and the last call are equal, and that costs no step.
    (made[0], made[199]) = (golden[0].clone(), golden[199].clone());
    let (expected, actual) = (turn(&json!(golden)), turn(&json!(made)));
    let expected: Vec<&FunctionCall> = expected.tool_calls().collect();
    let actual: Vec<&FunctionCall> = actual.tool_calls().collect();
    let rules = Rules::of(&case).unwrap();
    let calls = RuledCalls::new(&expected, &actual, rules.turn(0), MatchType::Exact, ArgsMatch::Exact);
    let began = std::time::Instant::now();
    let pairs = calls.align();
    assert!(began.elapsed() < std::time::Duration::from_mins(1), "{:?}", began.elapsed());
    assert_eq!((pairs[0], pairs[199]), (Pair::Same(0, 0), Pair::Same(199, 199)));
}

fn calls() -> impl Strategy<Value = Vec<serde_json::Value>> {
    let call = ("[fg]", args()).prop_map(|(name, args)| call(&name, args));
    prop::collection::vec(call, 0..=3)
}

/// The matchers that the check takes for a golden value, by its JSON; for an absent one, by nothing.
static FITTING: LazyLock<HashMap<String, Vec<serde_json::Value>>> = LazyLock::new(|| {
    let fits = |args: &serde_json::Value, matcher: &serde_json::Value| {
        case(&json!([call("f", args.clone())]), &json!({"calls": {"f": {"x": matcher}}})).is_some()
    };
    let of =
        |args: serde_json::Value| MATCHERS.iter().filter(|matcher| fits(&args, matcher)).cloned().collect();
    let values = VALUES.iter().map(|value| (value.to_string(), of(json!({"x": value}))));
    values.chain([(String::new(), of(json!({})))]).collect()
});

/// The draws for the rules of a turn: a matcher for arguments of calls, a call with any arguments, and the other keys.
type Drawn = (
    Vec<[Option<Index>; 3]>,
    Option<Index>,
    bool,
    Option<serde_json::Value>,
    Option<Index>,
    Option<(Index, usize)>,
);

fn drawn() -> impl Strategy<Value = Drawn> {
    let of_arg = || prop::option::of(any::<Index>());
    let args = prop::collection::vec([of_arg(), of_arg(), of_arg()], 3);
    let others = prop::option::weighted(0.3, prop::sample::select(vec![json!("any"), json!(["g"])]));
    let call = |weight| prop::option::weighted(weight, any::<Index>());
    let repeat = prop::option::weighted(0.3, (any::<Index>(), 1_usize..=3));
    (args, call(0.2), prop::bool::weighted(0.3), others, call(0.3), repeat)
}

/// A turn of `_expect` for these calls, which the check takes.
fn rules(golden: &[serde_json::Value], drawn: &Drawn) -> serde_json::Value {
    let (args, any, order, others, optional, repeat) = drawn;
    let name = |at: usize| {
        let tool = golden[at]["name"].as_str().unwrap();
        let number = golden[..=at].iter().filter(|call| call["name"] == tool).count();
        format!("{tool}#{number}")
    };
    let of_call = |at: &Index| name(at.index(golden.len()));
    let mut turn = json!({"calls": {}});
    for (at, (call, args)) in golden.iter().zip(args).enumerate() {
        let rules = ["x", "y", "z"].into_iter().zip(args).filter_map(|(key, drawn)| {
            let value = call["args"].get(key).map(ToString::to_string).unwrap_or_default();
            let fitting = &FITTING[&value];
            Some((key.to_owned(), fitting[drawn.as_ref()?.index(fitting.len())].clone()))
        });
        turn["calls"][name(at)] = rules.collect::<serde_json::Map<_, _>>().into();
    }
    if *order {
        turn["order"] = json!("any");
    }
    if let Some(others) = others {
        turn["others"] = others.clone();
    }
    if golden.is_empty() {
        // A key without a rule is a mistake, and so is a turn without any.
        let keys = turn.as_object_mut().unwrap();
        keys.remove("calls");
        keys.entry("order").or_insert(json!("any"));
        return turn;
    }
    if let Some(at) = any {
        turn["calls"][of_call(at)] = json!("any");
    }
    if let Some(at) = optional {
        turn["optional"] = json!([of_call(at)]);
    }
    if let Some((at, most)) = repeat {
        turn["repeat"] = json!({ of_call(at): most });
    }
    turn
}

fn draws() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|draws| draws.parse().ok()).unwrap_or(DRAWS)
}

/// The full run draws 20,000, as many as the reference implementation was held to.
const DRAWS: u32 = 2_000;

/// The scores of a turn without its rules and with them. The second one is found by the search alone, which is not asked
/// where calls are equal.
fn both(
    golden: &Invocation,
    rules: &Rules,
    actual: &Invocation,
    metric: &str,
    match_type: MatchType,
) -> (Option<f64>, Option<f64>) {
    let criterion = criterion(metric, match_type);
    let literal = match metric {
        trajectory_share::RECALL => trajectory_share::recall(actual, Some(golden), &criterion),
        tool_trajectory::IN_ORDER => {
            tool_trajectory::by(MatchType::InOrder)(actual, Some(golden), &criterion)
        }
        _ => tool_trajectory::turn(actual, Some(golden), &criterion),
    };
    let expected: Vec<&FunctionCall> = golden.tool_calls().collect();
    let made: Vec<&FunctionCall> = actual.tool_calls().collect();
    let (match_type, args) = comparison(metric, Some(&criterion)).unwrap();
    let calls = RuledCalls::new(&expected, &made, rules.turn(0), match_type, args);
    let ruled = match metric {
        trajectory_share::RECALL => trajectory_share::ruled_recall,
        _ => tool_trajectory::ruled,
    };
    (literal.value(), ruled(&calls, &criterion).unwrap().value())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws()))]

    #[test]
    fn a_rule_never_lowers_a_score(
        golden in calls(),
        drawn in drawn(),
        others in calls(),
        is_same in prop::bool::weighted(0.7),
        order in any::<Index>(),
    ) {
        let case = case(&json!(golden), &rules(&golden, &drawn));
        prop_assert!(case.is_some(), "the check takes what is drawn");
        let case = case.unwrap();
        let rules = Rules::of(&case).unwrap();
        // Calls that are equal without rules, in their order or in another, and any others.
        let mut made = if is_same { golden.clone() } else { others };
        for match_type in [MatchType::Exact, MatchType::InOrder, MatchType::AnyOrder] {
            match match_type {
                MatchType::InOrder => made.insert(order.index(made.len() + 1), call("h", json!({}))),
                MatchType::AnyOrder => {
                    let places = made.len();
                    made.rotate_left(order.index(places));
                }
                MatchType::Exact => {}
            }
            let turn = turn(&json!(made));
            for metric in [tool_trajectory::NAME, trajectory_share::RECALL, tool_trajectory::IN_ORDER] {
                let (literal, ruled) = both(&case.conversation[0], &rules, &turn, metric, match_type);
                prop_assert!(ruled >= literal, "{metric} {match_type:?}: {literal:?} {ruled:?}");
                prop_assert!(!is_same || metric != tool_trajectory::NAME || ruled == Some(1.0));
            }
        }
    }
}
