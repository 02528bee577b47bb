//! Finds which file uses items of which other file.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Item, Meta, Pat, Stmt, Token};

use crate::members::{Members, self_type};
use crate::resolve::Target;
use crate::source::{Import, Kind, attributes, defined, imports, is_test_only, text};
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

/// The uses of a crate: the first of each item in each file.
pub(crate) fn uses(tree: &Tree) -> Vec<Use> {
    let members = Members::of(tree);
    let mut found = Vec::new();
    for (index, file) in tree.files.iter().enumerate() {
        let mut finder = Finder {
            tree,
            members: &members,
            file: index,
            module: file.module,
            bound: Vec::new(),
            blocks: Vec::new(),
            self_types: Vec::new(),
            seen: HashSet::new(),
            globs: Vec::new(),
            found: Vec::new(),
        };
        finder.visit_file(&file.syntax);
        finder.finish_globs();
        let mut known = HashSet::new();
        finder.found.sort_by_key(|found| found.line);
        finder.found.retain(|found| known.insert((found.to, found.item.clone())));
        found.append(&mut finder.found);
    }
    found
}

struct Finder<'t> {
    tree: &'t Tree,
    members: &'t Members,
    file: usize,
    module: usize,
    /// Names of variables in the functions around.
    bound: Vec<HashSet<String>>,
    /// Items of the blocks around: the path of an import, nothing for an item of the block itself.
    blocks: Vec<HashMap<String, Option<Vec<String>>>>,
    /// Types of the `impl`s around.
    self_types: Vec<Option<(usize, String)>>,
    /// The first name of each path, by module: what a glob may have brought.
    seen: HashSet<(usize, String)>,
    /// Glob imports of modules: the module with the import, the one imported, the line, the path as written.
    globs: Vec<(usize, usize, usize, String)>,
    found: Vec<Use>,
}

/// Macros whose tokens are code of another crate.
const QUOTES: [&str; 4] = ["quote", "quote_spanned", "parse_quote", "parse_quote_spanned"];

/// Attributes without paths of the crate.
const PLAIN_ATTRIBUTES: [&str; 9] =
    ["allow", "cfg", "cfg_attr", "derive", "diagnostic", "doc", "expect", "inline", "warn"];

impl Finder<'_> {
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

    /// A function of a type can stand in another file than the type.
    fn add_member(&mut self, module: usize, name: &str, member: &str, line: usize) {
        let path = format!("{}::{member}", name_of(&self.tree.modules[module].path, name));
        for file in self.members.files(module, name, member) {
            self.add(file, path.clone(), line, &format!("{name}::{member}"));
        }
    }

    /// A path in code.
    fn path(&mut self, mut path: Vec<String>, line: usize, is_macro: bool) {
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

    fn syn_path(&mut self, path: &syn::Path, is_macro: bool) {
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first()
        {
            let segments = path.segments.iter().map(|segment| text(&segment.ident)).collect();
            self.path(segments, first.ident.span().start().line, is_macro);
        }
    }

    /// A path without a type in front, or with one that is visited by itself.
    fn qualified(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path) {
        let Some(qself) = qself else { return self.visit_path(path) };
        self.visit_type(&qself.ty);
        if qself.position > 0 {
            return self.visit_path(path);
        }
        for segment in &path.segments {
            self.visit_path_arguments(&segment.arguments);
        }
    }

    fn is_bound(&self, path: &syn::Path) -> bool {
        path.get_ident().is_some_and(|ident| self.bound.iter().any(|names| names.contains(&text(ident))))
    }

    fn import(&mut self, import: &Import) {
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

    fn function(&mut self, names: HashSet<String>, visit: impl FnOnce(&mut Self)) {
        self.bound.push(names);
        visit(self);
        self.bound.pop();
    }

    /// Looks for paths in tokens: those of two segments or more, names of types, and names that are called.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let is = |at: Option<usize>, sign: char| {
            let token = at.and_then(|at| tokens.get(at));
            matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
        };
        for (at, token) in tokens.iter().enumerate() {
            let ident = match token {
                TokenTree::Group(group) => {
                    self.scan(group.stream());
                    continue;
                }
                TokenTree::Ident(ident) => ident,
                _ => continue,
            };
            let (before, before_that) = (at.checked_sub(1), at.checked_sub(2));
            let is_later_segment = is(before, ':') && is(before_that, ':');
            let is_member = is(before, '.') && !is(before_that, '.');
            let is_variable = is(before, '$') && ident != "crate";
            if is_later_segment || is_member || is_variable || is(before, '\'') {
                continue;
            }
            let mut path = vec![text(ident)];
            let mut next = at + 1;
            while is(Some(next), ':') && is(Some(next + 1), ':') {
                let Some(TokenTree::Ident(ident)) = tokens.get(next + 2) else { break };
                path.push(text(ident));
                next += 3;
            }
            let is_macro = is(Some(next), '!') && !is(Some(next + 1), '=');
            let is_call = matches!(tokens.get(next), Some(TokenTree::Group(_)));
            if path.len() > 1 || is_macro || is_call || is_type_name(&path[0]) {
                self.path(path, ident.span().start().line, is_macro);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_test_only(attributes(item)) {
            return;
        }
        match item {
            Item::Use(item) => {
                for import in imports(item) {
                    self.import(&import);
                }
            }
            Item::Mod(item) => {
                let Some((_, items)) = &item.content else { return };
                let path = ["self".to_owned(), text(&item.ident)];
                let outer = self.module;
                for target in self.tree.resolve(outer, &path) {
                    let Target::Module(inner) = target else { continue };
                    self.module = inner;
                    for item in items {
                        self.visit_item(item);
                    }
                }
                self.module = outer;
            }
            Item::Impl(item) => {
                self.self_types.push(self_type(self.tree, self.module, item));
                visit::visit_item_impl(self, item);
                self.self_types.pop();
            }
            item => visit::visit_item(self, item),
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(variables(|names| names.visit_item_fn(function)), |finder| {
            visit::visit_item_fn(finder, function);
        });
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test_only(&function.attrs) {
            self.function(variables(|names| names.visit_impl_item_fn(function)), |finder| {
                visit::visit_impl_item_fn(finder, function);
            });
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.function(variables(|names| names.visit_trait_item_fn(function)), |finder| {
            visit::visit_trait_item_fn(finder, function);
        });
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.function(variables(|names| names.visit_expr_closure(closure)), |finder| {
            visit::visit_expr_closure(finder, closure);
        });
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let mut names = HashMap::new();
        for statement in &block.stmts {
            let Stmt::Item(item) = statement else { continue };
            if let Item::Use(item) = item {
                let imports = imports(item).into_iter();
                names.extend(imports.filter_map(|import| Some((import.name?, Some(import.segments)))));
            } else if let Some((name, _)) = defined(item) {
                names.insert(name, None);
            }
        }
        self.blocks.push(names);
        visit::visit_block(self, block);
        self.blocks.pop();
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !is_test_only(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        if !is_test_only(&block.attrs) {
            visit::visit_expr_block(self, block);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !is_test_only(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !is_test_only(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !is_test_only(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_field_value(&mut self, value: &'ast syn::FieldValue) {
        if !is_test_only(&value.attrs) {
            visit::visit_field_value(self, value);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let path = attribute.path();
        let is_plain =
            path.segments.first().is_none_or(|first| PLAIN_ATTRIBUTES.contains(&&*text(&first.ident)));
        match &attribute.meta {
            _ if is_plain => {}
            Meta::List(list) => self.scan(list.tokens.clone()),
            Meta::NameValue(value) => self.visit_expr(&value.value),
            Meta::Path(_) => {}
        }
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.syn_path(path, false);
        for segment in &path.segments {
            self.visit_path_arguments(&segment.arguments);
        }
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        self.qualified(path.qself.as_ref(), &path.path);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if path.qself.is_some() || !self.is_bound(&path.path) {
            self.qualified(path.qself.as_ref(), &path.path);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        // `let text = text(line)`: what is called is the function, whatever variable has its name.
        match &*call.func {
            Expr::Path(path) => self.qualified(path.qself.as_ref(), &path.path),
            function => self.visit_expr(function),
        }
        for argument in &call.args {
            self.visit_expr(argument);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = text(&call.method);
        let line = call.method.span().start().line;
        let is_self = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"));
        match self.self_types.last().cloned().flatten() {
            Some((module, name)) if is_self => self.add_member(module, &name, &method, line),
            _ => {
                if let Some(file) = self.members.file_of_method(&method) {
                    let path = &self.tree.modules[self.tree.files[file].module].path;
                    self.add(file, name_of(path, &method), line, &format!(".{method}()"));
                }
            }
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let name = text(&pattern.ident);
        if is_type_name(&name) {
            self.path(vec![name], pattern.ident.span().start().line, false);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().map(|last| text(&last.ident)).unwrap_or_default();
        if name == "macro_rules" {
            return self.scan(call.tokens.clone());
        }
        self.syn_path(&call.path, true);
        if QUOTES.contains(&&*name) {
            return;
        }
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(arguments) = call.parse_body_with(arguments) {
            for argument in &arguments {
                self.visit_expr(argument);
            }
        } else if let Ok(statements) = call.parse_body_with(Block::parse_within) {
            for statement in &statements {
                self.visit_stmt(statement);
            }
        } else {
            self.scan(call.tokens.clone());
        }
    }
}

/// The path of an item from the root of the crate.
fn name_of(module: &[String], name: &str) -> String {
    let mut path = vec!["crate"];
    path.extend(module.iter().map(String::as_str));
    path.push(name);
    path.join("::")
}

/// Types, variants and constants begin with a capital; variables do not.
fn is_type_name(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// The names that patterns bind in some code.
fn variables(visit: impl FnOnce(&mut Variables)) -> HashSet<String> {
    let mut variables = Variables(HashSet::new());
    visit(&mut variables);
    variables.0
}

struct Variables(HashSet<String>);

impl<'ast> Visit<'ast> for Variables {
    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Ident(pattern) = pattern {
            let name = text(&pattern.ident);
            if !is_type_name(&name) {
                self.0.insert(name);
            }
        }
        visit::visit_pat(self, pattern);
    }
}
