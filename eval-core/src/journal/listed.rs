//! The tests that a binary holds, whether they ran or not.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use eval_format::__private::{LISTING_BEGIN, LISTING_END};

/// The tests of one set in a test binary.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedSet {
    /// The tests, as cargo shows them.
    pub tests: Vec<String>,
    /// Whether they are ignored unless they are asked for (`#[ignore]`).
    pub ignored: bool,
}

/// The sets that `#[eval_set]` made tests of in a test binary. The binary is read, not run.
///
/// ```
/// let program = std::env::current_exe()?;
/// assert_eq!(eval_core::journal::listed_tests(&program)?, []);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn listed_tests(program: &Path) -> io::Result<Vec<ListedSet>> {
    let mut file = BufReader::with_capacity(1 << 18, File::open(program)?);
    let mut line = Vec::new();
    let mut sets = Vec::new();
    let mut reading: Option<Listing> = None;
    // Listings are lines among anything else. A line of the rest may be as long as the file, which fits into memory.
    while file.read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if let Some(head) = text.strip_prefix(LISTING_BEGIN.trim_start().as_bytes()) {
            reading = Listing::begin(head);
        } else if text == LISTING_END.trim_end().as_bytes() {
            sets.extend(reading.take().map(|listing| listing.set).filter(|set| !sets.contains(set)));
        } else if let Some(listing) = &mut reading
            && !listing.add(text)
        {
            reading = None;
        }
        line.clear();
    }
    Ok(sets)
}

/// A set whose listing is being read.
struct Listing {
    module: String,
    set: ListedSet,
}

impl Listing {
    /// Reads what follows the beginning of a listing; `None` if it is something else that begins so.
    fn begin(head: &[u8]) -> Option<Self> {
        let (kind, module) = std::str::from_utf8(head).ok()?.split_once(' ')?;
        let ignored = match kind {
            "run" => false,
            "ignored" => true,
            _ => return None,
        };
        let module = module.split_once("::").map_or("", |(_, module)| module);
        Some(Self { module: module.to_owned(), set: ListedSet { tests: Vec::new(), ignored } })
    }

    /// Adds a test. Returns `false` if this is none.
    fn add(&mut self, name: &[u8]) -> bool {
        let Ok(name) = std::str::from_utf8(name) else { return false };
        let module = &self.module;
        let path = if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") };
        self.set.tests.push(path);
        true
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn listings_are_found_among_anything_else() {
        let temporary = TempDir::new().unwrap();
        let binary = temporary.path().join("evals");
        let listing = |kind: &str, module: &str, tests: &[&str]| {
            let tests = tests.join("\n");
            format!("{LISTING_BEGIN}{kind} {module}\n{tests}\n{LISTING_END}").into_bytes()
        };
        let one = listing("run", "evals", &["weather::sunny", "weather::日本"]);
        let two = listing("ignored", "evals::live", &["a::x"]);
        let pieces: [&[u8]; 9] = [
            b"\x7fELF\0\xff",
            LISTING_BEGIN.as_bytes(),
            b"of something else\n",
            &one,
            b"\n#\n#evalset",
            &two,
            &one,
            LISTING_BEGIN.as_bytes(),
            b"run cut",
        ];
        std::fs::write(&binary, pieces.concat()).unwrap();
        let found = listed_tests(&binary).unwrap();
        let set = |tests: &[&str], ignored| ListedSet {
            tests: tests.iter().map(|it| (*it).to_owned()).collect(),
            ignored,
        };
        assert_eq!(found, [set(&["weather::sunny", "weather::日本"], false), set(&["live::a::x"], true)]);
    }
}
