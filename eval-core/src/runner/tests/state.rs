//! The session state of several runs.

use super::*;
use crate::agent::Session;

/// In ADK a session with a fixed id, and state under `user:` and `app:`, last from run to run.
#[test]
fn each_run_begins_with_the_state_of_the_case() {
    struct Remembering {
        found: Vec<String>,
    }
    impl Agent for Remembering {
        async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
            self.found = session.state.keys().map(str::to_owned).collect();
            Ok(())
        }
        async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
            for key in ["seen", "user:seen", "app:seen"] {
                turn.recorder().state(key, true);
            }
            turn.recorder().text(self.found.join(" "));
            Ok(())
        }
    }
    let mut case = case("c", &[("what do you know?", "given")]).state(Map::from([("given", 1_i64)]));
    let mut input = case.session_input.take().unwrap_or_default();
    input.session_id = Some("fixed".to_owned());
    case.session_input = Some(input);
    let runner = EvalRunner::new().runs(3).criterion("response_match_score", Criterion::new(1.0));
    let report = run(runner.run_case(&case, || Remembering { found: Vec::new() })).unwrap();
    assert_eq!(report.verdict, Verdict::Passed, "{report}");
    assert!(report.runs.iter().all(|run| run.transcript.session.session_id == "fixed"));
    assert!(report.runs.iter().all(|run| run.transcript.state.len() == 4));
}
