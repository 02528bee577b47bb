#!/usr/bin/env python3
"""Object storage with google-adk: what cargo-evalset stores, ADK's managers load, and the other way round.

    tests/store/buckets.py PYTHON PROGRAM

PYTHON has google-adk, gcp-storage-emulator and moto[server]. PROGRAM is cargo-evalset with the feature `store`. The emulator
of Google Cloud Storage and moto's S3 listen on loopback.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUCKET = "evals"
checks = 0


def check(is_so, said):
    global checks
    checks += 1
    if not is_so:
        print(f"FAILED: {said}", file=sys.stderr, flush=True)
        # The threads of an emulator would keep a process that only exits.
        os._exit(1)


class Project:
    """A folder with sets, an agent, and the program."""

    def __init__(self, program, folder, env):
        self.program, self.folder, self.env = program, folder, env
        agents = HERE.parent.parent / "eval-cli" / "tests" / "agents"
        (folder / "weather.py").write_bytes((agents / "weather.py").read_bytes())
        (folder / "evals").mkdir()
        for set_id, cities in {"trip": ["Paris", "Oslo"], "ways home": ["Lima"]}.items():
            (folder / "evals" / f"{set_id}.evalset.json").write_text(json.dumps(an_eval_set(set_id, cities)))

    def run(self, *args, code=0, **env):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "GOOGLE_", "EVALSET_"))}
        done = subprocess.run(
            [self.program, *args],
            cwd=self.folder,
            env={**clean, **self.env, **env},
            capture_output=True,
            text=True,
        )
        check(done.returncode == code, f"{args} ends with {done.returncode}\n{done.stdout}{done.stderr}")
        return done


def an_eval_set(set_id, cities):
    def case(city):
        answer = f"It is sunny in {city}." if city != "Oslo" else "Take an umbrella."
        return {
            "eval_id": f"weather in {city}",
            "conversation": [
                {
                    "user_content": {"role": "user", "parts": [{"text": f"What is the weather in {city}?"}]},
                    "final_response": {"role": "model", "parts": [{"text": answer}]},
                    "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": city}}]},
                }
            ],
            "session_input": {"app_name": "weather", "user_id": "u"},
        }

    return {"eval_set_id": set_id, "eval_cases": [case(city) for city in cities]}


AGENT = ["--agent-cmd", "python3 weather.py"]


def statuses(result):
    """What came out, by case and metric."""
    return {
        case.eval_id: (
            case.final_eval_status.value,
            {metric.metric_name: (metric.score, metric.eval_status.value) for metric in case.overall_eval_metric_results},
        )
        for case in result.eval_case_results
    }


def reported(project, url, *args, code):
    """The same, as `report` has it."""
    shown = project.run("report", "--store", url, "--format", "json", *args, code=code)
    return json.loads(shown.stdout)


def round_trip(project, url):
    """Stores a run, and reads it back."""
    project.run("run", "evals", *AGENT, "--store", url, code=1)
    document = reported(project, url, code=1)
    check(len(document["cases"]) == 3, f"three cases come back: {document}")
    check(project.run("store", "list", url).stdout.startswith(f"{url}: 1 run\n"), "one run is listed")
    return document


def partitions(project, url):
    """Two machines store into one run."""
    for machine, eval_set in {"one": "trip:weather in Paris", "two": "ways home"}.items():
        env = {"EVALSET_DIR": str(project.folder / machine), "EVALSET_RUN_ID": "shared"}
        project.run("run", eval_set, *AGENT, **env)
        project.run("store", "push", url, "shared", **env)
    document = reported(project, url, "shared", code=0)
    check(len(document["cases"]) == 2, f"both parts are in one run: {document}")


def odd_names(project, url):
    """Prefixes with characters that a URL has to escape."""
    for prefix in ["a b", "100%/%20", "#1?x=y&z", "caf\u00e9/\u4e2d", "plus+semi;colon:at@", "it's \"so\""]:
        project.run("store", "push", f"{url}/{prefix}", "shared", EVALSET_DIR=str(project.folder / "one"))
        document = reported(project, f"{url}/{prefix}", "shared", code=0)
        check(len(document["cases"]) == 1, f"{prefix}: {document}")


def large(project, url):
    """A journal of several parts."""
    run = project.folder / "large" / "long"
    run.mkdir(parents=True)
    (run / "run.json").write_text('{"run": "long", "started": "2026-11-22T00:00:00Z"}')
    text = b'{"a": 1}\n' + b'{"text": "' + os.urandom(9 << 20).hex().encode() + b'"}\n'
    (run / "a.jsonl").write_bytes(text)
    project.run("store", "push", url, "long", EVALSET_DIR=str(project.folder / "large"))
    # No line of it is ours: the report says so, and the copy is what was stored.
    project.run("report", "--store", url, "long", code=2)
    copies = [path for path in project.folder.glob("**/.store/*/runs/long/*.jsonl")]
    check([path.read_bytes() for path in copies] == [text], f"the copy is the original: {copies}")


def google(program, folder):
    from gcp_storage_emulator.server import create_server
    from google.auth.credentials import AnonymousCredentials
    from google.adk.evaluation.gcs_eval_set_results_manager import GcsEvalSetResultsManager
    from google.adk.evaluation.gcs_eval_sets_manager import GcsEvalSetsManager
    from google.adk.evaluation.local_eval_sets_manager import load_eval_set_from_file

    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket=BUCKET)
    server.start()
    port = server._api._httpd.server_address[1]
    os.environ["STORAGE_EMULATOR_HOST"] = f"http://127.0.0.1:{port}"
    client = {"project": "p", "credentials": AnonymousCredentials()}
    results = GcsEvalSetResultsManager(BUCKET, **client)
    sets = GcsEvalSetsManager(BUCKET, **client)
    url = f"gs://{BUCKET}"
    project = Project(program, folder, {"STORAGE_EMULATOR_HOST": f"127.0.0.1:{port}"})

    # ADK loads our results.
    document = round_trip(project, url)
    names = results.list_eval_set_results("weather")
    check(len(names) == 2, f"ADK lists our two results and nothing else: {names}")
    loaded = [results.get_eval_set_result("weather", name) for name in names]
    check(sorted(result.eval_set_id for result in loaded) == ["trip", "ways home"], f"of both sets: {loaded}")
    outcomes = {name: outcome for result in loaded for name, outcome in statuses(result).items()}
    check({name: outcome[0] for name, outcome in outcomes.items()} == {"weather in Paris": 1, "weather in Oslo": 2, "weather in Lima": 1}, f"{outcomes}")
    for test in document["cases"]:
        its = outcomes[test["eval_id"]][1]
        for metric in test["metrics"]:
            check(its[metric["name"]][0] == metric["score"], f"{test['eval_id']} {metric['name']}: ADK reads {its}")

    # ADK loads our sets.
    project.run("store", "push-sets", url, "evals")
    check(sets.list_eval_sets("weather") == ["trip", "ways home"], f"{sets.list_eval_sets('weather')}")
    for set_id in ["trip", "ways home"]:
        original = load_eval_set_from_file(str(folder / "evals" / f"{set_id}.evalset.json"), set_id)
        check(sets.get_eval_set("weather", set_id) == original, f"{set_id} is the same set")

    # We read ADK's results and sets.
    results.save_eval_set_result("weather", "theirs", loaded[0].eval_case_results)
    theirs = [name for name in results.list_eval_set_results("weather") if "_theirs_" in name]
    listed = json.loads(project.run("store", "list", url, "--format", "json").stdout)
    check(listed["apps"][0]["results"] == results.list_eval_set_results("weather"), f"{listed}")
    shown = project.run("store", "result", url, f"weather/{theirs[0]}", code=1)
    check("1 of 2 cases passed" in shown.stdout, shown.stdout)
    sets.create_eval_set("other_app", "made_by_adk")
    case = sets.get_eval_set("weather", "trip").eval_cases[0]
    sets.add_eval_case("other_app", "made_by_adk", case)
    made = project.run("run", f"{url}/other_app/evals/eval_sets/made_by_adk.evalset.json", *AGENT)
    check("weather in Paris" in made.stdout, made.stdout)
    every = project.run("run", f"{url}/other_app/evals/eval_sets/", *AGENT, "--store", url, "--app", "other_app")
    check(len(results.list_eval_set_results("other_app")) == 1, every.stderr)

    partitions(project, url)
    odd_names(project, url)
    large(project, url)
    missing = project.run("store", "list", "gs://nowhere", code=2)
    check("there is no bucket `nowhere` (404)" in missing.stderr, missing.stderr)
    check(len(results.list_eval_set_results("weather")) == 3, "what is ours lies beside ADK's folders")
    server.stop()


def s3(program, folder):
    import boto3
    from google.adk.evaluation._eval_set_results_manager_utils import parse_eval_set_result_json
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = "http://%s:%d" % server.get_host_and_port()
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing-secret-testing", "AWS_REGION": "us-east-1"}
    client = boto3.client(
        "s3",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
    )
    client.create_bucket(Bucket=BUCKET)
    url = f"s3://{BUCKET}"
    project = Project(program, folder, {"AWS_ENDPOINT_URL": address, **keys})
    round_trip(project, url)
    names = [item["Key"] for item in client.list_objects_v2(Bucket=BUCKET, Prefix="weather/evals/eval_history")["Contents"]]
    check(len(names) == 2, f"two results: {names}")
    for name in names:
        parse_eval_set_result_json(client.get_object(Bucket=BUCKET, Key=name)["Body"].read())
    project.run("store", "push-sets", url, "evals")
    project.run("run", f"{url}/weather/evals/eval_sets/ways home.evalset.json", *AGENT)
    partitions(project, url)
    odd_names(project, url)
    large(project, url)
    missing = project.run("store", "list", "s3://nowhere", code=2)
    check("there is no bucket `nowhere` (404)" in missing.stderr, missing.stderr)
    server.stop()


def main():
    python, program = sys.argv[1:]
    if os.path.abspath(python) != sys.executable:
        # In the Python that has the packages.
        os.execv(os.path.abspath(python), [os.path.abspath(python), *sys.argv])
    # The arguments of the program, and what the emulators say of each request, are of no use here.
    import logging

    logging.disable(logging.WARNING)
    for service in [google, s3]:
        with tempfile.TemporaryDirectory(prefix="evalset-store-") as folder:
            service(str(pathlib.Path(program).resolve()), pathlib.Path(folder))
    print(f"{checks} checks passed: object storage with google-adk")


main()
