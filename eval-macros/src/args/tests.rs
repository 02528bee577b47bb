use eval_format::{PassRule, TurnAggregation};
use quote::ToTokens;

use super::*;

fn parse(source: &str) -> (Args, Vec<String>) {
    let mut diagnostics = Diagnostics::default();
    let args = Args::parse(source.parse().unwrap(), &mut diagnostics);
    (args, diagnostics.messages())
}

fn sound(source: &str) -> Args {
    let (args, errors) = parse(source);
    assert_eq!(errors, Vec::<String>::new(), "{source}");
    args
}

/// The messages of all mistakes must contain the expected ones, in order.
fn check(source: &str, expected: &[&str]) {
    let errors = parse(source).1;
    assert_eq!(errors.len(), expected.len(), "{source}: {errors:#?}");
    for (error, part) in errors.iter().zip(expected) {
        assert!(error.contains(part), "{source}: {error}");
    }
}

/// The options that only the runner reads.
fn others(args: &Args) -> String {
    args.running.others.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_option_is_understood() {
    let args = sound(
        r#""a.json", metrics(brevity, tone = style::tone, "x-y" = z::<u8>,), judge = judges::mine, cases = ["a", "!b",], runs = 3,
           pass = "at_least(2)", gate = "every_turn", timeout = "5s", session = "s.json",
           flavor = "multi_thread", worker_threads = 2, crate = facade::evals,"#,
    );
    assert_eq!(args.path.as_ref().map(LitStr::value).as_deref(), Some("a.json"));
    assert_eq!(args.metric_names(), ["brevity", "tone", "x-y"]);
    assert_eq!(args.judge.as_ref().unwrap().to_token_stream().to_string(), "judges :: mine");
    assert_eq!(args.cases.iter().map(LitStr::value).collect::<Vec<_>>(), ["a", "!b"]);
    assert_eq!((args.running.runs, others(&args)), (3, "timeout".to_owned()));
    assert_eq!((args.running.pass, args.running.gate), (PassRule::AtLeast(2), TurnAggregation::EveryTurn));
    assert!(args.runtime.is_multi_thread());
    assert_eq!(args.krate.unwrap().to_token_stream().to_string(), "facade :: evals");
}

#[test]
fn unsaid_options_are_those_of_adk() {
    let args = sound(r#""a.json""#);
    assert_eq!((args.running.runs, others(&args)), (1, String::new()));
    assert_eq!((args.running.pass, args.running.gate), (PassRule::Mean, TurnAggregation::Mean));
    assert!(matches!(args.criteria, Criteria::Beside));
}

#[test]
fn a_literal_handed_through_a_macro_is_a_literal() {
    let literal = TokenStream::from(TokenTree::from(proc_macro2::Literal::string("a.json")));
    let handed: TokenTree = proc_macro2::Group::new(Delimiter::None, literal).into();
    let mut diagnostics = Diagnostics::default();
    let args = Args::parse(handed.into(), &mut diagnostics);
    assert_eq!(diagnostics.messages(), Vec::<String>::new());
    assert_eq!(args.path.map(|path| path.value()).as_deref(), Some("a.json"));
}

#[test]
fn one_glob_needs_no_brackets() {
    assert_eq!(sound(r#""a.json", cases = "x*""#).cases.len(), 1);
}

#[test]
fn a_wrong_value_is_answered_with_an_example() {
    for (option, expected) in [
        ("config", "`config` takes a string"),
        ("config = 3", "for example `config = \"evals/strict.json\"`"),
        ("config(\"x\")", "`config` takes a string"),
        ("criteria = 1.0", "`criteria` takes a list in parentheses"),
        ("metrics = brevity", "`metrics` takes a list in parentheses"),
        ("matrix = \"a\"", "`matrix` takes a list in parentheses"),
        ("matrix(model = \"a\")", "`matrix` takes axes, each with a list of strings"),
        ("matrix(exclude = [(model = \"a\")])", "`matrix` takes at least one axis"),
        ("metrics()", "`metrics` takes at least one function"),
        ("metrics(3)", "`metrics` takes paths of functions"),
        ("metrics(a, b = a, x::a)", "two custom metrics are named `a`"),
        ("cases = []", "`cases` takes strings"),
        ("cases = [x]", "`cases` takes strings"),
        ("runs = 0", "`runs` takes a whole number from 1 to 100000"),
        ("runs = \"3\"", "`runs` takes a whole number from 1 to 100000"),
        ("runs = -1", "`runs` takes a whole number from 1 to 100000"),
        ("runs = 5000000000", "`runs` takes a whole number from 1 to 100000"),
        ("runs = 100001", "`runs` takes a whole number from 1 to 100000"),
        ("runs =", "`runs` takes a whole number from 1 to 100000"),
        ("pass = \"most\"", "unknown `pass`: `most`"),
        ("pass = \"at_least(2)\"", "`pass` asks for 2 passing runs of 1"),
        ("gate = \"turn\"", "unknown `gate`: `turn`"),
        ("timeout = 30", "for example `timeout = \"30s\"`"),
        ("timeout = \"30\"", "`30` is not a duration"),
        ("session = s", "`session` takes a string"),
        ("flavor = \"multi\"", "unknown `flavor`: `multi`"),
        ("flavor = \"multi_thread\", worker_threads = 0", "`worker_threads` takes a whole number"),
        ("worker_threads = 2", "`worker_threads` has no effect on one thread"),
        ("crate = \"evals\"", "`crate` takes a path"),
        ("crate = super::evals", "`crate` takes a path that begins with a crate"),
        ("judge = \"mine\"", "`judge` takes the path of a function"),
        ("judge(mine)", "for example `judge = my_judge`"),
        ("judge = mine()", "`judge` takes the path of a function"),
        ("confg = \"x\"", "did you mean `config`?"),
        ("frobnicate = 1", "the options are `config`, `criteria`, "),
        ("runs = 1, runs = 2", "`runs` is given twice"),
        ("config = \"x\", criteria(a = 1)", "`config` and `criteria` exclude each other"),
        ("= 3", "expected `name = value`"),
        ("runs == 3", "`runs` takes a whole number"),
        ("\"b.json\"", "more than one path"),
        ("3", "more than one path"),
    ] {
        check(&format!("\"a.json\", {option}"), &[expected]);
    }
}

#[test]
fn the_path_must_be_there_and_be_text() {
    check("", &["the path of an eval set is missing"]);
    check("runs = 3", &["the path of an eval set is missing"]);
    check("3", &["not a plain string literal"]);
    check("b\"a.json\"", &["not a plain string literal"]);
    check("\"a.json\" + \"b\"", &["not a plain string literal"]);
    check("concat!(\"a\", \".json\"), runs = 3", &["not a plain string literal"]);
}

#[test]
fn all_mistakes_are_reported_and_the_rest_is_kept() {
    let (args, errors) = parse(r#""a.json", runs = 0, gate = "x", timeout = "1s""#);
    assert_eq!(errors.len(), 2);
    assert_eq!((args.running.runs, others(&args)), (1, "timeout".to_owned()));
    assert!(args.path.is_some());
}

#[test]
fn the_text_that_editors_show_names_every_option() {
    let text = include_str!("../lib.rs");
    for (name, ..) in OPTIONS {
        assert!(text.contains(&format!("`{name} = ")) || text.contains(&format!("`{name}(")), "{name}");
    }
}
