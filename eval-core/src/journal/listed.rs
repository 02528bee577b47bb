//! The tests that a binary holds, whether they ran or not.

use std::fs;
use std::io;
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
    let bytes = fs::read(program)?;
    let begin = LISTING_BEGIN.as_bytes();
    let mut sets = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some(at) = find(rest, begin) {
        rest = &rest[at + begin.len()..];
        sets.extend(set(rest).filter(|set| !sets.contains(set)));
    }
    Ok(sets)
}

/// The set whose listing this is, without its beginning; `None` if it is something else that begins so.
fn set(listing: &[u8]) -> Option<ListedSet> {
    let (line, rest) = split(listing, b"\n", LONGEST_LINE)?;
    let (kind, module) = line.split_once(' ')?;
    let ignored = match kind {
        "run" => false,
        "ignored" => true,
        _ => return None,
    };
    let module = module.split_once("::").map_or("", |(_, module)| module);
    let end = find(rest, LISTING_END.as_bytes())?;
    let names = std::str::from_utf8(&rest[..end]).ok()?;
    let path = |name: &str| if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") };
    Some(ListedSet { tests: names.lines().map(path).collect(), ignored })
}

/// The path of a module is no longer than this.
const LONGEST_LINE: usize = 4096;

fn split<'b>(bytes: &'b [u8], at: &[u8], within: usize) -> Option<(&'b str, &'b [u8])> {
    let end = find(&bytes[..bytes.len().min(within)], at)?;
    Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + at.len()..]))
}

/// Where a text stands in the bytes.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    // The second byte of a listing is rarer than its line break.
    let second = text.get(1).copied();
    let mut from = 0;
    loop {
        let at = from + bytes.get(from..)?.iter().position(|byte| *byte == first)?;
        if second.is_none_or(|second| bytes.get(at + 1) == Some(&second)) && bytes[at..].starts_with(text) {
            return Some(at);
        }
        from = at + 1;
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
            let tests: String = tests.iter().map(|test| format!("\n{test}")).collect();
            format!("{LISTING_BEGIN}{kind} {module}{tests}\n{LISTING_END}").into_bytes()
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
        fs::write(&binary, pieces.concat()).unwrap();
        let found = listed_tests(&binary).unwrap();
        let set = |tests: &[&str], ignored| ListedSet {
            tests: tests.iter().map(|it| (*it).to_owned()).collect(),
            ignored,
        };
        assert_eq!(found, [set(&["weather::sunny", "weather::日本"], false), set(&["live::a::x"], true)]);
    }
}
