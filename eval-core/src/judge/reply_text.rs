//! Reading labels and reasons out of a judge's reply.

use eval_format::Value;

use crate::message::cut;

/// The most characters of a rationale.
const LONGEST: usize = 400;

/// White space as Python's regular expressions see it.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// The values of a key in a reply: single words, in a code fence or not, in brackets or not, quoted or not, in JSON or
/// in something like JSON.
///
/// The values are all matches of the regular expression that ADK searches for,
/// `"KEY":\s*\[*\s*"*([^"^\]\s]*)"*\s*\]*\s*[,\n}]`. The time is linear in the length of the text.
pub(crate) fn labels<'t>(text: &'t str, key: &str) -> impl Iterator<Item = &'t str> {
    let key = format!("\"{key}\":");
    let ends: Vec<usize> = text.match_indices(&key).map(|(at, found)| at + found.len()).collect();
    ends.into_iter().filter_map(|end| label(&text[end..])).map(|label| label.trim_end_matches([',', '}']))
}

fn label(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(is_space).trim_start_matches('[').trim_start_matches(is_space);
    let text = text.trim_start_matches('"');
    let end = text.find(|c| matches!(c, '"' | '^' | ']') || is_space(c)).unwrap_or(text.len());
    let (label, after) = text.split_at(end);
    if is_end(after) {
        return Some(label);
    }
    // The comma or brace that ends the value was read as part of it.
    label.rfind([',', '}']).map(|end| &label[..end])
}

/// Whether a value ends here: quotes and brackets may follow, then a comma, a line break or the end of the object.
fn is_end(after: &str) -> bool {
    let rest = after.trim_start_matches('"');
    let within = rest.trim_start_matches(is_space);
    let beyond = within.trim_start_matches(']').trim_start_matches(is_space);
    let blanks = &rest[..rest.len() - beyond.len()];
    beyond.starts_with([',', '}']) || blanks.contains('\n')
}

/// The rationale of a reply: `reasoning` of its JSON object, else the beginning of the reply.
pub(crate) fn reasoning(reply: &str) -> String {
    let json = reply.find('{').zip(reply.rfind('}')).and_then(|(first, last)| reply.get(first..=last));
    let value = json.and_then(|json| Value::parse(json).ok());
    let text = value.as_ref().and_then(|value| value["reasoning"].as_str()).unwrap_or(reply);
    cut(text.trim(), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_where_adks_expression_finds_them() {
        for (text, expected) in [
            (r#"{"k": "valid"}"#, vec!["valid"]),
            (r#"{"k": valid}"#, vec!["valid"]),
            (r#"{"k":valid,"x":1}"#, vec!["valid"]),
            (r#"{"k": ["valid"]}"#, vec!["valid"]),
            ("{\"k\": [\n  \"valid\"\n]\n}", vec!["valid"]),
            ("```json\n{\"k\": \"valid\"}\n```", vec!["valid"]),
            ("\"k\": \"valid\"\nand so on", vec!["valid"]),
            (r#""k": ""valid"","#, vec!["valid"]),
            (r#"{"k": "valid""#, vec![]),
            (r#"{"k" : "valid"}"#, vec![]),
            (r#"{"k": "partially valid"}"#, vec![]),
            (r#"{"k": ""}"#, vec![""]),
            (r#"{"k": "a^b"}"#, vec![]),
            (r#"{"k": "no"}, {"k": "yes"}"#, vec!["no", "yes"]),
            (r#"{"k": true}}"#, vec!["true"]),
            ("", vec![]),
        ] {
            assert_eq!(labels(text, "k").collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn the_reason_is_the_judges_own_word_for_it() {
        for (reply, expected) in [
            ("```json\n{\"reasoning\": \"Both name 20 °C.\", \"k\": true}\n```", "Both name 20 °C."),
            ("no json at all ", "no json at all"),
            ("{broken}", "{broken}"),
            ("} {", "} {"),
            ("{\"other\": 1}", "{\"other\": 1}"),
        ] {
            assert_eq!(reasoning(reply), expected);
        }
    }
}
