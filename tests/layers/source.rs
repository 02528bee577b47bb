//! Facts of one item's syntax: whether it is for tests only, and the names it binds.

use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token, UseTree, Visibility};

/// One name of a `use` declaration.
pub(crate) struct Import {
    /// The path as written, without `self` at its end. Empty if the path begins with `::`.
    pub(crate) segments: Vec<String>,
    /// The name that the declaration binds. `None` for a glob.
    pub(crate) name: Option<String>,
    pub(crate) line: usize,
    /// Whether the declaration has a visibility: it is a re-export.
    pub(crate) is_public: bool,
}

impl Import {
    /// The path as the source has it.
    pub(crate) fn written(&self) -> String {
        let glob = if self.name.is_none() { "::*" } else { "" };
        format!("{}{glob}", self.segments.join("::"))
    }
}

/// The names of a `use` declaration. Paths of other crates that begin with `::` are left out.
pub(crate) fn imports(item: &syn::ItemUse) -> Vec<Import> {
    let mut found = Vec::new();
    if item.leading_colon.is_none() {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        collect(&item.tree, &mut Vec::new(), is_public, &mut found);
    }
    found
}

fn collect(tree: &UseTree, prefix: &mut Vec<String>, is_public: bool, found: &mut Vec<Import>) {
    let mut import = |ident: &syn::Ident, name: Option<&syn::Ident>| {
        let mut segments = prefix.clone();
        let last = text(ident);
        if last != "self" || segments.is_empty() {
            segments.push(last);
        }
        let name = name.map_or_else(|| segments.last().cloned(), |name| Some(text(name)));
        found.push(Import { segments, name, line: ident.span().start().line, is_public });
    };
    match tree {
        UseTree::Path(path) => {
            prefix.push(text(&path.ident));
            collect(&path.tree, prefix, is_public, found);
            prefix.pop();
        }
        UseTree::Name(name) => import(&name.ident, None),
        UseTree::Rename(rename) => import(&rename.ident, Some(&rename.rename)),
        UseTree::Glob(glob) => {
            let line = glob.star_token.spans[0].start().line;
            found.push(Import { segments: prefix.clone(), name: None, line, is_public });
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                collect(tree, prefix, is_public, found);
            }
        }
    }
}

/// The identifier without `r#`.
pub(crate) fn text(ident: &syn::Ident) -> String {
    ident.unraw().to_string()
}

/// Whether the code under these attributes is compiled for tests only: `#[cfg(test)]` or `#[test]`.
pub(crate) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        if path.segments.last().is_some_and(|last| last.ident == "test") {
            return true;
        }
        path.is_ident("cfg")
            && attribute.parse_args::<Meta>().is_ok_and(|predicate| holds(&predicate) == Some(false))
    })
}

/// Whether a predicate of `cfg` holds in a build without tests. `None` if that depends on features or targets.
fn holds(predicate: &Meta) -> Option<bool> {
    let Meta::List(list) = predicate else {
        return predicate.path().is_ident("test").then_some(false);
    };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    let mut values = parts.iter().map(holds);
    if list.path.is_ident("not") {
        values.next()?.map(|value| !value)
    } else if list.path.is_ident("all") {
        values.any(|value| value == Some(false)).then_some(false)
    } else {
        values.all(|value| value == Some(false)).then_some(false)
    }
}

/// The attributes of an item.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The kind of thing that a name is. Only types have names behind them, as `Session` in `Session::new`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Type,
    Value,
    Macro,
}

/// The name that an item defines. `None` for modules, imports, implementations and calls of macros.
pub(crate) fn defined(item: &Item) -> Option<(String, Kind)> {
    let (ident, kind) = match item {
        Item::Const(item) => (&item.ident, Kind::Value),
        Item::Enum(item) => (&item.ident, Kind::Type),
        Item::Fn(item) => (&item.sig.ident, Kind::Value),
        Item::Macro(item) => (item.ident.as_ref()?, Kind::Macro),
        Item::Static(item) => (&item.ident, Kind::Value),
        Item::Struct(item) => (&item.ident, Kind::Type),
        Item::Trait(item) => (&item.ident, Kind::Type),
        Item::TraitAlias(item) => (&item.ident, Kind::Type),
        Item::Type(item) => (&item.ident, Kind::Type),
        Item::Union(item) => (&item.ident, Kind::Type),
        _ => return None,
    };
    Some((text(ident), kind))
}
