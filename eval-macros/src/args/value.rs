//! The values that options take, and the error about a value that an option does not take.

use std::ops::RangeInclusive;

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitInt, LitStr, Path, Token};

use crate::diagnostics::{error, error_on};

/// One `name = value` or `name(...)`.
pub(super) struct Arg {
    pub(super) name: Ident,
    pub(super) value: Value,
    /// An example of its use, once the option is known.
    pub(super) example: &'static str,
}

/// The tokens behind the name of an option.
pub(super) enum Value {
    /// Nothing: `runs`.
    Absent,
    /// `runs = 3`.
    Assigned(TokenStream),
    /// `criteria(...)`.
    List(TokenStream),
}

impl Parse for Arg {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // `Ident::parse` refuses `crate`, a keyword.
        let name = Ident::parse_any(input)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Value::Assigned(input.parse()?)
        } else if input.peek(syn::token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            Value::List(list.parse()?)
        } else {
            Value::Absent
        };
        if input.is_empty() {
            Ok(Self { name, value, example: "" })
        } else {
            Err(input.error("expected a comma"))
        }
    }
}

impl Arg {
    pub(super) fn string(&self) -> syn::Result<LitStr> {
        self.assigned(<LitStr as Parse>::parse, "a string")
    }

    /// One string, or several in brackets.
    pub(super) fn strings(&self) -> syn::Result<Vec<LitStr>> {
        let strings = self.assigned(one_or_more, "strings")?;
        if strings.is_empty() { Err(self.wrong("strings")) } else { Ok(strings) }
    }

    /// A whole number of at least 1.
    pub(super) fn count(&self) -> syn::Result<u32> {
        self.count_in(1..=u32::MAX, "a whole number of at least 1")
    }

    /// A whole number of at least 1 and at most this one.
    pub(super) fn count_up_to(&self, most: u32) -> syn::Result<u32> {
        self.count_in(1..=most, &format!("a whole number from 1 to {most}"))
    }

    fn count_in(&self, range: RangeInclusive<u32>, what: &str) -> syn::Result<u32> {
        let count: LitInt = self.assigned(LitInt::parse, what)?;
        let read = count.base10_parse().ok().filter(|read| range.contains(read));
        read.ok_or_else(|| error(count.span(), self.headline(what), self.help()))
    }

    /// A path that has the same meaning inside another module.
    pub(super) fn path(&self) -> syn::Result<Path> {
        let path = self.assigned(Path::parse_mod_style, "a path")?;
        match path.segments.first() {
            Some(first) if first.ident == "self" || first.ident == "super" => Err(error(
                first.ident.span(),
                format!("`{}` takes a path that begins with a crate", self.name),
                "the tests are in a module of their own: begin with `crate::` or with the name of a dependency",
            )),
            _ => Ok(path),
        }
    }

    pub(super) fn function(&self) -> syn::Result<Path> {
        self.assigned(syn::ExprPath::parse, "the path of a function").map(|path| path.path)
    }

    /// The tokens behind `=`, at least one. `what` names them in messages.
    pub(super) fn tokens(&self, what: &str) -> syn::Result<TokenStream> {
        match &self.value {
            Value::Assigned(tokens) if !tokens.is_empty() => Ok(tokens.clone()),
            _ => Err(self.wrong(what)),
        }
    }

    pub(super) fn list(&self) -> syn::Result<TokenStream> {
        match &self.value {
            Value::List(tokens) => Ok(tokens.clone()),
            Value::Absent | Value::Assigned(_) => Err(self.wrong("a list in parentheses")),
        }
    }

    /// The items in the parentheses, at least one. `what` and `at_least_one` name them in messages.
    pub(super) fn items<T: Parse>(&self, what: &str, at_least_one: &str) -> syn::Result<Vec<T>> {
        let items = Punctuated::<T, Token![,]>::parse_terminated
            .parse2(self.list()?)
            .map_err(|at| error(at.span(), self.headline(what), self.help()))?;
        if items.is_empty() { Err(self.wrong(at_least_one)) } else { Ok(items.into_iter().collect()) }
    }

    fn assigned<T>(
        &self,
        parser: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
        what: &str,
    ) -> syn::Result<T> {
        match &self.value {
            Value::Assigned(tokens) if !tokens.is_empty() => {
                parser.parse2(tokens.clone()).map_err(|_| self.wrong(what))
            }
            _ => Err(self.wrong(what)),
        }
    }

    fn wrong(&self, what: &str) -> syn::Error {
        match &self.value {
            Value::Assigned(tokens) if !tokens.is_empty() => {
                error_on(tokens, self.headline(what), self.help())
            }
            _ => error(self.name.span(), self.headline(what), self.help()),
        }
    }

    fn headline(&self, what: &str) -> String {
        format!("`{}` takes {what}", self.name)
    }

    fn help(&self) -> String {
        format!("for example `{}`", self.example)
    }
}

fn one_or_more(input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    if input.peek(LitStr) {
        return Ok(vec![input.parse()?]);
    }
    let list;
    syn::bracketed!(list in input);
    Ok(Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}
