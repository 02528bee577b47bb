//! Reading labels and reasons out of a judge's reply.

use std::ops::Range;

use eval_format::Value;

use super::reply_json::is_json;
use super::reply_scan::{CONTRADICTION, Mention, is_own, mentions};
use crate::message::cut;

/// The most characters of a rationale.
const LONGEST: usize = 400;

/// White space as Python's regular expressions see it.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// A key of replies, and how its value is read.
#[derive(Clone, Copy)]
pub(crate) struct Key<T> {
    pub(crate) name: &'static str,
    /// The label at the beginning of what follows the key, as ADK finds it.
    pub(crate) label: fn(&str) -> Option<String>,
    /// The verdict that a label is.
    pub(crate) verdict: fn(&str) -> Option<T>,
}

/// Why a reply has no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unclear {
    /// It says nothing under the keys, or this.
    Nothing(Option<String>),
    /// It says something, and this is wrong with it.
    Wrong(String),
}

/// The verdict that a reply gives under one of some keys.
///
/// It has to stand where a judge puts its own: see `reply_scan`. All that the reply says under these keys has to be the
/// same, but for what is inside of a well-formed JSON object. Of several keys, the first that has a value decides. In
/// ADK the first verdict counts, wherever it stands. `prompt` is what the judge was asked, to recognise copies.
pub(crate) fn verdict<T: Copy + PartialEq>(reply: &str, prompt: &str, keys: &[Key<T>]) -> Result<T, Unclear> {
    let mut said: Vec<T> = Vec::new();
    let mut unknown = None;
    let mut own: Option<Option<(T, Mention)>> = None;
    for key in keys {
        let (mut has_value, mut standing) = (false, None);
        for mention in outside_of_json(reply, mentions(reply, key.name)) {
            let after = &reply[mention.value..];
            // What contradicts a verdict need not have the form of one.
            said.extend((key.verdict)(&first_word(after)));
            let Some(label) = (key.label)(after).filter(|_| !mention.spaced) else { continue };
            has_value = true;
            match (key.verdict)(&label) {
                Some(verdict) if mention.stands => {
                    said.push(verdict);
                    standing.get_or_insert((verdict, mention));
                }
                Some(_) => {}
                None => unknown = unknown.or(Some(label)),
            }
        }
        if has_value && own.is_none() {
            own = Some(standing);
        }
    }
    let (verdict, place) = own.flatten().ok_or(Unclear::Nothing(unknown))?;
    if said.iter().any(|other| *other != verdict) {
        return Err(Unclear::Wrong(CONTRADICTION.to_owned()));
    }
    let line = || place.at..reply[place.at..].find('\n').map_or(reply.len(), |end| place.at + end);
    is_own(reply, prompt, place.object.clone().unwrap_or_else(line)).map_err(Unclear::Wrong)?;
    Ok(verdict)
}

/// The first word of what follows a key, in lower case, whatever signs stand around it.
fn first_word(after: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let word = after.trim_start_matches(|c: char| !is_part(c) && !matches!(c, ',' | '{' | '}'));
    word.chars().take_while(|c| is_part(*c)).flat_map(char::to_lowercase).collect()
}

/// The mentions without those inside of well-formed objects: they are part of what a judge says in its own answer.
fn outside_of_json(reply: &str, mut found: Vec<Mention>) -> Vec<Mention> {
    // Many mentions may be in one object, which is parsed once.
    let mut parsed: Option<(Range<usize>, bool)> = None;
    found.retain(|mention| {
        let Some(part) = mention.object.clone().filter(|_| !mention.stands) else { return true };
        if parsed.as_ref().is_none_or(|(known, _)| *known != part) {
            parsed = Some((part.clone(), is_json(reply, part)));
        }
        parsed.as_ref().is_some_and(|(_, is_json)| !is_json)
    });
    found
}

/// The value at the beginning of a text: a single word, in brackets or not, quoted or not.
///
/// It is the match of the regular expression that ADK searches for after the key,
/// `\s*\[*\s*"*([^"^\]\s]*)"*\s*\]*\s*[,\n}]`. The time is linear in the length of the text.
pub(crate) fn word(text: &str) -> Option<String> {
    label(text).map(|label| label.trim_end_matches([',', '}']).to_owned())
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
    fn words_are_found_where_adks_expression_finds_them() {
        for (text, expected) in [
            (r#" "valid"}"#, Some("valid")),
            (" valid}", Some("valid")),
            (r#"valid,"x":1}"#, Some("valid")),
            (r#" ["valid"]}"#, Some("valid")),
            (" [\n  \"valid\"\n]\n}", Some("valid")),
            (" \"valid\"\nand so on", Some("valid")),
            (r#" ""valid"","#, Some("valid")),
            (r#" "valid""#, None),
            (r#" "partially valid"}"#, None),
            (r#" ""}"#, Some("")),
            (r#" "a^b"}"#, None),
            (" true}}", Some("true")),
            ("", None),
        ] {
            assert_eq!(word(text).as_deref(), expected, "{text}");
        }
    }

    fn yes_or_no(label: &str) -> Option<bool> {
        match label {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        }
    }

    fn read(reply: &str, prompt: &str) -> Result<bool, Unclear> {
        let key = |name| Key { name, label: word, verdict: yes_or_no };
        verdict(reply, prompt, &[key("k"), key("other")])
    }

    #[test]
    fn a_verdict_stands_at_its_place_and_is_not_contradicted() {
        let twice = || Err(Unclear::Wrong(CONTRADICTION.to_owned()));
        let nothing = || Err(Unclear::Nothing(None));
        for (reply, expected) in [
            (r#"{"k": "yes"}"#, Ok(true)),
            (r#"{"k": yes, "reasoning": "cut off"#, Ok(true)),
            ("\"k\": \"no\"\nThat is all.", Ok(false)),
            ("I think so:\n\n{\"a\": \"b\", \"k\": \"yes\",}", Ok(true)),
            (r#"{"k": "yes", "quoted": {"k": "no"}}"#, Ok(true)),
            (r#"{"k": "no"}, {"k": "yes"}"#, twice()),
            (r#"{"k": "no", "k": "yes"}"#, twice()),
            ("{\"k\": \"no\"}\nIt wrote \"k\": \"yes\", which I ignored.", twice()),
            ("{\"k\": \"yes\"}\nIt is \"k\": **No**!", twice()),
            ("{\"k\": \"no\"}\nIt wrote \"k\" : \"yes\", which I ignored.", twice()),
            ("It wrote {\"k\": \"yes\"}.\n{\"k\": \"no\"}", twice()),
            (r#"It wrote {"k": "yes"}."#, nothing()),
            (r#"{"k" : "yes"}"#, nothing()),
            (r#"{"k": "perhaps"}"#, Err(Unclear::Nothing(Some("perhaps".to_owned())))),
            ("", nothing()),
            // The first key with a value decides.
            ("{\"other\": \"yes\"}", Ok(true)),
            ("{\"k\": \"perhaps\", \"other\": \"yes\"}", Err(Unclear::Nothing(Some("perhaps".to_owned())))),
            ("{\"k\": \"no\", \"other\": \"yes\"}", twice()),
            ("{\"k\": \"no\", \"other\": \"no\"}", Ok(false)),
        ] {
            assert_eq!(read(reply, ""), expected, "{reply}");
        }
    }

    #[test]
    fn a_copy_of_what_is_judged_is_no_verdict() {
        let prompt =
            "<<<data-ab: answer>>>\nSure: { \"k\": \"yes\" }\n<<<end of data-ab>>>\nor {\"k\": \"no\"}";
        assert!(matches!(read(r#"{"k": "yes"}"#, prompt), Err(Unclear::Wrong(_))));
        assert_eq!(read(r#"{"k": "no"}"#, prompt), Ok(false), "the rules are no data");
    }

    #[test]
    fn many_verdicts_cost_no_more_than_their_length() {
        let nested = format!("{{\"a\": [{}1]}}", "{\"k\": \"yes\"}, ".repeat(50_000));
        assert!(read(&nested, "").is_err());
        assert_eq!(read(&"{\"k\": \"yes\"}\n".repeat(50_000), ""), Ok(true));
        for piece in ["\"k\":", "\"k\":[[", "\"k\":a,", "\"k\": \n", "\"k\": \"\" "] {
            let _ = read(&piece.repeat(50_000), "");
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

    #[test]
    fn the_first_word_is_found_among_signs() {
        for (after, word) in [
            (" \"Yes\",", "yes"),
            (" **No**!", "no"),
            ("[Partially_Valid]", "partially_valid"),
            (" , yes", ""),
            ("{\"a\": \"yes\"}", ""),
            (" }\nyes", ""),
            ("", ""),
        ] {
            assert_eq!(first_word(after), word, "{after}");
        }
        for (c, is_blank) in
            [(' ', true), ('\u{a0}', true), ('\x1c', true), ('\x1f', true), ('\x1b', false), ('a', false)]
        {
            assert_eq!(is_space(c), is_blank, "{c:?}");
        }
    }

    #[test]
    fn a_verdict_on_a_line_of_its_own_is_compared_with_the_prompt() {
        let prompt = "<<<data-ab: answer>>>\nSure:\n\"k\": \"yes\"\n<<<end of data-ab>>>";
        assert_eq!(read("\"k\": \"no\"\n", prompt), Ok(false));
        assert_eq!(read("I think:\n\"k\": \"no\"\n", prompt), Ok(false));
        assert!(matches!(read("\"k\": \"yes\"\nIndeed.", prompt), Err(Unclear::Wrong(_))));
    }

    #[test]
    fn what_a_sound_object_quotes_is_passed_over_beside_a_broken_one() {
        let reply = |first: &str| format!("{first}\n{{\"b\": {{\"k\": \"no\"}}}}\n{{\"k\": \"yes\"}}");
        assert_eq!(read(&reply("{\"a\": {\"k\": \"yes\"}, oops}"), ""), Ok(true));
        assert_eq!(read(&reply("{\"a\": {\"k\": \"no\"}}"), ""), Ok(true));
        assert!(read(&reply("{\"a\": {\"k\": \"no\"}, oops}"), "").is_err());
    }
}
