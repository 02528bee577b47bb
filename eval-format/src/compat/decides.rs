//! The rules that decide whether a metric can fail a case. No other module has such rules.
//!
//! The effect of a metric on a turn is data in [`METRICS`](crate::metric::METRICS): its lowest score, and the
//! turns to which it gives its highest score whatever an agent does ([`FreeTurns`]). The attribute,
//! `cargo evalset check` and the runner of eval-core all call these functions. eval-core's tests compare them
//! with the metrics themselves.

use crate::config::Criterion;
use crate::expect::{Rules, TurnRules};
use crate::metric::fields::DIRECTION;
use crate::metric::{FreeTurns, MatchType, MetricInfo, Need, Subject};
use crate::model::{EvalCase, Invocation};
use crate::options::TurnAggregation;

impl MetricInfo {
    /// The reason why the metric cannot fail a case, whatever an agent says and does; `None` if it can.
    ///
    /// ```
    /// use eval_format::metric::metric;
    /// use eval_format::{Criterion, EvalCase, TurnAggregation, Invocation, MatchType};
    ///
    /// let greeting = EvalCase::new("greeting").turn(Invocation::user("Hi").response("Hello!"));
    /// let metric = metric("tool_trajectory_avg_score").unwrap();
    /// let cannot_fail = |criterion| metric.cannot_fail(&criterion, &greeting, TurnAggregation::Mean);
    ///
    /// let in_order = Criterion::new(1.0).with_match_type(MatchType::InOrder);
    /// assert_eq!(cannot_fail(in_order.clone()).unwrap(), "no turn expects a tool call, and other calls are allowed");
    /// assert!(cannot_fail(in_order.with_forbidden_tools(["refund"])).is_none());
    /// assert!(cannot_fail(Criterion::new(1.0)).is_none());
    /// assert_eq!(cannot_fail(Criterion::new(0.0)).unwrap(), "no score is below its threshold 0.0");
    /// ```
    ///
    /// A metric that [is skipped](Self::missing_in) cannot fail either.
    pub fn cannot_fail(
        &self,
        criterion: &Criterion,
        case: &EvalCase,
        gate: TurnAggregation,
    ) -> Option<String> {
        if !self.gates && criterion.get(DIRECTION.name).is_none() {
            return Some("it only informs".to_owned());
        }
        if let Some(missing) = self.missing_in(case) {
            return Some(missing.to_owned());
        }
        let bound = criterion.bound();
        if bound.is_free(self.min, self.max) {
            return Some(format!("no score is {} its threshold {:?}", bound.missed(), bound.threshold));
        }
        // A turn without an expected answer is not evaluated. The case then fails, whatever its other turns score.
        let has_answer = |turn: &Invocation| turn.final_response.is_some();
        if self.free_turns == FreeTurns::WithoutWords && !case.conversation.iter().all(has_answer) {
            return None;
        }
        let turns = case.conversation.len();
        let rules = Rules::of(case).unwrap_or_default();
        let is_free = |(at, turn): (usize, &Invocation)| self.is_free(criterion, turn, rules.turn(at));
        let free = case.conversation.iter().enumerate().filter(|turn| is_free(*turn)).count();
        if free == 0 || !bound.is_met(self.lowest_of(free, turns, gate)) {
            return None;
        }
        let without = match self.free_turns {
            FreeTurns::WithoutWords => "expected words",
            _ => "expected calls",
        };
        Some(match (free == turns, self.free_turns) {
            (true, FreeTurns::WithoutWords) => "no expected answer has words".to_owned(),
            (true, _) if rules.is_empty() => {
                "no turn expects a tool call, and other calls are allowed".to_owned()
            }
            (true, _) => "no turn needs a tool call, and other calls are allowed".to_owned(),
            (false, _) => format!(
                "{free} of {turns} turns have no {without} and score {:?}, which alone reaches its threshold {:?}",
                self.max.unwrap_or_default(),
                criterion.threshold
            ),
        })
    }

    /// The lowest score that a case with `free` free turns can get, aggregated as `gate` says. A free turn always has
    /// the highest score.
    #[expect(clippy::cast_precision_loss, reason = "a case has far fewer than 2^53 turns")]
    pub(super) fn lowest_of(&self, free: usize, turns: usize, gate: TurnAggregation) -> f64 {
        let highest = self.max.unwrap_or(f64::INFINITY);
        match gate {
            _ if free == turns => highest,
            TurnAggregation::EveryTurn => self.min,
            TurnAggregation::Mean => {
                let (free, turns) = (free as f64, turns as f64);
                (free * highest + (turns - free) * self.min) / turns
            }
        }
    }

    /// Whether the metric gives its highest score to a turn, whatever an agent does in it.
    fn is_free(&self, criterion: &Criterion, expected: &Invocation, rules: &TurnRules) -> bool {
        // No tool has a blank name.
        let forbids = || criterion.forbidden_tools().any(|name| !name.trim().is_empty());
        if matches!(self.compares, Subject::ToolCalls(_)) && rules.is_free() {
            return !forbids();
        }
        let no_calls = || (0..expected.tool_calls().count()).all(|call| rules.is_optional(call));
        match self.free_turns {
            FreeTurns::None => false,
            FreeTurns::WithoutCalls => no_calls(),
            FreeTurns::WithoutCallsIfOthersAllowed => {
                let allows_others = criterion.match_type() != MatchType::Exact;
                allows_others && !forbids() && no_calls()
            }
            FreeTurns::WithoutWords => expected.response_text().split_whitespace().next().is_none(),
        }
    }

    /// The reason why the metric is skipped for a case; `None` if it applies to the case.
    ///
    /// ```
    /// use eval_format::{ConversationScenario, EvalCase};
    /// use eval_format::metric::metric;
    ///
    /// let scenario = EvalCase::new("trip").scenario(ConversationScenario::new("Hi", "Book a hotel."));
    /// let metric = metric("response_match_score").unwrap();
    /// assert_eq!(metric.missing_in(&scenario), Some("the case is a scenario, which has no expected turns"));
    /// ```
    pub fn missing_in(&self, case: &EvalCase) -> Option<&'static str> {
        let needs = |need| self.needs.contains(&need);
        let no_turn = |expects: fn(&Invocation) -> bool| !case.conversation.iter().any(expects);
        match (&case.conversation_scenario, self.compares) {
            (_, Subject::SessionState) => {
                case.final_session_state.is_empty().then_some("the case has no `final_session_state`")
            }
            (None, Subject::Demands) => {
                let rules = Rules::of(case).unwrap_or_default();
                let has_demands =
                    (0..case.conversation.len()).any(|turn| !rules.turn(turn).demands().is_empty());
                (!has_demands).then_some("no turn has a demand on its answer")
            }
            (Some(_), _) if needs(Need::Expectation) => {
                Some("the case is a scenario, which has no expected turns")
            }
            (None, _) if needs(Need::Scenario) => Some("the case is no scenario: its user is not simulated"),
            (None, Subject::ToolResponses) if no_turn(Invocation::expects_tool_responses) => {
                Some("no turn expects a tool response")
            }
            (None, Subject::IntermediateResponses) if no_turn(Invocation::expects_intermediate_responses) => {
                Some("no turn expects a text before its answer")
            }
            _ => None,
        }
    }
}

impl Invocation {
    /// Whether `tool_response_match` has something to compare in this turn: a tool response with a value.
    pub fn expects_tool_responses(&self) -> bool {
        self.tool_responses().any(|response| response.response.is_some())
    }

    /// Whether `intermediate_response_match` has something to compare in this turn.
    pub fn expects_intermediate_responses(&self) -> bool {
        !self.intermediate_texts().is_empty()
    }
}
