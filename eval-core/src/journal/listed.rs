//! The tests that a binary holds, whether they ran or not. A test process reads its own binary.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eval_format::__private::{LISTING_BEGIN, LISTING_END};
use eval_support::hash::content_hash;
use eval_support::secrets::Secrets;

use super::file_names::{JOURNAL, binary, plain};
use super::folder::create_private;
use super::line::{Line, seal};
use super::project::workspace_of_tests;
use super::record::{Beside, Head, Listed, ListedSet};

/// The sets that `#[eval_set]` made tests of in the program that this process runs; `None` if it cannot be read, or
/// lists none.
pub(super) fn of_this_program() -> Option<Listed> {
    // The link leads to the running program, even if its file was rebuilt since.
    let itself = PathBuf::from("/proc/self/exe");
    let program = if cfg!(target_os = "linux") { Some(itself) } else { std::env::current_exe().ok() };
    let sets = sets_in(&program?).ok()?;
    (!sets.is_empty()).then_some(Listed { sets })
}

/// Records the tests of this process's binary, unless another process of the run did: nextest starts a
/// process for each test, and a binary may be large. The file is written in one write, so a killed process
/// leaves no file, an empty file or a complete one. Readers treat an empty one as a doubt.
pub(super) fn record_once(run: &Path, head: &Head, package: &Path, secrets: &Arc<Secrets>) -> io::Result<()> {
    let path = run.join(listing_name(head));
    if path.exists() {
        return Ok(());
    }
    // Readers report a run without a listing as a doubt.
    let Some(listed) = of_this_program() else { return Ok(()) };
    let mut lines = vec![Line::of(head, Arc::clone(secrets)), Line::of(&listed, Arc::clone(secrets))];
    lines.extend(beside(head, package).iter().map(|other| Line::of(other, Arc::clone(secrets))));
    lines.iter_mut().zip(1..).for_each(|(line, number)| seal(line, number));
    match create_private(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        file => file?.write_all(lines.concat().as_bytes()),
    }
}

/// The tests of the package's other test binaries: cargo built them in the folder of this program, from files
/// in `tests` that have sets. Readers decide which of them the runner was to start. Empty if no runner is
/// known, or if the manifest or the configuration of nextest may leave out tests.
pub(super) fn beside(head: &Head, package: &Path) -> Vec<Beside> {
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let workspace = workspace_of_tests(&package.to_string_lossy());
    let (manifest, nextest) =
        (read(package.join("Cargo.toml")), read(workspace.join(".config/nextest.toml")));
    let leaves_out = ["autotests", "required-features", "test = false"];
    let built_in = head.program.as_deref().map(Path::new).and_then(Path::parent);
    let Some(built_in) = built_in.filter(|_| {
        !head.runner.is_empty()
            && !leaves_out.iter().any(|key| manifest.contains(key))
            && !nextest.contains("default-filter")
    }) else {
        return Vec::new();
    };
    let files = fs::read_dir(package.join("tests")).into_iter().flatten().flatten();
    let mut found: Vec<Beside> = files
        .filter_map(|file| {
            let path = file.path();
            let name = path.file_stem()?.to_str()?.replace('-', "_");
            let source = if path.is_dir() { path.join("main.rs") } else { path };
            let is_other = head.binary.as_deref().is_some_and(|own| own != name);
            let text = (is_other && source.extension()? == "rs").then(|| read(source.clone()))?;
            // A file with `cfg` can have several builds, and the runner may not start the newest one.
            if !text.contains("eval_set") || text.contains("cfg") {
                return None;
            }
            let program = newest(built_in, &name, |program| {
                // Packages of a workspace may have test binaries of the same name.
                let sources = read(program.with_extension("d"));
                sources
                    .lines()
                    .filter_map(|line| line.strip_suffix(':'))
                    .any(|it| workspace.join(it) == source)
            });
            let sets = sets_in(&program?).ok()?;
            (!sets.is_empty()).then_some(Beside { binary: name, sets })
        })
        .collect();
    found.sort_by(|a, b| a.binary.cmp(&b.binary));
    found
}

fn newest(folder: &Path, name: &str, is_of: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let programs = fs::read_dir(folder).ok()?.flatten().filter(|entry| {
        let (path, file) = (entry.path(), entry.file_name());
        let is_program = file.to_str().is_some_and(|file| file.len() == name.len() + 17);
        is_program && binary(&path) == name && is_of(&path)
    });
    programs.max_by_key(|entry| entry.metadata().and_then(|found| found.modified()).ok()).map(|it| it.path())
}

/// The name of the file with the tests of a test binary. It changes when the binary is rebuilt.
fn listing_name(head: &Head) -> String {
    let Head { package, binary, program, built, .. } = head;
    let hash = content_hash(format!("{package:?} {binary:?} {program:?} {built:?}").as_bytes());
    format!("{}-{}-{hash:016x}.listed.{JOURNAL}", plain(package.as_ref()), plain(binary.as_ref()))
}

/// The sets in a test binary. The binary is read, not run.
fn sets_in(program: &Path) -> io::Result<Vec<ListedSet>> {
    let mut file = File::open(program)?;
    let mut sets = Vec::new();
    for part in data_of(&mut file)?.unwrap_or_else(|| vec![(0, u64::MAX)]) {
        file.seek(SeekFrom::Start(part.0))?;
        read_sets(BufReader::with_capacity(1 << 18, (&mut file).take(part.1)), &mut sets)?;
    }
    Ok(sets)
}

/// The parts of an ELF file that are loaded as data, as offset and length; `None` for a file of another kind,
/// which is read whole. Most of a test binary is instructions and debug information.
fn data_of(file: &mut File) -> io::Result<Option<Vec<(u64, u64)>>> {
    const LOADED: u64 = 1;
    const EXECUTABLE: u64 = 1;
    let mut header = [0; 64];
    let is_elf = file.read_exact(&mut header).is_ok() && header.starts_with(b"\x7fELF\x02\x01");
    if !is_elf {
        return Ok(None);
    }
    let number = |bytes: &[u8], at: usize, length: usize| -> u64 {
        bytes[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let (size, count) = (number(&header, 54, 2), number(&header, 56, 2));
    if size < 56 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(number(&header, 32, 8)))?;
    let mut table = Vec::new();
    file.take(size * count).read_to_end(&mut table)?;
    let segments = table.chunks_exact(usize::try_from(size).unwrap_or(usize::MAX));
    let data = segments.filter(|it| number(it, 0, 4) == LOADED && number(it, 4, 4) & EXECUTABLE == 0);
    let parts: Vec<_> = data.map(|it| (number(it, 8, 8), number(it, 32, 8))).collect();
    Ok((!parts.is_empty()).then_some(parts))
}

fn read_sets(mut from: impl BufRead, sets: &mut Vec<ListedSet>) -> io::Result<()> {
    let mut line = Vec::new();
    // The set whose listing is being read, and the beginning of the names of its tests.
    let mut reading: Option<(ListedSet, String)> = None;
    // Listings are lines. Other bytes may be one line as long as the file, which fits into memory.
    while from.read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if let Some(head) = text.strip_prefix(LISTING_BEGIN.trim_start().as_bytes()) {
            reading = begun(head);
        } else if text == LISTING_END.trim_end().as_bytes() {
            sets.extend(reading.take().map(|(set, _)| set).filter(|set| !sets.contains(set)));
        } else if let Some((set, module)) = &mut reading {
            match std::str::from_utf8(text) {
                Ok(name) => set.tests.push(format!("{module}{name}")),
                Err(_) => reading = None,
            }
        }
        line.clear();
    }
    Ok(())
}

/// Reads the first line of a listing, after its mark; `None` if these bytes are no listing.
fn begun(head: &[u8]) -> Option<(ListedSet, String)> {
    let (kind, module) = std::str::from_utf8(head).ok()?.split_once(' ')?;
    let ignored = match kind {
        "run" => false,
        "ignored" => true,
        _ => return None,
    };
    let module = module.split_once("::").map(|(_, module)| format!("{module}::"));
    Some((ListedSet { tests: Vec::new(), ignored }, module.unwrap_or_default()))
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
        let set = |tests: &[&str], ignored| ListedSet {
            tests: tests.iter().map(|it| (*it).to_owned()).collect(),
            ignored,
        };
        let (first, second) = (set(&["weather::sunny", "weather::日本"], false), set(&["live::a::x"], true));
        fs::write(&binary, pieces.concat()).unwrap();
        assert_eq!(sets_in(&binary).unwrap(), [first.clone(), second.clone()]);

        // An ELF file whose first segment is data, its second code, and its third is not loaded.
        let bytes = |number: usize, length: usize| number.to_le_bytes()[..length].to_vec();
        let mut segments = Vec::new();
        let mut data: Vec<u8> = Vec::new();
        for (kind, flags, text) in [(1, 4, &one), (1, 5, &two), (4, 4, &two)] {
            let offset = 64 + 3 * 56 + data.len();
            segments.extend([bytes(kind, 4), bytes(flags, 4), bytes(offset, 8), vec![0; 16]].concat());
            segments.extend([bytes(text.len(), 8), vec![0; 16]].concat());
            data.extend(text);
        }
        let elf =
            [b"\x7fELF\x02\x01".to_vec(), vec![0; 26], bytes(64, 8), vec![0; 14], bytes(56, 2), bytes(3, 2)];
        fs::write(&binary, [elf.concat(), vec![0; 6], segments, data].concat()).unwrap();
        assert_eq!(sets_in(&binary).unwrap(), [first]);
        fs::write(&binary, b"\x7fELF\x02\x01").unwrap();
        assert_eq!(sets_in(&binary).unwrap(), []);
    }

    #[test]
    fn binaries_beside_are_those_of_files_of_the_package_whose_sets_are_always_built() {
        let listing = format!("{LISTING_BEGIN}run later\nw::a\n{LISTING_END}");
        let runner = ["cargo", "test"].as_slice();
        let attribute = "#[eval_set]";
        for (what, manifest, source, of, runner, is_found) in [
            ("a set", "", attribute, "tests/later.rs", runner, true),
            ("no set in the file", "", "mod later;", "tests/later.rs", runner, false),
            ("sets at times", "", "#![cfg(x)] #[eval_set]", "tests/later.rs", runner, false),
            ("left out at times", "required-features = []", attribute, "tests/later.rs", runner, false),
            ("of another package", "", attribute, "other/tests/later.rs", runner, false),
            ("no runner", "", attribute, "tests/later.rs", &[], false),
        ] {
            let temporary = TempDir::new().unwrap();
            let package = temporary.path();
            for folder in ["tests", "deps"] {
                fs::create_dir(package.join(folder)).unwrap();
            }
            fs::write(
                package.join("Cargo.toml"),
                format!("[package]\nname = \"p\"\n[workspace]\n{manifest}"),
            )
            .unwrap();
            fs::write(package.join("tests/later.rs"), source).unwrap();
            fs::write(package.join("deps/later-0123456789abcdef"), &listing).unwrap();
            fs::write(package.join("deps/later-0123456789abcdef.d"), format!("x: {of}\n\n{of}:\n")).unwrap();
            let mut head = Head::unwritten(std::time::SystemTime::UNIX_EPOCH);
            head.runner = runner.iter().map(|word| (*word).to_owned()).collect();
            head.binary = Some("evals".to_owned());
            head.program = package.join("deps/evals-0123456789abcdef").to_str().map(str::to_owned);
            let found: Vec<String> = beside(&head, package).into_iter().map(|it| it.binary).collect();
            assert_eq!(found, if is_found { vec!["later"] } else { vec![] }, "{what}");
            head.binary = Some("later".to_owned());
            assert_eq!(beside(&head, package), [], "{what}: it is the process's own");
        }
    }

    #[test]
    fn a_program_without_sets_lists_nothing() {
        assert_eq!(of_this_program(), None);
    }
}
