use super::*;

#[test]
fn only_paths_of_functions_are_tests_of_cargo() {
    for (name, expected) in [
        ("weather::sunny_in_Paris", true),
        ("a::r#match", true),
        ("日本::大阪", true),
        ("weather/sunny in Paris", false),
        ("weather::", false),
        ("", false),
        ("a::$(rm -rf x)", false),
        ("a b", false),
        ("--ignored", false),
        ("a::1st", false),
    ] {
        assert_eq!(is_path(name), expected, "{name}");
    }
}

fn sorted(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_command_names_its_tests_exactly() {
    let tests = ByBinary::from([(("app", "evals"), sorted(&["a::x", "a::y"]))]);
    let more = ["--release".to_owned()];
    assert_eq!(
        shell::line(&cargo_commands(&tests, &Targets::default(), &more)[0]),
        "test --no-fail-fast -p app --release -- --include-ignored --exact a::x a::y"
    );
    assert_eq!(
        shell::line(&nextest_commands(&tests, &more)[0]),
        "nextest run --no-fail-fast --run-ignored all --release -E 'package(=app) & test(=a::x)' -E 'package(=app) & test(=a::y)'"
    );
}

#[test]
fn many_tests_are_several_commands() {
    let names = (0..1200).map(|at| format!("a::case_{at}")).collect();
    let tests = ByBinary::from([(("app", "evals"), names)]);
    assert_eq!(cargo_commands(&tests, &Targets::default(), &[]).len(), 3);
    assert_eq!(nextest_commands(&tests, &[]).len(), 3);
}

#[test]
fn what_a_filter_would_read_is_escaped() {
    assert_eq!(escaped(r"a)b\c"), r"a\)b\\c");
}
