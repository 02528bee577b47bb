//! The function as written, and a hidden function that hands the functions of the attribute to eval-core.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::{Names, option};
use crate::args::Args;
use crate::features::Feature;
use crate::item::Item;

/// The annotated function, and one that returns it as a value, together with the custom metrics and the judge.
///
/// The second is not limited to tests, so the types of all of them are checked in every build, and no editor shows the
/// name of the annotated function as inactive code. Outside of tests it is never called, so nothing is compiled for it.
pub(super) fn function(args: &Args, item: &Item, names: &Names<'_>) -> TokenStream {
    if !item.is_free {
        return quote!(#item);
    }
    let Names { private, functions, .. } = names;
    let annotated = names.call("annotated", names.function);
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
        fn #functions() -> #private::Functions {
            #private::Functions { annotated: #annotated, metrics: &[#(#metrics),*], judge: #judge }
        }
        // Nothing is unused outside of tests.
        const _: () = { let _ = #functions; };
    }
}
