//! Two answers beside each other, each piece compared in the way that fits it: prose by words, code by lines,
//! JSON by its keys.

use eval_format::Value;
use serde::Serialize;

use super::diff::{Part, lines, words};
use super::keys::{Keys, keys_of_values};

/// A piece of two texts, with the way in which it was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "by", rename_all = "lowercase")]
pub enum Block {
    Words { parts: Vec<Part> },
    Lines { parts: Vec<Part> },
    Keys(Keys),
}

/// The comparison of two texts; empty if they are too long to compare.
pub fn texts(expected: &str, actual: &str) -> Vec<Block> {
    if let Some(keys) = json(expected, actual) {
        return vec![Block::Keys(keys)];
    }
    let (left, right) = (fenced(expected), fenced(actual));
    let alike =
        left.len() == right.len() && left.iter().zip(&right).all(|(one, other)| one.is_code == other.is_code);
    let blocks = if alike {
        let pairs = left.iter().zip(&right);
        pairs.map(|(one, other)| block(one.text, other.text, one.is_code)).collect()
    } else {
        let has_code = left.iter().chain(&right).any(|piece| piece.is_code);
        Some(vec![block(expected, actual, has_code)]).into_iter().flatten().collect::<Option<Vec<_>>>()
    };
    blocks.unwrap_or_default()
}

fn block(expected: &str, actual: &str, is_code: bool) -> Option<Block> {
    if is_code || is_plainly_code(expected) && is_plainly_code(actual) {
        return lines(expected, actual).map(|parts| Block::Lines { parts });
    }
    words(expected, actual).map(|parts| Block::Words { parts })
}

/// The comparison of two texts that are JSON objects or arrays of different values.
fn json(expected: &str, actual: &str) -> Option<Keys> {
    let parsed = |text: &str| {
        let is_nested = text.trim_start().starts_with(['{', '[']);
        if is_nested { Value::parse(text.trim()).ok() } else { None }
    };
    let keys = keys_of_values(&parsed(expected)?, &parsed(actual)?);
    // Of JSON that differs in blanks alone, the texts are compared.
    keys.rows.iter().any(|row| row.is != "same").then_some(keys)
}

struct Piece<'t> {
    is_code: bool,
    text: &'t str,
}

/// A text in pieces of prose and of code between fences. The fences belong to the code.
fn fenced(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut begin, mut at, mut is_code) = (Vec::new(), 0, 0, false);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if line.trim_start().starts_with("```") {
            let cut = if is_code { end } else { at };
            pieces.extend((cut > begin).then(|| Piece { is_code, text: &text[begin..cut] }));
            (begin, is_code) = (cut, !is_code);
        }
        at = end;
    }
    pieces.extend((text.len() > begin).then(|| Piece { is_code, text: &text[begin..] }));
    pieces
}

/// Whether most lines of a text can hardly be prose.
fn is_plainly_code(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let looks = |line: &&&str| {
        let end = line.trim_end();
        let is_item = line.trim_start().starts_with(['-', '*', '>', '|']);
        let ends = [";", "{", "}", "):", "(", ")", "};", "},", ");", "->", "=>", "*/"];
        let holds = [" = ", " == ", " => ", " -> ", "::", "()"];
        !is_item
            && (ends.iter().any(|it| end.ends_with(it))
                || holds.iter().any(|it| line.contains(it))
                || line.starts_with("    ")
                || line.starts_with('\t'))
    };
    lines.len() > 1 && lines.iter().filter(looks).count() * 4 >= lines.len() * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole_text() {
        for (text, code) in [
            ("a\n", &[false][..]),
            ("```\na\n```", &[true]),
            ("b\n```\nc", &[false, true]),
            ("a\n```\nb\n```\nc\n", &[false, true, false]),
            ("", &[]),
        ] {
            let pieces = fenced(text);
            assert_eq!(pieces.iter().map(|piece| piece.text).collect::<String>(), text);
            assert_eq!(pieces.iter().map(|piece| piece.is_code).collect::<Vec<_>>(), code, "{text}");
        }
    }

    #[test]
    fn texts_are_compared_by_what_they_are() {
        let code = |word: &str| format!("def f(x):\n    y = {word}\n    return g(y)\n");
        let fence = |word: &str| format!("See:\n```python\nx = {word}\n```\nDone.\n");
        let prose = |word: &str| format!("It is {word}.\nAnd it stays so.");
        let json = |word: &str| format!("{{\"sky\": \"{word}\", \"n\": 1}}");
        let list = |word: &str| format!("- {word} = 1\n- b = 2\n");
        for (of, by) in [
            (&code as &dyn Fn(&str) -> String, &["lines"][..]),
            (&fence, &["words", "lines", "words"]),
            (&prose, &["words"]),
            (&list, &["words"]),
            (&json, &["keys"]),
            (&|word| format!("[\"{word}\"]"), &["keys"]),
            (&|word| format!("{{\"{word}"), &["words"]),
        ] {
            let blocks = texts(&of("one"), &of("two"));
            let names: Vec<&str> = blocks
                .iter()
                .map(|block| match block {
                    Block::Words { .. } => "words",
                    Block::Lines { .. } => "lines",
                    Block::Keys(_) => "keys",
                })
                .collect();
            assert_eq!(names, by, "{}", of("one"));
        }
        // JSON that differs in blanks alone is compared as text; code beside prose by lines.
        assert!(matches!(texts(r#"{"a":1}"#, r#"{"a": 1}"#)[..], [Block::Words { .. }]));
        assert!(matches!(texts(&fence("x"), "I cannot.")[..], [Block::Lines { .. }]));
    }
}
