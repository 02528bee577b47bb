//! Features of eval-core that an argument, a criterion or a case may need.
//!
//! A macro cannot see which features eval-core was compiled with. eval-core's `__private` has a macro for each feature
//! here. It takes two groups of tokens and expands to the first if the feature is on, else to the second.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Feature(&'static str);

impl Feature {
    /// Judged metrics, judges, simulated users.
    pub(crate) const JUDGES: Self = Self("judges");
    /// Tokio's multi-threaded runtime.
    pub(crate) const MULTI_THREAD: Self = Self("multi-thread");

    /// The end of a headline: `needs the feature ..`.
    pub(crate) fn needed(self) -> String {
        format!("needs the feature `{}` of `eval-core`", self.0)
    }

    pub(crate) fn help(self) -> String {
        format!("add `features = [\"{}\"]` to the line of `eval-core` in `Cargo.toml`", self.0)
    }

    /// Tokens that expand to `with` if eval-core has the feature, else to `without`. `private` is the path of
    /// `__private`.
    pub(crate) fn switch(
        self,
        private: &TokenStream,
        with: &TokenStream,
        without: &TokenStream,
    ) -> TokenStream {
        let name = Ident::new(&self.0.replace('-', "_"), Span::call_site());
        quote!(#private::#name! { { #with } { #without } })
    }
}
