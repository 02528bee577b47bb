//! The calls that models were asked in a run, and the failures among them that no retry cured.
//!
//! A retry begins after the failure that it cures. A call that was in flight beside the failed one is another call, although
//! it asks the same: a replay is asked both.

use std::time::{Duration, Instant};

/// A retry may begin up to this long before the gateway notices that the agent left the call.
const DEPARTURE_LAG: Duration = Duration::from_secs(1);

/// A call that a model was asked, after its end.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) key: String,
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) outcome: Outcome,
}

/// The outcome of a call. A failure has its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Answered,
    Failed(String),
    /// The agent left before the answer came.
    Left,
}

impl Attempt {
    /// A call that ends now.
    pub(super) fn ends(key: &str, began: Instant, outcome: Outcome) -> Self {
        Self { key: key.to_owned(), began, ended: Instant::now(), outcome }
    }

    /// Whether another call is the retry of this one.
    fn is_retried_by(&self, other: &Self) -> bool {
        let noticed = if self.outcome == Outcome::Left { DEPARTURE_LAG } else { Duration::ZERO };
        self.key == other.key && self.ended <= other.began + noticed
    }
}

/// The reasons of the failures that no retry cured. A retry cures one failure.
pub(super) fn uncured(mut attempts: Vec<Attempt>) -> Vec<String> {
    attempts.sort_by_key(|attempt| attempt.began);
    let mut failed: Vec<Attempt> = Vec::new();
    for attempt in attempts {
        if let Some(at) = failed.iter().position(|failed| failed.is_retried_by(&attempt)) {
            failed.remove(at);
        }
        if attempt.outcome != Outcome::Answered {
            failed.push(attempt);
        }
    }
    let why = |failed: Attempt| match failed.outcome {
        Outcome::Failed(why) => why,
        Outcome::Answered | Outcome::Left => "the agent left before the answer came".to_owned(),
    };
    failed.into_iter().map(why).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of uncured failures of calls to one request: the beginning and the end of each in tenths of a second, and its
    /// outcome.
    fn left(calls: &[(u64, u64, Outcome)]) -> usize {
        let zero = Instant::now();
        let at = |tenths: u64| zero + Duration::from_millis(100 * tenths);
        let attempt = |(began, ended, outcome): &(u64, u64, Outcome)| Attempt {
            key: "a".to_owned(),
            began: at(*began),
            ended: at(*ended),
            outcome: outcome.clone(),
        };
        uncured(calls.iter().map(attempt).collect()).len()
    }

    #[test]
    fn a_retry_cures_one_failure_and_a_call_beside_it_cures_none() {
        let failed = || Outcome::Failed("429".to_owned());
        let answered = || Outcome::Answered;
        for (calls, expected) in [
            (vec![(0, 1, failed()), (2, 3, failed()), (4, 5, answered())], 0),
            (vec![(0, 1, failed()), (0, 9, answered())], 1),
            (vec![(0, 9, answered()), (0, 1, failed())], 1),
            (vec![(0, 1, failed()), (0, 9, answered()), (2, 3, answered())], 0),
            (vec![(0, 1, failed()), (0, 1, failed()), (2, 3, answered())], 1),
            (vec![(0, 1, failed()), (0, 1, failed()), (2, 3, answered()), (2, 4, answered())], 0),
            // A client that gave up begins again before its end is noticed, and one beside it had begun long before.
            (vec![(0, 32, Outcome::Left), (30, 40, answered())], 0),
            (vec![(0, 32, Outcome::Left), (0, 40, answered())], 1),
        ] {
            assert_eq!(left(&calls), expected, "{calls:?}");
        }
    }

    #[test]
    fn another_request_cures_nothing() {
        let now = Instant::now();
        let failed = Attempt::ends("a", now, Outcome::Failed("no".to_owned()));
        let other = Attempt::ends("b", failed.ended, Outcome::Answered);
        assert_eq!(uncured(vec![failed, other]), ["no"]);
    }
}
