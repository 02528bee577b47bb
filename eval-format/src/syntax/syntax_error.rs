//! What the JSON parser stumbled over, in words that say what to do.

use std::ops::Range;

use jiter::{JiterError, JiterErrorType, JsonErrorType};

use crate::problem::{Code, JsonPath, Problem};

/// The problem for an error of the JSON parser.
pub(super) fn problem(text: &str, error: &JiterError) -> Problem {
    let problem = explain(text, error);
    match problem.help {
        Some(_) => problem,
        None => problem.help("a value is an object, an array, a string, a number, `true`, `false` or `null`"),
    }
}

fn explain(text: &str, error: &JiterError) -> Problem {
    let JiterErrorType::JsonError(kind) = &error.error_type else {
        // The reader asks for each value by the kind it peeked, so a type error cannot happen;
        // should it, the place is still right.
        return at(text, error.index, "this is not valid JSON");
    };
    let index = error.index.min(text.len());
    match kind {
        JsonErrorType::TrailingComma => {
            // The parser stops at the bracket; the comma before it is what has to go.
            let comma = text[..index].rfind(',').unwrap_or(index);
            at(text, comma, "JSON has no trailing commas")
                .label("remove this comma")
                .help("the last element of an array or object is followed by its bracket")
        }
        JsonErrorType::EofWhileParsingList => end(text, "the file ends inside an array", "`]`"),
        JsonErrorType::EofWhileParsingObject => end(text, "the file ends inside an object", "`}`"),
        JsonErrorType::EofWhileParsingString => end(text, "the file ends inside a string", "`\"`"),
        JsonErrorType::EofWhileParsingValue if text.trim().is_empty() => at(text, index, "the file is empty")
            .help("an eval set is an object with `eval_set_id` and `eval_cases`"),
        JsonErrorType::EofWhileParsingValue => {
            end(text, "the file ends where a value is expected", "a value")
        }
        JsonErrorType::ExpectedColon => {
            at(text, index, "expected `:` between a key and its value").help(r#"write `"key": value`"#)
        }
        JsonErrorType::ExpectedListCommaOrEnd => at(text, index, "expected `,` or `]` in an array")
            .help("separate elements with a comma, or close the array before this"),
        JsonErrorType::ExpectedObjectCommaOrEnd => at(text, index, "expected `,` or `}` in an object")
            .help("separate entries with a comma, or close the object before this"),
        JsonErrorType::KeyMustBeAString => {
            at(text, index, "expected a key in double quotes").help(r#"write `"key": value`"#)
        }
        JsonErrorType::ExpectedSomeIdent | JsonErrorType::ExpectedSomeValue => unexpected(text, index),
        JsonErrorType::InvalidNumber => at(text, index, "this is not a JSON number")
            .help("JSON numbers have no leading zeros, no `+` and digits on both sides of the point"),
        JsonErrorType::NumberOutOfRange => at(text, index, "this number has too many digits")
            .help("write it as a string if all its digits matter"),
        JsonErrorType::InvalidEscape | JsonErrorType::UnexpectedEndOfHexEscape => {
            match surrogate_before(text, index) {
                Some(start) => lone_surrogate(text, start),
                None => at(text, index, "this is not an escape that JSON knows")
                    .help(r#"the escapes are \" \\ \/ \b \f \n \r \t and \u with four hex digits"#),
            }
        }
        JsonErrorType::LoneLeadingSurrogateInHexEscape | JsonErrorType::InvalidUnicodeCodePoint => {
            lone_surrogate(text, index)
        }
        JsonErrorType::ControlCharacterWhileParsingString => {
            at(text, index, "a raw control character stands in a string")
                .help(r"write it as an escape: `\n` for a line break, `\t` for a tab")
        }
        JsonErrorType::TrailingCharacters => {
            let found = at(text, index, "something follows the end of the document");
            if text[index..].starts_with("//") || text[index..].starts_with("/*") {
                comment(found)
            } else {
                found.help("a file holds one JSON document; look for a bracket that closes too early")
            }
        }
        other => at(text, index, format!("this is not valid JSON: {other}")),
    }
}

fn lone_surrogate(text: &str, index: usize) -> Problem {
    at(text, index, r"half of a surrogate pair stands alone in a `\u` escape")
        .help("write the character itself, or both halves of the pair")
}

/// Where the first half of a surrogate pair begins that ends here or one character before, where the
/// parser looked for the second half.
fn surrogate_before(text: &str, index: usize) -> Option<usize> {
    [index, index.saturating_sub(1)].into_iter().find_map(|end| {
        let start = end.checked_sub(6)?;
        let digits = text.get(start..end)?.strip_prefix(r"\u")?;
        let code = u16::from_str_radix(digits, 16).ok()?;
        (0xd800..0xdc00).contains(&code).then_some(start)
    })
}

fn unexpected(text: &str, index: usize) -> Problem {
    let rest = text.get(index..).unwrap_or("");
    let found = at(text, index, "expected a JSON value");
    if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
        return comment(found);
    }
    for (python, json) in
        [("True", "true"), ("False", "false"), ("None", "null"), ("undefined", "null"), ("nan", "NaN")]
    {
        if rest.starts_with(python) {
            return found.label(format!("`{python}` is not JSON")).help(format!("write `{json}`"));
        }
    }
    if rest.starts_with('\'') {
        return found.label("single quotes").help("JSON strings stand in double quotes");
    }
    found
}

fn comment(problem: Problem) -> Problem {
    problem.label("a comment").help("JSON has no comments; a key that begins with `_` can hold a note")
}

/// A problem at one character, or at the end of the text.
fn at(text: &str, index: usize, message: impl Into<String>) -> Problem {
    Problem::error(Code::Syntax, JsonPath::default(), character(text, index), message)
}

fn end(text: &str, message: &str, missing: &str) -> Problem {
    at(text, text.trim_end().len(), message)
        .label(format!("expected {missing}"))
        .help("the file looks cut off; look for a bracket or quote that is not closed")
}

/// The range of the character at or around a byte offset; empty at the end of the text.
fn character(text: &str, index: usize) -> Range<usize> {
    let mut start = index.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    start..start + length
}
