//! `run` with what asks a model: from the recording beside the set, as in tests.

use crate::run::{agents, folder, run};

#[test]
fn a_simulated_user_is_replayed_as_in_tests() {
    let folder = folder("run-judges");
    folder.write("front_desk.py", std::fs::read(agents().join("front_desk.py")).expect("the program"));
    for file in ["hotel.evalset.json", "hotel.evalset.judge.json", "test_config.json"] {
        let sample = crate::folder::samples().join("hotel").join(file);
        folder.write(&format!("hotel/{file}"), std::fs::read(sample).expect("a sample"));
    }
    let ran = folder.run(&["run", "hotel", "--agent-cmd", "python3 front_desk.py"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("all 3 cases passed") && ran.out.contains(" replayed, 0 asked)"), "{}", ran.out);
}

/// The agent of the sample `weather`, for one of its cases. It answers with `answer`.
fn weather(answer: &str) -> String {
    format!(
        r#"
import json, sys
def say(**message): print(json.dumps(message), flush=True)
say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start": say(type="started")
    if message["type"] == "turn":
        say(type="tool_call", name="get_weather", args={{"city": "Paris"}}, result={{"sky": "sunny", "degrees": 21}})
        say(type="text", text="{answer}")
        say(type="turn_end")
"#
    )
}

#[test]
fn a_judged_metric_is_replayed_as_in_tests_and_what_was_not_recorded_is_not_measured() {
    let folder = folder("run-judged");
    for file in ["weather.evalset.json", "weather.evalset.judge.json", "judged.json"] {
        let sample = crate::folder::samples().join("weather").join(file);
        folder.write(&format!("judged/{file}"), std::fs::read(sample).expect("a sample"));
    }
    // Two of the three votes decide.
    let right = "It is sunny in Paris today, 21 degrees celsius.";
    let set = "judged/weather.evalset.json:sunny in Paris";
    let args = [
        "run",
        set,
        "--config",
        "judged/judged.json",
        "-m",
        "final_response_match_v2",
        "--agent-cmd",
        "python3 one.py",
    ];
    folder.write("one.py", weather(right));
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("final_response_match_v2 1.0"), "{}", ran.out);
    assert!(ran.out.contains("judges 2 questions (2 replayed, 0 asked)"), "{}", ran.out);
    let rescored = folder.run(&["rescore"]);
    assert_eq!(rescored.code, Some(0), "{}{}", rescored.out, rescored.err);

    folder.write("one.py", weather("It rains in Paris."));
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("EVALSET_JUDGE=record"), "{}", ran.out);

    let ran = run(&folder, &["fine", "-m", "final_response_match_v2=1"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("evals/more/fine.evalset.judge.json"), "{}", ran.out);
}
