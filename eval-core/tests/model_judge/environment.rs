//! The judge that the environment describes.

use std::path::Path;

use eval_core::format::Value;
use eval_core::judge::{Judge, JudgeRequest, default_judge};
use eval_core::{Criterion, EvalCase, EvalRunner, Invocation, Replay, json};

use crate::process::{SHARED, folder, start};
use crate::server::{Answer, Server};
use crate::{KEY, WIRES};

/// Asks the default judge once, and writes the result into the shared folder.
#[tokio::test]
async fn asks_the_default_judge() {
    let Some(shared) = std::env::var_os(SHARED) else { return };
    let result = match default_judge() {
        Ok(judge) => judge.ask(&JudgeRequest::new("openai/gpt-test", "Is it polite?")).await,
        Err(error) => Err(error),
    };
    let said = result.map_or_else(|error| format!("{:?}: {error}", error.kind()), |reply| reply.text);
    std::fs::write(Path::new(&shared).join("said"), said).unwrap();
}

/// Runs a case with a judged metric, without naming a judge.
#[tokio::test]
async fn runs_a_judged_case() {
    let Some(shared) = std::env::var_os(SHARED) else { return };
    let options = json!({"judge_model": "openai/gpt-test", "num_samples": 1});
    let criterion = Criterion::new(1.0).with("judge_model_options", Value::from(options));
    let runner = EvalRunner::new().criterion("final_response_match_v2", criterion);
    let case = EvalCase::new("paris").turn(Invocation::user("Weather in Paris?").response("It is sunny."));
    let said = match runner.run_case(&case, || Replay::new([["The sun shines."]])).await {
        Ok(report) => format!("{:?}", report.verdict),
        Err(error) => format!("not run: {error}"),
    };
    std::fs::write(Path::new(&shared).join("said"), said).unwrap();
}

/// The result of one of the tests above under these variables.
fn run(test: &str, name: &str, variables: &[(&str, &str)]) -> String {
    let shared = folder(name);
    let mut command = start(test, &shared);
    for unset in ["OPENAI_BASE_URL", "EVALSET_JUDGE_BASE_URL", "OPENAI_API_KEY", "EVALSET_JUDGE"] {
        command.env_remove(unset);
    }
    command.env("EVALSET_DIR", &shared).envs(variables.iter().copied()).output().unwrap();
    let said = std::fs::read_to_string(shared.join("said")).unwrap();
    let has_asked = !said.contains("the variable") && !said.contains("EVALSET_JUDGE=live");
    assert_eq!(shared.join("judge-slots").is_dir(), has_asked, "slots lie in `EVALSET_DIR`: {said}");
    std::fs::remove_dir_all(shared).unwrap();
    said
}

fn ask(name: &str, variables: &[(&str, &str)]) -> String {
    run("environment::asks_the_default_judge", name, variables)
}

#[test]
fn metrics_ask_it_where_no_judge_is_named_but_only_on_demand() {
    let server = Server::start(vec![WIRES[0].ok("{\"is_the_agent_response_valid\": \"valid\"}")]);
    let url = server.url("/v1");
    let base = ("EVALSET_JUDGE_BASE_URL", url.as_str());

    let said = run("environment::runs_a_judged_case", "on_no_demand", &[base]);
    assert!(said.starts_with("Error") && said.contains("EVALSET_JUDGE=live"), "{said}");
    assert_eq!(server.requests().len(), 0);

    let said = run("environment::runs_a_judged_case", "on_demand", &[base, ("EVALSET_JUDGE", "live")]);
    assert_eq!((said.as_str(), server.requests().len()), ("Passed", 1));
}

#[test]
fn the_variables_are_obeyed() {
    let fail = || WIRES[0].fail(500, "", "no such luck");
    let server = Server::start(vec![fail(), WIRES[0].ok("yes"), fail(), fail(), Answer::Hang]);
    let url = server.url("/v1");
    let base = [("EVALSET_JUDGE_BASE_URL", url.as_str()), ("OPENAI_API_KEY", KEY)];
    let with = |more: &[(&'static str, &'static str)]| [&base[..], more].concat();

    let said = ask("retried", &base);
    assert_eq!(said, "yes");
    assert_eq!(server.requests()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));

    let said = ask("given_up", &with(&[("EVALSET_JUDGE_RETRIES", "1"), ("EVALSET_JUDGE_SLOTS", "1")]));
    assert!(said.ends_with("no such luck (the last answer of 2 attempts)"), "{said}");

    let said = ask("timeout", &with(&[("EVALSET_JUDGE_RETRIES", "0"), ("EVALSET_JUDGE_TIMEOUT", "1")]));
    assert!(said.starts_with("Timeout: ") && said.contains("within 1s"), "{said}");
}

#[test]
fn a_missing_key_is_a_missing_judge() {
    let said = ask("missing", &[]);
    assert!(
        said.starts_with("NoJudge: no key for the judge `openai/gpt-test`: set `OPENAI_API_KEY`"),
        "{said}"
    );
}

#[test]
fn variables_that_cannot_be_read_are_errors() {
    for name in ["EVALSET_JUDGE_RETRIES", "EVALSET_JUDGE_SLOTS", "EVALSET_JUDGE_TIMEOUT"] {
        let said = ask(name, &[(name, "a few")]);
        assert!(
            said.starts_with(&format!("Failed: the variable `{name}` has to be a whole number")),
            "{said}"
        );
    }
}

#[test]
fn a_variable_that_nothing_reads_stops_programs_and_the_default_judge() {
    let misspelt = [("EVALSET_JUGDE", "live")];
    let wrong = "nothing reads the variable `EVALSET_JUGDE`; did you mean `EVALSET_JUDGE`?";
    assert_eq!(ask("misspelt", &misspelt), format!("Failed: {wrong}"));
    let said = run("environment::runs_a_judged_case", "misspelt_in_a_program", &misspelt);
    assert_eq!(said, format!("not run: {wrong}"));
    // Also where no judge is asked.
    let number = [("EVALSET_JUDGE_RETRIES", "a few")];
    let said = run("environment::runs_a_judged_case", "no_number_in_a_program", &number);
    assert!(
        said.starts_with("not run: the variable `EVALSET_JUDGE_RETRIES` has to be a whole number"),
        "{said}"
    );
}

#[test]
fn where_no_lock_can_be_made_it_is_said_and_the_judge_asked() {
    let server = Server::start(vec![WIRES[0].ok("yes")]);
    let shared = folder("no_lock");
    let file = shared.join("file");
    std::fs::write(&file, "").unwrap();
    let output = start("environment::asks_the_default_judge", &shared)
        .env("EVALSET_JUDGE_BASE_URL", server.url("/v1"))
        .env("EVALSET_DIR", &file)
        .output()
        .unwrap();
    assert_eq!(std::fs::read_to_string(shared.join("said")).unwrap(), "yes");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(printed.matches("judge requests are limited in this process alone").count(), 1, "{printed}");
    std::fs::remove_dir_all(shared).unwrap();
}
