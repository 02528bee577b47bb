//! The parts of a turn that metrics read which failed. Other parts are no reason of a failure: their metrics passed.

use eval_core::metric::arithmetic::comparison;
use eval_format::metric::{Subject, metric};
use eval_format::{ArgsMatch, Criterion, MatchType};

/// The way in which failed metrics compare calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HowCalls {
    pub match_type: MatchType,
    pub args: ArgsMatch,
    /// Whether a call beside the expected ones is a difference.
    pub counts_extra: bool,
}

/// The parts of a turn, and the state, that failed metrics compare with expectations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailedReads {
    pub calls: Option<HowCalls>,
    pub answers: bool,
    pub state: bool,
    /// Responses of tools, or texts before the answer.
    pub data: bool,
}

impl FailedReads {
    /// The parts that these metrics read. They failed.
    pub fn of<'m>(failed: impl IntoIterator<Item = (&'m str, Option<&'m Criterion>)>) -> Self {
        let mut reads = Self::default();
        for (name, criterion) in failed {
            let Some(info) = metric(name) else { continue };
            reads.answers |= info.reads_expected_answer();
            match info.compares {
                Subject::SessionState => reads.state = true,
                Subject::ToolResponses | Subject::IntermediateResponses => reads.data = true,
                _ => {}
            }
            let Some((match_type, args)) = comparison(name, criterion) else { continue };
            let how = HowCalls { match_type, args, counts_extra: info.counts_others_under(match_type) };
            // Of several metrics the strictest decides what differs.
            let is_stricter =
                |known: &HowCalls| match_type == MatchType::Exact && known.match_type != MatchType::Exact;
            if reads.calls.as_ref().is_none_or(is_stricter) {
                reads.calls = Some(how);
            }
        }
        reads
    }

    /// Whether no metric reads an expectation.
    pub fn nothing(self) -> bool {
        self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failed_metrics_say_what_is_read() {
        let of = |name: &str, criterion: Criterion| FailedReads::of([(name, Some(&criterion))]);
        let plain = || Criterion::new(0.5);
        for name in ["response_match_score", "final_response_match_v2"] {
            assert_eq!(of(name, plain()), FailedReads { answers: true, ..FailedReads::default() }, "{name}");
        }
        assert!(of("final_session_state_match", plain()).state);
        assert!(of("tool_response_match", plain()).data);
        for name in
            ["safety_v1", "hallucinations_v1", "response_evaluation_score", "answer_demands", "my_own"]
        {
            assert!(of(name, plain()).nothing(), "{name}");
        }
    }

    #[test]
    fn a_metric_that_allows_other_calls_counts_none() {
        let in_order = || Criterion::new(0.5).with_match_type(MatchType::InOrder);
        for (name, criterion, match_type, counts_extra) in [
            ("tool_trajectory_avg_score", Criterion::new(0.5), MatchType::Exact, true),
            ("tool_trajectory_avg_score", in_order(), MatchType::InOrder, false),
            ("trajectory_exact_match", Criterion::new(0.5), MatchType::Exact, true),
            ("trajectory_in_order_match", Criterion::new(0.5), MatchType::InOrder, false),
            ("trajectory_any_order_match", Criterion::new(0.5), MatchType::AnyOrder, false),
            ("trajectory_precision", Criterion::new(0.5), MatchType::AnyOrder, true),
            ("trajectory_recall", Criterion::new(0.5), MatchType::AnyOrder, false),
            ("trajectory_match_ratio", Criterion::new(0.5), MatchType::InOrder, true),
        ] {
            let expected = HowCalls { match_type, args: ArgsMatch::Exact, counts_extra };
            assert_eq!(FailedReads::of([(name, Some(&criterion))]).calls, Some(expected), "{name}");
        }
        let (loose, strict) = (in_order(), Criterion::new(0.5));
        let both = [("trajectory_recall", Some(&loose)), ("trajectory_exact_match", Some(&strict))];
        assert!(FailedReads::of(both).calls.is_some_and(|how| how.counts_extra));
    }
}
