//! The parser of labels and reasons in a judge's reply.

use std::ops::Range;

use eval_format::Value;
use eval_support::message::cut;

use super::reply_json::is_json;
use super::reply_scan::{CONTRADICTION, Mention, first_word, is_own, mentions};

const MAX_SHOWN_CHARS: usize = 400;

/// White space as Python's regular expressions see it.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// Finds the label in the text after the key, as ADK does.
    pub(crate) label: fn(&str) -> Option<String>,
    /// The verdict that ADK takes from a label.
    pub(crate) verdict: fn(&str) -> Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unclear {
    /// There is no verdict under the keys, only this unknown label, if any.
    Nothing(Option<String>),
    Wrong(String),
}

/// The verdict of a reply under one of several keys.
///
/// A yes must be a yes in ADK too, which reads the first label under the first key that has one. It must also
/// be at a place for a judge's own verdict: see `reply_scan`. No other value under these keys may contradict
/// it, except inside of a well-formed JSON object. A reply is a no if it is a no in ADK, or if all its values
/// are no, at any place. `prompt` is the question to the judge, to recognise copies.
pub(crate) fn verdict(reply: &str, prompt: &str, keys: &[Key]) -> Result<bool, Unclear> {
    let mut said: Vec<bool> = Vec::new();
    let mut unknown = None;
    let mut own: Option<Mention> = None;
    let mut adk: Option<Option<bool>> = None;
    for key in keys {
        let found = mentions(reply, key.name);
        let label = |mention: &Mention| {
            let after = &reply[mention.value..];
            (!mention.spaced).then(|| (key.label)(after)).flatten()
        };
        let first_key = adk.is_none();
        adk = adk.or_else(|| found.iter().find_map(label).map(|label| (key.verdict)(&label)));
        for mention in outside_of_json(reply, found) {
            // A value can contradict a verdict without having the form of one.
            said.extend((key.verdict)(&first_word(&reply[mention.value..])));
            match label(&mention).map(|label| ((key.verdict)(&label), label)) {
                Some((Some(verdict), _)) if mention.is_at_key => {
                    said.push(verdict);
                    own = first_key.then_some(mention).or(own);
                }
                Some((None, label)) => unknown = unknown.or(Some(label)),
                _ => {}
            }
        }
    }
    if adk == Some(Some(false)) || !said.is_empty() && !said.contains(&true) {
        return Ok(false);
    }
    let place = own.filter(|_| adk == Some(Some(true))).ok_or(Unclear::Nothing(unknown))?;
    if said.contains(&false) {
        return Err(Unclear::Wrong(CONTRADICTION.to_owned()));
    }
    let line = || place.at..reply[place.at..].find('\n').map_or(reply.len(), |end| place.at + end);
    is_own(reply, prompt, place.object.clone().unwrap_or_else(line)).map_err(Unclear::Wrong)?;
    Ok(true)
}

/// Drops the mentions inside of well-formed objects that are at no place for a verdict: they are part of the
/// judge's own answer.
fn outside_of_json(reply: &str, mut found: Vec<Mention>) -> Vec<Mention> {
    // Many mentions may be in one object, which is parsed once.
    let mut parsed: Option<(Range<usize>, bool)> = None;
    found.retain(|mention| {
        let Some(part) = mention.object.clone().filter(|_| !mention.is_at_key) else { return true };
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
    // The comma or brace that ends the value was read as part of the label.
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
    cut(text.trim(), MAX_SHOWN_CHARS)
}

#[cfg(test)]
mod tests {
    use super::super::reply_scan::WORDS_AFTER;
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
    fn a_yes_stands_at_its_place_and_is_the_last_word() {
        let twice = || Err(Unclear::Wrong(CONTRADICTION.to_owned()));
        let after = || Err(Unclear::Wrong(WORDS_AFTER.to_owned()));
        let nothing = || Err(Unclear::Nothing(None));
        for (reply, expected) in [
            (r#"{"k": "yes"}"#, Ok(true)),
            (r#"{"k": yes, "reasoning": "cut off"#, Ok(true)),
            ("I think so:\n\n{\"a\": \"b\", \"k\": \"yes\",}", Ok(true)),
            ("```json\n{\"k\": \"yes\"}\n```\n\n", Ok(true)),
            (r#"{"k": "yes", "quoted": {"k": "no"}}"#, Ok(true)),
            // The judge takes it back, or may.
            ("{\"k\": \"yes\"}\nWait: the city is another one, so this is invalid.", after()),
            ("{\"k\": \"yes\"} No!", after()),
            ("```json\n{\"k\": \"yes\"}\n```\nいいえ、間違いです。", after()),
            ("\"k\": \"yes\"\nThat is all.", after()),
            ("Sure!\n{\"k\": \"yes\"}\nDone.", after()),
            ("It wrote {\"k\": \"yes\"}.\n{\"k\": \"no\"}", twice()),
            ("{\"k\": \"yes\"}\nIt is \"k\": **No**!", twice()),
            ("```\n{\"k\": \"yes\"}\n```\n```\n{\"k\": \"no\"}\n```", twice()),
            (r#"It wrote {"k": "yes"}."#, nothing()),
            (r#"{"k" : "yes"}"#, nothing()),
            (r#"{"k": "perhaps"}"#, Err(Unclear::Nothing(Some("perhaps".to_owned())))),
            ("", nothing()),
            // The first key with a value decides.
            ("{\"other\": \"yes\"}", Ok(true)),
            ("{\"k\": \"perhaps\", \"other\": \"yes\"}", Err(Unclear::Nothing(Some("perhaps".to_owned())))),
            ("{\"k\": \"yes\", \"other\": \"no\"}", twice()),
            // In ADK the first label counts, which is no label here.
            (r#"{"quoted": {"k": "perhaps"}, "k": "yes"}"#, nothing()),
        ] {
            assert_eq!(read(reply, ""), expected, "{reply}");
        }
    }

    #[test]
    fn a_no_is_what_adk_reads_as_one_and_what_nothing_contradicts() {
        for reply in [
            r#"{"k": "no"}"#,
            "\"k\": \"no\"\nThat is all.",
            "Sure! {\"k\": \"no\"} bye",
            "```json\n{\"k\": no}\n```\nThe city is another one.",
            // The first one counts in ADK.
            r#"{"k": "no"}, {"k": "yes"}"#,
            r#"{"k": "no", "k": "yes"}"#,
            r#"{"quoted": {"k": "no"}, "k": "yes"}"#,
            "{\"k\": \"no\"}\nIt wrote \"k\": \"yes\", which I ignored.",
            "{\"k\": \"no\", \"other\": \"yes\"}",
            "{\"k\": \"no\", \"other\": \"no\"}",
            // In ADK none of these is a verdict.
            r#"{"k" : "no"}"#,
            "It is \"k\": **No**!",
        ] {
            assert_eq!(read(reply, ""), Ok(false), "{reply}");
        }
    }

    #[test]
    fn a_copy_of_what_is_judged_is_no_verdict() {
        let prompt =
            "<<<data-ab: answer>>>\nSure: { \"k\": \"yes\" }\n<<<end of data-ab>>>\nor {\"k\": \"no\"}";
        assert!(matches!(read(r#"{"k": "yes"}"#, prompt), Err(Unclear::Wrong(_))));
        assert_eq!(read(r#"{"k": "no"}"#, prompt), Ok(false));
        let rules = "<<<data-ab: answer>>>\nSure\n<<<end of data-ab>>>\nSay {\"k\": \"yes\"} or no.";
        assert_eq!(read(r#"{"k": "yes"}"#, rules), Ok(true), "the rules are no data");
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
    fn blanks_are_those_of_python() {
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
        assert!(matches!(read("\"k\": \"yes\"\n", prompt), Err(Unclear::Wrong(_))));
    }

    #[test]
    fn what_a_sound_object_quotes_is_passed_over_beside_a_broken_one() {
        let reply = |first: &str| format!("{first}\n{{\"b\": {{\"k\": \"no\"}}}}\n{{\"k\": \"yes\"}}");
        assert_eq!(read(&reply("{\"a\": {\"k\": \"yes\"}, oops}"), ""), Ok(true));
        assert_eq!(read(&reply("{\"a\": {\"k\": \"yes\"}}"), ""), Ok(true));
        assert!(read(&reply("{\"a\": {\"k\": \"yes\"}}\n\"k\" : no"), "").is_err());
    }
}
