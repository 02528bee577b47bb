//! The files of a type's functions, where they are not in the file of the type.

use std::collections::{BTreeSet, HashMap};

use syn::{ImplItem, Item, Type};

use crate::resolve::Target;
use crate::source::{Kind, is_test_only, text};
use crate::tree::Tree;

/// The inherent functions that are not in the files of their types.
pub(crate) struct Members {
    /// Module and name of the type, and name of the function: the files it is written in.
    files: HashMap<(usize, String, String), BTreeSet<usize>>,
    /// Methods that only one type of the crate has: the file they are written in.
    methods: HashMap<String, Option<usize>>,
}

impl Members {
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut members = Self { files: HashMap::new(), methods: HashMap::new() };
        for file in &tree.files {
            members.add_items(tree, file.module, &file.syntax.items);
        }
        members
    }

    /// The files in which a function of a type is written, if these are not the file of the type.
    pub(crate) fn files(&self, module: usize, name: &str, member: &str) -> impl Iterator<Item = usize> {
        let key = (module, name.to_owned(), member.to_owned());
        self.files.get(&key).into_iter().flatten().copied()
    }

    /// The file of a method, if no other type of the crate has one of its name, and its type is in another file.
    pub(crate) fn file_of_method(&self, name: &str) -> Option<usize> {
        self.methods.get(name).copied().flatten()
    }

    fn add_items(&mut self, tree: &Tree, module: usize, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(item) if !is_test_only(&item.attrs) => {
                    let Some((_, items)) = &item.content else { continue };
                    for target in tree.resolve(module, &["self".to_owned(), text(&item.ident)]) {
                        if let Target::Module(inner) = target {
                            self.add_items(tree, inner, items);
                        }
                    }
                }
                Item::Impl(item) if !is_test_only(&item.attrs) => self.add_impl(tree, module, item),
                _ => {}
            }
        }
    }

    fn add_impl(&mut self, tree: &Tree, module: usize, item: &syn::ItemImpl) {
        let file = tree.modules[module].file;
        let home = self_type(tree, module, item);
        for function in &item.items {
            let ImplItem::Fn(function) = function else { continue };
            let name = text(&function.sig.ident);
            let split = home.as_ref().filter(|(home, _)| tree.modules[*home].file != file);
            let of_split = split.filter(|_| item.trait_.is_none() && !is_test_only(&function.attrs));
            self.methods
                .entry(name.clone())
                .and_modify(|file| *file = None)
                .or_insert(of_split.map(|_| file));
            if let Some((home, of)) = of_split {
                self.files.entry((*home, of.clone(), name)).or_default().insert(file);
            }
        }
    }
}

/// The module and the name of the type of an `impl`, if it is a type of the crate.
pub(crate) fn self_type(tree: &Tree, module: usize, item: &syn::ItemImpl) -> Option<(usize, String)> {
    let Type::Path(of) = &*item.self_ty else { return None };
    let path: Vec<_> = of.path.segments.iter().map(|segment| text(&segment.ident)).collect();
    tree.resolve(module, &path).into_iter().find_map(|target| match target {
        Target::Item(item) if item.kind == Kind::Type => Some((item.module, item.name)),
        _ => None,
    })
}
