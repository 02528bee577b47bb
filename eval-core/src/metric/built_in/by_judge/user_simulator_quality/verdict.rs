//! The parser of the verdict on a message of the simulated user.

use crate::judge::CONTRADICTION;
use crate::judge::reply_json::{text, the_object, yes_or_no};
use crate::judge::reply_text::{Key, Unclear, verdict};

const KEY: &str = "is_valid";

/// Whether a reply finds the message valid, or the mistake in the reply. `prompt` is the question to the judge.
///
/// The verdict is the text after `"is_valid":`, with or without brackets and quotes, up to a comma, a closing
/// brace or the end of the line, as in ADK. A yes has to be at a place for a judge's own verdict. No other
/// verdict, and no criterion that the judge finds failed, may contradict it. In ADK the first verdict counts,
/// which may come from a message that the judge quotes.
pub(super) fn read(reply: &str, prompt: &str) -> Result<bool, String> {
    let key = Key { name: KEY, label, verdict: is_valid };
    let is_valid = verdict(reply, prompt, &[key]).map_err(|unclear| match unclear {
        Unclear::Wrong(wrong) => wrong,
        Unclear::Nothing(Some(label)) => format!("`is_valid` is `{label}`, neither true nor false"),
        Unclear::Nothing(None) => "it has no `\"is_valid\": true` or `\"is_valid\": false`".to_owned(),
    })?;
    if is_valid && !failed(reply).is_empty() {
        return Err(CONTRADICTION.to_owned());
    }
    Ok(is_valid)
}

fn is_valid(label: &str) -> Option<bool> {
    match label {
        "valid" | "true" => Some(true),
        "invalid" | "false" | "almost" | "partially valid" | "partially_valid" | "partially" => Some(false),
        _ => None,
    }
}

fn label(text: &str) -> Option<String> {
    let text = text.trim_start().trim_start_matches('[').trim_start().trim_start_matches('"');
    let end = text.find(['"', ']']).unwrap_or(text.len());
    let (run, rest) = text.split_at(end);
    let label = if ends(rest) { run } else { &run[..run.rfind([',', '\n', '}'])?] };
    Some(label.trim_matches('}').replace(',', "").trim().to_lowercase())
}

fn ends(rest: &str) -> bool {
    let unquoted = rest.trim_start_matches('"');
    let closed = unquoted.trim_start().trim_start_matches(']');
    let end = closed.trim_start();
    let blanks = &unquoted[..unquoted.len() - end.len()];
    end.starts_with([',', '}']) || blanks.contains('\n')
}

/// The reason why the judge finds the message invalid: the failed criteria, or the whole reply if there are
/// none.
pub(super) fn objections(reply: &str) -> String {
    let failed = failed(reply);
    if failed.is_empty() { reply.trim().to_owned() } else { failed.join("; ") }
}

fn failed(reply: &str) -> Vec<String> {
    let Ok(object) = the_object(reply, "", KEY) else { return Vec::new() };
    let criteria = object.get("criteria").and_then(|criteria| criteria.as_array()).into_iter().flatten();
    criteria
        .filter_map(|criterion| criterion.as_object())
        .filter(|criterion| yes_or_no(criterion, "passes") == Ok(false))
        .map(|criterion| format!("{}: {}", text(criterion, "name"), text(criterion, "reasoning")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_in_adk() {
        for (reply, valid) in [
            (r#"{"is_valid": true}"#, Some(true)),
            (r#"{"criteria": [], "is_valid": True}"#, Some(true)),
            (r#"{"is_valid": "valid"}"#, Some(true)),
            (r#"{"is_valid":["VALID"]}"#, Some(true)),
            ("{\"is_valid\": true,\n \"criteria\": []}", Some(true)),
            ("```json\n{\n  \"is_valid\": true\n}\n```", Some(true)),
            (r#"{"is_valid": [[ "true" ]] , "x": 1}"#, Some(true)),
            (r#"{"is_valid": "true,}"}"#, Some(true)),
            (r#"{"is_valid": false}"#, Some(false)),
            (r#"{"is_valid": "almost", "x": 1}"#, Some(false)),
            (r#"{"is_valid": "Partially Valid"}"#, Some(false)),
            (r#"{"is_valid": "partially_valid"}"#, Some(false)),
            (r#"{"is_valid": partially}"#, Some(false)),
            ("\"is_valid\": invalid\n", Some(false)),
            (r#"{"is_valid": "unsure"}"#, None),
            (r#"{"is_valid": "true" or so}"#, None),
            (r#"{"is_valid" : true}"#, None),
            (r#"{"is_valid": true"#, None),
            (r#"{"is_valid": "#, None),
            ("is_valid: true\n", None),
            ("", None),
        ] {
            assert_eq!(read(reply, "").ok(), valid, "{reply}");
        }
    }

    #[test]
    fn verdicts_that_contradict_each_other_are_none() {
        for reply in [
            "The message says \"is_valid\": true, but\n{\"is_valid\": false}",
            r#"{"criteria": [{"name": "A", "passes": false}], "is_valid": true}"#,
        ] {
            assert!(read(reply, "").is_err(), "{reply}");
        }
        assert_eq!(
            read(r#"{"is_valid": false} "is_valid": "hm","#, ""),
            Ok(false),
            "a word that is no verdict"
        );
        assert!(read("I say {\"is_valid\": false}.\nIts words:\n{\"is_valid\": true}", "").is_err());
        let reply = "{\"is_valid\": false}\nThe message says \"is_valid\": true, of course.";
        assert_eq!(read(reply, ""), Ok(false), "the first one counts in ADK");
    }

    #[test]
    fn objections_are_the_criteria_that_fail() {
        let reply = r#"{"criteria": [{"name": "A", "reasoning": "a", "passes": true},
            {"name": "B", "reasoning": "b", "passes": false}, 1, {"name": "C", "passes": "no"}], "is_valid": false}"#;
        assert_eq!(objections(reply), "B: b; C: ");
        assert_eq!(objections(" \"is_valid\": False\n"), "\"is_valid\": False");
    }

    #[test]
    fn hostile_replies_hold_no_verdict() {
        for piece in ["\"is_valid\":", "\"is_valid\":[[", "\"is_valid\":a,", "\"is_valid\": \n"] {
            assert!(read(&piece.repeat(100_000), "").is_err(), "{piece}");
        }
    }
}
