//! Refusals of what the golden answers: an answer that refuses is hardly the new golden.

use eval_format::EvalCase;

use crate::recorded::TestResult;

/// Begins of answers by which models refuse, in lower case.
const REFUSALS: [&str; 16] = [
    "i can't",
    "i cannot",
    "i can not",
    "i could not",
    "i couldn't",
    "i'm unable",
    "i am unable",
    "i'm not able",
    "i am not able",
    "i won't",
    "i'm sorry",
    "i am sorry",
    "unfortunately",
    "ich kann nicht",
    "es tut mir leid",
    "leider",
];

/// The characters of an answer in which a refusal begins.
const MAX_BEGIN: usize = 120;

/// Whether a run that did not pass refuses where the golden does not.
pub(super) fn is_new(test: &TestResult<'_>, case: Option<&EvalCase>) -> bool {
    let Some(case) = case else { return false };
    let failed = test.attempt.evaluations.iter().filter(|it| it.passed == Some(false));
    let mut turns = failed.flat_map(|it| it.ran.transcript.turns.iter().zip(&case.conversation));
    turns.any(|(actual, expected)| {
        refuses(&actual.invocation.response_text()) && !refuses(&expected.response_text())
    })
}

/// Whether an answer begins as refusals do.
pub fn refuses(answer: &str) -> bool {
    let begin: String = answer.trim_start().chars().take(MAX_BEGIN).collect();
    let begin = begin.to_lowercase().replace('’', "'");
    REFUSALS.iter().any(|refusal| {
        begin.match_indices(refusal).any(|(at, _)| {
            // At the begin of a sentence or a clause.
            let before = begin[..at].trim_end().chars().last();
            before.is_none_or(|c| !c.is_alphanumeric()) || begin[..at].ends_with("but ")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_begins_an_answer() {
        for (answer, is_refusal) in [
            ("I'm sorry, but I can't help with changes to cards.", true),
            ("I’m unable to do this.", true),
            ("Thank you. Unfortunately, this is not possible.", true),
            ("Sure, but I cannot book it.", true),
            ("Your card is blocked.", false),
            ("What I cannot see is your name.", false),
            ("", false),
            (&format!("{} I cannot.", "It is fine. ".repeat(20)), false),
        ] {
            assert_eq!(refuses(answer), is_refusal, "{answer}");
        }
    }
}
