//! The text of a recording, put together from the texts of its questions.

/// The beginning of a file, the text between two questions, the end, and a file without questions.
pub(super) const OPENING: &str = "{\n  \"judge_recording\": 1,\n  \"questions\": [\n    ";
pub(super) const SEPARATOR: &str = ",\n    ";
pub(super) const CLOSING: &str = "\n  ]\n}\n";
pub(super) const EMPTY: &str = "{\n  \"judge_recording\": 1,\n  \"questions\": []\n}\n";

/// The version of the format.
pub(super) const VERSION: i64 = 1;

/// The text of a file with these questions.
pub(super) fn assemble<'t>(pieces: impl Iterator<Item = &'t String>) -> String {
    let mut text = OPENING.to_owned();
    for piece in pieces {
        if text.len() > OPENING.len() {
            text.push_str(SEPARATOR);
        }
        text.push_str(piece);
    }
    if text.len() == OPENING.len() {
        return EMPTY.to_owned();
    }
    text.push_str(CLOSING);
    text
}
