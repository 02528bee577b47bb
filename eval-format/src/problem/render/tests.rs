use std::ops::Range;

use insta::assert_snapshot;
use proptest::prelude::*;

use crate::problem::Problems;
use crate::problem::render::render_with_level;
use crate::problem::{JsonPath, Problem, ProblemCode, Severity};
use crate::problem::{line_column, render};

const FILE: &str = "evals/weather.evalset.json";

/// The problem at the first `marked` in the text, with label and help.
fn problem(text: &str, marked: &str) -> Problem {
    Problem::error(ProblemCode::WrongType, path(), find(text, marked), "`user_content` is a number")
        .label("expected an object, saw a number")
        .help("write `{\"role\": \"user\", \"parts\": [{\"text\": \"...\"}]}`")
}

fn path() -> JsonPath {
    JsonPath::default().key("eval_cases").index(0).key("conversation").index(1)
}

fn find(text: &str, marked: &str) -> Range<usize> {
    let at = text.find(marked).expect("the text holds what is marked");
    at..at + marked.len()
}

/// Two cases of one id, with a number of lines between them.
fn duplicate(lines_between: usize) -> (String, Problem) {
    let between = "    {},\n".repeat(lines_between);
    let text = format!(
        "[\n    {{ \"eval_id\": \"sunny\" }},\n{between}    {{ \"eval_id\": \"sunny\", \"x\": 1 }}\n]\n"
    );
    let second = text.rfind("\"sunny\"").expect("it stands twice");
    let problem =
        Problem::error(ProblemCode::DuplicateEvalId, path(), second..second + 7, "duplicate eval id `sunny`")
            .label("second use")
            .related(find(&text, "\"sunny\""), "first use")
            .help("give each case its own id; the test is named after it");
    (text, problem)
}

#[test]
fn a_value_is_shown_with_its_line() {
    let text = "{\n  \"eval_cases\": [\n    { \"user_content\": 5 }\n  ]\n}\n";
    assert_snapshot!(render(&problem(text, "5"), FILE, text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:3:23
      |
    3 |     { "user_content": 5 }
      |                       ^ expected an object, saw a number
      |
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn a_problem_may_have_neither_label_nor_help() {
    let text = "[1, 2";
    let bare = Problem::warning(ProblemCode::Syntax, JsonPath::default(), 4..5, "something is odd here");
    assert_snapshot!(render_with_level(&bare, FILE, text), @r#"
    warning: something is odd here
     --> evals/weather.evalset.json:1:5
      |
    1 | [1, 2
      |     ^
    "#);
}

#[test]
fn of_a_range_over_several_lines_the_first_is_shown() {
    let text = "[\n  {\n    \"a\": 1\n  }\n]\n";
    assert_snapshot!(render(&problem(text, "{\n    \"a\": 1\n  }"), FILE, text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:2:3
      |
    2 |   {
      |   ^ expected an object, saw a number
      |
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn related_places_near_by_share_the_snippet() {
    let (text, problem) = duplicate(8);
    assert_snapshot!(render(&problem, FILE, &text), @r#"
    duplicate eval id `sunny`
      --> evals/weather.evalset.json:11:18
       |
     2 |     { "eval_id": "sunny" },
       |                  ------- first use
    ...
    11 |     { "eval_id": "sunny", "x": 1 }
       |                  ^^^^^^^ second use
       |
       = help: give each case its own id; the test is named after it
    "#);
}

#[test]
fn a_long_line_between_two_places_is_cut() {
    let text = format!("[\n  1,\n  \"{}\",\n  2\n]", "lorem ".repeat(900));
    assert_snapshot!(render(&problem(&text, "2").related(find(&text, "1"), "and this"), FILE, &text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:4:3
      |
    2 |   1,
      |   - and this
    3 |   "lorem lorem lorem lorem lorem lorem lorem lorem lorem lorem lorem lorem lorem lorem lorem lorem lorem lorem...
    4 |   2
      |   ^ expected an object, saw a number
      |
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn related_places_far_away_have_a_snippet_of_their_own() {
    let (text, problem) = duplicate(5_000);
    assert_snapshot!(render(&problem, FILE, &text), @r#"
    duplicate eval id `sunny`
        --> evals/weather.evalset.json:5003:18
         |
    5003 |     { "eval_id": "sunny", "x": 1 }
         |                  ^^^^^^^ second use
         |
        --> evals/weather.evalset.json:2:18
         |
       2 |     { "eval_id": "sunny" },
         |                  ------- first use
         |
         = help: give each case its own id; the test is named after it
    "#);
}

#[test]
fn related_places_may_stand_on_the_same_line() {
    let text = "{ \"args\": {}, \"args\": {} }";
    let last = text.rfind("\"args\"").expect("it stands twice");
    let problem = Problem::warning(
        ProblemCode::DuplicateKey,
        path(),
        last..last + 6,
        "key `args` is repeated in one object",
    )
    .label("this one counts")
    .related(find(text, "\"args\""), "this one is ignored")
    .help("remove one of them");
    assert_snapshot!(render_with_level(&problem, FILE, text), @r#"
    warning: key `args` is repeated in one object
     --> evals/weather.evalset.json:1:15
      |
    1 | { "args": {}, "args": {} }
      |   ------      ^^^^^^ this one counts
      |   |
      |   this one is ignored
      |
      = help: remove one of them
    "#);
}

#[test]
fn more_related_places_than_can_be_read_are_counted() {
    let text = "[1, 2, 3, 4, 5, 6]";
    let problem =
        (1..6).fold(problem(text, "1"), |problem, at| problem.related(3 * at + 1..3 * at + 2, "and this"));
    assert_snapshot!(render(&problem, FILE, text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:1:2
      |
    1 | [1, 2, 3, 4, 5, 6]
      |  ^  -  -  -  - and this
      |  |  |  |  |
      |  |  |  |  and this
      |  |  |  and this
      |  |  and this
      |  expected an object, saw a number
      |
      = note: and 1 more such place
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn a_long_line_is_cut_around_the_range() {
    let text = format!(
        "{{\"text\": \"{}\", \"user_content\": 5, \"text\": \"{}\"}}",
        "lorem ".repeat(900),
        "ipsum ".repeat(900)
    );
    assert_snapshot!(render(&problem(&text, "5"), FILE, &text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:1:5430
      |
    1 | ...m lorem lorem lorem lorem ", "user_content": 5, "text": "ipsum ipsum ipsum ipsum ipsum ipsum ipsum ipsum ipsum...
      |                                                 ^ expected an object, saw a number
      |
      = note: at `eval_cases[0].conversation[1]`
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn of_a_long_range_the_beginning_is_shown() {
    let text = format!("{{\n  \"user_content\": \"{}\"\n}}", "lorem ipsum ".repeat(900));
    let at = text.find("\"lorem").expect("it is there");
    let mut problem = problem(&text, "\"lorem");
    problem.range = at..text.len() - 2;
    assert_snapshot!(render(&problem, FILE, &text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:2:19
      |
    2 |   "user_content": "lorem ipsum lorem ipsum lorem ipsum lorem ip...
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected an object, saw a number
      |
      = note: at `eval_cases[0].conversation[1]`
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn related_places_on_one_long_line_are_cut_each_on_its_own() {
    let text = format!("[{{\"eval_id\":\"sunny\"}},{}{{\"eval_id\":\"sunny\"}}]", "{},".repeat(2_000));
    let second = text.rfind("\"sunny\"").expect("it stands twice");
    let problem =
        Problem::error(ProblemCode::DuplicateEvalId, path(), second..second + 7, "duplicate eval id `sunny`")
            .label("second use")
            .related(find(&text, "\"sunny\""), "first use");
    assert_snapshot!(render(&problem, FILE, &text), @r#"
    duplicate eval id `sunny`
     --> evals/weather.evalset.json:1:6033
      |
    1 | ...,{},{},{},{},{},{},{},{},{},{},{},{"eval_id":"sunny"}]
      |                                                 ^^^^^^^ second use
      |
     --> evals/weather.evalset.json:1:13
      |
    1 | [{"eval_id":"sunny"},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}...
      |             ------- first use
      |
      = note: at `eval_cases[0].conversation[1]`
    "#);
}

#[test]
fn tabs_are_shown_as_four_columns_and_count_as_one() {
    let text = "{\n\t\t\"user_content\":\t5\n}";
    assert_snapshot!(render(&problem(text, "5"), FILE, text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:2:19
      |
    2 |         "user_content":    5
      |                            ^ expected an object, saw a number
      |
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn line_ends_of_windows_are_not_shown() {
    let text = "{\r\n  \"a\": 1,\r\n  \"user_content\": 5\r\n}\r\n";
    assert_snapshot!(render(&problem(text, "5").related(find(text, "1"), "this is one too"), FILE, text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:3:19
      |
    2 |   "a": 1,
      |        - this is one too
    3 |   "user_content": 5
      |                   ^ expected an object, saw a number
      |
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn a_line_of_the_widest_that_is_shown_whole_is_not_cut() {
    for end in ["", "\n", "\r\n"] {
        for (width, whole) in [(110, true), (111, false)] {
            let text = format!("\"{}\"{end}", "x".repeat(width - 2));
            assert_eq!(
                !render(&problem(&text, "\""), FILE, &text).contains("x..."),
                whole,
                "{width} and {end:?}"
            );
        }
    }
}

#[test]
fn wide_characters_move_the_caret_but_count_as_one() {
    let text = "{ \"天気🌦\": \"払い戻し\", \"user_content\": 5 }";
    assert_snapshot!(render(&problem(text, "5"), FILE, text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:1:34
      |
    1 | { "天気🌦": "払い戻し", "user_content": 5 }
      |                                        ^ expected an object, saw a number
      |
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn the_end_of_the_text_is_a_place() {
    let text = "{ \"eval_cases\": [";
    let end = Problem::error(
        ProblemCode::Syntax,
        JsonPath::default(),
        text.len()..text.len(),
        "the file ends inside an array",
    )
    .label("expected `]`");
    assert_snapshot!(render(&end, FILE, text), @r#"
    the file ends inside an array
     --> evals/weather.evalset.json:1:18
      |
    1 | { "eval_cases": [
      |                  ^ expected `]`
    "#);
}

#[test]
fn the_empty_line_at_the_end_is_a_place() {
    let text = "{ \"eval_cases\": [\n";
    let end = Problem::error(
        ProblemCode::Syntax,
        JsonPath::default(),
        text.len()..text.len(),
        "the file ends inside an array",
    )
    .label("expected `]`")
    .related(16..17, "of this array");
    assert_snapshot!(render(&end, FILE, text), @r#"
    the file ends inside an array
     --> evals/weather.evalset.json:2:1
      |
    2 |
      | ^ expected `]`
      |
     --> evals/weather.evalset.json:1:17
      |
    1 | { "eval_cases": [
      |                 - of this array
    "#);
}

#[test]
fn an_empty_file_is_a_place() {
    let empty = Problem::error(ProblemCode::Syntax, JsonPath::default(), 0..0, "the file is empty")
        .help("an eval set is an object with `eval_set_id` and `eval_cases`");
    assert_snapshot!(render(&empty, FILE, ""), @r#"
    the file is empty
     --> evals/weather.evalset.json:1:1
      |
    1 |
      | ^
      |
      = help: an eval set is an object with `eval_set_id` and `eval_cases`
    "#);
}

#[test]
fn deep_indentation_is_left_out() {
    let text = format!("{}\"user_content\": 5,", " ".repeat(60));
    assert_snapshot!(render(&problem(&text, "5"), FILE, &text), @r#"
    `user_content` is a number
     --> evals/weather.evalset.json:1:77
      |
    1 | ...                   "user_content": 5,
      |                                       ^ expected an object, saw a number
      |
      = help: write `{"role": "user", "parts": [{"text": "..."}]}`
    "#);
}

#[test]
fn sentences_stay_on_one_line_and_obey_no_terminal() {
    let text = "{ \"a\u{1b}[31mb\": 5 }";
    let mut problem = problem(text, "5");
    problem.message = format!("unknown key `a\u{1b}[31m\n\u{202e}\u{9b}b{}`", "c".repeat(1_000_000));
    problem.label = "first\nsecond".to_owned();
    problem.help = Some("third\r\n\tfourth".to_owned());
    assert_snapshot!(render(&problem, FILE, text), @r#"
    unknown key `a␛[31m ��bccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc...
     --> evals/weather.evalset.json:1:14
      |
    1 | { "a␛[31mb": 5 }
      |              ^ first second
      |
      = help: third   fourth
    "#);
}

#[test]
fn many_problems_are_shown_errors_first_and_then_counted() {
    let text = "[1, 2, 3]";
    let warning = Problem { severity: Severity::Warning, ..problem(text, "1") };
    let mut items = vec![warning; 20];
    items.push(problem(text, "3"));
    let problems = Problems { file: FILE.to_owned(), text: text.to_owned(), items };
    let shown = problems.to_string();
    assert!(
        shown.starts_with("error: `user_content` is a number\n --> evals/weather.evalset.json:1:8\n"),
        "{shown}"
    );
    assert!(shown.ends_with("\n\n... and 1 more problem"), "{shown}");
    assert_eq!(shown.matches("\nwarning: ").count(), 19);
}

#[test]
fn a_file_of_one_huge_line_costs_no_more_than_any_other() {
    let half = "0,".repeat(5_000_000);
    let text = format!("[{half}\"user_content\",{half}0]");
    let shown = render(&problem(&text, "\"user_content\""), FILE, &text);
    assert!(shown.len() < 1_000, "{} bytes", shown.len());
    assert!(shown.contains(" --> evals/weather.evalset.json:1:10000002\n"), "{shown}");
}

proptest! {
    /// Rendering holds for invalid ranges.
    #[test]
    fn no_text_and_no_range_is_refused(
        text in "([a-c\u{e9}天🎉\t\u{0}\u{1b}\r\n]|\\PC|x{200}){0,40}",
        ranges in proptest::collection::vec((0..200_usize, 0..200_usize), 1..12),
    ) {
        let ranges: Vec<_> = ranges.into_iter().map(|(start, length)| start..start + length).collect();
        let mut problem = Problem::error(ProblemCode::Syntax, path(), ranges[0].clone(), "message").label("label");
        for range in &ranges[1..] {
            problem = problem.related(range.clone(), "related");
        }
        let shown = render(&problem, FILE, &text);
        let (line, column) = line_column(&text, ranges[0].start);
        let place = shown.lines().nth(1).unwrap_or_default().trim_start();
        prop_assert_eq!(place, format!("--> {FILE}:{line}:{column}"));
        prop_assert!(shown.contains('^'), "{}", shown);
    }
}
