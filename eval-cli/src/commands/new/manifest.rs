//! The `Cargo.toml` to which the dependencies are added.

use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, Value};

use super::new_file::{cannot_write, shown};
use crate::files::replace;
use crate::output::CommandError;

/// A manifest and the lines that are added to it.
#[derive(Debug)]
pub(super) struct Manifest {
    path: PathBuf,
    text: String,
    document: DocumentMut,
    added: Vec<String>,
    kept: Vec<String>,
}

impl Manifest {
    pub(super) fn read(path: &Path) -> Result<Self, CommandError> {
        let help = "correct the file, or go to the folder of another package";
        let text = fs::read_to_string(path)
            .map_err(|error| CommandError::new(format!("cannot read `{}`: {error}", shown(path)), help))?;
        let document = text.parse::<DocumentMut>().map_err(|error| {
            CommandError::new(format!("cannot read `{}`: {}", shown(path), error.to_string().trim()), help)
        })?;
        Ok(Self { path: path.to_path_buf(), text, document, added: Vec::new(), kept: Vec::new() })
    }

    pub(super) fn has_package(&self) -> bool {
        self.document.contains_key("package")
    }

    /// Whether cargo finds the file of tests of this name in `tests`.
    pub(super) fn sees_test(&self, name: &str) -> bool {
        let package = self.document.get("package").and_then(Item::as_table_like);
        let searches = package.and_then(|table| table.get("autotests")?.as_bool()).unwrap_or(true);
        let named = |tests: &toml_edit::ArrayOfTables| {
            tests.iter().any(|test| test.get("name").and_then(Item::as_str) == Some(name))
        };
        searches || self.document.get("test").and_then(Item::as_array_of_tables).is_some_and(named)
    }

    /// Whether a dependency names a version alone, and so comes from the registry.
    pub(super) fn is_from_registry(&self, name: &str) -> bool {
        let elsewhere = ["path", "git", "registry", "workspace"];
        let tables =
            [DEV, "dependencies"].map(|table| self.document.get(table).and_then(Item::as_table_like));
        let mut found = tables.into_iter().flatten().filter_map(|table| table.get(name));
        found.any(|item| match item.as_table_like() {
            Some(table) => !elsewhere.iter().any(|key| table.contains_key(key)),
            None => true,
        })
    }

    /// Adds a dependency of the tests. A dependency that is there already stays as it is.
    pub(super) fn add(&mut self, name: &'static str, value: &str) -> Result<(), CommandError> {
        let has = |table: &str| {
            let table = self.document.get(table).and_then(Item::as_table_like);
            table.is_some_and(|table| table.contains_key(name))
        };
        if has(DEV) || has("dependencies") {
            self.kept.push(format!("{name} = {value}"));
            return Ok(());
        }
        let parsed: Option<Value> = value.parse().ok();
        if !self.document.contains_key(DEV) {
            let table = self.table_at_the_end();
            self.document.insert(DEV, Item::Table(table));
        }
        let table = self.document.get_mut(DEV).and_then(Item::as_table_like_mut);
        let (Some(table), Some(parsed)) = (table, parsed) else {
            let message = format!("`{DEV}` in `{}` is not a table", shown(&self.path));
            return Err(CommandError::new(message, format!("add to it by hand: `{name} = {value}`")));
        };
        table.insert(name, Item::Value(parsed));
        self.added.push(format!("{name} = {value}"));
        Ok(())
    }

    /// A new table for the end of the file. It takes the comments there, which would otherwise come after it.
    fn table_at_the_end(&mut self) -> Table {
        let comments = self.document.trailing().as_str().unwrap_or_default().to_owned();
        self.document.set_trailing("");
        let mut table = Table::new();
        let is_first = comments.is_empty() && self.document.is_empty();
        table.decor_mut().set_prefix(if is_first { String::new() } else { comments + "\n" });
        table
    }

    /// Writes the additions. Returns the lines that were added, and the lines whose dependencies existed
    /// already.
    pub(super) fn save(self) -> Result<(Vec<String>, Vec<String>), CommandError> {
        if !self.added.is_empty() {
            let text = self.document.to_string();
            // Line ends stay as they are.
            let crlf = self.text.contains("\r\n");
            let text = if crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text };
            replace(&self.path, &text).map_err(|error| cannot_write(&self.path, &error))?;
        }
        Ok((self.added, self.kept))
    }
}

const DEV: &str = "dev-dependencies";

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("Cargo.toml");
        fs::write(&path, text).expect("a file");
        let mut manifest = Manifest::read(&path).expect("a manifest");
        manifest.add("eval-core", "{ path = \"../eval-core\" }").expect("it is added");
        manifest.save().expect("it is written");
        fs::read_to_string(&path).expect("a file")
    }

    const LINE: &str = "eval-core = { path = \"../eval-core\" }\n";

    #[test]
    fn the_line_is_added_and_nothing_else_changes() {
        let head = "# Ours.\n[package]\nname   = \"a\"  # odd, but so it is\n";
        assert_eq!(added(head), format!("{head}\n[dev-dependencies]\n{LINE}"));
        let table = format!("{head}\n[dev-dependencies] # of tests\ninsta={{version=\"1\"}}\n");
        let after = "\n[features]\ndefault = []\n";
        assert_eq!(added(&format!("{table}{after}")), format!("{table}{LINE}{after}"));
        let commented = format!("{head}\n[dependencies]\n# None yet.\n");
        assert_eq!(added(&commented), format!("{commented}\n[dev-dependencies]\n{LINE}"));
        let windows = head.replace('\n', "\r\n");
        assert_eq!(added(&windows), format!("{head}\n[dev-dependencies]\n{LINE}").replace('\n', "\r\n"));
    }

    #[test]
    fn a_dependency_that_is_there_stays_as_it_is() {
        for table in ["[dependencies]", "[dev-dependencies]"] {
            for line in ["eval-core.path = \"elsewhere\"", "eval-core = { workspace = true }"] {
                let text = format!("[package]\nname = \"a\"\n{table}\n{line}\n");
                assert_eq!(added(&text), text);
            }
            let text = format!(
                "[package]\nname = \"a\"\n{}.eval-core]\npath = \"x\"\n",
                table.trim_end_matches(']')
            );
            assert_eq!(added(&text), text);
        }
    }
}
