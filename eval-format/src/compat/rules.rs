//! Rules of `_expect` that no metric of the config reads, or that say what the config says already.

use super::incompatibility::Incompatibility;
use crate::config::{Criterion, EvalConfig};
use crate::expect::{CallExpect, TurnExpect};
use crate::metric::{ANSWER_DEMANDS, ArgsMatch, MatchType, MetricInfo, Subject, metric};
use crate::model::EvalCase;
use crate::problem::ProblemCode;

/// The comparisons of calls and responses in a config.
struct RuleReaders {
    calls: Vec<CallReader>,
    responses: bool,
}

/// The comparison of calls by a metric.
struct CallReader {
    match_type: MatchType,
    args: ArgsMatch,
    /// Whether other calls lower its score.
    counts_others: bool,
}

impl RuleReaders {
    /// The metrics that read rules, also those that a selection left out; `None` if metrics of the user's own may read
    /// anything.
    fn of(config: &EvalConfig, answered: &[&str]) -> Option<Self> {
        let mut readers = Self { calls: Vec::new(), responses: false };
        let left_out = Criterion::new(1.0);
        let left_out = config.left_out.iter().map(|name| (name, &left_out));
        for (name, criterion) in
            config.criteria.iter().map(|(name, criterion)| (name, criterion)).chain(left_out)
        {
            let is_answered = answered.contains(&name.as_str());
            if !is_answered && config.metric_command(name).is_some() {
                // A program is told the turns, and not the rules.
                continue;
            }
            let own = is_answered || config.custom_metrics.contains_key(name);
            let info: &MetricInfo = metric(name).filter(|_| !own)?;
            match info.compares {
                Subject::ToolCalls(by_default) => {
                    let named = criterion.get("match_type").map(|_| criterion.match_type());
                    let match_type = named.unwrap_or(by_default);
                    readers.calls.push(CallReader {
                        match_type,
                        args: criterion.args_match(),
                        counts_others: info.counts_others_under(match_type),
                    });
                }
                Subject::ToolResponses => readers.responses = true,
                _ => {}
            }
        }
        Some(readers)
    }

    /// A rule of a turn that no metric reads: its keys, what is wrong, and the remedy.
    fn unread(&self, turn: &TurnExpect) -> Option<(&'static str, &'static str, &'static str)> {
        const ADD: &str = "add `tool_trajectory_avg_score` to the criteria, or remove the rule";
        let rules = [
            ("calls", !turn.calls.is_empty()),
            ("order", turn.any_order),
            ("others", turn.others.is_some()),
            ("optional", !turn.optional.is_empty()),
            ("repeat", !turn.repeat.is_empty()),
        ];
        let first = rules.into_iter().find_map(|(key, is_there)| is_there.then_some(key));
        if let Some(key) = first.filter(|_| self.calls.is_empty()) {
            return Some((key, "no metric compares its calls", ADD));
        }
        let has_args = turn.calls.iter().any(|(_, call)| match call {
            CallExpect::Any => true,
            CallExpect::Args(args) => !args.is_empty(),
        });
        if has_args && self.calls.iter().all(|metric| metric.args == ArgsMatch::Ignore) {
            let help = "remove `ignore_args` from the criterion, or the rule";
            return Some(("calls", "the criterion ignores all arguments of its calls", help));
        }
        let unread = !turn.responses.is_empty() && !self.responses;
        unread.then_some((
            "responses",
            "no metric compares its tool responses",
            "add `tool_response_match` to the criteria, or remove the rule",
        ))
    }

    /// A rule that loosens nothing, as every metric allows it already.
    fn needless(&self, turn: &TurnExpect) -> Option<(&'static str, &'static str)> {
        let all = |allows: fn(&CallReader) -> bool| !self.calls.is_empty() && self.calls.iter().all(allows);
        if turn.others.is_some() && all(|metric| !metric.counts_others) {
            return Some(("others", "the match type of its criteria allows other calls already"));
        }
        let any_order = turn.any_order && all(|metric| metric.match_type == MatchType::AnyOrder);
        any_order.then_some(("order", "the match type of its criteria allows any order already"))
    }
}

/// The obstacle to reading demands, and its remedy.
fn unread_demands(
    config: &EvalConfig,
    case: &EvalCase,
) -> Option<(&'static str, &'static str, &'static str)> {
    if case.takes_out(ANSWER_DEMANDS) {
        let help = "remove the `null`, or the demands";
        return Some(("answer", "`_criteria` takes `answer_demands` out", help));
    }
    let criterion = config.criterion(ANSWER_DEMANDS)?;
    let info = metric(ANSWER_DEMANDS).filter(|_| !config.custom_metrics.contains_key(ANSWER_DEMANDS))?;
    criterion.bound().is_free(info.min, info.max).then_some((
        "answer",
        "no score of `answer_demands` misses its threshold",
        "choose a threshold that a score can miss, or remove the demands",
    ))
}

/// The rules of a case that no metric of its config reads.
pub(super) fn unread(
    config: &EvalConfig,
    answered: &[&str],
    at: usize,
    case: &EvalCase,
) -> Vec<Incompatibility> {
    let Some(expect) = case.expect() else { return Vec::new() };
    let readers = RuleReaders::of(config, answered);
    let demands = unread_demands(config, case).filter(|_| !answered.contains(&ANSWER_DEMANDS));
    let found = expect.turns.iter().filter_map(|(number, turn)| {
        let demands = || demands.filter(|_| !turn.answer.is_empty());
        let (key, why, help) = readers.as_ref().and_then(|readers| readers.unread(turn)).or_else(demands)?;
        let message = format!("{why}, so nothing reads `{key}` of `_expect`");
        let code = ProblemCode::UnreadRule;
        Some(Incompatibility::of_case(at, case, code, message, help.to_owned()).at_keys(&[
            EvalCase::EXPECT_KEY,
            &number.to_string(),
            key,
        ]))
    });
    found.collect()
}

/// The rules of cases that loosen nothing: the config allows what they say.
///
/// ```
/// use eval_format::compat::check_needless;
/// use eval_format::expect::{Expect, Others, TurnExpect};
/// use eval_format::{Criterion, EvalCase, EvalConfig, FunctionCall, Invocation, MatchType};
/// use serde_json::json;
///
/// let turn = Invocation::user("Weather?").call(FunctionCall::new("get_weather", json!({})));
/// let loose = Expect::default().turn(1, TurnExpect::default().others(Others::Any));
/// let cases = [EvalCase::new("weather").turn(turn).with_expect(loose)];
/// let criterion = Criterion::new(1.0).with_match_type(MatchType::InOrder);
/// let config = EvalConfig::default().with("tool_trajectory_avg_score", criterion);
/// assert_eq!(check_needless(&config, &[], &cases).len(), 1);
/// ```
pub fn check_needless(config: &EvalConfig, answered: &[&str], cases: &[EvalCase]) -> Vec<Incompatibility> {
    let mut found = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let Some(expect) = case.expect() else { continue };
        let Ok(own) = config.of_case(case, answered) else { continue };
        let Some(readers) = RuleReaders::of(&own, answered) else { continue };
        for (number, turn) in &expect.turns {
            let Some((key, why)) = readers.needless(turn) else { continue };
            let message = format!("`{key}` of `_expect` loosens nothing: {why}");
            let found_here = Incompatibility::of_case(
                at,
                case,
                ProblemCode::NeedlessRule,
                message,
                "remove it".to_owned(),
            );
            found.push(found_here.at_keys(&[EvalCase::EXPECT_KEY, &number.to_string(), key]));
        }
    }
    found
}
