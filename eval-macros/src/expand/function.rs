//! The function as written, and the check of the functions that the attribute names.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::Names;
use crate::args::Args;
use crate::features::Feature;
use crate::item::Item;

/// The function, and a check of its type and of the types of custom metrics and of the judge.
///
/// The check is compiled with and without tests. If it were left out of tests, which make the same calls, editors would
/// show the name of the function as inactive code. The compiler shows equal errors once.
pub(super) fn function(args: &Args, item: &Item, names: &Names<'_>) -> TokenStream {
    if !item.is_free {
        return quote!(#item);
    }
    let annotated = names.annotated();
    let metrics = args.metrics.iter().map(|metric| names.metric(&metric.path));
    let judge = args.judge.iter().map(|path| {
        let judge = names.judge(path);
        Feature::JUDGES.switch(&names.private, &quote!(let _ = || #judge;), &TokenStream::new())
    });
    quote! {
        #item
        const _: fn() = || {
            let _ = #annotated;
            #(let _ = || #metrics;)*
            #(#judge)*
        };
    }
}
