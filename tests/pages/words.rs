//! The language of comments, messages and pages: headers that name their thing, and sentences that do not leave their noun to
//! be guessed. CONTRIBUTING.md has the rule, ARCHITECTURE.md the glossary.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::LitStr;

/// Words that make a module header a question instead of a noun phrase.
const QUESTIONS: [&str; 10] =
    ["How", "That", "What", "When", "Where", "Whether", "Which", "Who", "Whose", "Why"];

/// Words after "The same" without which its noun is missing.
const NO_NOUNS: [&str; 11] = ["", "about", "as", "by", "for", "if", "in", "now", "of", "with", "without"];

const PERSONS: [&str; 4] = ["anybody", "nobody", "somebody", "whoever"];
const POINTERS: [&str; 4] = ["that of", "those of", "the one of", "the ones of"];
const STANDS: [&str; 2] = ["stand", "stands"];

/// Phrases for which there are plainer words, and the most of them that there may be.
struct Idiom {
    phrases: &'static [&'static str],
    /// Longer phrases with one of them in it, which do not count.
    except: &'static [&'static str],
    max_in_comments: usize,
    /// The most in string literals of the crates' own code.
    max_in_literals: usize,
}

const IDIOMS: [Idiom; 9] = [
    Idiom { phrases: &PERSONS, except: &[], max_in_comments: 1, max_in_literals: 4 },
    Idiom { phrases: &POINTERS, except: &[], max_in_comments: 3, max_in_literals: 4 },
    Idiom { phrases: &STANDS, except: &[], max_in_comments: 3, max_in_literals: 2 },
    Idiom { phrases: &["so many"], except: &[], max_in_comments: 0, max_in_literals: 0 },
    // The page has this word for the state of a case.
    Idiom { phrases: &["in work"], except: &[], max_in_comments: 3, max_in_literals: 6 },
    Idiom {
        phrases: &["mend", "mends", "mended", "mending"],
        except: &[],
        max_in_comments: 0,
        max_in_literals: 0,
    },
    Idiom {
        phrases: &["a begin", "its begin", "the begin", "their begin"],
        except: &[],
        max_in_comments: 0,
        max_in_literals: 0,
    },
    Idiom { phrases: &["all the same"], except: &[], max_in_comments: 0, max_in_literals: 0 },
    Idiom {
        phrases: &["is none", "are none"],
        except: &["there is none", "there are none"],
        max_in_comments: 1,
        // A condition of Python.
        max_in_literals: 1,
    },
];

const MAX_HEADERS: usize = 20;
/// The most headers of items that begin with a question word. `Whether` is fine there: it names a condition.
const MAX_ITEM_HEADERS: usize = 5;
/// The most doc comments that begin with "The same" and name no noun.
const MAX_SAME: usize = 2;
/// The most of these in all pages together.
const MAX_IN_PAGES: usize = 20;

#[test]
fn item_headers_name_their_thing() {
    let mut found = Vec::new();
    for (path, text) in files("rs") {
        let mut before = "";
        for (line, text) in (1..).zip(text.lines().map(str::trim_start)) {
            let is_first = !before.starts_with("///");
            before = text;
            let header = text.strip_prefix("/// ").filter(|_| is_first);
            let header = header.filter(|header| is_question(header) && !header.starts_with("Whether "));
            found.extend(header.map(|text| place(&path, line, text)));
        }
    }
    assert_few("headers of items begin with a question word", &found, MAX_ITEM_HEADERS);
}

#[test]
fn module_headers_name_their_thing() {
    let mut found = Vec::new();
    for (path, text) in files("rs") {
        let header =
            (1..).zip(text.lines()).find_map(|(line, text)| Some((line, text.strip_prefix("//! ")?)));
        found.extend(
            header.filter(|(_, text)| is_question(text)).map(|(line, text)| place(&path, line, text)),
        );
    }
    assert_few("module headers begin with a question word", &found, MAX_HEADERS);
}

#[test]
fn comments_have_plain_words() {
    let comments = comments();
    for idiom in &IDIOMS {
        assert_few(
            &format!("comments say `{}`", idiom.phrases.join("`, `")),
            &idiom.found_in(&comments),
            idiom.max_in_comments,
        );
    }
}

#[test]
fn messages_have_plain_words() {
    let literals = literals();
    assert!(literals.len() > 1000, "{} literals", literals.len());
    for idiom in &IDIOMS {
        assert_few(
            &format!("string literals say `{}`", idiom.phrases.join("`, `")),
            &idiom.found_in(&literals),
            idiom.max_in_literals,
        );
    }
}

#[test]
fn comments_that_begin_with_the_same_name_its_noun() {
    let mut found = Vec::new();
    for (path, text) in files("rs") {
        let mut before = "";
        for (line, text) in (1..).zip(text.lines().map(str::trim_start)) {
            let is_first = !before.starts_with("///") && !before.starts_with("//!");
            before = text;
            if is_first && is_same_without_noun(text) {
                found.push(place(&path, line, text));
            }
        }
    }
    assert_few("doc comments begin with `The same` and name no noun", &found, MAX_SAME);
}

#[test]
fn pages_name_their_nouns() {
    let words = [PERSONS.as_slice(), &POINTERS, &STANDS].concat();
    let mut found = Vec::new();
    // Prompts of judges are Markdown too, and have other readers.
    for (path, text) in files("md").into_iter().filter(|(path, _)| !path.contains("/src/")) {
        for (line, text) in (1..).zip(text.lines()) {
            found.extend((0..count(text, &words)).map(|_| place(&path, line, text)));
        }
    }
    assert_few("words in pages leave the noun to be guessed", &found, MAX_IN_PAGES);
}

#[test]
fn only_literals_of_code_that_users_run_are_read() {
    let text = r##"
        //! A comment, and `"a quote"`.
        /// A comment.
        fn f() { g("nobody \
            awaits it", r#"stands"#, 'a', 1) }
        #[cfg(test)]
        mod tests { const A: &str = "in a test"; }
        #[test]
        fn t() { g("in a test") }
        #[expect(lint, reason = "in an attribute")]
        const A: &str = "last";
    "##;
    let found: Vec<String> = literals_of(text).into_iter().map(|(_, text)| text).collect();
    assert_eq!(found, ["nobody awaits it", "stands", "last"]);
}

#[test]
fn the_noun_of_the_same_comes_right_after_it() {
    for (text, is_without) in [
        ("/// The same, with lines.", true),
        ("/// The same.", true),
        ("/// The same for a name.", true),
        ("/// The same case for a name.", false),
        ("// The same.", false),
    ] {
        assert_eq!(is_same_without_noun(text), is_without, "{text}");
    }
}

#[test]
fn whole_words_are_counted_in_any_case() {
    assert_eq!(count("Nobody understands those of us who stand; that often stands still", &STANDS), 2);
    assert_eq!(count("That of Nobody: those of nobodys", &[PERSONS.as_slice(), &POINTERS].concat()), 3);
    assert_eq!(comment("let url = \"http://a\"; // It stands."), Some(" It stands."));
    assert_eq!(comment("let url = \"http://stands\";"), None);
}

impl Idiom {
    /// The places of the phrases in these texts.
    fn found_in(&self, texts: &[(String, String)]) -> Vec<String> {
        let mut found = Vec::new();
        for (place, text) in texts {
            let count = count(text, self.phrases).saturating_sub(count(text, self.except));
            found.extend((0..count).map(|_| format!("{place}: {}", text.trim())));
        }
        found
    }
}

fn is_question(header: &str) -> bool {
    QUESTIONS.contains(&header.split(|c: char| !c.is_alphabetic()).next().unwrap_or(""))
}

fn is_same_without_noun(line: &str) -> bool {
    let doc = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "));
    doc.and_then(|doc| doc.strip_prefix("The same")).is_some_and(|rest| {
        let word = rest.strip_prefix(' ').unwrap_or_default().split(|c: char| !c.is_alphanumeric()).next();
        NO_NOUNS.contains(&word.unwrap_or_default())
    })
}

/// The comments of the sources, each with its place.
fn comments() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, text) in files("rs") {
        let comments = (1..).zip(text.lines()).filter_map(|(line, text)| Some((line, comment(text)?)));
        found.extend(comments.map(|(line, text): (usize, _)| (format!("{path}:{line}"), text.to_owned())));
    }
    found
}

/// The string literals in the crates' own code, each with its place.
fn literals() -> Vec<(String, String)> {
    let is_own = |path: &str| {
        let is_test =
            path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/test_support");
        path.starts_with("eval-") && path.contains("/src/") && !is_test
    };
    let mut found = Vec::new();
    for (path, text) in files("rs").into_iter().filter(|(path, _)| is_own(path)) {
        found.extend(literals_of(&text).into_iter().map(|(line, text)| (format!("{path}:{line}"), text)));
    }
    found
}

/// The string literals of a source, without attributes and code for tests, each with its line.
fn literals_of(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    add_literals(text.parse().expect("sources are Rust"), &mut found);
    found
}

fn add_literals(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next_if(|next| matches!(next, TokenTree::Punct(inner) if inner.as_char() == '!'));
                let is_attribute = |next: &TokenTree| matches!(next, TokenTree::Group(it) if it.delimiter() == Delimiter::Bracket);
                if tokens.next_if(is_attribute).is_some_and(|attribute| is_for_tests(&attribute.to_string()))
                {
                    // The item ends with its body, or with a semicolon.
                    tokens.find(|token| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        TokenTree::Punct(punct) => punct.as_char() == ';',
                        _ => false,
                    });
                }
            }
            TokenTree::Group(group) => add_literals(group.stream(), found),
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<LitStr>(&literal.to_string()) {
                    found.push((literal.span().start().line, text.value()));
                }
            }
            _ => {}
        }
    }
}

/// Whether an attribute says that its item is for tests.
fn is_for_tests(attribute: &str) -> bool {
    let attribute: String = attribute.chars().filter(|c| !c.is_whitespace()).collect();
    attribute.starts_with("[cfg(test")
        || attribute.starts_with("[cfg(all(test")
        || attribute.ends_with("test]")
}

/// The comment of a line. Strings are not parsed: the slashes of an address have no blank before them.
fn comment(line: &str) -> Option<&str> {
    let is_begin = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let begin = line.match_indices("//").map(|(at, _)| at).find(|at| is_begin(*at))?;
    Some(&line[begin + 2..])
}

/// The number of times that a text has one of these phrases, as whole words in any case.
fn count(text: &str, phrases: &[&str]) -> usize {
    let words: Vec<String> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase).collect();
    let text = format!(" {} ", words.join(" "));
    phrases.iter().map(|phrase| text.matches(&format!(" {phrase} ")).count()).sum()
}

fn place(path: &str, line: usize, text: &str) -> String {
    format!("{path}:{line}: {}", text.trim())
}

fn assert_few(what: &str, found: &[String], most: usize) {
    let found_all = found.join("\n");
    assert!(found.len() <= most, "{} {what}, at most {most} are allowed:\n{found_all}", found.len());
}

/// The paths and texts of all files with an extension, without links, hidden folders and what cargo builds.
fn files(extension: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.to_owned()];
    let mut paths: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(&folder).expect("the sources are here").map(|entry| entry.expect("it can be listed"))
        {
            let (name, kind) = (entry.file_name(), entry.file_type().expect("it has a kind"));
            if kind.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
                folders.push(entry.path());
            } else if kind.is_file() && Path::new(&name).extension().is_some_and(|found| found == extension) {
                paths.push(entry.path());
            }
        }
    }
    paths.sort();
    assert!(paths.len() > 20, "{paths:?}");
    let shown =
        |path: &Path| path.strip_prefix(root).expect("it is below").to_string_lossy().replace('\\', "/");
    paths.iter().map(|path| (shown(path), fs::read_to_string(path).expect("sources are text"))).collect()
}
