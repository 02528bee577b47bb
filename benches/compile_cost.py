#!/usr/bin/env python3
"""The cost of compiling one more test: a case of the attribute, alone and with variants, against what one would write instead.

    benches/compile_cost.py [--cases 1000] [--rounds 5]

Five crates hold as many tests: of an eval set, of a tenth of its cases with ten variants each (`matrix(..)`), as one-line
`#[tokio::test]`s, and as tables of rstest and of test-case with an async body that does the check. Each is built with one
test and with many, its dependencies being built already, without incremental compilation; the marginal cost of a test is the
difference in CPU seconds over the difference in tests.
"""

import argparse

import cases
import measure


def evals(project, count):
    project.write("evals/words.txt", "\n".join(cases.WORDS))
    project.write("evals/orders.evalset.json", cases.as_json(cases.eval_set(count)))


VARIANTS = 10


def variants(project, count):
    """The same number of tests: cases with the variants of a matrix."""
    each = VARIANTS if count > 1 else 1
    evals(project, count // each)
    values = ", ".join(f'"model-{n}"' for n in range(each))
    head = project.folder / "tests/evals.rs"
    text = head.read_text().replace('.evalset.json")]', f'.evalset.json", matrix(model = [{values}]))]')
    text = text.replace("fn orders()", "fn orders(_variant: &orders::Variant)")
    project.write("tests/evals.rs", text)


CHECK = """{
    let reply = shop(question).await;
    assert_eq!(reply.text, answer);
    assert_eq!(reply.calls, [("lookup_order", order)]);
}
"""


def rstest_cases(count):
    table = "".join(
        f'#[case::order_{n}("{cases.question(n)}", "{cases.answer(n)}", {n})]\n' for n in range(count)
    )
    arguments = "#[case] question: &str, #[case] answer: &str, #[case] order: usize"
    return f"\n#[rstest]\n{table}#[tokio::test]\nasync fn orders({arguments}) {CHECK}"


def test_case_cases(count):
    table = "".join(
        f'#[test_case("{cases.question(n)}", "{cases.answer(n)}", {n}; "order_{n}")]\n' for n in range(count)
    )
    return f"\n{table}#[tokio::test]\nasync fn orders(question: &str, answer: &str, order: usize) {CHECK}"


SETS = {"evals": evals, "variants": variants}
TESTS = {"by_hand": cases.by_hand, "rstest_cases": rstest_cases, "test_case_cases": test_case_cases}


def project(crate, count):
    made = measure.Project("evals" if crate == "variants" else crate, f"{crate}_{count}")
    made.write("tests/words.txt", "\n".join(cases.WORDS))
    if crate in SETS:
        SETS[crate](made, count)
    else:
        head = (made.folder / "tests/evals.rs").read_text()
        made.write("tests/evals.rs", head + TESTS[crate](count))
    made.cargo("test", "--no-run", "--locked", CARGO_INCREMENTAL="0")
    return made


def build(made):
    made.touch("tests/evals.rs")
    return made.cargo("test", "--no-run", "--locked", "--test", "evals", CARGO_INCREMENTAL="0").cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=[*SETS, *TESTS], help="measures these crates; `by_hand` is what the targets name")
    options = parser.parse_args()
    report = measure.Report("compile cost of a case, marginal CPU time")

    crates = tuple(options.only or [*SETS, *TESTS])
    projects = {(crate, count): project(crate, count) for crate in crates for count in (1, options.cases)}
    found = measure.alternate(
        {key: (lambda made=made: build(made)) for key, made in projects.items()}, options.rounds
    )
    cost = {}
    for crate in crates:
        one, many = (measure.median(found[crate, count]) for count in (1, options.cases))
        cost[crate] = (many - one) / (options.cases - 1)
        report.note(f"{crate}: {one:.2f} s with 1 test, {many:.2f} s with {options.cases}: {measure.in_ms(cost[crate])} a test")
    for what, crate, target in (("a case", "evals", 1.1), ("a variant's test", "variants", 1.0)):
        if crate in cost and "by_hand" in cost:
            report.at_most(f"{what} against a one-line #[tokio::test]", cost[crate] / cost["by_hand"], target)
    for name, crate in (("rstest", "rstest_cases"), ("test-case", "test_case_cases")):
        if crate in cost and "evals" in cost:
            report.note(f"a case against {name}: ratio {cost['evals'] / cost[crate]:.2f}")
    report.end()


main()
