//! Lines that wait to be merged into a recording: a question with its answers on each.

use super::question::RecordedQuestion;
use crate::reader::parse;
use crate::schema::{Place, RECORDED_QUESTION, Walker};

/// A question with its answers as one line, with its line break.
///
/// ```
/// use eval_format::__private::{line_of, questions_of_lines};
/// use eval_format::recording::RecordedQuestion;
///
/// let question = RecordedQuestion::new("m", "Is it\npolite?").reply(0, "yes", None);
/// let line = line_of(&question);
/// assert_eq!(line.matches('\n').count(), 1);
///
/// // A process was killed while it wrote the second one.
/// let torn = format!("{line}{}", &line[..20]);
/// let (questions, whole) = questions_of_lines(&torn);
/// assert_eq!(questions, [question]);
/// assert_eq!(whole, line.len());
/// ```
pub fn line_of(question: &RecordedQuestion) -> String {
    let mut line = question.to_value().to_string();
    line.push('\n');
    line
}

/// The questions of all lines that end in a line break, and the length of these lines in bytes.
///
/// A line that cannot be read, or whose checksum does not fit its question and answers, is left out. The question is
/// asked again.
pub fn questions_of_lines(text: &str) -> (Vec<RecordedQuestion>, usize) {
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let questions = text[..whole].lines().filter_map(question).collect();
    (questions, whole)
}

fn question(line: &str) -> Option<RecordedQuestion> {
    let read = parse(line, |root, problems| {
        Walker { problems }.record(root, &RECORDED_QUESTION, &Place::Root).map(RecordedQuestion::from)
    });
    let (question, _) = read.ok()?;
    question.edited().is_none().then(|| question.without_checks())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_torn_or_edited_is_lost_alone() {
        let question =
            |n: u32| RecordedQuestion::new("m", format!("a\n{n}")).case("c").reply(n, "yes\n", None);
        let lines = [0, 1, 2].map(|n| line_of(&question(n)));
        for (broken, left) in [
            (String::new(), vec![0, 1, 2]),
            (format!("{}\n", &lines[1][..30]), vec![0, 2]),
            (format!("\u{0}\u{0}\n{}", lines[1]), vec![0, 1, 2]),
            (lines[1].replace("yes", "no"), vec![0, 2]),
            ("{}\n".to_owned(), vec![0, 2]),
        ] {
            let second = if broken.is_empty() { &lines[1] } else { &broken };
            let text = [&lines[0], second, &lines[2]].map(String::as_str).concat();
            let (questions, whole) = questions_of_lines(&text);
            let expected: Vec<_> = left.into_iter().map(question).collect();
            assert_eq!((questions, whole), (expected, text.len()), "{text}");
        }
        for end in 0..lines[0].len() {
            assert_eq!(questions_of_lines(&lines[0][..end]), (vec![], 0));
        }
    }
}
