//! `report --html` of a run with a case of every kind: all that the page says, as one text.

use serde_json::{Value, json};

use crate::folder::{Folder, set};
use crate::journal::{Journal, METRIC, completed, error, failed, outcome, passed};

const JUDGED: &str = "final_response_match_v2";

/// An evaluation in which the agent answers each message, and what its metrics gave.
struct Played<'a> {
    run: usize,
    turns: &'a [(&'a str, &'a str)],
    metrics: Value,
}

fn play(journal: &mut Journal<'_>, test: u32, played: &Played<'_>) {
    let says = |role: &str, part: &Value| json!({ "role": role, "parts": [part] });
    let call = json!({ "function_call": { "id": "c", "name": "look_up", "args": { "city": "Oslo" } } });
    let result =
        json!({ "function_response": { "id": "c", "name": "look_up", "response": { "sky": "grey" } } });
    let turn = |(user, answer): &(&str, &str)| {
        let usage =
            json!({ "prompt_token_count": 1000, "candidates_token_count": 100, "total_token_count": 1100 });
        let event =
            |author: &str, content: Value, at: f64| json!({ "author": author, "content": content, "at": at });
        let mut last = event("agent", says("model", &json!({ "text": answer })), 0.5);
        last["usage"] = usage;
        last["model_version"] = json!("gemini-3");
        json!({
            "invocation_id": format!("turn {user}"), "creation_timestamp": 1.0,
            "user_content": says("user", &json!({ "text": user })),
            "events": [event("agent", says("model", &call), 0.1), event("agent", says("user", &result), 0.2), last],
        })
    };
    let turns: Vec<Value> = played.turns.iter().map(turn).collect();
    journal.raw(
        &json!({ "record": "ran", "test": test, "run": played.run, "evaluation": played.run, "transcript": {
            "session": { "app_name": "a", "user_id": "u", "session_id": "s" }, "turns": turns,
        }})
        .to_string(),
    );
    let scored = json!({ "record": "scored", "test": test, "run": played.run, "evaluation": played.run, "metrics": played.metrics });
    journal.raw(&completed(scored).to_string());
}

/// The verdict of a case, with its metrics: name, mean and verdict.
fn decide(
    journal: &mut Journal<'_>,
    test: u32,
    verdict: &Value,
    metrics: &[(&str, Option<f64>, Value)],
    headline: &str,
) {
    let metric = |(name, score, verdict): &(&str, Option<f64>, Value)| {
        json!({ "name": name, "criterion": { "threshold": 0.8 }, "score": score, "scored": usize::from(score.is_some()), "total": 1,
            "verdict": verdict })
    };
    let decided = json!({
        "record": "decided", "test": test, "verdict": verdict, "elapsed": 1.25, "at": "2026-11-22T02:31:38.500Z",
        "metrics": metrics.iter().map(metric).collect::<Vec<_>>(), "headline": Some(headline).filter(|it| !it.is_empty()),
        "notes": ["a note of the case"],
    });
    journal.raw(&decided.to_string());
}

fn metric(name: &str, outcome: &Value) -> Value {
    json!({ "name": name, "outcome": outcome })
}

/// A judge's answer to a metric.
fn judged(outcome: &Value, verdict: &Value) -> Value {
    json!({ "name": JUDGED, "outcome": outcome, "verdict": verdict, "judge": [{ "model": "judge-1", "asked": 3, "failed": 1, "replayed": 1,
        "usage": { "prompt_token_count": 900, "candidates_token_count": 100 },
        "questions": [{ "template": "final_response_match_v2/2", "prompt": "Is it right?", "answers": ["yes", "no answer: late"] }] }] })
}

fn rich(folder: &Folder) {
    folder.write("evals/weather.evalset.json", set(""));
    let mut before = Journal::new(folder, "r0");
    for name in ["weather::flaky", "weather::oslo"] {
        let test = before.started(name, 1);
        before.ran(test, 1, 1.0);
        before.decided(test, &passed(), Some(1.0), "");
    }
    before.write();

    let mut journal = Journal::new(folder, "r1");
    journal.set_head(&json!({ "started": "2026-11-22T02:31:07.250Z", "built": "2026-11-22T02:30:00.000Z" }));
    let one = [("Weather?", "It is sunny.")];
    let sunny = journal.started("weather::sunny", 1);
    play(
        &mut journal,
        sunny,
        &Played { run: 1, turns: &one, metrics: json!([metric(METRIC, &outcome(&[1.0]))]) },
    );
    decide(&mut journal, sunny, &passed(), &[(METRIC, Some(1.0), passed())], "");

    let flaky = journal.started("weather::flaky", 3);
    for (run, score) in [(1, 1.0), (2, 0.5), (3, 1.0)] {
        play(
            &mut journal,
            flaky,
            &Played { run, turns: &one, metrics: json!([metric(METRIC, &outcome(&[score]))]) },
        );
    }
    decide(&mut journal, flaky, &passed(), &[(METRIC, Some(0.833), passed())], "");

    let oslo = journal.started("weather::oslo", 1);
    let turns = [("Weather?", "Rain."), ("And tomorrow?", "Sun.")];
    let rubric = |score: f64| json!({ "rubric_id": "polite", "rationale": "It greets.", "score": score });
    let rubrics = json!({ "scored": { "overall": 0.5, "scores": [
        { "value": 0.0, "rubrics": [rubric(0.0)], "notes": ["a note of the judge"] },
        { "value": 1.0, "rubrics": [rubric(1.0)] },
    ] } });
    let metrics = json!([metric(METRIC, &outcome(&[0.25, 0.75])), judged(&rubrics, &failed())]);
    play(&mut journal, oslo, &Played { run: 1, turns: &turns, metrics });
    let both = [(METRIC, Some(0.5), failed()), (JUDGED, Some(0.5), failed())];
    decide(&mut journal, oslo, &failed(), &both, "response_match_score is 0.5, below 0.8");

    let broken = journal.started("weather::broken", 2);
    journal.ran_only(broken, 1, &json!({ "role": "agent", "turn": 1, "message": "connection refused" }));
    decide(
        &mut journal,
        broken,
        &error("agent", "agent error: connection refused"),
        &[],
        "agent error: connection refused",
    );

    let unrecorded = journal.started("weather::unrecorded", 1);
    let miss = |message: &str| {
        json!([judged(&json!({ "error": message, "role": "judge" }), &error("judge", message))])
    };
    let of_turn = miss("turn 2: not recorded\nrecord it: EVALSET_JUDGE=record cargo test");
    play(&mut journal, unrecorded, &Played { run: 1, turns: &turns, metrics: of_turn });
    let why = error("judge", "judge error: turn 2: not recorded");
    decide(
        &mut journal,
        unrecorded,
        &why,
        &[(JUDGED, None, why.clone())],
        "judge error: turn 2: not recorded",
    );

    let down = journal.started("weather::judge_down", 1);
    play(&mut journal, down, &Played { run: 1, turns: &one, metrics: miss("503 of the judge") });
    let why = error("judge", "judge error: 503 of the judge");
    decide(&mut journal, down, &why, &[(JUDGED, None, why.clone())], "judge error: 503 of the judge");

    let unscored = journal.started("weather::unscored", 1);
    let why = json!({ "is": "not_evaluated", "reason": "no turn has an answer" });
    let outcome_of = json!({ "scored": { "scores": [{ "not_evaluated": "no turn has an answer" }] } });
    let metrics =
        json!([{ "name": METRIC, "outcome": outcome_of, "verdict": why, "turns": ["not_evaluated"] }]);
    play(&mut journal, unscored, &Played { run: 1, turns: &one, metrics });
    decide(
        &mut journal,
        unscored,
        &why,
        &[(METRIC, None, why.clone())],
        "not evaluated: no turn has an answer",
    );

    let skipped = journal.started("weather::skipped", 1);
    decide(&mut journal, skipped, &json!({ "is": "skipped", "reason": "nothing to ask" }), &[], "");
    let open = journal.started("weather::open", 2);
    play(
        &mut journal,
        open,
        &Played { run: 1, turns: &one, metrics: json!([metric(METRIC, &outcome(&[1.0]))]) },
    );
    journal.write();
}

/// The texts of the page and the attributes that say something, a line each; scripts and styles are left out, but for the
/// details of the cases.
fn said(page: &str) -> String {
    let mut lines = Vec::new();
    let mut rest = page.split_once("<body").expect("a page").1;
    while let Some((text, after)) = rest.split_once('<') {
        let text = text.rsplit('>').next().unwrap_or_default().trim();
        lines.extend((!text.is_empty()).then(|| text.to_owned()));
        let (tag, mut behind) = after.split_once('>').expect("a tag ends");
        for block in ["script", "style"] {
            if tag.starts_with(block) {
                let (inside, next) = behind.split_once(&format!("</{block}>")).expect("a block ends");
                if tag.contains("application/json") {
                    let details: Value = serde_json::from_str(inside).expect("the details are JSON");
                    lines.push(serde_json::to_string_pretty(&details).expect("JSON"));
                }
                behind = next;
            }
        }
        for name in [
            "data-filters",
            "data-filter",
            "aria-label",
            "title",
            "points",
            "x",
            "cx",
            "cy",
            "width",
            "height",
            "class",
        ] {
            let value = tag.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
            lines.extend(value.map(|(value, _)| format!("  {name}: {value}")));
        }
        rest = behind;
    }
    lines.join("\n")
}

#[test]
fn a_run_with_a_case_of_every_kind() {
    let folder = Folder::new("whole-page");
    rich(&folder);
    let ran = folder.run(&["report", "--html", "report.html", "--price", "gemini-3=1/10"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let page = folder.read("report.html");
    insta::assert_snapshot!("report", ran.shown());
    insta::assert_snapshot!("page", said(&page));
}
