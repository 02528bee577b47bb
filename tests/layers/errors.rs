//! Texts of errors: a text names its cause, so no error has a `source()` beside it.

use syn::visit::Visit;

use crate::tree::Sources;

/// The functions `source` of types that implement `Error`, as `path:line`.
///
/// # Errors
///
/// A sentence, if a file is not Rust.
pub(crate) fn with_source(sources: &Sources) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for (path, text) in sources {
        // Parsing takes its time, and few files define errors.
        if !text.contains("Error for ") {
            continue;
        }
        let file = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
        let mut errors = Errors { path, found: &mut found };
        errors.visit_file(&file);
    }
    Ok(found)
}

struct Errors<'e> {
    path: &'e str,
    found: &'e mut Vec<String>,
}

impl<'ast> Visit<'ast> for Errors<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let is_error = item
            .trait_
            .as_ref()
            .and_then(|(path, _)| path.segments.last())
            .is_some_and(|last| last.ident == "Error");
        for function in &item.items {
            if let syn::ImplItem::Fn(function) = function
                && is_error
                && function.sig.ident == "source"
            {
                self.found.push(format!("{}:{}", self.path, function.sig.ident.span().start().line));
            }
        }
        syn::visit::visit_item_impl(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_with_a_source_are_found() {
        let text = "impl std::error::Error for A {}\nmod m {\n impl Error for B {\n  fn source(&self) -> X { None }\n }\n}\n\
                    impl Other for C { fn source(&self) {} }\n";
        let sources = Sources::from([("a.rs".to_owned(), text.to_owned())]);
        assert_eq!(with_source(&sources).unwrap(), ["a.rs:4"]);
    }
}
