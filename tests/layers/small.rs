//! Crates of a few lines: that each kind of use is found, and that nothing else is.

use crate::krate::Crate;
use crate::show::circle_text;
use crate::tree::Sources;

/// A crate of files below `small/src`.
pub(crate) fn small(files: &[(&str, &str)]) -> Crate {
    parse(files).unwrap()
}

fn parse(files: &[(&str, &str)]) -> Result<Crate, String> {
    let sources: Sources =
        files.iter().map(|(path, text)| (format!("small/src/{path}"), (*text).to_owned())).collect();
    Crate::parse("small", "small", &sources)
}

/// The uses of a crate, as `file:line item`.
fn uses(files: &[(&str, &str)]) -> Vec<String> {
    let of = small(files);
    let line = |used| of.line(used).replace("small/src/", "").replace("  ", " ");
    of.uses.iter().map(line).collect()
}

/// The uses of `b.rs`, beside `a.rs` with a type, a function, a constant, a trait and a macro.
fn uses_of_b(b: &str) -> Vec<String> {
    uses(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "pub struct Kept; impl Kept { pub fn new() -> Self { Self } }
             pub enum Kind { One } pub fn count() -> usize { 1 } pub const MOST: usize = 1; pub trait Named {}
             macro_rules! twice { () => {} } pub(crate) use twice;",
        ),
        ("b.rs", b),
    ])
}

#[test]
fn imports_are_uses() {
    assert_eq!(uses_of_b("use crate::a::Kept;"), ["b.rs:1 crate::a::Kept"]);
    assert_eq!(
        uses_of_b("\nuse super::a::{count, Kept as Stored};"),
        ["b.rs:2 crate::a::count", "b.rs:2 crate::a::Kept"]
    );
    assert_eq!(uses_of_b("use crate::a::Named as _;"), ["b.rs:1 crate::a::Named"]);
    assert_eq!(uses_of_b("fn f() { use crate::a::count; count(); }"), ["b.rs:1 crate::a::count"]);
    assert_eq!(uses_of_b("use crate::a::Kind::{self, One};"), ["b.rs:1 crate::a::Kind",]);
}

#[test]
fn the_import_of_a_module_is_a_use_where_its_items_are() {
    assert_eq!(uses_of_b("use crate::a;"), Vec::<String>::new());
    assert_eq!(uses_of_b("use crate::a;\nfn f() { a::count(); }"), ["b.rs:2 crate::a::count"]);
    assert_eq!(uses_of_b("use crate::a as x;\nfn f(_: x::Kept) {}"), ["b.rs:2 crate::a::Kept by `x::Kept`"]);
    assert_eq!(
        uses_of_b("fn f() { use crate::a as x;\nx::count(); }"),
        ["b.rs:2 crate::a::count by `x::count`"]
    );
}

#[test]
fn globs_are_uses_of_what_they_bring() {
    assert_eq!(
        uses_of_b("use crate::a::*;\nfn f(_: Kept) { count(); }"),
        ["b.rs:2 crate::a::Kept", "b.rs:2 crate::a::count"]
    );
    // A trait whose methods are called has no name in the code.
    assert_eq!(uses_of_b("use crate::a::*;"), ["b.rs:1 crate::a::*"]);
}

#[test]
fn paths_in_code_are_uses() {
    let kept = ["b.rs:1 crate::a::Kept"];
    for code in [
        "struct Own(crate::a::Kept);",
        "fn f(_: Vec<Option<crate::a::Kept>>) {}",
        "impl super::a::Kept {}",
        "fn f() { let _ = crate::a::Kept::new(); }",
        "fn f() { let _ = <crate::a::Kept>::new(); }",
        "mod inner { type Own = super::super::a::Kept; }",
        "fn f() { g!(x => [crate::a::Kept::new()]); }",
        "fn f() { format!(\"{}\", crate::a::Kept); }",
        "macro_rules! g { () => { $crate::a::Kept } }",
        "#[command(value = crate::a::Kept)] struct Own;",
    ] {
        assert_eq!(uses_of_b(code), kept, "{code}");
    }
    assert_eq!(uses_of_b("fn f<T: crate::a::Named>() {}"), ["b.rs:1 crate::a::Named"]);
    assert_eq!(uses_of_b("const TWO: [u8; crate::a::MOST] = [0];"), ["b.rs:1 crate::a::MOST"]);
    assert_eq!(
        uses_of_b("fn f(x: u8) -> bool { matches!(x, y if y == super::a::MOST) }"),
        ["b.rs:1 crate::a::MOST"]
    );
    assert_eq!(uses_of_b("crate::a::twice!();"), ["b.rs:1 crate::a::twice"]);
}

#[test]
fn what_is_no_use() {
    for code in [
        "/// [`crate::a::Kept`]\nfn f() {} // crate::a::Kept",
        "#[cfg(test)] use crate::a::Kept;",
        "#[cfg(all(test, unix))] fn f() -> crate::a::Kept { crate::a::Kept }",
        "#[cfg(test)] mod tests { use crate::a::Kept; use super::*; }",
        "#[test] fn f() { crate::a::count(); }",
        "impl Own { #[cfg(test)] fn f() { crate::a::count(); } }",
        "fn f() { #[cfg(test)] let _ = crate::a::count(); }",
        "fn f() { quote!(crate::a::Kept) }",
        "use ::a::Kept; fn f() { ::a::count(); }",
        "use other::Kept; fn f(_: Kept) {}",
        "fn f(count: usize) -> usize { count }",
        "fn f() -> &'static str { \"crate::a::Kept\" }",
    ] {
        assert_eq!(uses_of_b(code), Vec::<String>::new(), "{code}");
    }
    assert_eq!(uses_of_b("#[cfg(not(test))] use crate::a::Kept;"), ["b.rs:1 crate::a::Kept"]);
    assert_eq!(uses_of_b("#[cfg(any(test, unix))] use crate::a::Kept;"), ["b.rs:1 crate::a::Kept"]);
}

#[test]
fn a_variable_is_no_use_of_a_function_of_its_name() {
    let code = |body: &str| format!("use crate::a::*; use crate::a::Named;\nfn f() {{ {body} }}");
    let named = "b.rs:1 crate::a::Named".to_owned();
    let count = "b.rs:2 crate::a::count".to_owned();
    let used = |body: &str| {
        let mut found = uses_of_b(&code(body));
        found.retain(|found| !found.contains('*'));
        found
    };
    assert_eq!(used("let count = 1; drop(count);"), ["b.rs:1 crate::a::Named"]);
    assert_eq!(used("let count = count(); drop(count);"), [named.clone(), count.clone()]);
    assert_eq!(used("[1].map(count);"), [named, count]);
}

#[test]
fn re_exports_are_resolved_to_the_file_that_defines() {
    let files = |user: &'static str| {
        [
            ("lib.rs", "mod journal; mod user; pub use journal::TestLog;"),
            ("journal.rs", "mod test_log; mod inner; pub(crate) use test_log::TestLog; pub use inner::*;"),
            ("journal/test_log.rs", "pub struct TestLog;"),
            ("journal/inner.rs", "pub fn read() {}"),
            ("user.rs", user),
        ]
    };
    let log = ["user.rs:1 crate::journal::test_log::TestLog by `crate::journal::TestLog`"];
    assert_eq!(uses(&files("use crate::journal::TestLog;")), log);
    let log = ["user.rs:1 crate::journal::test_log::TestLog"];
    assert_eq!(uses(&files("use crate::TestLog;")), log);
    let read = ["user.rs:1 crate::journal::inner::read by `crate::journal::read`"];
    assert_eq!(uses(&files("fn f() { crate::journal::read(); }")), read);
    // Through the private import of another module.
    let log = ["user.rs:1 crate::journal::test_log::TestLog by `crate::journal::TestLog`"];
    assert_eq!(uses(&files("use crate::journal::TestLog; mod m { use super::TestLog; }")), log);
}

#[test]
fn a_facade_is_no_use_but_the_code_beside_it_is() {
    let files = |judge: &'static str| {
        [("lib.rs", "mod judge;"), ("judge.rs", judge), ("judge/limit.rs", "pub struct Limit;")]
    };
    assert_eq!(uses(&files("mod limit; pub(crate) use limit::Limit;")), Vec::<String>::new());
    assert_eq!(uses(&files("mod limit; pub use limit::*;")), Vec::<String>::new());
    let used = ["judge.rs:2 crate::judge::limit::Limit"];
    assert_eq!(uses(&files("mod limit; pub use limit::Limit;\nfn f(_: Limit) {}")), used);
    let used = ["judge.rs:1 crate::judge::limit::Limit"];
    assert_eq!(uses(&files("mod limit; use limit::Limit;")), used);
}

#[test]
fn a_re_export_from_beside_is_a_use() {
    assert_eq!(uses_of_b("pub use crate::a::Kept;"), ["b.rs:1 crate::a::Kept"]);
}

#[test]
fn functions_of_a_type_are_uses_of_the_file_they_stand_in() {
    let files = |user: &'static str| {
        [
            ("lib.rs", "mod report; mod csv; mod user;"),
            ("report.rs", "pub struct Report; impl Report { pub fn new() {} pub fn len(&self) {} }"),
            ("csv.rs", "use crate::report::Report; impl Report { pub fn csv(&self) {} pub fn of() {} }"),
            ("user.rs", user),
        ]
    };
    let csv = "csv.rs:1 crate::report::Report".to_owned();
    let report = "user.rs:1 crate::report::Report".to_owned();
    let of = "user.rs:2 crate::report::Report::of".to_owned();
    assert_eq!(
        uses(&files("use crate::report::Report;\nfn f() { Report::of(); Report::new(); }")),
        [csv.clone(), report, of]
    );
    let method = "user.rs:1 crate::csv::csv by `.csv()`".to_owned();
    assert_eq!(uses(&files("fn f(x: X) { x.csv(); x.len(); }")), [csv, method]);
}

#[test]
fn a_name_can_be_a_module_and_a_function() {
    let found = uses(&[
        ("lib.rs", "mod metric; mod user; pub use metric::metric;"),
        ("metric.rs", "pub fn metric() {} pub struct Info;"),
        ("user.rs", "use crate::metric;\nfn f(_: metric::Info) {}"),
    ]);
    assert_eq!(found, ["user.rs:1 crate::metric::metric", "user.rs:2 crate::metric::Info"]);
}

#[test]
fn macros_are_found_below_their_definition() {
    let found = uses(&[
        ("lib.rs", "#[macro_use] mod a; mod b;"),
        ("a.rs", "mod inner; macro_rules! own { () => {} }\n#[macro_export] macro_rules! all { () => {} }"),
        ("a/inner.rs", "own!();"),
        ("b.rs", "crate::all!();"),
    ]);
    assert_eq!(found, ["a/inner.rs:1 crate::a::own", "b.rs:1 crate::a::all"]);
}

#[test]
fn an_item_that_a_macro_makes_belongs_to_the_file_with_the_call() {
    let found = uses(&[
        ("lib.rs", "mod problem; mod user; pub use problem::Code;"),
        ("problem.rs", "codes! { Syntax }"),
        ("user.rs", "use crate::Code;"),
    ]);
    assert_eq!(found, ["user.rs:1 crate::problem::Code"]);
}

/// The circles of a crate, as their places and nodes.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let of = small(files);
    let circles = of.circles().into_iter().map(|circle| {
        let mut names: Vec<_> = circle.nodes.iter().map(|node| circle.graph.names()[*node]).collect();
        names.sort_unstable();
        format!("{}: {}", circle.place, names.join(" ")).replace("small/src/", "")
    });
    circles.collect()
}

#[test]
fn files_that_use_each_other_are_a_circle() {
    let files = |b: &'static str| {
        [
            ("lib.rs", "mod syntax;"),
            ("syntax.rs", "mod scan; mod fault; mod node;"),
            ("syntax/scan.rs", "use super::fault::Fault; pub const MOST: u8 = 1;"),
            ("syntax/fault.rs", "use super::node::Node; pub struct Fault;"),
            ("syntax/node.rs", b),
        ]
    };
    assert_eq!(circles(&files("pub struct Node;")), Vec::<String>::new());
    assert_eq!(
        circles(&files("pub struct Node(u8); const MOST: u8 = super::scan::MOST;")),
        ["modules of syntax.rs: fault node scan"]
    );
}

#[test]
fn a_folder_counts_as_one_with_its_file() {
    let found = circles(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod deep; pub struct Wide;"),
        ("a/deep.rs", "use crate::b::Own;"),
        ("b.rs", "use crate::a::Wide; pub struct Own;"),
    ]);
    assert_eq!(found, ["modules of lib.rs: a b"]);
}

#[test]
fn a_file_and_a_file_below_it_are_a_circle() {
    let files = |config: &'static str| {
        [
            ("lib.rs", "mod config;"),
            ("config.rs", config),
            ("config/check.rs", "mod deep; pub use deep::check;"),
            ("config/check/deep.rs", "use super::super::Config; pub fn check() {}"),
        ]
    };
    assert_eq!(circles(&files("mod check; pub use check::check; pub struct Config;")), Vec::<String>::new());
    assert_eq!(
        circles(&files("mod check; pub struct Config; fn f() { check::check(); }")),
        ["config.rs and files below it: config.rs config/check/deep.rs"]
    );
}

#[test]
fn a_circle_is_shown_with_the_uses_to_give_up() {
    let of = small(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct Low;\nuse crate::b::High;"),
        ("b.rs", "use crate::a::Low; use crate::a::low;\npub struct High;"),
    ]);
    let text: Vec<_> = of.circles().iter().map(|circle| circle_text(&of, circle)).collect();
    assert_eq!(
        text,
        ["Circle, modules of small/src/lib.rs. From the bottom:
    a < b
  Uses against this order; without them there is no circle:
    a -> b
      small/src/a.rs:2  crate::b::High
  Uses along it:
    b -> a:  b.rs:1 Low, low
"]
    );
}

#[test]
fn an_order_has_what_is_used_below_what_uses_it() {
    let of = small(&[
        ("lib.rs", "mod top; mod left; mod right; mod low;"),
        ("top.rs", "use crate::{left::Left, right::Right};"),
        ("left.rs", "use crate::right::Right; pub struct Left;"),
        ("right.rs", "use crate::left::Left; use crate::low::Low; pub struct Right;"),
        ("low.rs", "pub struct Low;"),
    ]);
    let graph = of.folder(&[]);
    let names = |group: &Vec<usize>| group.iter().map(|node| graph.names()[*node]).collect::<Vec<_>>();
    let order: Vec<Vec<_>> = graph.order().iter().map(|line| line.iter().map(names).collect()).collect();
    assert_eq!(order, [vec![vec!["low"]], vec![vec!["left", "right"]], vec![vec!["top"]]]);
}

#[test]
fn files_for_tests_are_left_out() {
    let of = small(&[
        ("lib.rs", "mod a; #[cfg(test)] mod oracle; #[cfg(test)] mod tests { mod more; }"),
        ("a.rs", "#[cfg(test)] mod tests;"),
        ("a/tests.rs", "mod cases;"),
        ("a/tests/cases.rs", "use crate::oracle::Oracle;"),
        ("oracle.rs", "use crate::a::A;"),
        ("tests/more.rs", ""),
    ]);
    assert_eq!(
        of.files.iter().map(|file| &*file.path).collect::<Vec<_>>(),
        ["small/src/lib.rs", "small/src/a.rs"]
    );
}

#[test]
fn a_module_can_have_a_file_per_cfg() {
    let files = |user: &'static str| {
        [
            (
                "lib.rs",
                "#[cfg(feature = \"on\")] mod judge;
                 #[cfg(not(feature = \"on\"))] #[path = \"judge_off.rs\"] mod judge;
                 #[cfg(test)] #[path = \"oracle_of_tests.rs\"] mod oracle; mod user;",
            ),
            ("judge.rs", "pub struct Judge; pub struct Vote;"),
            ("judge_off.rs", "pub struct Judge;"),
            ("oracle_of_tests.rs", ""),
            ("user.rs", user),
        ]
    };
    let vote = "user.rs:1 crate::judge::Vote";
    assert_eq!(uses(&files("use crate::judge::Vote;")), [vote]);
    // One in each file.
    let judge = "user.rs:1 crate::judge::Judge";
    assert_eq!(uses(&files("use crate::judge::Judge;")), [judge, judge]);
    assert_eq!(small(&files("")).modules().into_iter().collect::<Vec<_>>(), ["judge", "user"]);
}

#[test]
fn a_tree_that_cannot_be_walked_is_an_error() {
    let error = |files: &[(&str, &str)]| parse(files).unwrap_err();
    assert_eq!(error(&[]), "small/src/main.rs does not exist");
    assert_eq!(error(&[("lib.rs", "mod a;")]), "small/src/a.rs does not exist");
    assert_eq!(error(&[("lib.rs", "\nfn 1() {}")]), "small/src/lib.rs:2: expected identifier");
    assert_eq!(
        error(&[("lib.rs", ""), ("a.rs", "")]),
        "small/src/a.rs belongs to no module: declare it with `mod`, or delete it"
    );
    for program in ["main.rs", "bin/other.rs"] {
        assert_eq!(
            error(&[("lib.rs", ""), (program, "mod lib;")]),
            format!(
                "small/src/{program} declares modules beside small/src/lib.rs: move them into the library"
            )
        );
        assert_eq!(small(&[("lib.rs", ""), (program, "fn main() {}")]).files.len(), 1);
    }
    assert_eq!(small(&[("main.rs", "mod a;"), ("a/mod.rs", "")]).files.len(), 2);
}
