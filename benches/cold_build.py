#!/usr/bin/env python3
"""A clean build of a user's test crate: eval-core with its default features against adk-eval 2.3.0.

    benches/cold_build.py [--rounds 3]

`cargo test --no-run` into an empty folder; CPU seconds of everything it starts. The crates are downloaded
beforehand. Not incremental: crates from the registry never are, and eval-core comes from a folder here.
"""

import argparse
import shutil

import cases
import measure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    report = measure.Report("clean build of a user's test crate")

    projects = {name: measure.Project(name, f"cold_{name}", target=f"cold/{name}") for name in ("evals", "adk_eval")}
    projects["evals"].write("evals/orders.evalset.json", cases.as_json(cases.eval_set(3)))

    def build(project):
        shutil.rmtree(project.target, ignore_errors=True)
        return project.cargo("test", "--no-run", "--locked", "--offline", CARGO_INCREMENTAL="0")

    for project in projects.values():
        project.cargo("fetch", "--locked")
    found = measure.alternate({n: (lambda p=p: build(p)) for n, p in projects.items()}, options.rounds)
    cpu = {name: measure.median([cost.cpu for cost in costs]) for name, costs in found.items()}
    for name, costs in found.items():
        crates = (projects[name].folder / "Cargo.lock").read_text().count("[[package]]")
        wall = measure.median([cost.wall for cost in costs])
        report.note(f"{name}: {cpu[name]:.1f} CPU s, {wall:.1f} s on the clock, {crates} crates in the lock file")
        shutil.rmtree(projects[name].target)
    report.at_most("eval-core / adk-eval", cpu["evals"] / cpu["adk_eval"], 0.48)
    report.end()


main()
