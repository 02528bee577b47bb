use std::borrow::Cow;

use jiter::{Jiter, JiterResult, Peek};
use proptest::prelude::*;

use super::syntax_error::{MAX_DEPTH, MAX_DIGITS};
use super::*;
use crate::problem::{Problem, ProblemCode, Severity};
use crate::value::{Map, Number, Value};

fn read(text: &str) -> (Result<Value, Box<Problem>>, Vec<Problem>) {
    let mut problems = Vec::new();
    let node = parse(text, &mut problems).map(|node| node.to_value());
    (node, problems)
}

#[test]
fn ranges_cover_keys_and_values() {
    let text = r#"{ "a\n" : [1, -2.5e3] , "é":"ü" }"#;
    let root = parse(text, &mut Vec::new()).unwrap();
    let entries = root.object().unwrap();
    assert_eq!(&text[root.range.clone()], text);
    assert_eq!(&text[entries[0].key_range.clone()], r#""a\n""#);
    assert_eq!(&text[entries[0].value.range.clone()], "[1, -2.5e3]");
    assert_eq!(&text[entries[0].value.array().unwrap()[1].range.clone()], "-2.5e3");
    assert_eq!(&text[entries[1].key_range.clone()], "\"é\"");
    assert!(matches!(entries[1].value.kind, Kind::String(Cow::Borrowed("ü"))));
}

#[test]
fn accepts_what_pydantic_accepts() {
    for text in [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "-0",
        r#""\ud83d\ude00""#,
        "1000000000000000000000000000000",
    ] {
        assert!(read(text).0.is_ok(), "{text}");
    }
    for text in [
        "01",
        "1.",
        ".5",
        "+1",
        "[1,]",
        "{\"a\":1,}",
        "\"\\ud800\"",
        "\"a\nb\"",
        "nan",
        "'a'",
        "1 2",
        "-NaN",
        "",
        " ",
    ] {
        assert!(read(text).0.is_err(), "{text}");
    }
}

#[test]
fn half_a_surrogate_pair_is_named_where_it_stands() {
    for text in [r#"["\ud800"]"#, r#"["\ud800x"]"#, r#"["\ud83d\n"]"#, r#"["\uDBFF\u0041"]"#] {
        let problem = read(text).0.unwrap_err();
        assert!(problem.message.contains("surrogate"), "{text}: {problem:?}");
    }
    assert_eq!(read(r#"["\ud800"]"#).0.unwrap_err().range, 2..3);
}

#[test]
fn depth_ends_at_two_hundred() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(read(&deep(150)).0.is_ok());
    assert!(read(&deep(MAX_DEPTH)).0.is_ok());
    // The last of these levels may only be empty.
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let around = |n: usize, value: &str| format!("{}{value}{}", open.repeat(n), close.repeat(n));
        for value in ["1", r#""a""#, "null", "[]", "{}"] {
            assert!(read(&around(MAX_DEPTH - 1, value)).0.is_ok(), "{open}{value}");
            assert_eq!(
                read(&around(MAX_DEPTH, value)).0.unwrap_err().code,
                ProblemCode::TooDeep,
                "{open}{value}"
            );
        }
        assert_eq!(read(&around(MAX_DEPTH, "é")).0.unwrap_err().code, ProblemCode::Syntax, "{open}");
    }
    let problem = read(&deep(MAX_DEPTH + 1)).0.unwrap_err();
    assert_eq!((problem.code, problem.range), (ProblemCode::TooDeep, MAX_DEPTH..MAX_DEPTH + 1));
    assert_eq!(read(&deep(10_000)).0.unwrap_err().code, ProblemCode::TooDeep);
    assert_eq!(read(&"[{\"a\":".repeat(10_000)).0.unwrap_err().code, ProblemCode::TooDeep);
}

#[test]
fn equal_keys_are_an_error_with_both_places() {
    for filler in [0, 20] {
        let extra = (0..filler).map(|i| format!(r#","k{i}":0"#)).collect::<Vec<_>>().concat();
        let (value, problems) = read(&format!(r#"{{"x":{{"a":1,"b":2,"a":3{extra}}}}}"#));
        assert!(value.unwrap()["x"].to_string().starts_with(r#"{"a":3,"b":2"#));
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!(problem.path.to_string(), "x.a");
        assert_eq!(problem.range, 18..21);
        assert_eq!(problem.related[0].0, 6..9);
        assert_eq!(problem.severity, Severity::Error);
    }
}

#[test]
fn a_repeated_key_is_named_on_one_line() {
    let (_, problems) = read(r#"{"a\nb": 1, "a\nb": 2}"#);
    assert_eq!(problems[0].message, r"key `a\nb` is repeated in one object");
}

#[test]
fn large_integers_stay_exact() {
    let digits = "123456789012345678901234567890";
    assert_eq!(read(digits).0.unwrap().to_string(), digits);
}

/// The message, and what of the text it marks.
#[test]
fn what_is_wrong_is_named_where_it_stands() {
    for (text, marked, message) in [
        ("", 0..0, "the file is empty"),
        (" \n", 2..2, "the file is empty"),
        ("[1, 2", 5..5, "the file ends inside an array"),
        ("[1, ", 3..4, "the file ends where a value is expected"),
        (r#"{"a": 1"#, 7..7, "the file ends inside an object"),
        (r#"{"a" "#, 4..5, "the file ends inside an object"),
        (r#"{"a": 1, "#, 8..9, "the file ends where a value is expected"),
        (r#"["a\"#, 4..4, "the file ends inside a string"),
        (r#"["a\u00"#, 7..7, "the file ends inside a string"),
        ("[nul", 4..4, "the file ends where a value is expected"),
        ("[-", 2..2, "the file ends where a value is expected"),
        ("[1.", 3..3, "the file ends where a value is expected"),
        (r#"{"a" 1}"#, 5..6, "expected `:` between a key and its value"),
        ("[1 2]", 3..4, "expected `,` or `]` in an array"),
        ("[1}", 2..3, "expected `,` or `]` in an array"),
        (r#"{"a": 1 "b": 2}"#, 8..9, "expected `,` or `}` in an object"),
        ("[1 , ]", 3..4, "JSON has no trailing commas"),
        (r#"{"a": 1,}"#, 7..8, "JSON has no trailing commas"),
        ("{a: 1}", 1..2, "expected a key in double quotes"),
        ("[,]", 1..2, "expected a JSON value"),
        ("[None]", 1..2, "expected a JSON value"),
        ("[-Infinite]", 2..3, "expected a JSON value"),
        ("[012]", 2..3, "this is not a JSON number"),
        ("[1.x]", 3..4, "this is not a JSON number"),
        ("[1e+]", 4..5, "this is not a JSON number"),
        ("[-NaN]", 2..3, "this is not a JSON number"),
        (r#"["\x"]"#, 3..4, "this is not an escape that JSON knows"),
        (r#"["\u12é4"]"#, 6..8, "this is not an escape that JSON knows"),
        (r#"["\ud83d\ux"]"#, 10..11, "this is not an escape that JSON knows"),
        (r#"["é\udc00\ud83d"]"#, 4..5, r"half of a surrogate pair is alone in a `\u` escape"),
        ("[\"a\tb\"]", 3..4, "a raw control character is in a string"),
        ("<<<<<<< HEAD\n{}", 0..7, "a merge conflict is not resolved"),
        ("[1,\n<<<<<<< HEAD\n2\n=======", 4..11, "a merge conflict is not resolved"),
        ("[1\n=======\n, 2]", 3..10, "a merge conflict is not resolved"),
        ("{\"a\": 1,\n>>>>>>> b", 9..16, "a merge conflict is not resolved"),
        ("{}\n||||||| base", 3..10, "a merge conflict is not resolved"),
        (
            "version https://git-lfs.github.com/spec/v1\n",
            0..1,
            "this is a pointer of Git LFS, not the file itself",
        ),
        ("[1] // one", 4..5, "something follows the end of the document"),
    ] {
        let problem = read(text).0.unwrap_err();
        assert_eq!((problem.message.as_str(), problem.range), (message, marked), "{text}");
    }
}

#[test]
fn the_words_of_other_languages_are_translated() {
    for (text, help) in [
        ("True", "write `true`"),
        ("False", "write `false`"),
        ("None", "write `null`"),
        ("nan", "write `NaN`"),
        ("undefined", "write `null`"),
        ("'a'", "JSON strings have double quotes"),
        ("# a", "JSON has no comments; a key that begins with `_` can hold a note"),
    ] {
        assert_eq!(read(text).0.unwrap_err().help.as_deref(), Some(help), "{text}");
    }
}

#[test]
fn the_whole_part_ends_at_4300_digits_and_the_rest_nowhere() {
    let digits = "1".repeat(MAX_DIGITS);
    for number in [digits.clone(), format!("-{digits}.5e1"), format!("0.{digits}{digits}e{digits}{digits}")] {
        assert!(read(&number).0.is_ok());
        assert!(agrees(&number));
    }
    for number in [format!("1{digits}"), format!("-1{digits}.5")] {
        let problem = read(&number).0.unwrap_err();
        assert_eq!(problem.message, "a number has at most 4300 digits before its point");
        assert!(agrees(&number));
    }
}

/// Whether pydantic's parser reads the same from a text, or nothing where nothing is read here.
fn agrees(text: &str) -> bool {
    let mut jiter = Jiter::new(text.as_bytes()).with_allow_inf_nan();
    let theirs = jiter.peek().and_then(|first| value_of(&mut jiter, first, 1)).and_then(|value| {
        jiter.finish()?;
        Ok(value)
    });
    // As text: NaN is not equal to itself.
    format!("{:?}", read(text).0.ok()) == format!("{:?}", theirs.ok())
}

fn value_of(jiter: &mut Jiter<'_>, first: Peek, depth: usize) -> JiterResult<Value> {
    Ok(match first {
        // A value at this depth is refused here, and by pydantic as a whole: asks for something else.
        Peek::Null if depth > MAX_DEPTH => Value::Bool(jiter.next_bool()?),
        _ if depth > MAX_DEPTH => jiter.next_null().map(|()| Value::Null)?,
        Peek::Null => jiter.known_null().map(|()| Value::Null)?,
        Peek::True | Peek::False => Value::Bool(jiter.known_bool(first)?),
        Peek::String => Value::String(jiter.known_str()?.to_owned()),
        Peek::Array => {
            let mut items = Vec::new();
            let mut next = jiter.known_array()?;
            while let Some(peek) = next {
                items.push(value_of(jiter, peek, depth + 1)?);
                next = jiter.array_step()?;
            }
            Value::Array(items)
        }
        Peek::Object => {
            let mut entries = Map::new();
            let mut next = jiter.known_object()?.map(str::to_owned);
            while let Some(key) = next {
                let peek = jiter.peek()?;
                entries.insert(key, value_of(jiter, peek, depth + 1)?);
                next = jiter.next_key()?.map(str::to_owned);
            }
            Value::Object(entries)
        }
        _ => {
            let text = str::from_utf8(jiter.known_number_bytes(first)?).unwrap();
            Value::Number(Number::parse(text).unwrap())
        }
    })
}

/// Whole documents, each with something taken out, put in or written twice: most mistakes that one
/// makes in JSON, and some unlikely ones.
fn nearly_json() -> impl Strategy<Value = String> {
    let string = proptest::collection::vec(
        prop_oneof![
            "[a-z]{0,9}",
            Just(r"\n".to_owned()),
            r"\\u[0-9a-fA-F]{4}",
            r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}",
            r"\\ud[89abcdef][0-9a-f]{2}",
            r#"[\\"/bfnrtux\x00-\x21\x7fé😀]"#,
        ],
        0..4,
    )
    .prop_map(|pieces| format!("\"{}\"", pieces.concat()));
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        "-?(NaN|Infinity)",
        r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?",
        "[-+.0-9eE]{1,6}",
        string,
    ];
    let document = scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(" ,"))),
            proptest::collection::vec(("[ab]", inner), 0..4).prop_map(|entries| {
                let entries: Vec<_> =
                    entries.iter().map(|(key, value)| format!("\"{key}\" : {value}")).collect();
                format!("{{{}}}\n", entries.join(", "))
            }),
        ]
    });
    let place = any::<proptest::sample::Index>();
    let put = prop_oneof![Just(String::new()), r#"[\[\]{},:" \n\t\r'a-fA-Z0-9\\.+-]{1,2}"#];
    (document, proptest::option::of((place, 0..2_usize, put))).prop_map(|(mut text, change)| {
        if let Some((place, taken, put)) = change {
            let from = text.floor_char_boundary(place.index(text.len() + 1));
            let to = text.ceil_char_boundary((from + taken).min(text.len()));
            text.replace_range(from..to, &put);
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn what_pydantic_reads_is_read_and_nothing_else(text in nearly_json()) {
        prop_assert!(agrees(&text), "{text:?}: {:?}", read(&text));
    }
}
