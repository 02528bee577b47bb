//! Turns paths of one file into uses of other files.

use std::collections::{HashMap, HashSet};

use crate::members::Members;
use crate::resolve::Target;
use crate::source::{Import, Kind, text};
use crate::tree::Tree;

/// A use of an item that another file of the crate defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// Indices of files.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) line: usize,
    /// The path as the source has it.
    pub(crate) written: String,
    /// The item, by its path from the root of the crate.
    pub(crate) item: String,
}

/// The place of the walk through the code of a file, and its findings.
pub(crate) struct Finder<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) members: &'t Members,
    file: usize,
    pub(crate) module: usize,
    /// Names of variables in the functions around.
    pub(crate) bound: Vec<HashSet<String>>,
    /// Items of the blocks around: the path of an import, nothing for an item of the block itself.
    pub(crate) blocks: Vec<HashMap<String, Option<Vec<String>>>>,
    /// Types of the `impl`s around.
    pub(crate) self_types: Vec<Option<(usize, String)>>,
    /// The first name of each path, by module: what a glob may have brought.
    seen: HashSet<(usize, String)>,
    /// Glob imports of modules: the module with the import, the one imported, the line, the path as written.
    globs: Vec<(usize, usize, usize, String)>,
    found: Vec<Use>,
}

impl<'t> Finder<'t> {
    pub(crate) fn new(tree: &'t Tree, members: &'t Members, file: usize) -> Self {
        Self {
            tree,
            members,
            file,
            module: tree.files[file].module,
            bound: Vec::new(),
            blocks: Vec::new(),
            self_types: Vec::new(),
            seen: HashSet::new(),
            globs: Vec::new(),
            found: Vec::new(),
        }
    }

    fn add(&mut self, to_file: usize, item: String, line: usize, written: &str) {
        if to_file != self.file {
            let written = written.to_owned();
            self.found.push(Use { from: self.file, to: to_file, line, written, item });
        }
    }

    fn add_target(&mut self, target: &Target, line: usize, written: &str) {
        let Target::Item(item) = target else { return };
        let home = &self.tree.modules[item.module];
        let path = name_of(&home.path, &item.name);
        if let Some(member) = &item.member {
            self.add_member(item.module, &item.name, member, line);
        }
        self.add(home.file, path, line, written);
    }

    /// A function of a type can be in another file than the type.
    fn add_member(&mut self, module: usize, name: &str, member: &str, line: usize) {
        let path = format!("{}::{member}", name_of(&self.tree.modules[module].path, name));
        for file in self.members.files(module, name, member) {
            self.add(file, path.clone(), line, &format!("{name}::{member}"));
        }
    }

    /// A call of a method. The type of a value is known for `self` alone; other values can be of any type.
    pub(crate) fn method(&mut self, name: &str, is_of_self: bool, line: usize) {
        match self.self_types.last().cloned().flatten() {
            Some((module, of)) if is_of_self => self.add_member(module, &of, name, line),
            _ => {
                if let Some(file) = self.members.file_of_method(name) {
                    let home = &self.tree.modules[self.tree.files[file].module].path;
                    self.add(file, name_of(home, name), line, &format!(".{name}()"));
                }
            }
        }
    }

    /// A path in code.
    pub(crate) fn path(&mut self, mut path: Vec<String>, line: usize, is_macro: bool) {
        let written = path.join("::");
        if let Some(local) = self.blocks.iter().rev().find_map(|block| block.get(&path[0])) {
            let Some(import) = local else { return };
            path.splice(..1, import.iter().cloned());
        }
        if path[0] == "Self" {
            if let (Some(Some((module, name))), Some(member)) = (self.self_types.last().cloned(), path.get(1))
            {
                self.add_member(module, &name, member, line);
            }
            return;
        }
        self.seen.insert((self.module, path[0].clone()));
        let targets = if is_macro {
            self.tree.resolve_macro(self.module, &path)
        } else {
            self.tree.resolve(self.module, &path)
        };
        for target in targets {
            let names_macro = matches!(&target, Target::Item(item) if item.kind == Kind::Macro);
            if names_macro == is_macro {
                self.add_target(&target, line, &written);
            }
        }
    }

    pub(crate) fn syn_path(&mut self, path: &syn::Path, is_macro: bool) {
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first()
        {
            let segments = path.segments.iter().map(|segment| text(&segment.ident)).collect();
            self.path(segments, first.ident.span().start().line, is_macro);
        }
    }

    pub(crate) fn is_bound(&self, path: &syn::Path) -> bool {
        path.get_ident().is_some_and(|ident| self.bound.iter().any(|names| names.contains(&text(ident))))
    }

    pub(crate) fn import(&mut self, import: &Import) {
        if import.segments.is_empty() {
            return;
        }
        let own = &self.tree.modules[self.tree.files[self.file].module].path;
        for target in self.tree.resolve(self.module, &import.segments) {
            let (Target::Module(home) | Target::Item(crate::resolve::Item { module: home, .. })) = target;
            let file = &self.tree.files[self.tree.modules[home].file];
            let file_path = &self.tree.modules[file.module].path;
            // A facade: the file shows what files below it define.
            if import.is_public && file_path.len() > own.len() && file_path.starts_with(own) {
                continue;
            }
            match target {
                Target::Module(home) if import.name.is_none() => {
                    self.globs.push((self.module, home, import.line, import.written()));
                }
                target => self.add_target(&target, import.line, &import.written()),
            }
        }
    }

    /// The uses that were found, the first of each item.
    pub(crate) fn finish(mut self) -> Vec<Use> {
        self.finish_globs();
        let mut known = HashSet::new();
        self.found.sort_by_key(|found| found.line);
        self.found.retain(|found| known.insert((found.to, found.item.clone())));
        self.found
    }

    /// A glob is a use of the module itself if no name in the code can have come by it: it may be for a trait.
    fn finish_globs(&mut self) {
        for (module, home, line, written) in std::mem::take(&mut self.globs) {
            let names = self.seen.iter().filter(|(at, _)| *at == module).map(|(_, name)| name);
            let brings =
                |name: &String| !self.tree.resolve(home, &["self".to_owned(), name.clone()]).is_empty();
            let known = |name: &&String| self.tree.modules[home].names.contains_key(*name);
            if !names.filter(known).any(brings) {
                let home = &self.tree.modules[home];
                self.add(home.file, name_of(&home.path, "*"), line, &written);
            }
        }
    }
}

/// The path of an item from the root of the crate.
pub(crate) fn name_of(module: &[String], name: &str) -> String {
    let mut path = vec!["crate"];
    path.extend(module.iter().map(String::as_str));
    path.push(name);
    path.join("::")
}
