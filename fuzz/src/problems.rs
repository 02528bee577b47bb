//! The rules for the problems of a file.

use std::ops::Range;

use eval_format::__private::render_with_level;
use eval_format::Problem;
use eval_format::problem::line_column;

/// Checks the rules that the documentation of `Problem` states, and renders the problems.
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
        assert_one_line(problem.help.as_deref().expect("every problem has a help"));
    }
    assert!(problems.is_sorted_by_key(|problem| problem.range.start), "{problems:?}");
    // As many as compile errors show. Rendering one reads a window of the text.
    for problem in problems.iter().take(20) {
        check_rendering(problem, file, text);
    }
}

fn check_rendering(problem: &Problem, file: &str, text: &str) {
    let (line, column) = line_column(text, problem.range.start);
    let rendered = render_with_level(problem, file, text);
    let location = rendered.lines().nth(1).expect("the location stands in the second line");
    assert!(location.ends_with(&format!("--> {file}:{line}:{column}")), "{rendered}");
}

pub(crate) fn assert_lies_in(range: &Range<usize>, text: &str) {
    assert!(text.get(range.clone()).is_some(), "{range:?} is no range of a text of {} bytes", text.len());
}

fn assert_one_line(words: &str) {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    assert!(!words.contains(breaks), "{words:?}");
}
