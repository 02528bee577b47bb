//! Tags of cases: their check, and the selection of cases by them.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use eval_support::words::{code_list, did_you_mean, first_of_code_list};

use crate::model::TAGS;
use crate::problem::{Problem, ProblemCode, shown};
use crate::schema::Place;
use crate::syntax::Node;

/// Reports tags that could not be selected, or that are there twice.
pub(crate) fn check_case(case: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
    let Some(entry) = case.get(TAGS) else { return };
    let place = Place::Key(place, TAGS);
    let mut seen = HashMap::new();
    for (at, item) in entry.value.array().unwrap_or_default().iter().enumerate() {
        // The walker has reported an item that is not a string.
        let Some(tag) = item.string() else { continue };
        let place = Place::Index(&place, at);
        let range = item.range.clone();
        if tag.trim().is_empty() {
            let problem = place.error(ProblemCode::Tag, range, "a tag of the case is empty");
            problems
                .push(problem.label("expected a word").help(r#"write a word like `"smoke"`, or remove it"#));
        } else if tag.trim() != tag {
            let message = format!("the tag `{}` begins or ends with white space", shown(tag));
            let problem = place.error(ProblemCode::Tag, range, message);
            problems.push(problem.label("white space").help(format!("write `\"{}\"`", shown(tag.trim()))));
        } else if let Some(first) = seen.insert(tag, range.clone()) {
            let problem = place.warning(
                ProblemCode::Tag,
                range,
                format!("the case has the tag `{}` twice", shown(tag)),
            );
            problems
                .push(problem.label("again here").related(first, "first here").help("remove one of them"));
        }
    }
}

/// The tags by which a command line selects cases.
///
/// ```
/// use eval_format::tags::TagSelection;
///
/// let selection = TagSelection { any: vec!["smoke".into(), "paris".into()], none: vec!["slow".into()] };
/// assert!(selection.takes(["smoke"]));
/// assert!(!selection.takes(["smoke", "slow"]) && !selection.takes(["oslo"]));
///
/// let unknown = selection.check(["smok", "paris", "slow"]).unwrap_err();
/// assert_eq!(unknown.to_string(), "no case has the tag `smoke`");
/// assert_eq!(unknown.help(), "did you mean `smok`? The tags are `paris`, `slow` and `smok`");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagSelection {
    /// A case is taken if it has one of these tags. If there are none, each case is.
    pub any: Vec<String>,
    /// A case with one of these tags is not taken, whatever else it has.
    pub none: Vec<String>,
}

impl TagSelection {
    /// Whether no tag is named, so that all cases are taken.
    pub fn is_empty(&self) -> bool {
        self.any.is_empty() && self.none.is_empty()
    }

    /// Whether a case with these tags is taken.
    pub fn takes<T: AsRef<str>>(&self, tags: impl IntoIterator<Item = T>) -> bool {
        let mut is_taken = self.any.is_empty();
        for tag in tags {
            let is = |named: &String| named == tag.as_ref();
            if self.none.iter().any(is) {
                return false;
            }
            is_taken |= self.any.iter().any(is);
        }
        is_taken
    }

    /// Fails if a tag of the selection is not among the tags of the cases: a misspelt tag would leave out cases silently.
    pub fn check<T: AsRef<str>>(&self, known: impl IntoIterator<Item = T>) -> Result<(), UnknownTag> {
        if self.is_empty() {
            return Ok(());
        }
        let known: BTreeSet<String> = known.into_iter().map(|tag| tag.as_ref().to_owned()).collect();
        match self.any.iter().chain(&self.none).find(|tag| !known.contains(*tag)) {
            Some(tag) => Err(UnknownTag { tag: tag.clone(), known: known.into_iter().collect() }),
            None => Ok(()),
        }
    }
}

/// A tag that no case has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownTag {
    /// The tag.
    pub tag: String,
    /// The tags of the cases, sorted.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no case has the tag `{}`", shown(&self.tag))
    }
}

impl std::error::Error for UnknownTag {}

impl UnknownTag {
    /// The tag that may be meant, and the tags that cases have.
    pub fn help(&self) -> String {
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        tags_at_hand(&self.tag, &known)
    }
}

/// Help for a tag that no case has. The known tags are sorted.
pub fn tags_at_hand(tag: &str, known: &[&str]) -> String {
    let names: Vec<String> = known.iter().map(|tag| shown(tag)).collect();
    let there = match names.len() {
        0 => {
            return r#"the cases have no tags; a case gets one by its key `tags`: `"tags": ["smoke"]`"#
                .to_owned();
        }
        1 => format!("the only tag is {}", code_list(&names)),
        2..=MAX_SHOWN_TAGS => format!("the tags are {}", code_list(&names)),
        _ => format!("the tags are {}", first_of_code_list(&names, MAX_SHOWN_TAGS)),
    };
    match did_you_mean(tag, known.iter().copied()) {
        Some(question) => format!("{question} {}{}", there[..1].to_uppercase(), &there[1..]),
        None => there,
    }
}

const MAX_SHOWN_TAGS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Severity;
    use crate::reader::check_set;

    fn set(tags: &str) -> String {
        format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "owner": 1, "tags": {tags}, "a": 2,
            "conversation": [{{"user_content": {{"parts": [{{"text": "Hi"}}]}}}}]}}]}}"#
        )
    }

    #[test]
    fn a_tag_that_cannot_be_selected_is_an_error_with_its_place() {
        let (error, warning) = (Severity::Error, Severity::Warning);
        for (tags, severity, at, path, says) in [
            (r#""smoke""#, error, r#""smoke""#, "tags", "`tags` must be an array, not a string"),
            (r#"{"a": 1}"#, error, "{", "tags", "`tags` must be an array, not an object"),
            ("true", error, "true", "tags", "`tags` must be an array, not a boolean"),
            (r#"["a", 7]"#, error, "7", "tags[1]", "`eval_cases[0].tags[1]` must be a string, not a number"),
            ("[null]", error, "null", "tags[0]", "must be a string, not null"),
            (r#"["a", ""]"#, error, r#""""#, "tags[1]", "a tag of the case is empty"),
            (r#"[" \t"]"#, error, r#"" \t""#, "tags[0]", "a tag of the case is empty"),
            (
                r#"["slow "]"#,
                error,
                r#""slow ""#,
                "tags[0]",
                "the tag `slow ` begins or ends with white space",
            ),
            (r#"["a", "b", "a"]"#, warning, r#""a""#, "tags[2]", "the case has the tag `a` twice"),
        ] {
            let text = set(tags);
            let checked = check_set("s.json", text.as_bytes(), None);
            let [problem] = checked.problems.as_slice() else { panic!("{tags}: {:#?}", checked.problems) };
            assert_eq!((problem.severity, &text[problem.range.clone()]), (severity, at), "{tags}");
            assert_eq!(problem.path.to_string(), format!("eval_cases[0].{path}"));
            assert!(problem.message.contains(says), "{}", problem.message);
            assert!(problem.help.is_some() && checked.set.is_some() == (severity == warning));
        }
        for sound in ["null", "[]", r#"["smoke", "a b", "日本", "a,b", "!x"]"#] {
            assert!(check_set("s.json", set(sound).as_bytes(), None).problems.is_empty(), "{sound}");
        }
    }

    #[test]
    fn tags_stay_in_their_place_among_the_keys_that_adk_keeps() {
        let checked = check_set("s.json", set(r#"["smoke", "paris"]"#).as_bytes(), None);
        let case = &checked.set.unwrap().eval_cases[0];
        assert!(case.tags().eq(["smoke", "paris"]));
        let keys: Vec<&str> = case.extra.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["owner", "tags", "a"]);
        assert!(case.to_value().to_string().ends_with(r#""owner":1,"tags":["smoke","paris"],"a":2}"#));
    }

    #[test]
    fn a_case_built_in_rust_is_checked_as_its_file_is() {
        use crate::model::{EvalCase, Invocation};
        let case = || EvalCase::new("c").turn(Invocation::user("Hi"));
        assert!(case().with_tags(["smoke"]).check().is_ok());
        for wrong in [case().with_tags([""]), case().with_extra("tags", "smoke")] {
            assert!(wrong.check().is_err() && wrong.tags().all(str::is_empty));
        }
    }

    #[test]
    fn a_case_is_taken_by_one_of_the_tags_and_left_out_by_any_other() {
        let selection = |any: &[&str], none: &[&str]| TagSelection {
            any: any.iter().map(ToString::to_string).collect(),
            none: none.iter().map(ToString::to_string).collect(),
        };
        for (any, none, tags, expected) in [
            (&[][..], &[][..], &[][..], true),
            (&[], &[], &["a"], true),
            (&["a", "b"], &[], &["b", "c"], true),
            (&["a"], &[], &["ab"], false),
            (&["a"], &[], &[], false),
            (&[], &["a"], &[], true),
            (&[], &["a"], &["b", "a"], false),
            (&["b"], &["a"], &["b", "a"], false),
            (&["b"], &["a"], &["b"], true),
        ] {
            assert_eq!(selection(any, none).takes(tags), expected, "{any:?} {none:?} {tags:?}");
        }
        assert!(selection(&[], &[]).check::<&str>([]).is_ok());
        assert!(selection(&["a"], &["b"]).check(["b", "a"]).is_ok());
        assert_eq!(selection(&["a"], &["c"]).check(["b", "a"]).unwrap_err().tag, "c");
    }

    #[test]
    fn a_tag_that_no_case_has_names_the_near_one_and_all_others() {
        let many: Vec<String> = (0..12).map(|number| format!("n{number:02}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for (tag, known, says) in [
            ("smok", &["slow", "smoke"][..], "did you mean `smoke`? The tags are `slow` and `smoke`"),
            ("x", &["slow", "smoke"], "the tags are `slow` and `smoke`"),
            ("x", &["smoke"], "the only tag is `smoke`"),
            ("x", &[], "the cases have no tags; a case gets one by its key `tags`"),
            ("smoke", &many, "`n09` and 2 more"),
        ] {
            let help = tags_at_hand(tag, known);
            assert!(help.contains(says), "{help}");
        }
    }
}
