//! Configs from public repositories: each loads, or has only problems that are ours by design.
//!
//! Reads the folder named by `EVALSET_CORPUS`, whose `INDEX.tsv` says which files are configs.

use std::io::Write;
use std::path::Path;

use eval_format::config::check_config;
use eval_format::problem::ProblemCode;

/// The problems that a config which ADK loads may still have.
const BY_DESIGN: [ProblemCode; 3] =
    [ProblemCode::NotAvailable, ProblemCode::NothingChecked, ProblemCode::IgnoredKey];

#[test]
fn configs_of_the_corpus_load() {
    let Some(corpus) = std::env::var_os("EVALSET_CORPUS") else {
        say("configs of the corpus: skipped, EVALSET_CORPUS names no folder");
        return;
    };
    let corpus = Path::new(&corpus);
    let index = std::fs::read_to_string(corpus.join("INDEX.tsv")).unwrap();
    let is_config = |line: &&str| line.split('\t').nth(3) == Some("test_config");
    let mut read = 0;
    for file in index.lines().filter(is_config).filter_map(|line| line.split('\t').next()) {
        check_file(&corpus.join(file), file);
        read += 1;
    }
    assert!(read > 0, "no configs in the index");
    say(&format!("configs of the corpus: {read} files read"));
}

/// Says it past the test harness, which keeps to itself what passing tests print.
fn say(text: &str) {
    writeln!(std::io::stderr().lock(), "{text}").expect("stderr takes a line");
}

fn check_file(path: &Path, name: &str) {
    let checked = check_config(name, &std::fs::read(path).unwrap(), &[]);
    let mut errors = checked.problems.iter().filter(|problem| problem.is_error());
    assert_eq!(checked.config.is_some(), errors.next().is_none(), "{name}");
    for problem in &checked.problems {
        assert!(BY_DESIGN.contains(&problem.code), "{name}: {problem:?}");
        assert!(checked.text.get(problem.range.clone()).is_some(), "{name}: {problem:?}");
        assert!(problem.help.is_some(), "{name}: {problem:?}");
    }
}
