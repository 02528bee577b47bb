//! The answer of a program: agentevals' `EvalResult`. Nothing of it is trusted.

use eval_format::problem::ProblemCode;
use eval_format::{Bound, Map, Value};
use eval_support::message::truncated;
use eval_support::spelling::is_misspelling;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use super::super::scores::Score;

const KEYS: [&str; 4] = ["score", "status", "per_invocation_scores", "details"];

/// The key by which a program says that it answers further questions, a line each.
const READS_LINES: &str = "_reads_lines";

/// The key of questions in lines, and of their answers, by which the two belong together.
pub(super) const ID: &str = "_id";

const MAX_NOTES: usize = 10;
const MAX_NOTE_CHARS: usize = 500;
const MAX_SHOWN_CHARS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Passed,
    Failed,
    NotEvaluated,
}

#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    score: f64,
    status: Option<Status>,
    notes: Vec<String>,
}

impl Answer {
    /// Reads the answer about a number of turns.
    pub(super) fn read(text: &str, turns: usize) -> Result<Self, String> {
        let keys = object(text)?;
        let mut unread = Vec::new();
        for key in keys.keys().filter(|key| !KEYS.contains(key) && !key.starts_with('_')) {
            if let Some(meant) = KEYS.iter().find(|known| is_misspelling(key, known)) {
                return Err(format!("the program wrote the key `{}`; did it mean `{meant}`?", cut(key)));
            }
            unread.push(cut(key));
        }
        let mut notes = Vec::new();
        let status = status(keys.get("status"))?;
        let score = match keys.get("score") {
            // No verdict follows this number.
            None | Some(Value::Null) if status == Some(Status::NotEvaluated) => 0.0,
            found => score(found)?,
        };
        notes.extend(of_turns(keys.get("per_invocation_scores"), turns)?);
        notes.extend(details(keys.get("details"))?);
        if !unread.is_empty() {
            notes.push(format!("the program wrote {}, which nothing reads", short_code_list(&unread)));
        }
        Ok(Self { score, status, notes })
    }

    /// The score of the run. A status that contradicts the score is an error: no verdict could follow both.
    pub(super) fn into_score(self, bound: Bound) -> Result<Score, String> {
        let is_met = bound.is_met(self.score);
        let score = match self.status {
            Some(Status::NotEvaluated) => Score::not_evaluated("the program did not evaluate it"),
            Some(Status::Passed) if !is_met => return Err(contradiction("PASSED", self.score, bound)),
            Some(Status::Failed) if is_met => return Err(contradiction("FAILED", self.score, bound)),
            _ => Score::from(self.score),
        };
        Ok(self.notes.into_iter().fold(score, Score::note))
    }
}

fn contradiction(status: &str, score: f64, bound: Bound) -> String {
    let Bound { threshold, .. } = bound;
    let side = match score.total_cmp(&threshold) {
        std::cmp::Ordering::Less => "below",
        std::cmp::Ordering::Equal => "at",
        std::cmp::Ordering::Greater => "above",
    };
    format!(
        "the program says {status}, and its score {score} is {side} the threshold {threshold}: give the criterion the \
         threshold and the direction by which the program decides, or let the program write no `status`"
    )
}

/// Whether the answer says that the program reads further questions, a line each.
pub(super) fn reads_lines(text: &str) -> bool {
    object(text).is_ok_and(|keys| keys[READS_LINES].as_bool() == Some(true))
}

/// Whether the answer belongs to the question with this id.
pub(super) fn has_id(text: &str, id: u64) -> bool {
    object(text).is_ok_and(|keys| keys[ID].as_i64().and_then(|it| u64::try_from(it).ok()) == Some(id))
}

fn object(text: &str) -> Result<Map, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the program wrote no answer to its standard output".to_owned());
    }
    let help = "the protocol has one JSON object there, and messages belong to standard error";
    match Value::parse(text) {
        Ok(Value::Object(keys)) => Ok(keys),
        Ok(other) => {
            Err(format!("the program wrote {} to its standard output: {}; {help}", other.kind(), cut(text)))
        }
        Err(problems) => {
            let first = problems.iter().find(|problem| problem.is_error());
            // JSON that another reader may take is no help to a person who reads that there is no JSON.
            let why = first.filter(|problem| problem.code != ProblemCode::Syntax);
            let what = why.map_or_else(
                || "no JSON".to_owned(),
                |problem| format!("JSON that cannot be read ({})", problem.message),
            );
            Err(format!("the program wrote {what} to its standard output: {}; {help}", cut(text)))
        }
    }
}

/// A text of the program in a message: one line, cut.
pub(super) fn cut(text: &str) -> String {
    one_line(&shortened(text, MAX_SHOWN_CHARS))
}

/// The beginning of a text of the program.
fn shortened(text: &str, limit: usize) -> String {
    truncated(text, limit, "...").into_owned()
}

fn score(value: Option<&Value>) -> Result<f64, String> {
    let score = match value {
        None => return Err("the program's answer has no `score`".to_owned()),
        // As pydantic reads a float.
        Some(Value::Bool(is_one)) => f64::from(u8::from(*is_one)),
        Some(Value::Number(number)) => number.as_f64(),
        Some(other) => return Err(format!("the program's `score` is {}, and no number", other.kind())),
    };
    if (0.0..=1.0).contains(&score) {
        return Ok(score);
    }
    Err(format!("the program's `score` is {score}, and no number from 0 to 1"))
}

fn status(value: Option<&Value>) -> Result<Option<Status>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text == "PASSED" => Ok(Some(Status::Passed)),
        Some(Value::String(text)) if text == "FAILED" => Ok(Some(Status::Failed)),
        Some(Value::String(text)) if text == "NOT_EVALUATED" => Ok(Some(Status::NotEvaluated)),
        Some(other) => Err(format!(
            "the program's `status` is {}, and not `PASSED`, `FAILED` or `NOT_EVALUATED`",
            cut(&other.to_string())
        )),
    }
}

/// The scores of the turns as a note: the score of the run decides.
fn of_turns(value: Option<&Value>, turns: usize) -> Result<Option<String>, String> {
    let scores = match value {
        None => return Ok(None),
        Some(Value::Array(scores)) if scores.is_empty() => return Ok(None),
        Some(Value::Array(scores)) => scores,
        Some(other) => {
            return Err(format!("the program's `per_invocation_scores` is {}, and no list", other.kind()));
        }
    };
    if scores.len() != turns {
        let got = count(scores.len(), "score");
        return Err(format!("the program's `per_invocation_scores` has {got} for {}", count(turns, "turn")));
    }
    let mut shown = Vec::with_capacity(scores.len());
    for (turn, score) in (1..).zip(scores) {
        match score {
            Value::Null => shown.push("none".to_owned()),
            Value::Number(number) if number.as_f64().is_finite() => shown.push(number.as_f64().to_string()),
            other => {
                let other = match other {
                    // Its JSON is `null`.
                    Value::Number(number) => number.as_f64().to_string(),
                    other => cut(&other.to_string()),
                };
                return Err(format!("the program's score of turn {turn} is {other}, and no finite number"));
            }
        }
    }
    let shown = format!("scores by turn: {}", shown.join(", "));
    Ok((turns > 1).then(|| shortened(&shown, MAX_NOTE_CHARS)))
}

/// The details as notes, one for each key.
fn details(value: Option<&Value>) -> Result<Vec<String>, String> {
    let details = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(details)) => details,
        Some(other) => return Err(format!("the program's `details` is {}, and no object", other.kind())),
    };
    let note = |(key, value): (&str, &Value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(items) if items.iter().all(|item| item.as_str().is_some()) => {
                items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ")
            }
            other => other.to_string(),
        };
        shortened(&format!("{key}: {text}"), MAX_NOTE_CHARS)
    };
    let mut notes: Vec<String> = details.iter().take(MAX_NOTES).map(note).collect();
    if details.len() > MAX_NOTES {
        notes.push(format!("... and {} more in `details`", details.len() - MAX_NOTES));
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let read = Answer::read(text, 2).and_then(|answer| answer.into_score(Bound::at_least(0.5)));
        match read {
            Err(error) => error,
            Ok(score) => {
                let value = score.value().map_or("none".to_owned(), |value| value.to_string());
                [&[value][..], score.notes()].concat().join(" | ")
            }
        }
    }

    #[test]
    fn an_answer_of_the_protocol_is_a_score_with_notes() {
        for (text, expected) in [
            (r#"{"score": 0.75}"#, "0.75"),
            (" {\n \"score\": 1\n}\n\n", "1"),
            (r#"{"score": true, "status": null, "per_invocation_scores": [], "details": null}"#, "1"),
            (
                r#"{"score": 0.25, "status": "FAILED", "per_invocation_scores": [0.5, null]}"#,
                "0.25 | scores by turn: 0.5, none",
            ),
            (
                r#"{"score": 1, "status": "PASSED", "details": {"issues": ["a", "b"], "n": {"x": 1}, "why": "c"}}"#,
                r#"1 | issues: a; b | n: {"x":1} | why: c"#,
            ),
            (
                r#"{"score": 0, "status": "NOT_EVALUATED", "per_invocation_scores": [null, null]}"#,
                "none | scores by turn: none, none",
            ),
            (r#"{"status": "NOT_EVALUATED"}"#, "none"),
            (
                r#"{"score": null, "status": "NOT_EVALUATED", "details": {"why": "no key"}}"#,
                "none | why: no key",
            ),
            (
                r#"{"score": 1, "future": 1, "_reads_lines": true}"#,
                "1 | the program wrote `future`, which nothing reads",
            ),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn rubbish_is_an_error_that_says_what_is_wrong() {
        for (text, expected) in [
            ("", "wrote no answer"),
            ("  \n", "wrote no answer"),
            ("hello", "wrote no JSON to its standard output: hello; the protocol has one JSON object"),
            (r#"{"score": 1} {"score": 0}"#, "wrote no JSON"),
            ("debug\n{\"score\": 1}", r#"wrote no JSON to its standard output: debug\n{"score": 1}"#),
            (r#"{"score": 1, "score": 0}"#, "wrote JSON that cannot be read ("),
            ("\u{feff}{\"score\": 1}", "wrote JSON that cannot be read ("),
            ("[1]", "wrote an array to its standard output"),
            ("1", "wrote a number"),
            ("{}", "has no `score`"),
            (r#"{"score": null}"#, "`score` is null, and no number"),
            (r#"{"status": "PASSED"}"#, "has no `score`"),
            (r#"{"status": "NOT_EVALUATED", "score": 2}"#, "`score` is 2"),
            (r#"{"score": "1"}"#, "`score` is a string, and no number"),
            (r#"{"score": NaN}"#, "`score` is NaN"),
            (r#"{"score": Infinity}"#, "`score` is inf"),
            (r#"{"score": 1e999}"#, "`score` is inf"),
            (r#"{"score": 1.01}"#, "`score` is 1.01, and no number from 0 to 1"),
            (r#"{"score": -0.1}"#, "`score` is -0.1"),
            (r#"{"score": 1, "status": "passed"}"#, r#"`status` is "passed", and not `PASSED`"#),
            (r#"{"score": 1, "status": 1}"#, "`status` is 1"),
            (r#"{"score": 1, "statsu": "FAILED"}"#, "wrote the key `statsu`; did it mean `status`?"),
            (r#"{"score": 1, "per_invocation_score": []}"#, "did it mean `per_invocation_scores`?"),
            (r#"{"score": 1, "per_invocation_scores": [1]}"#, "has 1 score for 2 turns"),
            (r#"{"score": 1, "per_invocation_scores": [1, 1, 1]}"#, "has 3 scores for 2 turns"),
            (r#"{"score": 1, "per_invocation_scores": {}}"#, "is an object, and no list"),
            (
                r#"{"score": 1, "per_invocation_scores": [1, "1"]}"#,
                r#"score of turn 2 is "1", and no finite number"#,
            ),
            (r#"{"score": 1, "per_invocation_scores": [NaN, 1]}"#, "score of turn 1 is NaN, and no finite"),
            (r#"{"score": 1, "details": []}"#, "`details` is an array, and no object"),
            (
                r#"{"score": 0.4, "status": "PASSED"}"#,
                "says PASSED, and its score 0.4 is below the threshold 0.5",
            ),
            (
                r#"{"score": 0.5, "status": "FAILED"}"#,
                "says FAILED, and its score 0.5 is at the threshold 0.5",
            ),
        ] {
            let told = told(text);
            assert!(told.contains(expected), "{text}: {told}");
        }
    }

    #[test]
    fn what_a_program_writes_is_cut_and_steers_no_terminal() {
        let told = told(&format!("\x1b[2J{}", "x".repeat(100_000)));
        assert!(told.len() < 500 && !told.contains('\x1b'), "{told}");
        let many: Vec<String> = (0..50).map(|n| format!(r#""k{n}": "{}""#, "y".repeat(5000))).collect();
        let answer =
            Answer::read(&format!(r#"{{"score": 1, "details": {{{}}}}}"#, many.join(",")), 1).unwrap();
        assert_eq!(
            (answer.notes.len(), answer.notes.last().unwrap().as_str()),
            (11, "... and 40 more in `details`")
        );
        assert!(answer.notes.iter().all(|note| note.len() < 600));
        let deep = format!(r#"{{"score": 1, "details": {}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let error = Answer::read(&deep, 1).unwrap_err();
        assert!(error.starts_with("the program wrote JSON that cannot be read ("), "{error}");
    }

    #[test]
    fn a_key_across_the_limit_is_masked() {
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        let up_to = |limit: usize| format!("{} {key} and more", "x".repeat(limit - 12));
        let long = up_to(MAX_SHOWN_CHARS);
        for text in [
            long.clone(),
            format!(r#"["{long}"]"#),
            format!(r#"{{"score": 1, "status": "{long}"}}"#),
            format!(r#"{{"score": 1, "per_invocation_scores": ["{long}", 1]}}"#),
            format!(r#"{{"score": 1, "{long}": 1}}"#),
            format!(r#"{{"score": 1, "details": {{"why": "{}"}}}}"#, up_to(MAX_NOTE_CHARS - 5)),
            format!(r#"{{"score": 1, "details": {{"why": ["a", "{}"]}}}}"#, up_to(MAX_NOTE_CHARS - 8)),
            format!(r#"{{"score": 1, "details": {{"why": {{"b": "{}"}}}}}}"#, up_to(MAX_NOTE_CHARS - 11)),
        ] {
            let told = told(&text);
            assert!(told.contains("xxx") && !told.contains("sk-ant-a"), "{told}");
        }
    }

    #[test]
    fn a_lower_score_passes_if_the_criterion_says_so() {
        let read = |text: &str| Answer::read(text, 1).unwrap().into_score(Bound::at_most(0.2));
        assert!(read(r#"{"score": 0.1, "status": "PASSED"}"#).is_ok());
        assert!(
            read(r#"{"score": 0.1, "status": "FAILED"}"#)
                .unwrap_err()
                .contains("0.1 is below the threshold 0.2")
        );
    }

    #[test]
    fn an_answer_belongs_to_the_question_of_its_id() {
        for (text, reads, has) in [
            (r#"{"score": 1, "_reads_lines": true, "_id": 7}"#, true, true),
            (r#"{"score": 1, "_reads_lines": 1, "_id": "7"}"#, false, false),
            (r#"{"score": 1}"#, false, false),
            ("rubbish", false, false),
        ] {
            assert_eq!((reads_lines(text), has_id(text, 7)), (reads, has), "{text}");
        }
    }
}
