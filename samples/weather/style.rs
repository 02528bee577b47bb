//! Metrics of our own: how an assistant should speak.

use eval_core::format::Value;
use eval_core::{Criterion, Invocation, Score};

/// 1 where the answer has at most `max_words` words, a key of the criterion.
pub(crate) fn brevity(actual: &Invocation, _: Option<&Invocation>, criterion: &Criterion) -> Score {
    let words = actual.response_text().split_whitespace().count();
    let Some(max) = criterion.get("max_words").and_then(Value::as_i64) else {
        return Score::not_evaluated("the criterion has no `max_words`");
    };
    Score::from(i64::try_from(words).is_ok_and(|words| words <= max)).note(format!("{words} of {max} words"))
}

/// 1 for an answer of whole sentences that does not shout.
pub(crate) fn tone(actual: &Invocation, _: Option<&Invocation>, _: &Criterion) -> bool {
    let text = actual.response_text();
    !text.contains('!') && text.ends_with(['.', '?'])
}
