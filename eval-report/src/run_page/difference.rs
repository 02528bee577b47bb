//! The differences between the expectations of a case and what a run did, each in a few words.
//!
//! The texts come from agents and files. They are masked before they are shortened: the beginning of a secret would not
//! be recognised.

use eval_core::metric::arithmetic::{Pair, RuledCalls, values_equal};
use eval_core::report::{MetricReport, RunError, ScoredMetric, Transcript, Verdict};
use eval_format::expect::{Relation, Rules, TurnRules};
use eval_format::metric::{Subject, metric};
use eval_format::{ArgsMatch, Criterion, EvalCase, FunctionCall, Invocation, Map, Value};
use eval_support::untrusted;
use eval_support::words::{count, ordinal};

use super::aligned::{CallLine, aligned};
use super::judged::{failed_run, failed_turn};
use super::wording::{change, other_answer, shortened, shown_value, told};
use crate::journal::Evaluation;
use crate::page::{Block, Run, line, text, texts};
use crate::recorded::{FailedReads, HowCalls, TestResult};

/// The most differences in a row of the table.
pub(super) const MAX_SHOWN: usize = 3;
const MAX_ERROR_CHARS: usize = 160;

/// The differences of the first run that failed, as one line; `None` if no run failed, or they are not known. `shown` has
/// the runs of the page, whose answers are compared already. Runs without a verdict are counted beside it: their error
/// does not hide a failure.
///
/// Only parts of a turn that a failed metric looks at count: an answer may be worded in another way. What a judge says of
/// a turn is told first, and the demand that its answer does not fulfil.
pub(super) fn of_test(test: &TestResult<'_>, case: Option<&EvalCase>, shown: &[Run]) -> Option<String> {
    let (place, run) =
        test.attempt.evaluations.iter().enumerate().find(|(_, it)| it.passed == Some(false))?;
    let failed = of_run(test, run);
    let transcript = &run.ran.transcript;
    let metrics: Vec<&ScoredMetric> = run.scored.iter().flat_map(|it| &it.metrics).collect();
    let bound = |metric: &ScoredMetric| test.deciding().find(|it| it.name == metric.name)?.bound();
    let rules = case.filter(|_| !test.attempt.started.literal).and_then(|case| Rules::of(case).ok());
    let rules = rules.unwrap_or_default();
    let mut found = Vec::new();
    for (at, record) in transcript.turns.iter().enumerate() {
        let expected = case.and_then(|case| case.conversation.get(at));
        let compared = shown.get(place).and_then(|run| run.turns.get(at)).map(|turn| turn.diff.as_slice());
        let mut of_turn: Vec<String> = metrics
            .iter()
            .filter(|metric| says_why(metric))
            .filter_map(|metric| failed_turn(metric, at, bound(metric)))
            .collect();
        of_turn.extend(
            expected
                .map(|turn| differences(failed, (turn, &record.invocation), rules.turn(at), compared))
                .unwrap_or_default(),
        );
        if of_turn.is_empty() {
            of_turn.extend(metrics.iter().find_map(|metric| failed_turn(metric, at, bound(metric))));
        }
        found.extend(numbered(at, &of_turn));
    }
    if let Some(case) = case.filter(|_| failed.state) {
        found.extend(state(&case.final_session_state, &transcript.state));
    }
    for metric in metrics {
        if says_why(metric) || found.is_empty() {
            found.extend(failed_run(metric, bound(metric)));
        }
    }
    let said = joined(found, shown.get(place).map(|run| run.differences));
    let (number, total) = (run.ran.run, test.runs.total);
    let of_run = |which: String, said: String| {
        let sign = if said.starts_with("turn ") { "," } else { ":" };
        format!("{which}{sign} {said}")
    };
    let failed = test.attempt.evaluations.iter().filter(|run| run.passed == Some(false)).count();
    match without_verdict(&test.attempt.evaluations, total) {
        Some((counts, error)) => {
            let said = said.map(|said| of_run(format!("run {number}"), said));
            let both: Vec<String> = said.into_iter().chain(error).collect();
            Some(if both.is_empty() { counts } else { format!("{counts}: {}", both.join("; ")) })
        }
        None if total < 2 || failed == total && did_the_same(test) => said,
        // Of several runs it is said which one did this: another one may have failed in another way.
        None => said.map(|said| {
            let more = match failed - 1 {
                0 => String::new(),
                more => format!("; {} failed", count(more, "more run")),
            };
            of_run(format!("run {number} of {total}"), said) + &more
        }),
    }
}

/// The error that broke a run off. A run that came to its end may have failed with one, too.
fn broke(transcript: &Transcript) -> Option<&RunError> {
    transcript.error.as_ref().filter(|error| !error.is_failure)
}

/// Whether a metric says more than what differs: what a judge found, or which demand is not fulfilled.
fn says_why(scored: &ScoredMetric) -> bool {
    !scored.judge.is_empty() || metric(&scored.name).is_some_and(|info| info.compares == Subject::Demands)
}

/// Whether all of several runs did the same.
pub(super) fn did_the_same(test: &TestResult<'_>) -> bool {
    let did = |at: usize| {
        let turns = test.attempt.evaluations[at].ran.transcript.turns.iter().map(|it| &it.invocation);
        let calls = |turn: &Invocation| {
            turn.tool_calls().map(|call| (call.name.clone(), call.args.clone())).collect::<Vec<_>>()
        };
        turns.map(|turn| (turn.response_text(), calls(turn))).collect::<Vec<_>>()
    };
    let runs = test.attempt.evaluations.len();
    runs > 1 && (1..runs).all(|at| did(at) == did(0))
}

/// `2 of 3 runs failed, 1 ended in an error`, and the first of these errors; `None` if all runs have a verdict.
fn without_verdict(runs: &[Evaluation], total: usize) -> Option<(String, Option<String>)> {
    let error = |run: &'_ Evaluation| Some((run.ran.run, broke(&run.ran.transcript)?.clone()));
    let errors: Vec<_> = runs.iter().filter_map(error).collect();
    let failed = runs.iter().filter(|run| run.passed == Some(false)).count();
    let unscored = runs.iter().filter(|run| run.passed.is_none()).count().saturating_sub(errors.len());
    let counted = [
        (errors.len(), "ended in an error"),
        (unscored, if unscored == 1 { "has no verdict" } else { "have no verdict" }),
    ];
    let counted = counted.iter().filter(|(runs, _)| *runs > 0).map(|(runs, what)| format!("{runs} {what}"));
    let counted: Vec<String> = counted.collect();
    let first = errors.first().map(|(run, error)| {
        let said = untrusted::headline(&error.to_string()).into_owned();
        format!("run {run}: {}", shortened(&line(&said), MAX_ERROR_CHARS))
    });
    (!counted.is_empty()).then(|| (format!("{failed} of {total} runs failed, {}", counted.join(", ")), first))
}

/// The differences between conversations that no run recorded, as one line. `failed` has the metrics that failed.
pub(super) fn of_turns<'m>(
    actual: &[Invocation],
    expected: &[Invocation],
    failed: impl IntoIterator<Item = (&'m str, &'m Criterion)>,
) -> Option<String> {
    let failed = FailedReads::of(failed.into_iter().map(|(name, criterion)| (name, Some(criterion))));
    let rules = Rules::default();
    let turns = expected.iter().zip(actual).enumerate();
    joined(
        turns
            .flat_map(|(at, (one, other))| {
                numbered(at, &differences(failed, (one, other), rules.turn(at), None))
            })
            .collect(),
        None,
    )
}

/// The differences of a turn, the first one with the number of the turn.
fn numbered(at: usize, of_turn: &[String]) -> Vec<String> {
    let mut counted = counted(of_turn);
    if let Some(first) = counted.first_mut() {
        *first = format!("turn {}: {first}", at + 1);
    }
    counted
}

/// Equal differences in a row as one: `get_forecast not called (3 times)`.
fn counted(found: &[String]) -> Vec<String> {
    let equal = found.chunk_by(|one, other| one == other);
    equal
        .map(|all| if all.len() == 1 { all[0].clone() } else { format!("{} ({} times)", all[0], all.len()) })
        .collect()
}

/// `a; b; c; 5 differences in all`. `all` counts the differences of the run, as its page does, without what judges say.
fn joined(mut found: Vec<String>, all: Option<usize>) -> Option<String> {
    let has_more = found.len() > MAX_SHOWN;
    found.truncate(MAX_SHOWN);
    let all = all.filter(|all| *all > MAX_SHOWN).map(|all| format!("{all} differences in all"));
    found.extend(has_more.then(|| all.unwrap_or_else(|| "and more".to_owned())));
    (!found.is_empty()).then(|| line(&told(&found.join("; "))))
}

/// The parts of a run that its failed metrics read.
fn of_run(test: &TestResult<'_>, run: &Evaluation) -> FailedReads {
    let in_run = |report: &&MetricReport| {
        let scored = run.scored.iter().flat_map(|it| &it.metrics).find(|it| it.name == report.name);
        scored.map_or(report.verdict == Verdict::Failed, |it| it.verdict == Verdict::Failed)
    };
    let failed = test.deciding().filter(in_run);
    FailedReads::of(failed.map(|report| (report.name.as_str(), report.criterion.as_ref())))
}

/// The differences in the parts of a turn that failed metrics read. `compared` has the answers beside each other, if that was
/// done before.
fn differences(
    failed: FailedReads,
    (expected, actual): (&Invocation, &Invocation),
    rules: &TurnRules,
    compared: Option<&[Block]>,
) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(how) = failed.calls {
        let [wanted, made] = [expected, actual].map(|turn| turn.tool_calls().collect::<Vec<_>>());
        found.extend(calls(&wanted, &made, how, rules));
    }
    if failed.answers && expected.final_response.is_some() {
        let answer = actual.final_response.as_ref().map(|_| actual.response_text());
        found.extend(answers(&expected.response_text(), answer.as_deref(), compared));
    }
    found
}

/// The differences between calls: ``search_flights `cabin` business → economy, `date` missing``.
fn calls(
    expected: &[&FunctionCall],
    actual: &[&FunctionCall],
    how: HowCalls,
    rules: &TurnRules,
) -> Vec<String> {
    let name = |call: &FunctionCall| line(call.name.as_deref().unwrap_or("a call without a name"));
    let ruled = RuledCalls::new(expected, actual, rules, how.match_type, how.args);
    let lines = aligned(expected, actual, how.match_type, how.args, rules);
    let shown = |text: &str| line(text);
    let differences = lines.into_iter().filter_map(|line| match line {
        CallLine::Pair(Pair::Same(..) | Pair::Loosened(..) | Pair::LeftOut(_) | Pair::Other(_)) => None,
        CallLine::Pair(Pair::Changed(e, a)) if rules.has_rules(e) => {
            let reasons = match ruled.relation(e, a) {
                Relation::Mismatch(reasons) => reasons,
                _ => Vec::new(),
            };
            let reasons: Vec<String> = reasons.iter().take(MAX_SHOWN).map(ToString::to_string).collect();
            Some(format!("{} {}", name(expected[e]), shown(&reasons.join(", "))))
        }
        CallLine::Pair(Pair::Changed(e, a)) => {
            let of_args = arguments(expected[e].args.as_ref(), actual[a].args.as_ref(), how.args);
            Some(format!("{} {}", name(expected[e]), of_args.join(", ")))
        }
        CallLine::Pair(Pair::Missing(e)) => {
            Some(format!("{}{} not called", name(expected[e]), told_apart(expected[e], actual)))
        }
        CallLine::Pair(Pair::Extra(a)) => how
            .counts_extra
            .then(|| format!("{}{} called, not expected", name(actual[a]), told_apart(actual[a], expected))),
        CallLine::Moved(e, a) => {
            let which = told_apart(expected[e], expected);
            let (made, wanted) = (ordinal(a + 1), ordinal(e + 1));
            Some(format!("{}{which} called {made}, expected {wanted}", name(expected[e])))
        }
    });
    differences.collect()
}

/// The argument that tells a call from others of its tool: `` with `shop` Fulda``. Empty if there are no others.
fn told_apart(call: &FunctionCall, others: &[&FunctionCall]) -> String {
    let empty = Map::default();
    let is_other = |it: &&&FunctionCall| !std::ptr::eq(**it, call) && it.name == call.name;
    let others = others.iter().filter(is_other).map(|it| it.args.as_ref().unwrap_or(&empty));
    let others: Vec<&Map> = others.collect();
    let unlike = |key: &str, value: &Value| {
        others.iter().filter(|it| !it.get(key).is_some_and(|found| values_equal(found, value))).count()
    };
    let mut best: Option<(usize, &str, &Value)> = None;
    for (key, value) in call.args.iter().flat_map(|args| args.iter()) {
        let count = unlike(key, value);
        if count > best.map_or(0, |(most, ..)| most) {
            best = Some((count, key, value));
        }
    }
    best.map(|(_, key, value)| format!(" with `{}` {}", line(key), shown_value(value))).unwrap_or_default()
}

/// The differences between arguments by key path. Further arguments count unless a subset is enough.
pub(super) fn arguments(expected: Option<&Map>, actual: Option<&Map>, args: ArgsMatch) -> Vec<String> {
    let empty = Map::default();
    let mut found = Vec::new();
    objects("", expected.unwrap_or(&empty), actual.unwrap_or(&empty), args != ArgsMatch::Subset, &mut found);
    let more = found.len().saturating_sub(MAX_SHOWN);
    found.truncate(MAX_SHOWN);
    found.extend((more > 0).then(|| count(more, "more argument")));
    if found.is_empty() { vec!["other arguments".to_owned()] } else { found }
}

fn objects(path: &str, expected: &Map, actual: &Map, counts_more: bool, found: &mut Vec<String>) {
    let inside = |key: &str| if path.is_empty() { line(key) } else { format!("{path}.{}", line(key)) };
    for (key, wanted) in expected {
        match actual.get(key) {
            Some(came) => values(&inside(key), wanted, came, found),
            None => found.push(format!("`{}` missing", inside(key))),
        }
    }
    for key in actual.keys().filter(|key| counts_more && !expected.contains_key(key)) {
        found.push(format!("`{}` not expected", inside(key)));
    }
}

/// Further keys inside a value are differences, whatever is allowed beside it.
fn values(path: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    if values_equal(expected, actual) {
        return;
    }
    match (expected, actual) {
        (Value::Object(one), Value::Object(other)) => objects(path, one, other, true, found),
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (at, (one, other)) in one.iter().zip(other).enumerate() {
                values(&format!("{path}[{at}]"), one, other, found);
            }
        }
        _ => found.push(format!("`{path}` {}", change(expected, actual))),
    }
}

/// The difference between answers; `None` if they are equal.
fn answers(expected: &str, actual: Option<&str>, compared: Option<&[Block]>) -> Option<String> {
    let Some(actual) = actual.filter(|it| !it.trim().is_empty() || expected.trim().is_empty()) else {
        return Some("no answer".to_owned());
    };
    if expected == actual {
        return None;
    }
    let (one, other) = (text(expected).shown, text(actual).shown);
    let said = match compared {
        Some(blocks) => other_answer(&one, &other, blocks),
        None => other_answer(&one, &other, &texts(&one, &other)),
    };
    Some(said)
}

fn state(expected: &Map, actual: &Map) -> Vec<String> {
    let mut found = Vec::new();
    objects("", expected, actual, false, &mut found);
    found.into_iter().map(|difference| format!("state {difference}")).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use eval_format::MatchType;

    use super::*;

    pub(in super::super) fn value(text: &str) -> Value {
        Value::parse(text).unwrap()
    }

    /// Calls from `[["tool", {"key": "value"}]]`.
    pub(in super::super) fn made(text: &str) -> Vec<FunctionCall> {
        let all = value(text);
        let call = |it: &Value| {
            let [name, args] = it.as_array().unwrap() else { panic!("{text}") };
            FunctionCall::new(name.as_str().unwrap(), args.clone())
        };
        all.as_array().unwrap().iter().map(call).collect()
    }

    #[test]
    fn calls_differ_in_arguments_by_key_path_in_tools_and_in_order() {
        use ArgsMatch::{Exact as ExactArgs, Ignore, Subset};
        use MatchType::{AnyOrder, Exact, InOrder};
        let flights = r#"[["search_flights", {"cabin": "business", "date": "2026-01-02", "seats": 2}]]"#;
        for (expected, actual, match_type, args, counts_extra, said) in [
            (flights, flights, Exact, ExactArgs, true, ""),
            (
                flights,
                r#"[["search_flights", {"cabin": "economy", "seats": 2.0}]]"#,
                Exact,
                ExactArgs,
                true,
                "search_flights `cabin` expected business → actual economy, `date` missing",
            ),
            (
                flights,
                r#"[["search_flights", {"cabin": "first class", "date": "2026-01-02", "seats": "2"}]]"#,
                Exact,
                ExactArgs,
                true,
                "search_flights `cabin` expected “business” → actual “first class”, `seats` 2 → “2” (text)",
            ),
            (
                r#"[["f", {"a": {"b": [1, 2]}}]]"#,
                r#"[["f", {"a": {"b": [1, 3]}}]]"#,
                Exact,
                ExactArgs,
                true,
                "f `a.b[1]` expected 2 → actual 3",
            ),
            (
                r#"[["f", {"a": [1]}]]"#,
                r#"[["f", {"a": [1, 2], "x": 1}]]"#,
                Exact,
                ExactArgs,
                true,
                "f `a` expected [1] → actual [1,2], `x` not expected",
            ),
            (
                r#"[["f", {"a": 1}]]"#,
                r#"[["f", {"a": 2, "x": 1}]]"#,
                InOrder,
                Subset,
                false,
                "f `a` expected 1 → actual 2",
            ),
            (r#"[["f", {"a": 1}]]"#, r#"[["f", {"a": 2}]]"#, Exact, Ignore, true, ""),
            (r#"[["f", {}], ["g", {}]]"#, r#"[["g", {}]]"#, Exact, ExactArgs, true, "f not called"),
            (r#"[["f", {}]]"#, r#"[["f", {}], ["g", {}]]"#, Exact, ExactArgs, true, "g called, not expected"),
            (r#"[["f", {}]]"#, r#"[["g", {}]]"#, InOrder, ExactArgs, false, "f not called"),
            (
                r#"[["f", {}], ["g", {}]]"#,
                r#"[["g", {}], ["f", {}]]"#,
                Exact,
                ExactArgs,
                true,
                "f called 2nd, expected 1st",
            ),
            // Of calls of one tool it is said which one is meant.
            (
                r#"[["f", {"n": 1, "a": "x"}], ["f", {"n": 1, "a": "y"}]]"#,
                r#"[["f", {"n": 1, "a": "y"}], ["f", {"n": 1, "a": "x"}]]"#,
                Exact,
                ExactArgs,
                true,
                "f with `a` x called 2nd, expected 1st",
            ),
            (
                r#"[["f", {"a": "x"}]]"#,
                r#"[["f", {"a": "x"}], ["f", {"a": "in Fulda"}]]"#,
                Exact,
                ExactArgs,
                true,
                "f with `a` “in Fulda” called, not expected",
            ),
            (
                r#"[["f", {"a": 1}], ["f", {"a": 2}]]"#,
                r#"[["f", {"a": 2}]]"#,
                Exact,
                ExactArgs,
                true,
                "f with `a` 1 not called",
            ),
            (r#"[["f", {}], ["g", {}]]"#, r#"[["g", {}], ["f", {}]]"#, AnyOrder, ExactArgs, true, ""),
        ] {
            let (expected, actual) = (made(expected), made(actual));
            let (one, other): (Vec<_>, Vec<_>) = (expected.iter().collect(), actual.iter().collect());
            let how = HowCalls { match_type, args, counts_extra };
            let found = calls(&one, &other, how, Rules::default().turn(0));
            assert_eq!(told(&found.join("; ")), said);
        }
    }

    #[test]
    fn many_arguments_are_counted_and_odd_names_are_escaped() {
        let how = HowCalls { match_type: MatchType::Exact, args: ArgsMatch::Exact, counts_extra: true };
        for (expected, actual, said) in [
            (
                r#"[["f", {"a": "x", "b": "x", "c": "x", "d": "x", "e": "x"}]]"#,
                r#"[["f", {}]]"#,
                "f `a` missing, `b` missing, `c` missing, 2 more arguments",
            ),
            (r#"[["f", {"`\n": "a"}]]"#, r#"[["f", {"`\n": "b"}]]"#, "f ``\\n` expected a → actual b"),
        ] {
            let (expected, actual) = (made(expected), made(actual));
            let (one, other): (Vec<_>, Vec<_>) = (expected.iter().collect(), actual.iter().collect());
            assert_eq!(told(&calls(&one, &other, how, Rules::default().turn(0)).join("; ")), said);
        }
    }

    #[test]
    fn a_part_that_no_failed_metric_reads_is_no_difference() {
        let turn = |calls: &str, answer: &str| {
            made(calls).into_iter().fold(Invocation::user("Hi"), Invocation::call).response(answer)
        };
        let expected = [turn(r#"[["f", {}]]"#, "Fine.")];
        let actual = [turn(r#"[["g", {}]]"#, "Rainy.")];
        let criterion = Criterion::new(0.5);
        for (metric, said) in [
            ("trajectory_exact_match", Some("turn 1: f not called; g called, not expected")),
            ("trajectory_in_order_match", Some("turn 1: f not called")),
            ("trajectory_any_order_match", Some("turn 1: f not called")),
            ("response_match_score", Some("turn 1: answer differs: expected “Fine” → actual “Rainy”")),
            ("safety_v1", None),
            ("response_evaluation_score", None),
        ] {
            let found = of_turns(&actual, &expected, [(metric, &criterion)]);
            assert_eq!(found.as_deref(), said, "{metric}");
        }
    }

    #[test]
    fn positions_are_numbered_in_words() {
        assert_eq!([1, 2, 3, 4, 11, 22].map(ordinal), ["1st", "2nd", "3rd", "4th", "11th", "22nd"]);
    }

    #[test]
    fn an_answer_can_be_missing_or_equal() {
        for (expected, actual, said) in [
            ("Fine.", Some("Fine."), None),
            ("Fine.", None, Some("no answer")),
            ("Fine.", Some(" "), Some("no answer")),
            ("", Some(""), None),
            ("It is sunny.", Some("It is rainy."), Some("answer differs: expected “sunny” → actual “rainy”")),
        ] {
            let found = answers(expected, actual, None).map(|it| told(&it));
            assert_eq!(found.as_deref(), said, "{expected:?} {actual:?}");
        }
    }

    #[test]
    fn a_secret_is_masked_before_it_is_shortened() {
        let key = |part: &str| format!("sk-ant-{}", part.repeat(60));
        let said =
            answers(&format!("It is {}", key("a1")), Some(&format!("It is {}", key("b2"))), None).unwrap();
        assert!(!said.contains("a1a1") && !said.contains("b2b2"), "{said}");
        let of = |part: &str| FunctionCall::new("f", serde_json::json!({ "k": key(part) }));
        let how = HowCalls { match_type: MatchType::Exact, args: ArgsMatch::Exact, counts_extra: true };
        let said = calls(&[&of("a1")], &[&of("b2")], how, Rules::default().turn(0)).join("");
        assert!(said.starts_with("f `k`") && !said.contains("a1a1") && !said.contains("b2b2"), "{said}");
    }

    #[test]
    fn the_state_differs_in_expected_keys_alone() {
        let map = |text: &str| value(text).as_object().unwrap().clone();
        let found = state(
            &map(r#"{"open": true, "total": 2, "gone": 1}"#),
            &map(r#"{"open": false, "total": 2.0, "more": 1}"#),
        );
        assert_eq!(
            told(&found.join("; ")),
            "state `open` expected true → actual false; state `gone` missing"
        );
    }

    #[test]
    fn many_differences_are_counted() {
        let all = |count: usize| (0..count).map(|at| format!("d{at}")).collect::<Vec<_>>();
        for (found, counted, said) in [
            (0, None, None),
            (3, Some(3), Some("d0; d1; d2")),
            (5, Some(9), Some("d0; d1; d2; 9 differences in all")),
            // Judges said the others.
            (5, Some(1), Some("d0; d1; d2; and more")),
            (5, None, Some("d0; d1; d2; and more")),
        ] {
            assert_eq!(joined(all(found), counted).as_deref(), said);
        }
    }

    #[test]
    fn equal_differences_in_a_row_are_counted() {
        let found = ["a", "b", "b", "b", "a"].map(str::to_owned);
        assert_eq!(counted(&found), ["a", "b (3 times)", "a"]);
        assert!(counted(&[]).is_empty());
    }
}
