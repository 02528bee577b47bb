//! The module tree of a crate: its files, its modules, and the meanings of the names in each module.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use syn::{Expr, ExprLit, Item, Lit, Meta};

use crate::source::{Kind, attributes, defined, imports, is_test_only, text};

/// The source files of a crate: the path from the root of the workspace, and the text.
pub(crate) type Sources = BTreeMap<String, String>;

/// The modules of a crate that are not for tests only.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    /// The root of the crate is the first.
    pub(crate) modules: Vec<Module>,
    /// Files that belong to modules for tests, and folders of these, which end in `/`.
    test_only: BTreeSet<String>,
}

pub(crate) struct File {
    pub(crate) path: String,
    /// The index of the module that the file is.
    pub(crate) module: usize,
    pub(crate) syntax: syn::File,
}

/// A module: a file, or a module with a body inside of one.
pub(crate) struct Module {
    /// Its names from the root of the crate, which is the empty path.
    pub(crate) path: Vec<String>,
    /// The index of the file that holds its items.
    pub(crate) file: usize,
    pub(crate) parent: Option<usize>,
    /// A name can have several meanings: a module and a function, or one thing per `cfg`.
    pub(crate) names: HashMap<String, Vec<Binding>>,
    /// Paths of the glob imports.
    pub(crate) globs: Vec<Vec<String>>,
}

/// The meaning of a name in a module.
#[derive(Clone)]
pub(crate) enum Binding {
    /// An item that is defined in the module of this index.
    Item {
        module: usize,
        kind: Kind,
    },
    Module(usize),
    /// The path of an import.
    Import(Vec<String>),
}

impl Tree {
    /// Parses the files below `<folder>/src`, from `lib.rs` or else `main.rs`. Programs beside a library, `main.rs` and the files in
    /// `bin/`, have no modules.
    ///
    /// # Errors
    ///
    /// A sentence, if a file is missing, cannot be parsed, or belongs to no module.
    pub(crate) fn parse(folder: &str, sources: &Sources) -> Result<Self, String> {
        let lib = format!("{folder}/src/lib.rs");
        let main = format!("{folder}/src/main.rs");
        let root = if sources.contains_key(&lib) { &lib } else { &main };
        let mut tree = Self { files: Vec::new(), modules: Vec::new(), test_only: BTreeSet::new() };
        tree.add_file(root, &folder_of(root), Vec::new(), None, sources)?;
        let programs = format!("{folder}/src/bin/");
        let is_program = |path: &str| path == main || path.starts_with(&programs);
        let known: BTreeSet<_> = tree.files.iter().map(|file| &file.path).collect();
        let stray = sources
            .keys()
            .find(|path| !known.contains(path) && !is_program(path) && !tree.is_test_file(path));
        if let Some(stray) = stray {
            return Err(format!("{stray} belongs to no module: declare it with `mod`, or delete it"));
        }
        for (path, text) in sources.iter().filter(|(path, _)| *root == lib && is_program(path)) {
            if declares_modules(path, text)? {
                return Err(format!("{path} declares modules beside {lib}: move them into the library"));
            }
        }
        Ok(tree)
    }

    /// Whether a file is compiled for tests only.
    fn is_test_file(&self, path: &str) -> bool {
        self.test_only.iter().any(|test| path == test || test.ends_with('/') && path.starts_with(test))
    }

    /// Adds a file and the files of the modules that it declares, which are in a folder.
    fn add_file(
        &mut self,
        path: &str,
        folder: &str,
        name: Vec<String>,
        parent: Option<usize>,
        sources: &Sources,
    ) -> Result<usize, String> {
        let text = sources.get(path).ok_or_else(|| format!("{path} does not exist"))?;
        let syntax = parse(path, text)?;
        let file = self.files.len();
        let module = self.add_module(name, file, parent);
        let mut declared = Vec::new();
        self.add_items(&syntax.items, module, folder, &mut declared);
        self.files.push(File { path: path.to_owned(), module, syntax });
        for child in declared {
            let nested = format!("{}/mod.rs", child.folder);
            let path = match child.path {
                Some(name) => format!("{}/{name}", path.rsplit_once('/').map_or("", |(folder, _)| folder)),
                None if sources.contains_key(&nested) => nested,
                None => format!("{}.rs", child.folder),
            };
            if child.is_test_only {
                self.test_only.extend([path, format!("{}/", child.folder)]);
                continue;
            }
            let mut name = self.modules[child.parent].path.clone();
            name.push(child.name.clone());
            let index = self.add_file(&path, &child.folder, name, Some(child.parent), sources)?;
            self.bind(child.parent, child.name, Binding::Module(index));
        }
        Ok(module)
    }

    fn add_module(&mut self, path: Vec<String>, file: usize, parent: Option<usize>) -> usize {
        self.modules.push(Module { path, file, parent, names: HashMap::new(), globs: Vec::new() });
        self.modules.len() - 1
    }

    fn bind(&mut self, module: usize, name: String, binding: Binding) {
        self.modules[module].names.entry(name).or_default().push(binding);
    }

    fn add_items(&mut self, items: &[Item], module: usize, folder: &str, declared: &mut Vec<Declared>) {
        for item in items {
            match item {
                Item::Mod(item) => self.add_mod(item, module, folder, declared),
                _ if is_test_only(attributes(item)) => {}
                Item::Use(item) => {
                    for import in imports(item) {
                        match import.name {
                            Some(name) => self.bind(module, name, Binding::Import(import.segments)),
                            None => self.modules[module].globs.push(import.segments),
                        }
                    }
                }
                _ => {
                    let Some((name, kind)) = defined(item) else { continue };
                    let is_exported =
                        attributes(item).iter().any(|attribute| attribute.path().is_ident("macro_export"));
                    if is_exported && module != ROOT {
                        self.bind(ROOT, name.clone(), Binding::Item { module, kind });
                    }
                    self.bind(module, name, Binding::Item { module, kind });
                }
            }
        }
    }

    fn add_mod(&mut self, item: &syn::ItemMod, module: usize, folder: &str, declared: &mut Vec<Declared>) {
        let name = text(&item.ident);
        let inner = format!("{folder}/{name}");
        let is_test_only = is_test_only(&item.attrs);
        match &item.content {
            None => {
                let path = path_attribute(&item.attrs);
                declared.push(Declared { name, path, folder: inner, parent: module, is_test_only });
            }
            Some(_) if is_test_only => {
                self.test_only.insert(format!("{inner}/"));
            }
            Some((_, items)) => {
                let mut names = self.modules[module].path.clone();
                names.push(name.clone());
                let child = self.add_module(names, self.modules[module].file, Some(module));
                self.bind(module, name, Binding::Module(child));
                self.add_items(items, child, &inner, declared);
            }
        }
    }
}

/// The index of the root of the crate.
pub(crate) const ROOT: usize = 0;

/// A module that a file declares and another file holds.
struct Declared {
    name: String,
    /// The value of `#[path]`: relative to the folder of the file with the declaration.
    path: Option<String>,
    /// The folder of the modules in it. Without `#[path]`, its file has the same name.
    folder: String,
    parent: usize,
    is_test_only: bool,
}

/// The folder that holds the modules which a file declares.
fn folder_of(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    }
}

fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(value) if value.path.is_ident("path") => match &value.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

fn parse(path: &str, text: &str) -> Result<syn::File, String> {
    syn::parse_file(text).map_err(|error| format!("{path}:{}: {error}", error.span().start().line))
}

fn declares_modules(path: &str, text: &str) -> Result<bool, String> {
    Ok(parse(path, text)?.items.iter().any(|item| matches!(item, Item::Mod(item) if item.content.is_none())))
}
