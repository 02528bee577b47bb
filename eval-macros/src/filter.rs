//! `cases = ["refund_*", "tag:smoke", "!*_slow"]`: which cases of the sets become tests.

use std::collections::BTreeSet;

use eval_format::EvalCase;
use eval_format::find::is_glob;
use eval_format::tags::tags_at_hand;
use eval_support::words::{code_list, did_you_mean};
use glob::Pattern;
use proc_macro2::Span;
use syn::LitStr;

use crate::diagnostics::Diagnostics;

/// Globs on ids, and on tags if they begin with `tag:`. A glob that begins with `!` excludes what it matches. A case is
/// taken if a plain glob matches it, or if there are no plain globs, and no glob excludes it.
#[derive(Debug)]
pub(crate) struct Filter {
    globs: Vec<Glob>,
}

#[derive(Debug)]
struct Glob {
    pattern: Pattern,
    of_tag: bool,
    excludes: bool,
    span: Span,
}

/// A case as the filter sees it.
#[derive(Debug)]
pub(crate) struct Case<'a> {
    pub(crate) id: &'a str,
    pub(crate) tags: Vec<&'a str>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(case: &'a EvalCase) -> Self {
        Self { id: &case.eval_id, tags: case.tags().collect() }
    }
}

impl Glob {
    fn matches(&self, case: &Case<'_>) -> bool {
        if self.of_tag {
            case.tags.iter().any(|tag| self.pattern.matches(tag))
        } else {
            self.pattern.matches(case.id)
        }
    }
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
            let (of_tag, text) = match text.strip_prefix("tag:") {
                Some(tag) => (true, tag),
                None => (false, text),
            };
            match Pattern::new(text) {
                Ok(pattern) => filter.globs.push(Glob { pattern, of_tag, excludes, span: literal.span() }),
                Err(error) => diagnostics.error(
                    literal.span(),
                    format!("`{text}` is not a glob: {}", error.msg),
                    "a glob is made of `*`, `?` and `[..]`; `!` in front excludes what it matches",
                ),
            }
        }
        filter
    }

    pub(crate) fn takes(&self, case: &Case<'_>) -> bool {
        let matches =
            |excludes| self.globs.iter().any(move |glob| glob.excludes == excludes && glob.matches(case));
        let takes_all = self.globs.iter().all(|glob| glob.excludes);
        (takes_all || matches(false)) && !matches(true)
    }

    /// Reports each glob that matches no case, and a filter that takes no case. If the tags of some cases are not known,
    /// globs on tags may match.
    pub(crate) fn check(&self, cases: &[Case<'_>], tags_are_known: bool, diagnostics: &mut Diagnostics) {
        let ids = || distinct(cases.iter().map(|case| case.id));
        let mut all_match = true;
        for glob in &self.globs {
            if glob.of_tag && !tags_are_known {
                all_match = false;
            } else if !cases.iter().any(|case| glob.matches(case)) {
                all_match = false;
                let text = glob.pattern.as_str();
                let (headline, help) = if glob.of_tag {
                    let tags = distinct(cases.iter().flat_map(|case| case.tags.iter().copied()));
                    let what = if is_glob(text) { "a tag like" } else { "the tag" };
                    (format!("no case has {what} `{text}`"), tags_at_hand(&letters(text), &tags))
                } else {
                    (format!("no case matches `{text}`"), nearest(text, &ids()))
                };
                diagnostics.error(glob.span, headline, help);
            }
        }
        if let Some(first) = self.globs.first()
            && all_match
            && !cases.iter().any(|case| self.takes(case))
        {
            diagnostics.error(
                first.span,
                "`cases` leaves no case",
                format!("every case that it takes is also excluded; {}", ids_at_hand(&ids())),
            );
        }
    }
}

/// The texts, sorted, each once: several files of a directory may have the same case id.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    texts.collect::<BTreeSet<&str>>().into_iter().collect()
}

/// Help for a glob without a match: the id that was probably meant.
fn nearest(glob: &str, ids: &[&str]) -> String {
    did_you_mean(&letters(glob), ids.iter().copied()).unwrap_or_else(|| ids_at_hand(ids))
}

/// The glob without its wildcards, which may be a misspelt name.
fn letters(glob: &str) -> String {
    glob.replace(['*', '?'], "")
}

fn ids_at_hand(ids: &[&str]) -> String {
    const MAX_SHOWN_IDS: usize = 5;
    match ids.len() {
        0 => "there are no cases".to_owned(),
        1 => format!("the only id is {}", code_list(ids)),
        2..=MAX_SHOWN_IDS => format!("the ids are {}", code_list(ids)),
        count => format!("there are {count} ids, the first are {}", code_list(&ids[..MAX_SHOWN_IDS])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(globs: &[&str], diagnostics: &mut Diagnostics) -> Filter {
        let globs: Vec<LitStr> = globs.iter().map(|glob| LitStr::new(glob, Span::call_site())).collect();
        Filter::parse(&globs, diagnostics)
    }

    /// Cases of these ids, each with the tags behind its `#`.
    fn cases<'a>(named: &[&'a str]) -> Vec<Case<'a>> {
        let case = |text: &&'a str| {
            let mut words = text.split('#');
            Case { id: words.next().unwrap_or_default(), tags: words.collect() }
        };
        named.iter().map(case).collect()
    }

    fn taken<'a>(filter: &Filter, of: &[&'a str]) -> Vec<&'a str> {
        cases(of).iter().filter(|case| filter.takes(case)).map(|case| case.id).collect()
    }

    #[test]
    fn a_glob_on_tags_takes_and_excludes_beside_globs_on_ids() {
        let all = ["refund_fast#smoke", "refund_slow#slow#smoke", "sunny", "tag:x#paris"];
        for (globs, expected) in [
            (&["tag:smoke"][..], &["refund_fast", "refund_slow"][..]),
            (&["tag:smoke", "!tag:slow"], &["refund_fast"]),
            (&["!tag:s*"], &["sunny", "tag:x"]),
            (&["tag:slow", "sunny"], &["refund_slow", "sunny"]),
            (&["tag:*"], &["refund_fast", "refund_slow", "tag:x"]),
            (&["refund_*", "!tag:slow"], &["refund_fast"]),
            (&["[t]ag:x"], &["tag:x"]),
        ] {
            let mut diagnostics = Diagnostics::default();
            let filter = filter(globs, &mut diagnostics);
            filter.check(&cases(&all), true, &mut diagnostics);
            assert!(diagnostics.is_empty(), "{globs:?}: {:?}", diagnostics.messages());
            assert_eq!(taken(&filter, &all), expected, "{globs:?}");
        }
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
            assert_eq!(taken(&filter, &ids), expected, "{globs:?}");
        }
    }

    #[test]
    fn a_tag_of_a_set_with_errors_may_be_there() {
        let mut diagnostics = Diagnostics::default();
        filter(&["tag:slow", "refnd"], &mut diagnostics).check(&cases(&["refund"]), false, &mut diagnostics);
        let errors = diagnostics.messages();
        assert!(errors.len() == 1 && errors[0].contains("no case matches `refnd`"), "{errors:?}");
    }

    #[test]
    fn a_glob_without_a_match_names_the_nearest_ids() {
        for (globs, expected) in [
            (&["refnd*"][..], "did you mean `refund`?"),
            (&["!refnd"], "did you mean `refund`?"),
            (&["x*"], "the ids are `refund` and `weather`"),
            (&["["], "is not a glob"),
            (&["*", "!*"], "`cases` leaves no case"),
            (&["tag:slow", "!refund"], "`cases` leaves no case"),
            (&["tag:smok"], "no case has the tag `smok`"),
            (&["tag:smok"], "did you mean `smoke`? The tags are `slow` and `smoke`"),
            (&["!tag:oslo*"], "no case has a tag like `oslo*`"),
            (&["tag:"], "no case has the tag ``"),
            (&["tag:["], "is not a glob"),
        ] {
            let mut diagnostics = Diagnostics::default();
            let cases = cases(&["refund#slow", "weather#smoke", "refund#slow"]);
            filter(globs, &mut diagnostics).check(&cases, true, &mut diagnostics);
            let errors = diagnostics.messages();
            assert!(errors.len() == 1 && errors[0].contains(expected), "{globs:?}: {errors:?}");
        }
    }
}
