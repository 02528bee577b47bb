//! The ways in which a text is not JSON, and the problem of each with its remedy.

use std::ops::Range;

use crate::problem::{JsonPath, Problem, ProblemCode};

/// The levels of nesting that pydantic's parser accepts: 200 below the outermost value.
pub(super) const MAX_DEPTH: usize = 201;

/// The digits that pydantic's parser, like Python, accepts before the point of a number.
pub(crate) const MAX_DIGITS: usize = 4300;

pub(super) struct Fault {
    pub(super) what: FaultKind,
    pub(super) at: usize,
}

#[derive(Clone, Copy)]
pub(super) enum FaultKind {
    BadEscape,
    BadNumber,
    ControlCharacter,
    EndBeforeValue,
    EndInString,
    EndInside(Inside),
    LoneSurrogate,
    MoreText,
    NoColon,
    NoComma(Inside),
    NoKey,
    NoValue,
    TooDeep,
    TooManyDigits,
    TrailingComma,
}

/// A value with brackets around it.
#[derive(Clone, Copy)]
pub(super) enum Inside {
    Array,
    Object,
}

impl Inside {
    pub(super) fn closing(self) -> u8 {
        match self {
            Self::Array => b']',
            Self::Object => b'}',
        }
    }
}

pub(super) fn problem(text: &str, fault: Fault) -> Problem {
    let problem = of_git(text, fault.at).unwrap_or_else(|| explain(text, fault));
    match problem.help {
        Some(_) => problem,
        None => problem.help("a value is an object, an array, a string, a number, `true`, `false` or `null`"),
    }
}

/// Recognises marks of a merge conflict, and Git LFS pointers to files that were not fetched.
fn of_git(text: &str, index: usize) -> Option<Problem> {
    let rest = text.get(index..)?;
    if index == 0 && rest.starts_with("version https://git-lfs.github.com/spec/") {
        let found = at(text, index, "this is a pointer of Git LFS, not the file itself");
        return Some(found.help("fetch the file: `git lfs pull`; in CI, check out with LFS"));
    }
    let mark =
        ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].into_iter().find(|mark| rest.starts_with(mark))?;
    let range = index..index + mark.len();
    let found =
        Problem::error(ProblemCode::Syntax, JsonPath::default(), range, "a merge conflict is not resolved");
    Some(
        found
            .label("a mark of git")
            .help("keep one of the two sides, or parts of both, and remove the marks"),
    )
}

fn explain(text: &str, Fault { what, at: index }: Fault) -> Problem {
    match what {
        FaultKind::TrailingComma => at(text, index, "JSON has no trailing commas")
            .label("remove this comma")
            .help("the last element of an array or object is followed by its bracket"),
        FaultKind::EndInside(Inside::Array) => end(text, "the file ends inside an array", "`]`"),
        FaultKind::EndInside(Inside::Object) => end(text, "the file ends inside an object", "`}`"),
        FaultKind::EndInString => end(text, "the file ends inside a string", "`\"`"),
        FaultKind::EndBeforeValue if text.trim().is_empty() => at(text, index, "the file is empty")
            .help("an eval set is an object with `eval_set_id` and `eval_cases`"),
        FaultKind::EndBeforeValue => end(text, "the file ends where a value is expected", "a value"),
        FaultKind::NoColon => {
            at(text, index, "expected `:` between a key and its value").help(r#"write `"key": value`"#)
        }
        FaultKind::NoComma(Inside::Array) => at(text, index, "expected `,` or `]` in an array")
            .help("separate elements with a comma, or close the array before this"),
        FaultKind::NoComma(Inside::Object) => at(text, index, "expected `,` or `}` in an object")
            .help("separate entries with a comma, or close the object before this"),
        FaultKind::NoKey => {
            at(text, index, "expected a key in double quotes").help(r#"write `"key": value`"#)
        }
        FaultKind::NoValue => unexpected(text, index),
        FaultKind::BadNumber => at(text, index, "this is not a JSON number")
            .help("JSON numbers have no leading zeros, no `+` and digits on both sides of the point"),
        FaultKind::TooManyDigits => {
            at(text, index, format!("a number has at most {MAX_DIGITS} digits before its point"))
                .help("write it as a string if all its digits matter")
        }
        FaultKind::BadEscape => at(text, index, "this is not an escape that JSON knows")
            .help(r#"the escapes are \" \\ \/ \b \f \n \r \t and \u with four hex digits"#),
        FaultKind::LoneSurrogate => at(text, index, r"half of a surrogate pair is alone in a `\u` escape")
            .help("write the character itself, or both halves of the pair"),
        FaultKind::ControlCharacter => at(text, index, "a raw control character is in a string")
            .help(r"write it as an escape: `\n` for a line break, `\t` for a tab"),
        FaultKind::MoreText => more_text(text, index),
        FaultKind::TooDeep => too_deep(index),
    }
}

fn more_text(text: &str, index: usize) -> Problem {
    let found = at(text, index, "something follows the end of the document");
    if text[index..].starts_with("//") || text[index..].starts_with("/*") {
        comment(found)
    } else {
        found.help("a file holds one JSON document; look for a bracket that closes too early")
    }
}

fn too_deep(index: usize) -> Problem {
    Problem::error(ProblemCode::TooDeep, JsonPath::default(), index..index + 1, "nesting is too deep")
        .label(format!("level {} begins here", MAX_DEPTH + 1))
        .help(format!("ADK reads {MAX_DEPTH} levels; store deeper data as a string of JSON"))
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
        return found.label("single quotes").help("JSON strings have double quotes");
    }
    found
}

fn comment(problem: Problem) -> Problem {
    problem.label("a comment").help("JSON has no comments; a key that begins with `_` can hold a note")
}

/// A problem at one character, or at the end of the text.
fn at(text: &str, index: usize, message: impl Into<String>) -> Problem {
    Problem::error(ProblemCode::Syntax, JsonPath::default(), character(text, index), message)
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
