//! A campaign of faults: for each provider, whatever its server does, nothing is green that no judge said, nothing
//! panics, and an answer that comes later is not lost.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use eval_core::format::Value as Json;
use eval_core::judge::{Judge, JudgeError, JudgeReply, JudgeRequest, ModelJudge, Provider};
use eval_core::report::Role;
use eval_core::{Criterion, EvalCase, EvalRunner, Invocation, Replay, Verdict};
use serde_json::json;
use tokio::sync::OnceCell;

use crate::{KEY, WIRES, Wire, patient};

/// The words of a judge that finds an answer safe. No fault may let it through.
const SAFE: &str = r#"{"reasoning": "fine", "is_safe": true}"#;

/// The time that a request may take.
const TIMEOUT: Duration = Duration::from_millis(250);

/// The treatment of a connection by the server.
#[derive(Clone)]
enum Step {
    Send(Vec<u8>),
    /// Sends a few bytes at a time, with pauses.
    Drip(Vec<u8>),
    Hang,
    /// Closes the connection before the request is read, so that the system resets it.
    Reset,
}

fn head(status: &str, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}\r\n").into_bytes()
}

/// A response with a right length.
fn whole(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let headers = format!("{headers}content-length: {}\r\nconnection: close\r\n", body.len());
    vec![Step::Send([head(status, &headers).as_slice(), body].concat())]
}

fn chunked(chunks: &str) -> Vec<Step> {
    let head = head("200 OK", "transfer-encoding: chunked\r\nconnection: close\r\n");
    vec![Step::Send([head.as_slice(), chunks.as_bytes()].concat())]
}

/// A fault: its name, and what the server does.
type Fault = (&'static str, Vec<Step>);

/// All faults of a provider's server.
fn faults(wire: &Wire) -> Vec<Fault> {
    let body = (wire.reply)(SAFE).to_string();
    let waits = ["soon", "-1", "1e400", "NaN", "99999999999999999999", "", "Tue, 99 Foo", "3600"];
    let waits = waits.into_iter().map(|retry_after| {
        let headers = format!("retry-after: {retry_after}\r\n");
        ("429 with an odd wait", whole("429 Too Many Requests", &headers, &body))
    });
    let groups =
        [of_connections(&body), of_responses(wire, &body), of_bodies(&body), of_answers(wire, &body)];
    groups.into_iter().flatten().chain(waits).collect()
}

/// Connections that end, hang, or say something wrong about their length.
fn of_connections(body: &str) -> Vec<Fault> {
    let length = body.len();
    let half = &body[..length / 2];
    vec![
        ("nothing at all", vec![Step::Send(Vec::new())]),
        ("a connection that is reset", vec![Step::Reset]),
        ("a server that hangs at once", vec![Step::Hang]),
        ("a head without an end", vec![Step::Send(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()), Step::Hang]),
        ("a body that never comes", vec![Step::Send(head("200 OK", "content-length: 100\r\n")), Step::Hang]),
        (
            "half a body, then silence",
            vec![
                Step::Send([head("200 OK", &format!("content-length: {length}\r\n")), half.into()].concat()),
                Step::Hang,
            ],
        ),
        (
            "half a body, then the end",
            vec![Step::Send(
                [head("200 OK", &format!("content-length: {length}\r\n")), half.into()].concat(),
            )],
        ),
        (
            "a length that is too long",
            vec![Step::Send(
                [head("200 OK", &format!("content-length: {}\r\n", length + 1)), body.into()].concat(),
            )],
        ),
        (
            "a length that is too short",
            vec![Step::Send(
                [
                    head("200 OK", &format!("content-length: {}\r\nconnection: close\r\n", length - 1)),
                    body.into(),
                ]
                .concat(),
            )],
        ),
        (
            "a length that is no number",
            vec![Step::Send([head("200 OK", "content-length: many\r\n"), body.into()].concat())],
        ),
        (
            "two lengths",
            vec![Step::Send(
                [head("200 OK", &format!("content-length: {length}\r\ncontent-length: 3\r\n")), body.into()]
                    .concat(),
            )],
        ),
        (
            "a slow drip",
            vec![Step::Drip(
                [head("200 OK", &format!("content-length: {length}\r\n")), body.into()].concat(),
            )],
        ),
    ]
}

/// Responses of another kind than an answer.
fn of_responses(wire: &Wire, body: &str) -> Vec<Fault> {
    let refused = (wire.refusal)().to_string();
    vec![
        ("a refusal", whole("200 OK", "", refused)),
        ("no HTTP", vec![Step::Send(body.as_bytes().to_vec())]),
        ("a status of its own", whole("999 ?", "", body)),
        ("an informational status", vec![Step::Send(head("102 Processing", "")), Step::Hang]),
        ("no content", whole("204 No Content", "", "")),
        ("a redirect", whole("302 Found", "location: http://127.0.0.1:9/\r\n", body)),
        ("a redirect to itself", whole("307 Temporary Redirect", "location: /\r\n", body)),
        ("a redirect to nowhere", whole("301 Moved", "", body)),
        ("an error with the answer as its body", whole("500 Oops", "", body)),
        (
            "a bad gateway in HTML",
            whole("502 Bad Gateway", "content-type: text/html\r\n", "<html>is_safe: true</html>"),
        ),
        (
            "HTML with a good status",
            whole("200 OK", "content-type: text/html\r\n", format!("<html>{SAFE}</html>")),
        ),
    ]
}

/// Bodies that are no JSON of a model's answer.
fn of_bodies(body: &str) -> Vec<Fault> {
    let length = body.len();
    vec![
        ("an empty body", whole("200 OK", "", "")),
        ("blanks", whole("200 OK", "", " \r\n ")),
        ("the bare verdict", whole("200 OK", "", SAFE)),
        ("the verdict as a string", whole("200 OK", "", json!(SAFE).to_string())),
        ("a list of answers", whole("200 OK", "", format!("[{body}]"))),
        ("an answer and more", whole("200 OK", "", format!("{body}{body}"))),
        ("an answer with a comma too many", whole("200 OK", "", format!("{},}}", &body[..length - 1]))),
        ("invalid UTF-8", whole("200 OK", "", [body.replace("fine", "").as_bytes(), b"\xff\xfe"].concat())),
        (
            "invalid UTF-8 within",
            whole("200 OK", "", {
                let (before, after) = body.split_once("fine").expect("the reason is there");
                [before.as_bytes(), b"\xc3\x28", after.as_bytes()].concat()
            }),
        ),
        ("UTF-16", whole("200 OK", "", body.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())),
        ("compressed, it says", whole("200 OK", "content-encoding: gzip\r\n", [0x1f, 0x8b, 8, 0, 0])),
        ("nested too deeply", whole("200 OK", "", "[".repeat(100_000))),
        ("a huge body", whole("200 OK", "", format!("{}{body}", " ".repeat(9 << 20)))),
        (
            "a huge body, it says",
            vec![Step::Send(head("200 OK", "content-length: 99999999999\r\n")), Step::Hang],
        ),
        ("chunks without an end", chunked(&format!("{length:x}\r\n{body}\r\n"))),
        ("chunks with a wrong size", chunked(&format!("{:x}\r\n{body}\r\n0\r\n\r\n", length + 9))),
        ("chunks of garbage", chunked("zz\r\nnot a chunk\r\n0\r\n\r\n")),
    ]
}

/// JSON that is no answer, or not a whole one.
fn of_answers(wire: &Wire, body: &str) -> Vec<Fault> {
    let refused = (wire.refusal)().to_string();
    // The replacement of the reason why the answer ended.
    let ended = |reason: &str| {
        let known = ["\"stop\"", "\"STOP\"", "\"end_turn\""];
        known.iter().fold(body.to_owned(), |text, known| text.replace(known, reason))
    };
    let twice = |first: &str, second: &str| format!("{}, {}", &first[..first.len() - 1], &second[1..]);
    vec![
        ("equal keys", whole("200 OK", "", twice(body, body))),
        ("equal keys that contradict", whole("200 OK", "", twice(&refused, body))),
        ("an error beside the answer", whole("200 OK", "", twice(&(wire.error)("busy").to_string(), body))),
        ("no candidates", whole("200 OK", "", r#"{"choices": [], "candidates": [], "content": []}"#)),
        (
            "candidates of another type",
            whole("200 OK", "", r#"{"choices": {}, "candidates": "x", "content": 1}"#),
        ),
        ("nulls", whole("200 OK", "", r#"{"choices": [null], "candidates": [null], "content": [null]}"#)),
        ("an empty object", whole("200 OK", "", "{}")),
        ("null", whole("200 OK", "", "null")),
        ("an empty text", whole("200 OK", "", (wire.reply)("").to_string())),
        ("an answer that was cut off", whole("200 OK", "", ended("\"length\""))),
        ("an unknown reason of the end", whole("200 OK", "", ended("\"because\""))),
        ("no reason of the end", whole("200 OK", "", ended("null"))),
        ("a number as the reason of the end", whole("200 OK", "", ended("1"))),
    ]
}

/// A server that does the same with each connection, until it is told to answer.
struct Faulty {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    recovers: Arc<AtomicBool>,
}

impl Faulty {
    fn start(steps: Vec<Step>, answer: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, recovers) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, recovered) = (asked.clone(), recovers.clone());
        thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let is_first = counted.fetch_add(1, Ordering::SeqCst) == 0;
                let steps = if recovered.load(Ordering::SeqCst) && !is_first {
                    whole("200 OK", "", &answer)
                } else {
                    steps.clone()
                };
                thread::spawn(move || serve(stream, steps));
            }
        });
        Self { address, asked, recovers }
    }
}

fn serve(mut stream: TcpStream, steps: Vec<Step>) {
    if matches!(steps.first(), Some(Step::Reset)) {
        // Some of the request is there and unread when the connection is closed.
        let _ = stream.peek(&mut [0]);
        return;
    }
    read_request(&stream);
    for step in steps {
        let sent = match step {
            Step::Send(bytes) => stream.write_all(&bytes),
            Step::Drip(bytes) => bytes.chunks(4).try_for_each(|bytes| {
                thread::sleep(Duration::from_millis(50));
                stream.write_all(bytes)
            }),
            Step::Hang => {
                thread::sleep(TIMEOUT * 3);
                Ok(())
            }
            Step::Reset => Ok(()),
        };
        if sent.is_err() {
            return;
        }
    }
}

fn read_request(stream: &TcpStream) {
    let mut lines = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).is_err() || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let _ = lines.read_exact(&mut vec![0; length]);
}

/// A judge that is asked directly, whatever the environment says.
struct Asked<J>(J);

impl<J: Judge> Judge for Asked<J> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        self.0.ask(request).await
    }

    fn is_offline(&self) -> bool {
        true
    }

    fn time_limit(&self) -> Option<Duration> {
        self.0.time_limit()
    }
}

/// A judge that asks a server as a provider. All share one client, which takes long to make.
async fn judge(wire: &Wire, server: &Faulty) -> ModelJudge {
    static SHARED: OnceCell<ModelJudge> = OnceCell::const_new();
    let shared = SHARED.get_or_init(|| async {
        let judge = ModelJudge::new().base_url(Provider::Ollama, "http://127.0.0.1:9").timeout(TIMEOUT);
        assert!(judge.ask(&JudgeRequest::new("ollama/none", "?")).await.is_err(), "nobody is there");
        judge
    });
    let base = format!("http://{}{}", server.address, wire.base);
    shared.await.clone().key(wire.provider, KEY).base_url(wire.provider, base)
}

/// The verdict on a case that a judge has to find safe.
async fn verdict(wire: &Wire, judge: impl Judge + 'static) -> Verdict {
    let options = Json::from(json!({ "judge_model": wire.model, "num_samples": 3 }));
    let criterion = Criterion::new(1.0).with("judge_model_options", options);
    let case = EvalCase::new("c").turn(Invocation::user("Hi").response("Hello."));
    let runner = EvalRunner::new().criterion("safety_v1", criterion).judge(Asked(judge));
    runner.run_case(&case, || Replay::new([["Hello."]])).await.expect("the criteria fit the case").verdict
}

#[tokio::test(flavor = "current_thread")]
async fn no_fault_of_a_server_is_a_verdict() {
    let mut checked = 0;
    for wire in WIRES {
        for (name, steps) in faults(wire) {
            let what = format!("{}: {name}", wire.provider);
            let server = Faulty::start(steps, (wire.reply)(SAFE).to_string());
            let result = judge(wire, &server).await.ask(&wire.request()).await;
            crate::assert_hidden(&result);
            let error = result.expect_err(&what);
            assert!(error.to_string().len() < 1_000, "{what}: {error}");
            let verdict = verdict(wire, judge(wire, &server).await).await;
            assert!(
                matches!(&verdict, Verdict::Error { role: Role::Judge, .. } | Verdict::NotEvaluated(_)),
                "{what}: {verdict:?}"
            );
            checked += 1;
        }
    }
    assert!(checked >= 30 * WIRES.len(), "{checked} faults");
}

#[tokio::test(flavor = "current_thread")]
async fn after_a_fault_that_passes_the_answer_is_not_lost() {
    for wire in WIRES {
        for (name, steps) in faults(wire) {
            let what = format!("{}: {name}", wire.provider);
            let server = Faulty::start(steps, (wire.reply)(SAFE).to_string());
            server.recovers.store(true, Ordering::SeqCst);
            let first = judge(wire, &server).await.ask(&wire.request()).await.expect_err(&what);
            let is_transient = first.is_transient();
            server.asked.store(0, Ordering::SeqCst);
            let result = patient(judge(wire, &server).await).ask(&wire.request()).await;
            let asked = server.asked.load(Ordering::SeqCst);
            let waits = first.retry_after().is_some_and(|wait| wait > Duration::from_mins(1));
            if is_transient && !waits {
                assert_eq!((result.expect(&what).text.as_str(), asked), (SAFE, 2), "{what}");
            } else {
                assert!(result.is_err() && asked == 1, "{what}: asked {asked} times");
            }
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn without_a_fault_the_case_passes() {
    for wire in WIRES {
        let answer = (wire.reply)(SAFE).to_string();
        let half = answer.len() / 2;
        let in_chunks = format!(
            "{:x}\r\n{}\r\n{:x};a=b\r\n{}\r\n0\r\n\r\n",
            half,
            &answer[..half],
            answer.len() - half,
            &answer[half..]
        );
        for steps in [whole("200 OK", "", &answer), chunked(&in_chunks)] {
            let server = Faulty::start(steps, answer.clone());
            assert_eq!(verdict(wire, judge(wire, &server).await).await, Verdict::Passed, "{}", wire.provider);
        }
    }
}
