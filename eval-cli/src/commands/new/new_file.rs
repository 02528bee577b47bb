//! New files and their names.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use eval_support::untrusted::one_line;

use crate::files::unwritten;
use crate::output::CommandError;

/// A name that is good for files, for a function and for a package.
#[derive(Clone, Debug)]
pub(crate) struct Name(String);

impl Name {
    /// A template with this name in place of `weather`.
    pub(super) fn filled(&self, template: &str) -> String {
        let function = format!("fn {}_cases(", self.0.replace('-', "_"));
        template
            .replace("\"eval_set_id\": \"weather\"", &format!("\"eval_set_id\": \"{}\"", self.0))
            .replace("evals/weather.evalset.json", &format!("evals/{}.evalset.json", self.0))
            .replace("--test weather", &format!("--test {}", self.0))
            .replace("fn weather_cases(", &function)
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let is_letter = |c: char| c.is_ascii_lowercase();
        let is_good = |c: char| is_letter(c) || c.is_ascii_digit() || c == '-' || c == '_';
        if name.starts_with(is_letter) && name.chars().all(is_good) && name.len() <= MAX_NAME_CHARS {
            return Ok(Self(name.to_owned()));
        }
        let help = "a name begins with a small letter, and has small letters, digits, `-` and `_`";
        Err(format!("{help}, at most {MAX_NAME_CHARS} of them"))
    }
}

/// The longest name. Names of files and of tests stay readable.
const MAX_NAME_CHARS: usize = 64;

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Refuses a path that exists.
pub(super) fn refuse_existing(path: &Path) -> Result<(), CommandError> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let message = format!("`{}` exists already", shown(path));
    Err(CommandError::new(message, "choose another name: `cargo evalset new NAME`"))
}

/// Writes files that do not exist yet, with the folders that they need: all of them or none.
pub(super) fn write_new(files: &[(PathBuf, String)]) -> Result<(), CommandError> {
    for (at, (path, text)) in files.iter().enumerate() {
        let folder = path.parent().unwrap_or(Path::new(""));
        let written = fs::create_dir_all(folder)
            .and_then(|()| OpenOptions::new().write(true).create_new(true).open(path))
            .and_then(|mut file| file.write_all(text.as_bytes()));
        if let Err(error) = written {
            // Files written so far are removed, so that the command can be run again.
            files[..at].iter().for_each(|(path, _)| drop(fs::remove_file(path)));
            return Err(cannot_write(path, &error));
        }
    }
    Ok(())
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> CommandError {
    unwritten(&path.display().to_string(), error)
}

/// A path in one line, escaped.
pub(super) fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_good_for_files_and_functions() {
        for name in ["weather", "a", "room-booking", "v2_refunds"] {
            assert!(name.parse::<Name>().is_ok(), "{name}");
        }
        let long = "a".repeat(65);
        for name in ["", "-a", "2nd", "Weather", "a b", "../a", "a/b", "über", "a.rs", &long] {
            assert!(name.parse::<Name>().is_err(), "{name}");
        }
    }

    #[test]
    fn a_template_gets_the_name_wherever_it_stands() {
        let name: Name = "room-booking".parse().expect("a name");
        let filled = name.filled("#[eval_set(\"evals/weather.evalset.json\")]\nfn weather_cases() {}");
        assert_eq!(filled, "#[eval_set(\"evals/room-booking.evalset.json\")]\nfn room_booking_cases() {}");
    }
}
