#!/usr/bin/env python3
"""A set against google-adk's server, with `cargo evalset run` and with `adk eval`.

    benches/server_run.py [--cases 200] [--rounds 3] [--port 18462]

The agent is that of the other measurements, in google-adk, without a model. `cargo evalset run` plays it behind `adk api_server`, eight
cases at a time, `adk eval` in its own process, with the concurrency that it has (four). Both score with the two default metrics and save
what came out. Whole commands: of `adk eval` with Python's start and imports, of `cargo evalset run` once against a server that is there,
which the target is about, and once with the server that it starts. How much of a run is CPU time of the server is printed too.
"""

import argparse
import json
import shutil

import measure
import server


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=18462)
    options = parser.parse_args()
    report = measure.Report(f"{options.cases} cases of an agent of google-adk")
    evalset = server.program()
    folder = server.folder("server_run", options.cases)
    agents = folder / "agents"
    # What `adk eval` saves goes beside the agent.
    shutil.copytree(measure.BENCHES / "adk/shop", agents / "shop", ignore=shutil.ignore_patterns("__pycache__"))
    imports = f"import sys\nsys.path.insert(0, {str(measure.BENCHES)!r})\n"
    agent = agents / "shop/agent.py"
    agent.write_text(imports + agent.read_text())
    python = measure.adk_python()
    config = folder / "test_config.json"
    main_of_adk = "from google.adk.cli import main; main()"

    def adk_eval():
        command = [python, "-c", main_of_adk, "eval", agents / "shop", folder / "orders.evalset.json"]
        return measure.run([*command, "--config_file_path", config], folder)

    start = f"{python} -c '{main_of_adk}' api_server --no_use_local_storage {agents}"
    served = []

    def against_running():
        with server.adk(agents, options.port) as (url, pid):
            # The first request of an app imports its agent.
            server.run(evalset, folder, "--agent-url", url, "--concurrency", 8)
            before = server.cpu_of(pid)
            cost = server.run(evalset, folder, "--agent-url", url, "--concurrency", 8)
            after = server.cpu_of(pid)
            if before is not None and after is not None:
                served.append(after - before)
            return cost

    found = measure.alternate(
        {
            "adk eval": adk_eval,
            "run": lambda: server.run(evalset, folder, "--adk-cmd", start, "--concurrency", 8),
            "run, server there": against_running,
        },
        options.rounds,
    )
    seconds = {name: measure.median([cost.wall for cost in costs]) for name, costs in found.items()}
    for name, costs in found.items():
        cpu = measure.median([cost.cpu for cost in costs])
        report.note(f"{name}: {seconds[name]:.2f} s on the clock, {cpu:.2f} CPU s, without those of a server")
    if served:
        report.note(f"of `run, server there`, the server took {measure.median(served):.2f} CPU s")
    passed = results(folder / "agents/shop/.adk/eval_history")
    report.note(f"adk eval: {passed} of {options.cases} cases passed")
    report.at_least("adk eval / run, server there", seconds["adk eval"] / seconds["run, server there"], 5)
    report.note(f"adk eval / run, which starts a server: {seconds['adk eval'] / seconds['run']:.1f}")
    report.end()


def results(history):
    """The cases that passed in the newest result that `adk eval` saved."""
    newest = max(history.glob("*.evalset_result.json"), key=lambda path: path.stat().st_mtime)
    saved = json.loads(newest.read_text())
    saved = json.loads(saved) if isinstance(saved, str) else saved
    return sum(case["final_eval_status"] == 1 for case in saved["eval_case_results"])


main()
