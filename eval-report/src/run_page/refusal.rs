//! Refusals of what the golden answers: an answer that refuses is hardly the new golden.

use eval_format::EvalCase;

use crate::recorded::TestResult;

/// Begins of answers by which models refuse, in lower case.
const REFUSALS: [&str; 34] = [
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
    "i'm afraid",
    "i am afraid",
    "i don't have access",
    "i do not have access",
    "i have no access",
    "i'm not allowed",
    "i am not allowed",
    "i'm not permitted",
    "i am not permitted",
    "you are not authorized",
    "you're not authorized",
    "you are not allowed",
    "you're not allowed",
    "you do not have permission",
    "you don't have permission",
    "ich kann nicht",
    "es tut mir leid",
    "leider",
    "ich darf nicht",
    "ich habe keinen zugriff",
    "access denied",
];

/// Words behind a subject that refuse: `Your request is denied`, `That is not allowed`.
const REFUSED: [&str; 18] = [
    "is denied",
    "was denied",
    "has been denied",
    "is declined",
    "was declined",
    "has been declined",
    "is rejected",
    "was rejected",
    "has been rejected",
    "is refused",
    "was refused",
    "is not allowed",
    "isn't allowed",
    "is not permitted",
    "isn't permitted",
    "is forbidden",
    "is not possible",
    "isn't possible",
];

/// Subjects of such words: what the user asked for.
const SUBJECTS: [&str; 6] = ["your request", "the request", "this request", "that", "this", "it"];

/// The characters of an answer in which a refusal begins.
const MAX_BEGINNING_CHARS: usize = 120;

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
    let begin: String = answer.trim_start().chars().take(MAX_BEGINNING_CHARS).collect();
    let begin = begin.to_lowercase().replace('’', "'");
    // At the beginning of a sentence or a clause.
    let begins_clause = |at: usize| {
        let before = begin[..at].trim_end();
        before.chars().last().is_none_or(|c| !c.is_alphanumeric())
            || ["but", "model", "ai"].iter().any(|word| {
                before.strip_suffix(word).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
            })
    };
    let begins = |words: &str| begin.match_indices(words).any(|(at, _)| begins_clause(at));
    let is_refused = |subject: &&str| {
        begin.match_indices(*subject).any(|(at, _)| {
            let rest = begin[at + subject.len()..].strip_prefix(' ');
            begins_clause(at) && rest.is_some_and(|rest| REFUSED.iter().any(|words| rest.starts_with(words)))
        })
    };
    REFUSALS.iter().any(|refusal| begins(refusal)) || SUBJECTS.iter().any(is_refused)
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
            ("I'm afraid I can't do that.", true),
            ("Your request is denied.", true),
            ("That is not allowed", true),
            ("You are not authorized to see this.", true),
            ("As an AI I do not have access to it.", true),
            ("As a language model, I don't have access to that.", true),
            ("The claim that was denied is paid now.", false),
            ("Smoking is not allowed in the room, and your room is booked.", false),
            ("It is allowed.", false),
            ("Your card is blocked.", false),
            ("What I cannot see is your name.", false),
            ("", false),
            (&format!("{} I cannot.", "It is fine. ".repeat(20)), false),
        ] {
            assert_eq!(refuses(answer), is_refusal, "{answer}");
        }
    }
}
