//! What the user is told: every mistake found, as one `compile_error!` each.

use std::fmt::Display;

use eval_format::Problem;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// More errors than this are counted, not shown: a list of a thousand helps nobody.
const SHOWN: usize = 20;

/// The mistakes found so far; each pass adds its own and goes on.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    errors: Vec<syn::Error>,
}

impl Diagnostics {
    /// Adds a mistake: one line that names it, and what to do about it.
    pub(crate) fn error(&mut self, span: Span, headline: impl Display, help: impl Display) {
        self.errors.push(error(span, headline, help));
    }

    /// Adds a mistake that was found while parsing.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    /// Keeps the value, or adds the mistake.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Adds what is wrong with a file: spanned on the path that named it, shown with the place in it.
    pub(crate) fn problem(&mut self, span: Span, problem: &Problem, file: &str, text: &str) {
        self.errors.push(syn::Error::new(span, eval_format::render(problem, file, text)));
    }

    /// How many there are so far.
    pub(crate) fn len(&self) -> usize {
        self.errors.len()
    }

    /// Whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// What has been found, for tests.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.errors.iter().map(ToString::to_string).collect()
    }

    /// One `compile_error!` for each mistake, and one that counts those not shown.
    pub(crate) fn into_tokens(mut self) -> TokenStream {
        let hidden = self.errors.len().saturating_sub(SHOWN);
        self.errors.truncate(SHOWN);
        if let (1.., Some(last)) = (hidden, self.errors.last()) {
            let plural = if hidden == 1 { "" } else { "s" };
            self.errors.push(syn::Error::new(last.span(), format!("{hidden} more error{plural} not shown")));
        }
        self.errors.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// A mistake with its remedy, laid out as the compiler lays out its own.
pub(crate) fn error(span: Span, headline: impl Display, help: impl Display) -> syn::Error {
    syn::Error::new(span, format!("{headline}\n= help: {help}"))
}

/// A mistake made of several tokens.
pub(crate) fn error_on(tokens: &impl ToTokens, headline: impl Display, help: impl Display) -> syn::Error {
    syn::Error::new_spanned(tokens, format!("{headline}\n= help: {help}"))
}

/// The words as a list of code: `` `a`, `b` and `c` ``.
pub(crate) fn code_list<S: AsRef<str>>(words: &[S]) -> String {
    let mut list = String::new();
    for (at, word) in words.iter().enumerate() {
        let separator = match at {
            0 => "",
            _ if at + 1 == words.len() => " and ",
            _ => ", ",
        };
        list.push_str(separator);
        list.push('`');
        list.push_str(word.as_ref());
        list.push('`');
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_twenty_errors_the_rest_is_counted() {
        let tokens = |count: usize| {
            let mut diagnostics = Diagnostics::default();
            for _ in 0..count {
                diagnostics.error(Span::call_site(), "bad", "good");
            }
            diagnostics.into_tokens().to_string()
        };
        assert_eq!(tokens(20).matches("compile_error").count(), 20);
        assert!(!tokens(20).contains("not shown"));
        assert_eq!(tokens(25).matches("compile_error").count(), 21);
        assert!(tokens(25).contains("5 more errors not shown"));
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(code_list(&["a"]), "`a`");
        assert_eq!(code_list(&["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
