use super::*;

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
    let problem = read(r#"["\u12"]"#).0.unwrap_err();
    assert!(problem.message.contains("not an escape"), "{problem:?}");
}

#[test]
fn depth_ends_at_two_hundred() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(read(&deep(150)).0.is_ok());
    assert!(read(&deep(MAX_DEPTH)).0.is_ok());
    let problem = read(&deep(MAX_DEPTH + 1)).0.unwrap_err();
    assert_eq!((problem.code, problem.range), (Code::TooDeep, MAX_DEPTH..MAX_DEPTH + 1));
    assert_eq!(read(&deep(10_000)).0.unwrap_err().code, Code::TooDeep);
    assert_eq!(read(&"[{\"a\":".repeat(10_000)).0.unwrap_err().code, Code::TooDeep);
}

#[test]
fn the_last_of_equal_keys_counts_at_the_place_of_the_first() {
    for filler in [0, 20] {
        let extra = (0..filler).map(|i| format!(r#","k{i}":0"#)).collect::<Vec<_>>().concat();
        let (value, problems) = read(&format!(r#"{{"x":{{"a":1,"b":2,"a":3{extra}}}}}"#));
        assert!(value.unwrap()["x"].to_string().starts_with(r#"{"a":3,"b":2"#));
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!(problem.path.to_string(), "x.a");
        assert_eq!(problem.range, 18..21);
        assert_eq!(problem.related[0].0, 6..9);
        assert_eq!(problem.severity, crate::Severity::Warning);
    }
}

#[test]
fn a_repeated_key_is_named_on_one_line() {
    let (_, problems) = read(r#"{"a\nb": 1, "a\nb": 2}"#);
    assert_eq!(problems[0].message, r"key `a\nb` stands twice in one object");
}

#[test]
fn large_integers_stay_exact() {
    let digits = "123456789012345678901234567890";
    assert_eq!(read(digits).0.unwrap().to_string(), digits);
}
