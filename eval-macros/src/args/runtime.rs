//! Arguments for `#[tokio::test]`: `flavor`, `worker_threads`.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;
use syn::LitStr;

use super::value::OptionValue;
use crate::diagnostics::{Diagnostics, error};
use crate::features::Feature;

/// Tokio's runtime for each test.
#[derive(Default)]
pub(crate) struct Runtime {
    flavor: Option<LitStr>,
    worker_threads: Option<(u32, Span)>,
}

impl Runtime {
    /// Reads `flavor = "multi_thread"`.
    pub(super) fn read_flavor(&mut self, value: &OptionValue<'_>) -> syn::Result<()> {
        let text = value.string()?;
        if !matches!(text.value().as_str(), "current_thread" | "multi_thread") {
            return Err(error(
                text.span(),
                format!("unknown `flavor`: `{}`", text.value()),
                r#"it is "current_thread" or "multi_thread""#,
            ));
        }
        self.flavor = Some(text);
        Ok(())
    }

    /// Reads `worker_threads = 2`.
    pub(super) fn read_worker_threads(&mut self, value: &OptionValue<'_>) -> syn::Result<()> {
        self.worker_threads = Some((value.count()?, value.name.span()));
        Ok(())
    }

    /// Checks that the options fit together, and notes the feature that the runtime needs.
    pub(super) fn check(&self, diagnostics: &mut Diagnostics) {
        if let (Some((_, span)), false) = (self.worker_threads, self.is_multi_thread()) {
            diagnostics.error(
                span,
                "`worker_threads` has no effect on one thread",
                r#"add `flavor = "multi_thread"`, or leave `worker_threads` out"#,
            );
        }
        if let (Some(flavor), true) = (&self.flavor, self.is_multi_thread()) {
            diagnostics.needs(Feature::MULTI_THREAD, flavor.span(), "`flavor = \"multi_thread\"`");
        }
    }

    /// Whether the tests need tokio's multi-threaded runtime.
    pub(crate) fn is_multi_thread(&self) -> bool {
        self.flavor.as_ref().is_some_and(|flavor| flavor.value() == "multi_thread")
    }

    /// The arguments of `#[tokio::test]`, each with a comma in front.
    pub(crate) fn tokens(&self) -> TokenStream {
        let flavor = self.flavor.iter().map(|flavor| quote!(, flavor = #flavor));
        let threads = self.worker_threads.iter().map(|(count, _)| {
            let count = Literal::u32_unsuffixed(*count);
            quote!(, worker_threads = #count)
        });
        quote!(#(#flavor)* #(#threads)*)
    }
}
