//! Mutants of source files, all in one build: each is an insertion that does nothing until the variable `MUTANT` has its number.
//!
//! ```text
//! evalset-mutants FROM TO FIRST ROOT FILE.. < NUMBERS
//! ```
//!
//! Reads the files below `FROM`, and writes them with their mutants below `TO`. `ROOT` is the file of the crate's root, which gets the
//! module `mutant`. Numbers count from `FIRST`; those on standard input are left out. Each mutant is printed in a line, with tabs
//! between its number, file, line, kind, the lines of its function, and what it changes.

mod edits;
mod find;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use edits::Edits;
use find::Finder;
use syn::spanned::Spanned;

/// The module `mutant` of a crate with mutants.
const SWITCH: &str = include_str!("switch.rs");

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, first, root, files @ ..] = args.as_slice() else {
        return Err("usage: evalset-mutants FROM TO FIRST ROOT FILE.. < NUMBERS".to_owned());
    };
    let (from, to) = (Path::new(from), Path::new(to));
    let mut number: u32 = first.parse().map_err(|error| format!("FIRST is `{first}`: {error}"))?;
    let left_out = left_out()?;
    let others = files.iter().filter(|file| *file != root);
    for file in std::iter::once(root).chain(others) {
        let source = fs::read_to_string(from.join(file)).map_err(|error| format!("{file}: {error}"))?;
        let syntax = syn::parse_file(&source).map_err(|error| format!("{file}: {error}"))?;
        let mut edits = Edits::default();
        if file == root {
            let first_item = syntax.items.first().map_or(source.len(), |item| item.span().byte_range().start);
            edits.insert(first_item, "mod mutant; ".to_owned());
        }
        if files.contains(file) {
            let mut finder = Finder::new(&source, number);
            finder.file(&syntax);
            number = finder.next_number();
            for mutant in finder.mutants {
                if left_out.contains(&mutant.number) {
                    continue;
                }
                let find::Mutant { number, line, kind, function: (begin, end), what, .. } = &mutant;
                println!("{number}\t{file}\t{line}\t{kind}\t{begin}-{end}\t{what}");
                edits.extend(mutant.edits);
            }
        }
        write(&to.join(file), &edits.applied_to(&source))?;
    }
    let folder = Path::new(root).parent().unwrap_or(Path::new(""));
    write(&to.join(folder).join("mutant.rs"), SWITCH)
}

/// The numbers on standard input, one in a line.
fn left_out() -> Result<BTreeSet<u32>, String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| format!("standard input: {error}"))?;
    text.split_whitespace()
        .map(|number| number.parse().map_err(|error| format!("`{number}` on standard input: {error}")))
        .collect()
}

/// Writes a file unless it is already as it should be: cargo builds again what is newer.
fn write(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
