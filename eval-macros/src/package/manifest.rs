//! The parts of a `Cargo.toml` that errors need: names of dependencies and of the library.
//!
//! It is read line by line, as people write it. Other forms are skipped: then rustc reports the error.

#[derive(Debug)]
pub(super) struct Manifest {
    entries: Vec<Entry>,
    tables: Vec<String>,
}

/// `key = value` in a table. A dotted key is part of the table.
#[derive(Debug)]
struct Entry {
    table: String,
    key: String,
    value: String,
}

impl Manifest {
    pub(super) fn parse(text: &str) -> Self {
        let mut manifest = Self { entries: Vec::new(), tables: Vec::new() };
        let mut table = String::new();
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            if let Some(header) = line.strip_prefix('[') {
                if let Some((name, _)) = header.split_once(']') {
                    table = plain(name);
                    manifest.tables.push(table.clone());
                }
            } else if let Some((key, value)) = line.split_once('=') {
                let path = if table.is_empty() { plain(key) } else { format!("{table}.{}", plain(key)) };
                let (table, key) = path.rsplit_once('.').unwrap_or(("", &path));
                let (table, key) = (table.to_owned(), key.to_owned());
                manifest.entries.push(Entry { table, key, value: value.trim().to_owned() });
            }
        }
        manifest
    }

    /// Whether it has a table `[lib]`. A package without one may still have a library.
    pub(super) fn has_library(&self) -> bool {
        self.tables.iter().any(|table| table == "lib")
    }

    /// The name of the library, if the manifest gives it one.
    pub(super) fn library_name(&self) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.table == "lib" && entry.key == "name")?;
        quoted(&entry.value).map(str::to_owned)
    }

    pub(super) fn is_workspace(&self) -> bool {
        self.tables.iter().any(|table| table == "workspace" || table.starts_with("workspace."))
    }

    /// The name of a package in Rust code, if the manifest or the workspace renames this dependency.
    pub(super) fn renamed(&self, package: &str, workspace: impl FnOnce() -> Option<Self>) -> Option<String> {
        let names = self.dependencies("");
        if names.iter().any(|name| name.replace('_', "-") == package) {
            return None;
        }
        let own = self.renamings("", package);
        let shared = || workspace().map(|root| root.renamings("workspace.", package)).unwrap_or_default();
        let mut renamings = own.into_iter().chain(shared());
        renamings.find(|name| names.contains(name)).map(|name| name.replace('-', "_"))
    }

    /// The names of the dependencies, whatever their kind.
    fn dependencies(&self, prefix: &str) -> Vec<String> {
        let tables = self.tables.iter().filter_map(|table| match Table::of(table, prefix) {
            Table::Dependency(name) => Some(name.to_owned()),
            _ => None,
        });
        let entries = self.entries.iter().filter_map(|entry| match Table::of(&entry.table, prefix) {
            Table::Dependencies => Some(entry.key.clone()),
            Table::Dependency(name) => Some(name.to_owned()),
            Table::Other => None,
        });
        tables.chain(entries).collect()
    }

    /// The names under which a package is renamed.
    fn renamings(&self, prefix: &str, package: &str) -> Vec<String> {
        let entries = self.entries.iter().filter_map(|entry| {
            let (name, renamed) = match Table::of(&entry.table, prefix) {
                Table::Dependencies => (entry.key.as_str(), package_of(&entry.value)),
                Table::Dependency(name) if entry.key == "package" => (name, quoted(&entry.value)),
                _ => return None,
            };
            (renamed == Some(package)).then(|| name.to_owned())
        });
        entries.collect()
    }
}

enum Table<'t> {
    /// Dependencies, one per line.
    Dependencies,
    /// The dependency of this name.
    Dependency(&'t str),
    Other,
}

impl<'t> Table<'t> {
    fn of(name: &'t str, prefix: &str) -> Self {
        let is_kind = |name: &str| {
            let kind = name.rsplit('.').next().unwrap_or(name);
            ["dependencies", "dev-dependencies", "build-dependencies"].contains(&kind)
        };
        // Tables of the workspace, and `[package.metadata]` of tools, hold no dependencies of the package.
        let is_own = !["workspace.", "package."].iter().any(|other| name.starts_with(other));
        match name.strip_prefix(prefix).filter(|_| is_own || !prefix.is_empty()) {
            Some(name) if is_kind(name) => Self::Dependencies,
            Some(name) => match name.rsplit_once('.') {
                Some((kind, name)) if is_kind(kind) => Self::Dependency(name),
                _ => Self::Other,
            },
            None => Self::Other,
        }
    }
}

/// The value of `package` in an inline table.
fn package_of(value: &str) -> Option<&str> {
    let fields = value.strip_prefix('{')?.split(',');
    let mut values = fields.filter_map(|field| field.split_once('='));
    let (_, value) = values.find(|(key, _)| plain(key) == "package")?;
    quoted(value.trim().trim_end_matches('}').trim_end())
}

/// A key without its quotes and blanks.
fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '"' | '\'' | ' ' | '\t' | '[')).collect()
}

/// The content of a string in quotes. The text after it is ignored.
fn quoted(value: &str) -> Option<&str> {
    let mark = value.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
    value[1..].split(mark).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(text: &str) -> Option<String> {
        let root = "[workspace.dependencies]\nshared = { version = \"1\", package = \"eval-core\" }\n";
        Manifest::parse(text).renamed("eval-core", || Some(Manifest::parse(root)))
    }

    #[test]
    fn another_name_is_found_however_it_is_written() {
        for text in [
            "[dev-dependencies]\nmy-evals = { package = \"eval-core\", path = \"x\" }",
            "[dev-dependencies]\nmy-evals = { path = \"x\", package='eval-core' } # renamed",
            "[dependencies.my-evals]\nversion = \"1\"\npackage = \"eval-core\"",
            "[target.'cfg(unix)'.dev-dependencies.\"my-evals\"]\npackage = \"eval-core\"",
            "[dev-dependencies]\nmy-evals.package = \"eval-core\"\nmy-evals.path = \"x\"",
        ] {
            assert_eq!(renamed(text).as_deref(), Some("my_evals"), "{text}");
        }
        for text in
            ["[dev-dependencies]\nshared.workspace = true", "[dependencies]\nshared = { workspace = true }"]
        {
            assert_eq!(renamed(text).as_deref(), Some("shared"), "{text}");
        }
    }

    #[test]
    fn its_own_name_is_no_other() {
        for text in [
            "",
            "[dev-dependencies]\neval-core.workspace = true\nevals = { package = \"eval-core\" }",
            "[dev-dependencies.eval_core]\npackage = \"eval-core\"",
            "[dependencies]\nfacade = { package = \"my-evals\" }",
            "[package.metadata]\nmy-evals = { package = \"eval-core\" }",
            "# [dependencies]\n# my-evals = { package = \"eval-core\" }",
        ] {
            assert_eq!(renamed(text), None, "{text}");
        }
    }

    #[test]
    fn a_library_may_have_a_name_of_its_own() {
        let manifest =
            Manifest::parse("[package]\nname = \"a\"\n\n[lib]\nname = \"weather\" # of the crate\n");
        assert!(manifest.has_library());
        assert_eq!(manifest.library_name().as_deref(), Some("weather"));
        let manifest = Manifest::parse("[package]\nname = \"a\"\nlib.path = \"x\"\n");
        assert_eq!((manifest.has_library(), manifest.library_name()), (false, None));
    }
}
