//! Walks through the code of a crate, to find which file uses items of which other file.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Item, Meta, Pat, Stmt, Token};

use crate::finder::{Finder, Use};
use crate::members::{Members, self_type};
use crate::resolve::Target;
use crate::source::{attributes, defined, imports, is_test_only, text};
use crate::tree::Tree;

/// The uses of a crate: the first of each item in each file.
pub(crate) fn uses(tree: &Tree) -> Vec<Use> {
    let members = Members::of(tree);
    let mut found = Vec::new();
    for (index, file) in tree.files.iter().enumerate() {
        let mut finder = Finder::new(tree, &members, index);
        finder.visit_file(&file.syntax);
        found.append(&mut finder.finish());
    }
    found
}

/// Macros whose tokens are code of another crate.
const QUOTES: [&str; 4] = ["quote", "quote_spanned", "parse_quote", "parse_quote_spanned"];

/// Attributes without paths of the crate.
const PLAIN_ATTRIBUTES: [&str; 9] =
    ["allow", "cfg", "cfg_attr", "derive", "diagnostic", "doc", "expect", "inline", "warn"];

impl Finder<'_> {
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

    fn function(&mut self, names: HashSet<String>, visit: impl FnOnce(&mut Self)) {
        self.bound.push(names);
        visit(self);
        self.bound.pop();
    }

    /// Looks for paths in tokens: paths of two segments or more, names of types, and names that are called.
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
        self.method(&method, is_self, line);
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
