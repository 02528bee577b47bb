//! From a suite to tokens: the function as written, hidden functions beside it, and a module of tests.
//!
//! A test is one call of a hidden function, which has the files in a static. The hidden function is in the
//! module of the user's function, so that paths in the attribute have the same meaning.

mod module;
mod names;
mod sets;

use eval_format::matrix::too_many_tests;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::args::{Args, Matrix};
use crate::diagnostics::Diagnostics;
use crate::features::Feature;
use crate::item::Item;
use crate::package::Target;
use crate::suite::Suite;
use names::{Names, option};
use sets::Sets;

/// The annotated function, and one that returns it as a value, together with the custom metrics and the judge.
///
/// The second one has no `#[cfg(test)]`. So every build checks the types of all these functions, and no
/// editor shows the name of the annotated function as inactive code. Outside of tests it is never called, so
/// no code is generated for it.
pub(crate) fn function(args: &Args, item: &Item) -> TokenStream {
    let names = Names::new(args, item);
    if !item.is_free {
        return quote!(#item);
    }
    let Names { private, functions, .. } = &names;
    let function = names.function;
    let (annotated, parameter) = match &args.matrix {
        None => (names.call("annotated", function), None),
        Some(_) => (
            names.call("annotated_variant", &quote!(#function, __variant)),
            Some(quote!(__variant: &'static #function::Variant)),
        ),
    };
    let metrics = args.metrics.iter().map(|custom| {
        let (name, metric) = (&custom.name, names.call("metric", &custom.path));
        quote!((#name, || #metric))
    });
    let judge = match &args.judge {
        Some(path) => {
            let judge = names.call("judge", path);
            Feature::JUDGES.switch(private, &option(Some(quote!(|| #judge))), &option(None))
        }
        None => option(None),
    };
    quote! {
        #item
        #[doc(hidden)]
        fn #functions(#parameter) -> #private::Functions {
            #private::Functions { annotated: #annotated, metrics: &[#(#metrics),*], judge: #judge }
        }
        // Prevents warnings about unused functions outside of tests.
        const _: () = { let _ = #functions; };
    }
}

pub(crate) fn tests(args: &Args, item: &Item, suite: &Suite) -> TokenStream {
    let names = Names::new(args, item);
    let runs_case = runs_case(args, item, &names, suite);
    let module = module::module(args, item, &names, suite);
    let warning = args.matrix.as_ref().and_then(|matrix| large_matrix(matrix, suite));
    quote!(#runs_case #module #warning)
}

/// The warning about a matrix with many tests. On stable Rust a macro warns through the use of something deprecated.
fn large_matrix(matrix: &Matrix, suite: &Suite) -> Option<TokenStream> {
    let cases = suite.sets.iter().map(|set| set.cases.len()).sum();
    let note = too_many_tests(matrix.variants.len(), cases)?;
    let used = Ident::new("LARGE_MATRIX", matrix.span);
    Some(quote! {
        #[cfg(test)]
        const _: () = {
            #[deprecated(note = #note)]
            const LARGE_MATRIX: () = ();
            #used
        };
    })
}

/// The type of the variants in place of the tests, which have a mistake: the function names the type.
pub(crate) fn without_tests(args: &Args, item: &Item) -> TokenStream {
    module::with_variant(args, item, &TokenStream::new(), &TokenStream::new())
}

pub(crate) fn errors(args: &Args, diagnostics: &Diagnostics) -> TokenStream {
    diagnostics.tokens(&names::private(args.krate.as_ref(), Span::call_site()))
}

/// The function that holds the sets and runs one case.
fn runs_case(args: &Args, item: &Item, names: &Names<'_>, suite: &Suite) -> TokenStream {
    let Names { private, functions, runs_case, .. } = names;
    let run = match item.should_panic() {
        None => quote!(run),
        Some(_) => quote!(run_should_panic),
    };
    // eval-core decides which failures such a test may expect.
    let expected = item.should_panic().map(|expected| quote!(, #expected));
    let count = suite.sets.len();
    let ignored = item.case_attributes.iter().any(|attribute| attribute.path().is_ident("ignore"));
    let faults = suite.faults.as_deref();
    let sets = Sets { args, names, faults, ignored, target: &Target::current() };
    let sets = suite.sets.iter().map(|set| sets.source(set));
    let variants = args.matrix.as_ref().map(|matrix| variants(matrix, names));
    let parameter = args.matrix.as_ref().map(|_| quote!(__variant: ::core::primitive::usize,));
    let variant = option(args.matrix.as_ref().map(|_| quote!(&__SOURCES[__variant])));
    let value = args.matrix.as_ref().map(|_| quote!(&__VARIANTS[__variant]));
    // The names of the arguments are unlikely in the user's crate: a function or static `case` there would
    // hide ours.
    quote! {
        #[cfg(test)]
        #[doc(hidden)]
        fn #runs_case(
            #parameter __set: ::core::primitive::usize, __case: ::core::primitive::usize
        ) -> #private::CaseTest {
            static __SETS: [#private::SetSource; #count] = [#(#sets),*];
            #variants
            #private::#run(&__SETS[__set], __case, ::core::module_path!(), #variant, #functions(#value) #expected)
        }
    }
}

/// The variants as statics: as the function of the user takes them, and as the journal names them.
fn variants(matrix: &Matrix, names: &Names<'_>) -> TokenStream {
    let Names { private, function, .. } = names;
    let count = matrix.variants.len();
    let values = matrix.variants.iter().map(|variant| {
        let fields = matrix.axes.iter().zip(&variant.0).map(|(axis, (_, value))| quote!(#axis: #value));
        quote!(#function::Variant { #(#fields),* })
    });
    let sources = matrix.variants.iter().enumerate().map(|(order, variant)| {
        let modules = variant.modules().collect::<Vec<_>>().join("::");
        let (label, axes) = (variant.label(), variant.0.iter().map(|(axis, value)| quote!((#axis, #value))));
        quote!(#private::VariantSource { modules: #modules, label: #label, order: #order, values: &[#(#axes),*] })
    });
    quote! {
        static __VARIANTS: [#function::Variant; #count] = [#(#values),*];
        static __SOURCES: [#private::VariantSource; #count] = [#(#sources),*];
    }
}

#[cfg(test)]
mod tests;
