//! The module of tests, named after the function: a test for each case, in modules for the variants of a matrix and for
//! the files of a directory.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

use super::names::Names;
use crate::args::{Args, Matrix, Runtime};
use crate::features::Feature;
use crate::item::Item;
use crate::suite::{Suite, SuiteSet};

pub(super) fn module(args: &Args, item: &Item, names: &Names<'_>, suite: &Suite) -> TokenStream {
    let (runtime, matrix) = (&args.runtime, args.matrix.as_ref());
    let mut root = Module::default();
    let variants = matrix.map_or_else(|| vec![None], |matrix| (0..matrix.variants.len()).map(Some).collect());
    for variant in variants {
        let modules =
            matrix.zip(variant).map(|(matrix, at)| matrix.variants[at].modules().collect::<Vec<_>>());
        for (at, set) in suite.sets.iter().enumerate() {
            let path = modules.iter().flatten().chain(&set.modules);
            root.below(path).sets.push(Tests { variant, at, set });
        }
    }
    let name = names.function;
    let attributes = test_attributes(runtime, item);
    let is_current = suite.pattern.as_ref().map(|pattern| is_current(pattern, suite, names));
    // Only if it is needed: a crate may forbid the lint, and then no code can allow it.
    let is_styled = is_snake_case(&name.to_string()) && root.is_snake_case();
    let styled = (!is_styled).then(|| quote!(#[allow(non_snake_case, reason = "generated")]));
    let module = if matrix.is_some() {
        let tests = root.inner_tests(&attributes, names, 1, &quote!(#[cfg(test)]));
        with_variant(args, item, &quote!(#styled), &quote!(#tests #is_current))
    } else {
        let tests = root.tests(&attributes, names, 1);
        quote! {
            #[cfg(test)]
            #styled
            mod #name { #tests #is_current }
        }
    };
    // Without the feature, tokio's attribute would report an error of its own for each test.
    if runtime.is_multi_thread() {
        let without = with_variant(args, item, &TokenStream::new(), &TokenStream::new());
        Feature::MULTI_THREAD.switch(&names.private, &module, &without)
    } else {
        module
    }
}

/// The module of a matrix: the type of its variants, which every build has, and the tests. Empty without a matrix.
pub(super) fn with_variant(
    args: &Args,
    item: &Item,
    attributes: &TokenStream,
    tests: &TokenStream,
) -> TokenStream {
    let Some(Matrix { axes, .. }) = &args.matrix else { return TokenStream::new() };
    let (function, text) = (item.name(), "A variant of the agent: one value of each axis of the matrix.");
    quote! {
        #attributes
        mod #function {
            #[doc = #text]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            pub struct Variant { #(pub #axes: &'static ::core::primitive::str),* }
            #tests
        }
    }
}

fn test_attributes(runtime: &Runtime, item: &Item) -> TokenStream {
    let (arguments, moved) = (runtime.tokens(), &item.case_attributes);
    quote! {
        #[__tokio::test(crate = "__tokio" #arguments)]
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

/// The tests of a set: of its index in the suite, and of the index of a variant.
struct Tests<'s> {
    variant: Option<usize>,
    at: usize,
    set: &'s SuiteSet,
}

/// A module: its tests by set, and the modules in it.
#[derive(Default)]
struct Module<'s> {
    sets: Vec<Tests<'s>>,
    inner: BTreeMap<String, Module<'s>>,
}

impl Module<'_> {
    fn below<'n>(&mut self, path: impl Iterator<Item = &'n String>) -> &mut Self {
        path.fold(self, |module, name| module.inner.entry(name.clone()).or_default())
    }

    /// The tests of this module and of its inner modules. This module is `depth` modules below the function
    /// `runs_case`.
    ///
    /// A test is expanded, checked and compiled once per case. So its body is one awaited call of a function that is not
    /// generic, and its paths are short: each module imports what its tests name.
    fn tests(&self, attributes: &TokenStream, names: &Names<'_>, depth: usize) -> TokenStream {
        let up = std::iter::repeat_n(quote!(super::), depth);
        let (private, run) = (&names.private, &names.runs_case);
        let has_tests = self.sets.iter().any(|tests| !tests.set.cases.is_empty());
        let imports = quote!(use #private::tokio as __tokio; use #(#up)* #run;);
        let mut tokens = if has_tests { imports } else { TokenStream::new() };
        for Tests { variant, at, set } in &self.sets {
            let variant = variant.iter();
            let of_set = quote!(#(#variant,)* #at);
            for (case, test) in set.cases.iter().enumerate() {
                let name = Ident::new(&test.name, Span::call_site());
                tokens.extend(quote! {
                    #attributes
                    async fn #name() { #run(#of_set, #case).await }
                });
            }
        }
        tokens.extend(self.inner_tests(attributes, names, depth, &TokenStream::new()));
        tokens
    }

    /// The inner modules, each with these attributes.
    fn inner_tests(
        &self,
        attributes: &TokenStream,
        names: &Names<'_>,
        depth: usize,
        of_module: &TokenStream,
    ) -> TokenStream {
        let modules = self.inner.iter().map(|(name, inner)| {
            let name = Ident::new(name, Span::call_site());
            let inner = inner.tests(attributes, names, depth + 1);
            quote!(#of_module mod #name { #inner })
        });
        modules.collect()
    }

    /// Whether the names in it pass the lint `non_snake_case`: test names keep the letter case of ids.
    fn is_snake_case(&self) -> bool {
        let mut tests = self.sets.iter().flat_map(|tests| &tests.set.cases);
        tests.all(|case| is_snake_case(&case.name))
            && self.inner.iter().all(|(name, inner)| is_snake_case(name) && inner.is_snake_case())
    }
}

fn is_snake_case(name: &str) -> bool {
    !name.chars().any(char::is_uppercase) && !name.trim_matches('_').contains("__")
}
