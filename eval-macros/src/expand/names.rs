//! Names in generated code: eval-core, hidden functions, the text of a file.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Path};

use crate::args::Args;
use crate::item::Item;

pub(super) struct Names<'a> {
    krate: Option<&'a Path>,
    pub(super) private: TokenStream,
    /// The annotated function, which is also the name of the module of tests.
    pub(super) function: &'a Ident,
    /// The hidden function that returns the functions that the attribute names.
    pub(super) functions: Ident,
    /// The hidden function that runs a case.
    pub(super) runs_case: Ident,
}

impl<'a> Names<'a> {
    pub(super) fn new(args: &'a Args, item: &'a Item) -> Self {
        let (krate, function) = (args.krate.as_ref(), item.name());
        // The prefixes differ, so that the hidden functions of two attributes never have the same name.
        let functions = format_ident!("__evalfn_{}", function, span = Span::call_site());
        let runs_case = format_ident!("__evalset_{}", function, span = Span::call_site());
        Self { krate, private: private(krate, Span::call_site()), function, functions, runs_case }
    }

    /// A call of a function of eval-core with a function of the user. All tokens have the span of the user's
    /// path, so that the compiler reports a wrong signature there. With different spans it would underline
    /// the whole attribute.
    pub(super) fn call(&self, function: &str, argument: &impl ToTokens) -> TokenStream {
        let span = argument.span();
        let private = private(self.krate, span);
        let function = Ident::new(function, span);
        quote_spanned!(span=> #private::#function(#argument))
    }
}

pub(super) fn private(krate: Option<&Path>, span: Span) -> TokenStream {
    if let Some(path) = krate {
        quote_spanned!(span=> #path::__private)
    } else {
        quote_spanned!(span=> ::eval_core::__private)
    }
}

/// The text of a file, tracked by the compiler, without a path of this machine.
pub(super) fn include(relative: &str) -> TokenStream {
    quote!(::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #relative)))
}

pub(super) fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
