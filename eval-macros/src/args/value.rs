//! The values that options take, and what is said when one takes another.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitInt, LitStr, Path, Token};

use super::CustomMetric;
use crate::diagnostics::{Diagnostics, error, error_on};

/// What stands after the name of an option.
pub(super) enum Value {
    /// Nothing: `runs`.
    Absent,
    /// `runs = 3`.
    Assigned(TokenStream),
    /// `criteria(...)`.
    List(TokenStream),
}

impl Value {
    /// The value together with what its messages need.
    pub(super) fn of<'a>(self, name: &'a Ident, example: &'a str) -> OptionValue<'a> {
        OptionValue { value: self, name, example }
    }
}

/// The value of a known option.
pub(super) struct OptionValue<'a> {
    value: Value,
    name: &'a Ident,
    example: &'a str,
}

impl OptionValue<'_> {
    /// A string.
    pub(super) fn string(&self) -> syn::Result<LitStr> {
        self.parsed("a string")
    }

    /// One string, or several in brackets.
    pub(super) fn strings(&self) -> syn::Result<Vec<LitStr>> {
        let strings = self.assigned(one_or_more, "strings")?;
        if strings.is_empty() { Err(self.wrong("strings")) } else { Ok(strings) }
    }

    /// A whole number of at least 1.
    pub(super) fn count(&self) -> syn::Result<u32> {
        let what = "a whole number of at least 1";
        let count: LitInt = self.parsed(what)?;
        match count.base10_parse() {
            Ok(0) | Err(_) => Err(error(count.span(), self.headline(what), self.help())),
            Ok(count) => Ok(count),
        }
    }

    /// A path that also means the same from inside another module.
    pub(super) fn path(&self) -> syn::Result<Path> {
        let path = self.assigned(Path::parse_mod_style, "a path")?;
        match path.segments.first() {
            Some(first) if first.ident == "self" || first.ident == "super" => Err(error(
                first.ident.span(),
                format!("`{}` takes a path that begins with a crate", self.name),
                "the tests live in a module of their own: begin with `crate::` or with the name of a dependency",
            )),
            _ => Ok(path),
        }
    }

    /// The path of a function.
    pub(super) fn function(&self) -> syn::Result<Path> {
        self.parsed::<syn::ExprPath>("the path of a function").map(|path| path.path)
    }

    /// A value that parses itself; `what` names it for the message if it does not.
    pub(super) fn parsed<T: Parse>(&self, what: &str) -> syn::Result<T> {
        self.assigned(T::parse, what)
    }

    /// What stands in the parentheses.
    pub(super) fn list(&self) -> syn::Result<TokenStream> {
        match &self.value {
            Value::List(tokens) => Ok(tokens.clone()),
            Value::Absent | Value::Assigned(_) => Err(self.wrong("a list in parentheses")),
        }
    }

    /// Functions, each under its own name or a given one.
    pub(super) fn metrics(&self, diagnostics: &mut Diagnostics) -> syn::Result<Vec<CustomMetric>> {
        let entries = Punctuated::<CustomMetric, Token![,]>::parse_terminated
            .parse2(self.list()?)
            .map_err(|at| error(at.span(), self.headline("paths of functions"), self.help()))?;
        if entries.is_empty() {
            return Err(self.wrong("at least one function"));
        }
        let mut metrics: Vec<CustomMetric> = Vec::new();
        for metric in entries {
            let name = &metric.name;
            if metrics.iter().any(|other| other.name == *name) {
                diagnostics.error(
                    metric.span,
                    format!("two custom metrics are named `{name}`"),
                    format!("give one of them another name: `other_{name} = path::to::function`"),
                );
            } else {
                metrics.push(metric);
            }
        }
        Ok(metrics)
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

impl Parse for CustomMetric {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            Some((text.value(), text.span()))
        } else if input.peek(Ident::peek_any) && input.peek2(Token![=]) {
            let ident = Ident::parse_any(input)?;
            Some((ident.unraw().to_string(), ident.span()))
        } else {
            None
        };
        if key.is_some() {
            input.parse::<Token![=]>()?;
        }
        let path = input.parse::<syn::ExprPath>()?.path;
        let (name, span) = key.unwrap_or_else(|| last_segment(&path));
        Ok(Self { name, span, path })
    }
}

fn last_segment(path: &Path) -> (String, Span) {
    match path.segments.last() {
        Some(last) => (last.ident.unraw().to_string(), last.ident.span()),
        None => (String::new(), Span::call_site()),
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
