//! What holds for each problem that a file has.

use std::ops::Range;

use eval_format::{Problem, line_column, render_with_level};

/// Holds every problem to the rules that its documentation states, and draws it.
pub(crate) fn check(problems: &[Problem], file: &str, text: &str) {
    for problem in problems {
        assert_lies_in(&problem.range, text);
        for (range, label) in &problem.related {
            assert_lies_in(range, text);
            assert_one_line(label);
        }
        assert!(!problem.message.is_empty(), "{problem:?}");
        assert_one_line(&problem.message);
        assert_one_line(&problem.label);
        assert_one_line(&problem.path.to_string());
        assert_one_line(problem.help.as_deref().expect("every problem says what to do"));
    }
    assert!(problems.is_sorted_by_key(|problem| problem.range.start), "{problems:?}");
    // Those that a compile error shows; each costs a window of the text.
    for problem in problems.iter().take(20) {
        draw(problem, file, text);
    }
}

fn draw(problem: &Problem, file: &str, text: &str) {
    let (line, column) = line_column(text, problem.range.start);
    let drawn = render_with_level(problem, file, text);
    let place = drawn.lines().nth(1).expect("the place stands in the second line");
    assert!(place.ends_with(&format!("--> {file}:{line}:{column}")), "{drawn}");
}

pub(crate) fn assert_lies_in(range: &Range<usize>, text: &str) {
    assert!(text.get(range.clone()).is_some(), "{range:?} is no range of a text of {} bytes", text.len());
}

fn assert_one_line(words: &str) {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    assert!(!words.contains(breaks), "{words:?}");
}
