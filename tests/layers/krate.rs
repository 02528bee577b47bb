//! The files of a crate and their uses of each other, as graphs: of its top-level modules, of a folder, of a file and
//! the files below it.

use std::collections::BTreeSet;

use crate::finder::Use;
use crate::graph::Graph;
use crate::tree::{Sources, Tree};
use crate::uses::uses;

/// A crate: its files without those for tests, and what they use of each other.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) files: Vec<File>,
    pub(crate) uses: Vec<Use>,
}

/// A source file.
#[derive(Debug)]
pub(crate) struct File {
    /// From the root of the workspace.
    pub(crate) path: String,
    /// The module that it is; empty for the root of the crate.
    pub(crate) module: Vec<String>,
}

/// A circle of nodes that use each other.
pub(crate) struct Circle<'c> {
    /// The kind of the nodes, as `modules of eval-core/src/judge.rs`.
    pub(crate) place: String,
    pub(crate) graph: Graph<'c>,
    /// Indices of nodes of the graph.
    pub(crate) nodes: Vec<usize>,
}

impl Crate {
    /// Reads a crate whose files are below `<folder>/src`.
    ///
    /// # Errors
    ///
    /// See [`Tree::parse`].
    pub(crate) fn parse(name: &str, folder: &str, sources: &Sources) -> Result<Self, String> {
        let tree = Tree::parse(folder, sources)?;
        let uses = uses(&tree);
        let files = tree.files.into_iter().map(|file| {
            let module = tree.modules[file.module].path.clone();
            File { path: file.path, module }
        });
        Ok(Self { name: name.to_owned(), files: files.collect(), uses })
    }

    /// The top-level modules that are files.
    pub(crate) fn modules(&self) -> BTreeSet<&str> {
        self.files.iter().filter_map(|file| file.module.first().map(String::as_str)).collect()
    }

    /// The top-level module of a file; nothing for the root.
    pub(crate) fn top(&self, file: usize) -> Option<&str> {
        self.files[file].module.first().map(String::as_str)
    }

    /// The modules right below a file, each with all that is below it.
    pub(crate) fn folder(&self, parent: &[String]) -> Graph<'_> {
        let child = |file: usize| {
            let module = &self.files[file].module;
            module.strip_prefix(parent).and_then(<[String]>::first).map(String::as_str)
        };
        self.graph(&child)
    }

    /// A file and all files below it.
    fn subtree(&self, parent: &[String]) -> Graph<'_> {
        let node = |file: usize| {
            let file = &self.files[file];
            file.module.starts_with(parent).then_some(&*file.path)
        };
        self.graph(&node)
    }

    fn graph<'c>(&'c self, node: &dyn Fn(usize) -> Option<&'c str>) -> Graph<'c> {
        let mut graph = Graph::default();
        for file in 0..self.files.len() {
            if let Some(name) = node(file) {
                graph.node(name);
            }
        }
        for used in &self.uses {
            if let (Some(from), Some(to)) = (node(used.from), node(used.to)) {
                graph.add(from, to, used);
            }
        }
        graph
    }

    /// The circles of all folders: of modules side by side, and of a file with files below it.
    pub(crate) fn circles(&self) -> Vec<Circle<'_>> {
        let mut found = Vec::new();
        for (index, file) in self.files.iter().enumerate() {
            if !self.files.iter().any(|other| is_below(&other.module, &file.module)) {
                continue;
            }
            // A module can have two files, one per `cfg`.
            let is_known = self.files[..index].iter().any(|other| other.module == file.module);
            let siblings = self.folder(&file.module);
            for nodes in siblings.circles().into_iter().filter(|_| !is_known) {
                let place = format!("modules of {}", file.path);
                found.push(Circle { place, graph: siblings.clone(), nodes });
            }
            let below = self.subtree(&file.module);
            let with_parent = below
                .circles()
                .into_iter()
                .find(|nodes| nodes.iter().any(|node| below.names()[*node] == file.path));
            if let Some(nodes) = with_parent {
                let place = format!("{} and files below it", file.path);
                found.push(Circle { place, graph: below, nodes });
            }
        }
        found
    }

    /// A use as a line for a person: its place, and the item by the path that defines it.
    pub(crate) fn line(&self, used: &Use) -> String {
        format!("{}:{}  {}", self.files[used.from].path, used.line, named(used))
    }
}

/// Whether a module is below another.
fn is_below(module: &[String], parent: &[String]) -> bool {
    module.len() > parent.len() && module.starts_with(parent)
}

/// The item, and the path in the source if the item has another name there.
fn named(used: &Use) -> String {
    let mut written = &*used.written;
    while let Some(rest) =
        ["crate::", "self::", "super::"].iter().find_map(|start| written.strip_prefix(start))
    {
        written = rest;
    }
    let ends = written.match_indices("::").map(|(end, _)| end).chain([written.len()]);
    let has_its_name = ends.into_iter().any(|end| used.item.ends_with(&format!("::{}", &written[..end])));
    if has_its_name { used.item.clone() } else { format!("{} by `{}`", used.item, used.written) }
}
