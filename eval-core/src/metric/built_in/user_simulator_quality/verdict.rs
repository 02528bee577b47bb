//! Reads the verdict on a message of the simulated user.

use crate::judge::reply_json::{last_object, text, yes_or_no};

const KEY: &str = "\"is_valid\":";

/// Whether a reply finds the message valid, or what is wrong with the reply.
///
/// The verdict is the text after `"is_valid":`, with or without brackets and quotes, up to a comma, a closing brace or
/// the end of the line, as in ADK. Of several, the last known word counts. In ADK the first counts, which may come
/// from a message that the judge quotes.
pub(super) fn read(reply: &str) -> Result<bool, String> {
    let mut found = None;
    for (at, _) in reply.rmatch_indices(KEY) {
        let Some(label) = label(&reply[at + KEY.len()..]) else { continue };
        match label.as_str() {
            "valid" | "true" => return Ok(true),
            "invalid" | "false" | "almost" | "partially valid" | "partially_valid" | "partially" => {
                return Ok(false);
            }
            _ => found = found.or(Some(label)),
        }
    }
    Err(match found {
        Some(label) => format!("`is_valid` is `{label}`, neither true nor false"),
        None => "it has no `\"is_valid\": true` or `\"is_valid\": false`".to_owned(),
    })
}

/// The label that stands at the beginning of a text, in lower case.
fn label(text: &str) -> Option<String> {
    let text = text.trim_start().trim_start_matches('[').trim_start().trim_start_matches('"');
    let end = text.find(['"', ']']).unwrap_or(text.len());
    let (run, rest) = text.split_at(end);
    let label = if ends(rest) { run } else { &run[..run.rfind([',', '\n', '}'])?] };
    Some(label.trim_matches('}').replace(',', "").trim().to_lowercase())
}

/// Whether the value of a key ends here.
fn ends(rest: &str) -> bool {
    let unquoted = rest.trim_start_matches('"');
    let closed = unquoted.trim_start().trim_start_matches(']');
    let end = closed.trim_start();
    let blanks = &unquoted[..unquoted.len() - end.len()];
    end.starts_with([',', '}']) || blanks.contains('\n')
}

/// Why the judge finds the message invalid: the criteria that it fails, or the whole reply if there are none.
pub(super) fn objections(reply: &str) -> String {
    let Ok(object) = last_object(reply, "is_valid") else { return reply.trim().to_owned() };
    let criteria = object.get("criteria").and_then(|criteria| criteria.as_array()).into_iter().flatten();
    let failed: Vec<String> = criteria
        .filter_map(|criterion| criterion.as_object())
        .filter(|criterion| yes_or_no(criterion, "passes") == Ok(false))
        .map(|criterion| format!("{}: {}", text(criterion, "name"), text(criterion, "reasoning")))
        .collect();
    if failed.is_empty() { reply.trim().to_owned() } else { failed.join("; ") }
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
            assert_eq!(read(reply).ok(), valid, "{reply}");
        }
    }

    #[test]
    fn the_last_verdict_that_says_something_counts() {
        let quoted = r#"The message says "is_valid": true, but {"is_valid": false} is right."#;
        assert_eq!(read(quoted), Ok(false));
        assert_eq!(read(r#"{"is_valid": false} "is_valid": "hm","#), Ok(false));
    }

    #[test]
    fn objections_are_the_criteria_that_fail() {
        let reply = r#"{"criteria": [{"name": "A", "reasoning": "a", "passes": true},
            {"name": "B", "reasoning": "b", "passes": false}, 1, {"name": "C", "passes": "no"}], "is_valid": false}"#;
        assert_eq!(objections(reply), "B: b; C: ");
        assert_eq!(objections(" \"is_valid\": False\n"), "\"is_valid\": False");
    }

    #[test]
    fn hostile_replies_take_linear_time() {
        for piece in ["\"is_valid\":", "\"is_valid\":[[", "\"is_valid\":a,", "\"is_valid\": \n"] {
            let _ = read(&piece.repeat(100_000));
        }
    }
}
