//! Golden tools in the real `adk api_server`: no tool runs, whatever goes wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use eval_agents::AdkServer;
use eval_agents::record::{DraftRecorder, Script};
use eval_core::format::{EvalCase, Invocation, MatchType, ToolSource, Value};
use eval_core::{CaseReport, Criterion, EvalRunner, Verdict};

use super::{file, python};

/// A server whose agents note what runs for real.
struct Shop {
    folder: tempfile::TempDir,
    python: PathBuf,
    /// Code before the server starts.
    before: String,
}

impl Shop {
    fn new() -> Option<Self> {
        Self::changed_by("")
    }

    fn changed_by(before: &str) -> Option<Self> {
        Some(Self { folder: tempfile::tempdir().unwrap(), python: python()?, before: before.to_owned() })
    }

    fn notes(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.python);
        let main = format!("{}\nfrom google.adk.cli import main; main()", self.before);
        command.args(["-c", &main, "api_server", "--no_use_local_storage"]).arg(file("adk/golden"));
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("REAL_TOOLS", self.notes());
        command
    }

    fn server(&self) -> AdkServer {
        self.server_of("shop")
    }

    fn server_of(&self, app: &str) -> AdkServer {
        AdkServer::spawn(self.command(), app)
    }

    /// The parts that ran for real: models, callbacks of the agent, tools.
    fn ran(&self) -> Vec<String> {
        let notes = fs::read_to_string(self.notes()).unwrap_or_default();
        let _ = fs::remove_file(self.notes());
        notes.lines().map(str::to_owned).filter(|note| note != "model").collect()
    }

    fn models_asked(&self) -> usize {
        fs::read_to_string(self.notes()).unwrap_or_default().matches("model").count()
    }

    async fn play(&self, case: &EvalCase) -> CaseReport {
        let runner = runner().tools(ToolSource::Golden);
        runner.run_case(case, || self.server()).await.unwrap()
    }
}

fn runner() -> EvalRunner {
    let calls = Criterion::new(1.0).with_match_type(MatchType::Exact);
    EvalRunner::new().criterion("tool_trajectory_avg_score", calls).timeout(Duration::from_mins(1))
}

/// A case of one turn: what the user writes, and the expected calls with their answers.
fn case(says: &str, answers: &[(&str, &str, &str)]) -> EvalCase {
    let (mut calls, mut responses) = (Vec::new(), Vec::new());
    for (id, (name, args, response)) in answers.iter().enumerate() {
        calls.push(format!(r#"{{"id": "{id}", "name": "{name}", "args": {args}}}"#));
        responses.push(format!(r#"{{"id": "{id}", "name": "{name}", "response": {response}}}"#));
    }
    let text = format!(
        r#"{{"user_content": {{"parts": [{{"text": {}}}]}}, "intermediate_data": {{"tool_uses": [{}], "tool_responses": [{}]}}}}"#,
        Value::from(says),
        calls.join(", "),
        responses.join(", ")
    );
    EvalCase::new("c").turn(Invocation::parse(&text).unwrap())
}

fn paris() -> EvalCase {
    case(
        r#"get_weather {"city": "Paris"}"#,
        &[("get_weather", r#"{"city": "Paris"}"#, r#"{"sky": "golden"}"#)],
    )
}

fn with_faults(case: EvalCase, faults: &str) -> EvalCase {
    case.with_extra("_tools", Value::parse(faults).unwrap())
}

fn answer(report: &CaseReport) -> String {
    report.runs[0].transcript.turns[0].invocation.response_text()
}

fn error(report: &CaseReport) -> String {
    let Verdict::Error { message, .. } = &report.verdict else { panic!("{report}") };
    message.clone()
}

#[tokio::test]
async fn goldens_answer_behind_the_agents_own_callbacks_and_no_tool_runs() {
    let Some(shop) = Shop::new() else { return };
    let report = shop.play(&paris()).await;
    assert!(report.verdict.passed(), "{report}");
    assert_eq!(answer(&report), r#"got {"sky": "golden"}"#);
    assert_eq!(shop.ran(), ["guard get_weather"]);

    let missed = case(
        r#"get_weather {"city": "Oslo"}"#,
        &[("get_weather", r#"{"city": "Paris"}"#, r#"{"sky": "golden"}"#)],
    );
    let message = error(&shop.play(&missed).await);
    assert_eq!(
        message,
        r#"tools error in turn 1: no golden answers get_weather(city: "Oslo") in turn 1; nearest: get_weather(city: "Paris"), `city` differs"#
    );
    assert_eq!(shop.ran(), ["guard get_weather"]);

    // Calls of one message, two of them equal, and one that runs for long.
    let answers = [
        ("get_weather", r#"{"city": "Paris"}"#, r#"{"n": 1}"#),
        ("get_weather", r#"{"city": "Paris"}"#, r#"{"n": 2}"#),
        ("get_weather", r#"{"city": "Oslo"}"#, r#"{"n": 3}"#),
        ("approve", r#"{"order": "A-17"}"#, r#"{"approved": true}"#),
    ];
    let says = answers.map(|(name, args, _)| format!("{name} {args}")).join(" & ");
    let report = shop.play(&case(&says, &answers)).await;
    assert!(report.verdict.passed(), "{report}");
    assert_eq!(answer(&report), r#"got {"n": 1} {"n": 2} {"n": 3} {"approved": true}"#);
    assert_eq!(shop.ran(), ["guard get_weather", "guard get_weather", "guard get_weather", "guard approve"]);
}

#[tokio::test]
async fn agents_run_as_tools_and_after_a_transfer_and_their_tools_are_golden() {
    let Some(shop) = Shop::new() else { return };
    let refund = ("refund", r#"{"order": "A-17"}"#, r#"{"status": "golden"}"#);
    let request = r#"{"request": "refund {\"order\": \"A-17\"}"}"#;
    let inner = case(&format!("helper {request}"), &[("helper", request, "{}"), refund]);
    let report = shop.play(&inner).await;
    assert_eq!(answer(&report), r#"got {"result": "got {\"status\": \"golden\"}"}"#, "{report}");
    assert_eq!(shop.ran(), ["guard helper"]);

    let says = "transfer_to_agent {\"agent_name\": \"billing\"}\nrefund {\"order\": \"A-17\"}";
    let transfer = ("transfer_to_agent", r#"{"agent_name": "billing"}"#, r#"{"result": null}"#);
    let report = shop.play(&case(says, &[transfer, refund])).await;
    assert!(report.verdict.passed(), "{report}");
    assert!(answer(&report).ends_with(r#"{"status": "golden"}"#), "{report}");
    assert_eq!(shop.ran(), ["guard transfer_to_agent"]);

    let closed = case(&format!("isolated {request}"), &[("isolated", request, "{}"), refund]);
    let message = error(&shop.play(&closed).await);
    assert!(
        message.contains("keeps plugins out (`include_plugins=False`), so its tools would run"),
        "{message}"
    );
    assert!(!shop.ran().iter().any(|note| note.starts_with("refund")));
}

/// Code that an agent runs has no golden answer.
#[tokio::test]
async fn an_agent_that_runs_code_itself_is_refused_before_a_model_is_asked() {
    let Some(shop) = Shop::new() else { return };
    let golden = runner().tools(ToolSource::Golden);
    let report = golden.run_case(&case("Hi", &[]), || shop.server_of("coder")).await.unwrap();
    let message = error(&report);
    assert!(
        message.contains(
            "the agent `inner` runs code by its `UnsafeLocalCodeExecutor`, which no golden answers"
        ),
        "{message}"
    );
    assert_eq!(shop.models_asked(), 0);
}

/// The server of the tools is down, so the agent has none of them, and ADK tells the model so.
#[tokio::test]
async fn a_tool_that_the_agent_lacks_since_its_mcp_server_is_down_is_an_error() {
    let Some(shop) = Shop::new() else { return };
    let case = case(
        r#"lookup_order {"order_id": "A-17"}"#,
        &[("lookup_order", r#"{"order_id": "A-17"}"#, r#"{"status": "golden"}"#)],
    );
    let runner = runner().tools(ToolSource::Golden);
    let report = runner.run_case(&case, || shop.server_of("orders")).await.unwrap();
    let message = error(&report);
    let says = r#"tools error in turn 1: lookup_order(order_id: "A-17") was recorded, and no golden was asked for it"#;
    assert!(message.starts_with(says) && message.contains("an MCP server that is down"), "{message}");
}

/// The callback of the agent for failed tools hides it from the model.
#[tokio::test]
async fn a_connection_to_the_goldens_that_broke_off_is_an_error_whatever_the_agent_makes_of_it() {
    const BROKEN: &str = "import asyncio\nasync def broken(*_, **__): raise ConnectionRefusedError('gone')\nasyncio.open_connection = broken";
    let Some(shop) = Shop::changed_by(BROKEN) else { return };
    let says = "transfer_to_agent {\"agent_name\": \"careful\"}\nget_weather {\"city\": \"Paris\"}";
    let golden = ("get_weather", r#"{"city": "Paris"}"#, r#"{"sky": "golden"}"#);
    let transfer = ("transfer_to_agent", r#"{"agent_name": "careful"}"#, r#"{"result": null}"#);
    let message = error(&shop.play(&case(says, &[transfer, golden])).await);
    let says =
        r#"tools error in turn 1: get_weather(city: "Paris") was recorded, and no golden was asked for it"#;
    assert!(message.starts_with(says), "{message}");
    assert_eq!(shop.ran(), ["guard transfer_to_agent", "rescue gone"]);
}

/// The first golden is answered.
#[tokio::test]
async fn a_connection_that_breaks_off_in_the_middle_of_a_turn_is_an_error_and_no_tool_runs() {
    const REFUSED: &str = "raise ConnectionRefusedError('gone')";
    const SILENT: &str = "server = await asyncio.start_server(mute, '127.0.0.1', 0); return await opened(*server.sockets[0].getsockname(), **options)";
    for breaks in [REFUSED, SILENT] {
        let code = format!(
            "import asyncio\nopened, asked = asyncio.open_connection, []\n\
             async def mute(reader, writer):\n    await reader.readline(); writer.close()\n\
             async def broken(*address, **options):\n    asked.append(1)\n    if len(asked) == 1: return await opened(*address, **options)\n    {breaks}\n\
             asyncio.open_connection = broken"
        );
        let Some(shop) = Shop::changed_by(&code) else { return };
        let asks = [r#"{"city": "Paris"}"#, r#"{"city": "Lima"}"#];
        let says = asks.map(|args| format!("get_weather {args}")).join("\n");
        let golden = |args| ("get_weather", args, r#"{"sky": "golden"}"#);
        let message = error(&shop.play(&case(&says, &asks.map(golden))).await);
        let says = if breaks == REFUSED { "gone" } else { "the connection to the golden tools broke off" };
        assert!(message.contains(" error in turn 1: ") && message.contains(says), "{message}");
        // The callback of the agent ran before each call, and no tool did.
        assert_eq!(shop.ran(), ["guard get_weather"; 2]);
    }
}

/// As a cache does.
#[tokio::test]
async fn a_call_that_a_callback_of_the_agent_answers_needs_no_golden() {
    let Some(shop) = Shop::new() else { return };
    let says = "transfer_to_agent {\"agent_name\": \"cached\"}\nget_weather {\"city\": \"Paris\"}";
    let golden = ("get_weather", r#"{"city": "Paris"}"#, r#"{"sky": "golden"}"#);
    let transfer = ("transfer_to_agent", r#"{"agent_name": "cached"}"#, r#"{"result": null}"#);
    let report = shop.play(&case(says, &[transfer, golden])).await;
    assert!(report.verdict.passed(), "{report}");
    assert!(answer(&report).ends_with(r#"{"sky": "cached"}"#), "{report}");
    assert_eq!(shop.ran(), ["guard transfer_to_agent"]);
}

/// Golden tools answer as the real tools did that were recorded.
#[tokio::test]
async fn a_recorded_conversation_is_played_again_without_its_tools() {
    let Some(shop) = Shop::new() else { return };
    let says =
        "get_weather {\"city\": \"Paris\"} & refund {\"order\": \"A-17\"}\nget_weather {\"city\": \"Paris\"}";
    let script = Script::new("recorded").say(says);
    let draft = DraftRecorder::new("the shop").record(&script, || shop.server()).await.unwrap();
    let calls =
        |ran: Vec<String>| ran.into_iter().filter(|note| !note.starts_with("guard")).collect::<Vec<_>>();
    assert_eq!(calls(shop.ran()), ["get_weather Paris", "refund A-17", "get_weather Paris"]);
    let state = draft.case.final_session_state.clone();
    assert_eq!(state["last_city"].as_str(), Some("Paris"));

    // A golden does not set the state, unless a fault of the case says so.
    let report = shop.play(&draft.case).await;
    assert_eq!(report.metric("final_session_state_match").map(|metric| metric.verdict.passed()), Some(false));
    let set = with_faults(draft.case, r#"{"1": {"get_weather#2": {"state": {"last_city": "Paris"}}}}"#);
    let report = shop.play(&set).await;
    assert!(report.verdict.passed(), "{report}");
    assert_eq!(answer(&report), r#"got {"sky": "REAL"} {"status": "REAL"} {"sky": "REAL"}"#);
    assert!(calls(shop.ran()).is_empty());
}

#[tokio::test]
async fn faults_are_those_of_the_tool() {
    let Some(shop) = Shop::new() else { return };
    let report =
        shop.play(&with_faults(paris(), r#"{"1": {"get_weather#1": {"raises": "connection reset"}}}"#)).await;
    assert!(error(&report).contains("connection reset"), "{report}");

    // The callback of an agent for failed tools is called, and the next call gets the golden.
    let says = "transfer_to_agent {\"agent_name\": \"careful\"}\nget_weather {\"city\": \"Paris\"}\nget_weather {\"city\": \"Paris\"}";
    let golden = ("get_weather", r#"{"city": "Paris"}"#, r#"{"sky": "golden"}"#);
    let transfer = ("transfer_to_agent", r#"{"agent_name": "careful"}"#, r#"{"result": null}"#);
    let faulty = with_faults(
        case(says, &[transfer, golden]),
        r#"{"1": {"get_weather#1": {"raises": "connection reset"}}}"#,
    );
    shop.ran();
    let report = shop.play(&faulty).await;
    assert!(answer(&report).ends_with(r#"{"rescued": "connection reset"} {"sky": "golden"}"#), "{report}");
    assert_eq!(shop.ran(), ["guard transfer_to_agent", "rescue connection reset"]);

    let state =
        with_faults(paris(), r#"{"1": {"get_weather#1": {"after": 0.2, "state": {"last_city": "Paris"}}}}"#);
    let report = shop.play(&state).await;
    assert!(report.verdict.passed(), "{report}");
    assert_eq!(report.runs[0].transcript.state["last_city"].as_str(), Some("Paris"));

    let never = with_faults(paris(), r#"{"1": {"get_weather#1": "never"}}"#);
    let runner = runner().tools(ToolSource::Golden).timeout(Duration::from_secs(5));
    let message = error(&runner.run_case(&never, || shop.server()).await.unwrap());
    assert!(message.contains("the fault `get_weather#1` leaves its call without an answer"), "{message}");

    let unreached = with_faults(paris(), r#"{"1": {"get_weather#2": {"raises": "connection reset"}}}"#);
    let report = shop.play(&unreached).await;
    assert_eq!(report.verdict, Verdict::Failed);
    assert!(report.to_string().contains("the fault `get_weather#2` was not reached"), "{report}");
}

#[tokio::test]
async fn the_faults_of_a_file_answer_before_the_goldens_and_no_tool_runs() {
    let Some(shop) = Shop::new() else { return };
    let file = shop.folder.path().join("outage.json");
    let outage = r#"{"tool_simulation_configs": [{"tool_name": "get_weather", "injection_configs": [
        {"match_args": {"city": "Paris"}, "calls": [1], "injected_latency_seconds": 0.2,
         "injected_error": {"injected_http_error_code": 503, "error_message": "down"}}]}]}"#;
    fs::write(&file, outage).unwrap();
    let golden = ("get_weather", r#"{"city": "Paris"}"#, r#"{"sky": "golden"}"#);
    let again = case("get_weather {\"city\": \"Paris\"}\nget_weather {\"city\": \"Paris\"}", &[golden]);
    let runner = || runner().tools(ToolSource::Golden).faults(&file).unwrap();
    let report = runner().run_case(&again, || shop.server()).await.unwrap();
    let told = r#"{"error_code": 503, "error_message": "down"} {"sky": "golden"}"#;
    assert!(answer(&report).ends_with(told), "{report}");
    assert_eq!(shop.ran(), ["guard get_weather", "guard get_weather"]);

    // An agent that does not come to the call that fails has not shown what it does then.
    let silent = case("get_time {}", &[golden]);
    let report = runner().run_case(&silent, || shop.server()).await.unwrap();
    assert!(!report.verdict.passed(), "{report}");
    assert!(report.to_string().contains("the fault of `get_weather` in"), "{report}");
}

#[tokio::test]
async fn a_confirmation_is_asked_for_and_the_tool_is_not() {
    let Some(shop) = Shop::new() else { return };
    let says = "transfer_to_agent {\"agent_name\": \"careful\"}\nrefund {\"order\": \"A-17\"}";
    let refund = ("refund", r#"{"order": "A-17"}"#, r#"{"status": "golden"}"#);
    let report = shop.play(&case(says, &[refund])).await;
    let turn = &report.runs[0].transcript.turns[0].invocation;
    let asked = turn.tool_calls().any(|call| call.name.as_deref() == Some("adk_request_confirmation"));
    assert!(asked, "{report}");
    assert_eq!(report.verdict, Verdict::Failed, "a call that waits is none that ran: {report}");
    assert!(
        report.notes.iter().any(|note| note.contains("did not use its golden answer: refund")),
        "{report}"
    );
    assert_eq!(shop.ran(), ["guard transfer_to_agent"]);
}

#[tokio::test]
async fn conversations_at_the_same_time_keep_their_goldens_apart() {
    let Some(shop) = Shop::new() else { return };
    let of = |n: usize| {
        let answer = format!(r#"{{"n": {n}}}"#);
        let golden = ("get_weather", r#"{"city": "Paris"}"#, answer.as_str());
        let mut case = case(r#"get_weather {"city": "Paris"}"#, &[golden]);
        case.eval_id = format!("c{n}");
        // The same session for all.
        let session = eval_core::format::SessionInput::new("shop", "anna").with_session_id("fixed");
        case.with_session_input(session)
    };
    let cases = (0..6).map(of).collect::<Vec<_>>();
    let set = cases.into_iter().fold(eval_core::EvalSet::new("s"), eval_core::EvalSet::case);
    let report = runner().tools(ToolSource::Golden).run_set(&set, || shop.server(), 6).await.unwrap();
    assert!(report.all_passed(), "{report}");
    for (n, case) in report.cases.iter().enumerate() {
        assert_eq!(answer(case), format!(r#"got {{"n": {n}}}"#));
    }
}

/// Code that spoils the plugin before ADK loads it.
const SPOILT: [(&str, &str); 5] = [
    ("misspelt", "import sys; sys.argv = [it.replace('.GoldenTools', '.GoldenTool') for it in sys.argv]"),
    ("left out", "import sys; at = sys.argv.index('--extra_plugins'); del sys.argv[at:at + 2]"),
    ("raises on import", "import sys; sys.modules['evalset_golden_tools'] = None"),
    (
        "without its address",
        "import os, sys; [os.remove(it + '/evalset_golden_tools.json') for it in sys.path if os.path.exists(it + '/evalset_golden_tools.json')]",
    ),
    (
        "with another token",
        "import json, os, sys\nfor it in sys.path:\n    name = it + '/evalset_golden_tools.json'\n    if os.path.exists(name):\n        json.dump({**json.load(open(name)), 'token': 'guess'}, open(name + '2', 'w'))\n        os.replace(name + '2', name)",
    ),
];

#[tokio::test]
async fn without_the_plugin_no_model_is_asked_and_no_tool_runs() {
    for (what, before) in SPOILT {
        let Some(shop) = Shop::changed_by(before) else { return };
        let message = error(&shop.play(&paris()).await);
        assert!(message.contains("the server did not load the plugin of golden tools"), "{what}: {message}");
        assert_eq!(shop.models_asked(), 0, "{what}");
        assert!(shop.ran().is_empty(), "{what}");
        let ready = shop.server().tools(ToolSource::Golden).ready().await.unwrap_err().to_string();
        assert!(ready.contains("did not load the plugin"), "{what}: {ready}");
    }
    let Some(shop) = Shop::new() else { return };
    let mut command = shop.command();
    command.arg("--auto_create_session");
    let agent = || AdkServer::spawn(&command, "shop");
    let report = runner().tools(ToolSource::Golden).run_case(&paris(), agent).await.unwrap();
    assert!(error(&report).contains("need a server without `--auto_create_session`"), "{report}");
    assert_eq!((shop.models_asked(), shop.ran().len()), (0, 0));

    // The same server without golden tools runs its tools.
    let report = runner().run_case(&paris(), || shop.server()).await.unwrap();
    assert_eq!(answer(&report), r#"got {"sky": "REAL"}"#);
    assert_eq!(shop.ran(), ["guard get_weather", "get_weather Paris"]);
}

#[tokio::test]
async fn a_connection_that_breaks_off_in_a_turn_is_an_error_and_no_tool_runs() {
    let lost = "import asyncio\nasync def lost(*args, **kwargs): raise OSError('the connection is lost')\n\
                asyncio.open_connection = lost";
    let Some(shop) = Shop::changed_by(lost) else { return };
    let message = error(&shop.play(&paris()).await);
    assert!(message.contains("the connection is lost"), "{message}");
    assert_eq!(shop.ran(), ["guard get_weather"]);
}

#[tokio::test]
async fn an_app_that_the_server_lacks_is_named() {
    let Some(shop) = Shop::new() else { return };
    let agent = || AdkServer::spawn(shop.command(), "shoppe");
    let report = runner().tools(ToolSource::Golden).run_case(&paris(), agent).await.unwrap();
    assert!(
        error(&report).contains("the server has no app `shoppe`: it has `coder`, `orders`, `shop`"),
        "{report}"
    );
}

/// The folder of the plugin is gone once the server has loaded it, so that a kill leaves nothing.
#[tokio::test]
async fn nothing_of_the_plugin_is_left() {
    let Some(mut shop) = Shop::new() else { return };
    shop.before = "import os, sys\nwith open(os.environ['REAL_TOOLS'] + '.path', 'w') as it: it.write('\\n'.join(sys.path))".to_owned();
    assert!(shop.play(&paris()).await.verdict.passed());
    let path = fs::read_to_string(shop.folder.path().join("notes.path")).unwrap();
    let folder = path.lines().find(|it| it.contains("evalset-")).map(Path::new).unwrap();
    assert!(!folder.exists(), "{}", folder.display());
}
