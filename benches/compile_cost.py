#!/usr/bin/env python3
"""The cost of compiling one more test: an attribute's case against what one would write instead.

    benches/compile_cost.py [--cases 1000] [--rounds 5]

Four crates hold the same cases: in an eval set, as one-line `#[tokio::test]`s, and as tables of rstest
and of test-case with an async body that does the check. Each is built with one case and with many,
its dependencies being built already, without incremental compilation; the marginal cost of a case is the
difference in CPU seconds over the difference in cases.
"""

import argparse

import cases
import measure


def evals(project, count):
    project.write("evals/words.txt", "\n".join(cases.WORDS))
    project.write("evals/orders.evalset.json", cases.as_json(cases.eval_set(count)))


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


TESTS = {"by_hand": cases.by_hand, "rstest_cases": rstest_cases, "test_case_cases": test_case_cases}


def project(crate, count):
    made = measure.Project(crate, f"{crate}_{count}")
    made.write("tests/words.txt", "\n".join(cases.WORDS))
    if crate == "evals":
        evals(made, count)
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
    options = parser.parse_args()
    report = measure.Report("compile cost of a case, marginal CPU time")

    crates = ("evals", "by_hand", "rstest_cases", "test_case_cases")
    projects = {(crate, count): project(crate, count) for crate in crates for count in (1, options.cases)}
    found = measure.alternate(
        {key: (lambda made=made: build(made)) for key, made in projects.items()}, options.rounds
    )
    cost = {}
    for crate in crates:
        one, many = (measure.median(found[crate, count]) for count in (1, options.cases))
        cost[crate] = (many - one) / (options.cases - 1)
        report.note(f"{crate}: {one:.2f} s with 1 case, {many:.2f} s with {options.cases}: {measure.in_ms(cost[crate])} a case")
    report.at_most("against a one-line #[tokio::test]", cost["evals"] / cost["by_hand"], 1.1)
    for name, crate in (("rstest", "rstest_cases"), ("test-case", "test_case_cases")):
        report.note(f"against {name}: ratio {cost['evals'] / cost[crate]:.2f}")
    report.end()


main()
