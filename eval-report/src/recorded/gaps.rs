//! What a journal does not tell: lines that are incomplete or cannot be read.

use eval_support::untrusted::one_line;
use eval_support::words::count;

use crate::journal::RecordedRun;

/// A sentence for each gap.
pub fn gaps(run: &RecordedRun) -> Vec<String> {
    let mut notes = Vec::new();
    if run.torn > 0 {
        let lines = count(run.torn, "incomplete line");
        notes.push(format!("{lines}: a process was killed, or its disk was full, while it wrote"));
    }
    for line in run.unreadable.iter().take(MOST_UNREADABLE) {
        let location = one_line(&format!("{}:{}", line.file.display(), line.line));
        notes.push(format!("{location} cannot be read: {}", one_line(&line.error.to_string())));
    }
    let more = run.unreadable.len().saturating_sub(MOST_UNREADABLE);
    if more > 0 {
        notes.push(format!("{} of the journal cannot be read", count(more, "more line")));
    }
    notes
}

/// Lines that cannot be read are alike; a few of them show what is wrong.
const MOST_UNREADABLE: usize = 3;
