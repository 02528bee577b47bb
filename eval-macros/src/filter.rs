//! `cases = ["refund_*", "!*_slow"]`: which cases of the sets become tests.

use eval_support::words::{code_list, did_you_mean};
use glob::Pattern;
use proc_macro2::Span;
use syn::LitStr;

use crate::diagnostics::Diagnostics;

/// Globs on ids. A glob that begins with `!` excludes what it matches. A case is taken if a plain glob matches it, or
/// if there are no plain globs, and no glob excludes it.
#[derive(Debug)]
pub(crate) struct Filter {
    globs: Vec<Glob>,
}

#[derive(Debug)]
struct Glob {
    pattern: Pattern,
    excludes: bool,
    span: Span,
}

impl Filter {
    pub(crate) fn parse(globs: &[LitStr], diagnostics: &mut Diagnostics) -> Self {
        let mut filter = Self { globs: Vec::new() };
        for literal in globs {
            let text = literal.value();
            let (excludes, text) = match text.strip_prefix('!') {
                Some(rest) => (true, rest),
                None => (false, text.as_str()),
            };
            match Pattern::new(text) {
                Ok(pattern) => filter.globs.push(Glob { pattern, excludes, span: literal.span() }),
                Err(error) => diagnostics.error(
                    literal.span(),
                    format!("`{text}` is not a glob: {}", error.msg),
                    "a glob is made of `*`, `?` and `[..]`; `!` in front excludes what it matches",
                ),
            }
        }
        filter
    }

    pub(crate) fn takes(&self, id: &str) -> bool {
        let matches = |excludes| {
            self.globs.iter().any(move |glob| glob.excludes == excludes && glob.pattern.matches(id))
        };
        let takes_all = self.globs.iter().all(|glob| glob.excludes);
        (takes_all || matches(false)) && !matches(true)
    }

    /// Reports each glob that matches no id, and a filter that takes no case.
    pub(crate) fn check(&self, ids: &[&str], diagnostics: &mut Diagnostics) {
        let mut all_match = true;
        for glob in &self.globs {
            if !ids.iter().any(|id| glob.pattern.matches(id)) {
                all_match = false;
                let headline = format!("no case matches `{}`", glob.pattern);
                diagnostics.error(glob.span, headline, nearest(glob.pattern.as_str(), ids));
            }
        }
        if let (Some(first), true) = (self.globs.first(), all_match && !ids.iter().any(|id| self.takes(id))) {
            diagnostics.error(
                first.span,
                "`cases` leaves no case",
                format!("every case that it takes is also excluded; {}", ids_at_hand(ids)),
            );
        }
    }
}

/// Help for a glob without a match: the id that was probably meant.
fn nearest(glob: &str, ids: &[&str]) -> String {
    let letters = glob.replace(['*', '?'], "");
    did_you_mean(&letters, ids.iter().copied()).unwrap_or_else(|| ids_at_hand(ids))
}

fn ids_at_hand(ids: &[&str]) -> String {
    const SHOWN: usize = 5;
    match ids.len() {
        0 => "there are no cases".to_owned(),
        1 => format!("the only id is {}", code_list(ids)),
        2..=SHOWN => format!("the ids are {}", code_list(ids)),
        count => format!("there are {count} ids, the first are {}", code_list(&ids[..SHOWN])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(globs: &[&str], diagnostics: &mut Diagnostics) -> Filter {
        let globs: Vec<LitStr> = globs.iter().map(|glob| LitStr::new(glob, Span::call_site())).collect();
        Filter::parse(&globs, diagnostics)
    }

    #[test]
    fn plain_globs_take_and_negated_ones_exclude() {
        let ids = ["refund_fast", "refund_slow", "a/b", "!x"];
        for (globs, expected) in [
            (&[][..], &ids[..]),
            (&["refund_*"], &["refund_fast", "refund_slow"]),
            (&["refund_*", "!*_slow"], &["refund_fast"]),
            (&["!*_slow"], &["refund_fast", "a/b", "!x"]),
            (&["!*_slow", "refund_*"], &["refund_fast"]),
            (&["a*", "?x"], &["a/b", "!x"]),
        ] {
            let filter = filter(globs, &mut Diagnostics::default());
            let taken: Vec<&str> = ids.into_iter().filter(|id| filter.takes(id)).collect();
            assert_eq!(taken, expected, "{globs:?}");
        }
    }

    #[test]
    fn a_glob_without_a_match_names_the_nearest_ids() {
        for (globs, expected) in [
            (&["refnd*"][..], "did you mean `refund`?"),
            (&["!refnd"], "did you mean `refund`?"),
            (&["x*"], "the ids are `refund` and `weather`"),
            (&["["], "is not a glob"),
            (&["*", "!*"], "`cases` leaves no case"),
        ] {
            let mut diagnostics = Diagnostics::default();
            filter(globs, &mut diagnostics).check(&["refund", "weather"], &mut diagnostics);
            let errors = diagnostics.messages();
            assert!(errors.len() == 1 && errors[0].contains(expected), "{globs:?}: {errors:?}");
        }
    }
}
