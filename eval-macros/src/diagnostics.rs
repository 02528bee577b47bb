//! Mistakes for the user: one `compile_error!` each.

use std::fmt::Display;

use eval_format::Problem;
use eval_format::problem::render;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

use crate::features::Feature;

/// Errors beyond this number are counted, not shown.
const MAX_SHOWN_ERRORS: usize = 20;

/// The mistakes found so far. Each pass adds its own and goes on.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    errors: Errors,
    /// Errors that hold only if eval-core lacks a feature.
    needs: Vec<(Feature, Errors)>,
}

impl Diagnostics {
    /// Adds a mistake: one line that names it, and what to do about it.
    pub(crate) fn error(&mut self, span: Span, headline: impl Display, help: impl Display) {
        self.errors.add(|| error(span, headline, help));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.add(|| error);
    }

    /// Keeps the value, or adds the mistake.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Adds a problem of a file. Its span is the path that named the file, and its text shows the place in
    /// the file.
    pub(crate) fn problem(&mut self, span: Span, problem: &Problem, file: &str, text: &str) {
        self.errors.add(|| syn::Error::new(span, render(problem, file, text)));
    }

    /// Adds something that is an error if eval-core lacks a feature; `what` begins the headline.
    pub(crate) fn needs(&mut self, feature: Feature, span: Span, what: impl Display) {
        self.errors_without(feature)
            .add(|| error(span, format!("{what} {}", feature.needed()), feature.help()));
    }

    /// Adds something in a file that is an error if eval-core lacks a feature; `found` names it and its place.
    pub(crate) fn file_needs(
        &mut self,
        feature: Feature,
        span: Span,
        mut found: Problem,
        file: &str,
        text: &str,
    ) {
        self.errors_without(feature).add(|| {
            found.message = format!("{}, which {}", found.message, feature.needed());
            found.help = Some(feature.help());
            syn::Error::new(span, render(&found, file, text))
        });
    }

    fn errors_without(&mut self, feature: Feature) -> &mut Errors {
        let at = self.needs.iter().position(|(known, _)| *known == feature).unwrap_or(self.needs.len());
        if at == self.needs.len() {
            self.needs.push((feature, Errors::default()));
        }
        &mut self.needs[at].1
    }

    /// The number of mistakes so far, whatever features eval-core has.
    pub(crate) fn len(&self) -> usize {
        self.errors.shown.len() + self.errors.hidden
    }

    /// Whether there are no mistakes, whatever features eval-core has.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.errors.shown.iter().map(ToString::to_string).collect()
    }

    /// One `compile_error!` for each mistake. Mistakes about features are errors only if eval-core lacks the
    /// feature. `private` is the path of eval-core's `__private`.
    pub(crate) fn tokens(&self, private: &TokenStream) -> TokenStream {
        let mut tokens = self.errors.tokens();
        for (feature, errors) in &self.needs {
            tokens.extend(feature.switch(private, &TokenStream::new(), &errors.tokens()));
        }
        tokens
    }
}

/// Keeps at most as many errors as are shown, and counts the rest.
#[derive(Debug, Default)]
struct Errors {
    shown: Vec<syn::Error>,
    hidden: usize,
}

impl Errors {
    fn add(&mut self, error: impl FnOnce() -> syn::Error) {
        if self.shown.len() < MAX_SHOWN_ERRORS { self.shown.push(error()) } else { self.hidden += 1 }
    }

    /// One `compile_error!` each, and one that counts those not shown.
    fn tokens(&self) -> TokenStream {
        let mut tokens: TokenStream = self.shown.iter().map(syn::Error::to_compile_error).collect();
        if let (1.., Some(last)) = (self.hidden, self.shown.last()) {
            let plural = if self.hidden == 1 { "" } else { "s" };
            let count = format!("{} more error{plural} not shown", self.hidden);
            tokens.extend(syn::Error::new(last.span(), count).to_compile_error());
        }
        tokens
    }
}

/// A mistake with its remedy, laid out as the compiler lays out its own.
pub(crate) fn error(span: Span, headline: impl Display, help: impl Display) -> syn::Error {
    syn::Error::new(span, format!("{headline}\n= help: {help}"))
}

/// A mistake with its remedy, spanned on several tokens.
pub(crate) fn error_on(tokens: &impl ToTokens, headline: impl Display, help: impl Display) -> syn::Error {
    syn::Error::new_spanned(tokens, format!("{headline}\n= help: {help}"))
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn after_twenty_errors_the_rest_is_counted() {
        let tokens = |count: usize| {
            let mut diagnostics = Diagnostics::default();
            for _ in 0..count {
                diagnostics.error(Span::call_site(), "bad", "good");
            }
            diagnostics.tokens(&quote!(private)).to_string()
        };
        assert_eq!(tokens(20).matches("compile_error").count(), 20);
        assert!(!tokens(20).contains("not shown"));
        assert_eq!(tokens(25).matches("compile_error").count(), 21);
        assert!(tokens(25).contains("5 more errors not shown"));
    }

    #[test]
    fn a_missing_feature_is_left_to_eval_core() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.needs(Feature::JUDGES, Span::call_site(), "`judge`");
        diagnostics.needs(Feature::JUDGES, Span::call_site(), "`judge`");
        assert!(diagnostics.is_empty());
        let tokens = diagnostics.tokens(&quote!(private)).to_string();
        assert!(tokens.starts_with("private :: judges ! { { } { :: core :: compile_error"), "{tokens}");
        assert_eq!(
            tokens.matches("`judge` needs the feature `judges` of `eval-core`").count(),
            2,
            "{tokens}"
        );
    }
}
