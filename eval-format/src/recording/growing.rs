//! A recording in a file that grows: until the file is rewritten, an answer is kept as a line.

use super::check::check_recording;
use super::file::Recording;
use super::question::RecordedQuestion;
use crate::problem::Problems;
use crate::reader::parse;
use crate::schema::{Place, RECORDED_QUESTION, Walker};

/// A recording that is read again when its file changes.
///
/// ```
/// use eval_format::__private::GrowingRecording;
/// use eval_format::recording::{RecordedQuestion, Recording};
///
/// let mut growing = GrowingRecording::default();
/// growing.add(RecordedQuestion::new("m", "Is it polite?").reply(0, "yes", None));
/// assert_eq!(growing.text(), growing.recording().to_json());
///
/// let mut other = Recording::parse(&growing.text())?;
/// other.add(RecordedQuestion::new("m", "Is it right?").reply(0, "no", None));
/// growing.follow("x.evalset.judge.json", &other.to_json())?;
/// assert_eq!(growing.recording().questions().len(), 2);
/// # Ok::<(), eval_format::Problems>(())
/// ```
#[derive(Debug, Default)]
pub struct GrowingRecording(Recording);

impl GrowingRecording {
    /// Reads a recording. `file` is the name shown in messages.
    pub fn read(file: &str, text: &str) -> Result<Self, Problems> {
        check_recording(file, text.as_bytes()).into_result().map(Self)
    }

    /// The recording.
    pub fn recording(&self) -> &Recording {
        &self.0
    }

    /// The text of the file, as [`Recording::to_json`] writes it.
    pub fn text(&self) -> String {
        self.0.to_json()
    }

    /// Adds a question as [`Recording::add`] does, and returns whether anything of it is new.
    pub fn add(&mut self, question: RecordedQuestion) -> bool {
        if self.0.find(&question).is_some_and(|known| known.holds(&question)) {
            return false;
        }
        self.0.add(question);
        true
    }

    /// Updates the recording to the present text of the file. `file` is the name in messages.
    pub fn follow(&mut self, file: &str, text: &str) -> Result<(), Problems> {
        *self = Self::read(file, text)?;
        Ok(())
    }
}

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

    fn question(prompt: &str, case: &str, sample: u32) -> RecordedQuestion {
        RecordedQuestion::new("m", prompt).case(case).reply(sample, format!("{{\n    }},\n{sample}"), None)
    }

    fn text(questions: &[RecordedQuestion]) -> String {
        let mut recording = Recording::default();
        for question in questions {
            recording.add(question.clone());
        }
        recording.to_json()
    }

    #[test]
    fn it_is_written_as_one_that_is_written_at_once() {
        let all = [
            question("b\n    }\nc", "2", 1),
            question("a", "3", 0),
            question("b\n    }\nc", "2", 0),
            question("d", "2", 0),
            question("b\n    }\nc", "1", 0),
            question("a", "0", 0),
        ];
        let mut growing = GrowingRecording::default();
        assert_eq!(growing.text(), text(&[]));
        for at in 0..all.len() {
            assert!(growing.add(all[at].clone()));
            assert_eq!(growing.text(), text(&all[..=at]));
            assert!(!growing.add(all[at].clone()), "it is there");
        }
    }

    #[test]
    fn it_follows_what_others_write() {
        let base = [question("c", "2", 0), question("e", "4", 0)];
        let with = |more: &[RecordedQuestion]| [&base[..], more].concat();
        let spaced = text(&base).replace("\n  ", "\n    ");
        for now in [
            text(&base),
            text(&with(&[question("a", "1", 0)])),
            text(&with(&[question("d", "3", 0), question("f", "5", 0), question("a", "1", 0)])),
            text(&with(&[question("c", "2", 1)])),
            text(&with(&[question("e", "0", 0)])),
            text(&base[..1]),
            text(&base[1..]),
            text(&[]),
            text(&[question("c", "2", 1), question("e", "4", 0)]),
            spaced,
        ] {
            let mut growing = GrowingRecording::read("x", &text(&base)).unwrap();
            growing.follow("x", &now).unwrap();
            let read = Recording::parse(&now).unwrap().to_json();
            assert_eq!((growing.text(), growing.recording().to_json()), (read.clone(), read));
            growing.add(question("z", "9", 0));
            let mut all = Recording::parse(&now).unwrap();
            all.add(question("z", "9", 0));
            assert_eq!(growing.text(), all.to_json());
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_changes_nothing() {
        let base = text(&[question("c", "2", 0)]);
        for torn in [&base[..base.len() - 8], "", "<<<<<<< HEAD\n", &base.replace("\"c\"", "7")] {
            let mut growing = GrowingRecording::read("x", &base).unwrap();
            assert!(growing.follow("x", torn).is_err(), "{torn}");
            assert_eq!(growing.text(), base);
        }
    }

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
