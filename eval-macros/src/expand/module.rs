//! The module of tests, named after the function: a test for each case, in modules for the files of a directory.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, LitStr};

use super::names::Names;
use crate::args::Runtime;
use crate::features::Feature;
use crate::item::{Item, path_text};
use crate::suite::{Suite, SuiteSet};

pub(super) fn module(runtime: &Runtime, item: &Item, names: &Names<'_>, suite: &Suite) -> TokenStream {
    let mut root = Module::default();
    for (at, set) in suite.sets.iter().enumerate() {
        root.below(&set.modules).sets.push((at, set));
    }
    let name = names.function;
    let attributes = test_attributes(runtime, item, names);
    let tests = root.tests(&attributes, &names.runs_case, 1);
    let is_current = suite.pattern.as_ref().map(|pattern| is_current(pattern, suite, names));
    // Only if it is needed: a crate may forbid the lint, and then no code can allow it.
    let is_styled = is_snake_case(&name.to_string()) && root.is_snake_case();
    let styled = (!is_styled).then(|| quote!(#[allow(non_snake_case, reason = "generated")]));
    let module = quote! {
        #[cfg(test)]
        #styled
        mod #name { #tests #is_current }
    };
    // Without the feature, tokio's attribute would report an error of its own for each test.
    if runtime.is_multi_thread() {
        Feature::MULTI_THREAD.switch(&names.private, &module, &TokenStream::new())
    } else {
        module
    }
}

fn test_attributes(runtime: &Runtime, item: &Item, names: &Names<'_>) -> TokenStream {
    let private = &names.private;
    let tokio = LitStr::new(&path_text(&quote!(#private::tokio)), Span::call_site());
    let (arguments, moved) = (runtime.tokens(), &item.case_attributes);
    quote! {
        #[#private::tokio::test(crate = #tokio #arguments)]
        #(#moved)*
    }
}

/// The test that fails if the pattern no longer finds the same files as at compile time.
fn is_current(pattern: &str, suite: &Suite, names: &Names<'_>) -> TokenStream {
    let private = &names.private;
    let files = suite.sets.iter().map(|set| &set.file.relative);
    quote! {
        #[::core::prelude::v1::test]
        fn is_current() {
            #private::is_current(::core::env!("CARGO_MANIFEST_DIR"), #pattern, &[#(#files),*]);
        }
    }
}

/// A module: its tests by set, and the modules in it.
#[derive(Default)]
struct Module<'s> {
    sets: Vec<(usize, &'s SuiteSet)>,
    inner: BTreeMap<&'s str, Module<'s>>,
}

impl<'s> Module<'s> {
    fn below(&mut self, path: &'s [String]) -> &mut Self {
        path.iter().fold(self, |module, name| module.inner.entry(name).or_default())
    }

    /// The tests of this module and of its inner modules. This module is `depth` modules below the function
    /// `runs_case`.
    ///
    /// The body of a test is checked and compiled once per case. So it is one awaited call of a function that
    /// is not generic.
    fn tests(&self, attributes: &TokenStream, runs_case: &Ident, depth: usize) -> TokenStream {
        let up = std::iter::repeat_n(quote!(super::), depth);
        let run = quote!(#(#up)* #runs_case);
        let mut tokens = TokenStream::new();
        for (set, tests) in &self.sets {
            for (case, test) in tests.cases.iter().enumerate() {
                let name = Ident::new(&test.name, Span::call_site());
                tokens.extend(quote! {
                    #attributes
                    async fn #name() { #run(#set, #case).await }
                });
            }
        }
        for (name, inner) in &self.inner {
            let name = Ident::new(name, Span::call_site());
            let inner = inner.tests(attributes, runs_case, depth + 1);
            tokens.extend(quote!(mod #name { #inner }));
        }
        tokens
    }

    /// Whether the names in it pass the lint `non_snake_case`: test names keep the letter case of ids.
    fn is_snake_case(&self) -> bool {
        let mut tests = self.sets.iter().flat_map(|(_, set)| &set.cases);
        tests.all(|case| is_snake_case(&case.name))
            && self.inner.iter().all(|(name, inner)| is_snake_case(name) && inner.is_snake_case())
    }
}

fn is_snake_case(name: &str) -> bool {
    !name.chars().any(char::is_uppercase) && !name.trim_matches('_').contains("__")
}
