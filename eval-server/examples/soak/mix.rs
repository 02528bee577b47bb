//! Requests of many kinds, and the answer that each must have.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::Failure;

/// The placeholder of a request's name in requests and answers. All names are as long.
pub(crate) const NAME: &str = "zzzzzzzz";

/// A request, and what its answer is.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The share of this request among all.
    weight: usize,
    request: Vec<u8>,
    pub(crate) status: u16,
    /// A text of the answer.
    pub(crate) wanted: &'static str,
}

/// Requests in the order in which they are asked.
pub(crate) struct Mix {
    pub(crate) kinds: Vec<Kind>,
    order: Vec<usize>,
}

/// The name of a request: a number in letters.
pub(crate) fn name_of(number: u64) -> String {
    (0..8)
        .rev()
        .map(|at| char::from(b'a' + u8::try_from((number >> (4 * at)) & 15).unwrap_or_default()))
        .collect()
}

/// Bytes with the name of a request in place of [`NAME`].
pub(crate) fn named(template: &[u8], name: &str) -> Vec<u8> {
    let mut named = template.to_vec();
    let mut at = 0;
    while let Some(found) = template[at..].windows(NAME.len()).position(|window| window == NAME.as_bytes()) {
        let place = at + found;
        named[place..place + NAME.len()].copy_from_slice(name.as_bytes());
        at = place + NAME.len();
    }
    named
}

fn set(more: &str) -> String {
    format!(
        r#"{{"eval_set_id": "{NAME}", "eval_cases": [{{"eval_id": "case-{NAME}", "conversation": [{{
            "user_content": {{"role": "user", "parts": [{{"text": "Paris?"}}]}},
            "final_response": {{"role": "model", "parts": [{{"text": "It is sunny."}}]}},
            "intermediate_data": {{"tool_uses": [{{"name": "get_weather", "args": {{"city": "Paris"}}}}]}}{more}
        }}]}}]}}"#
    )
}

fn trace(city: &str) -> String {
    let span = |number: u32, parent: &str, attributes: &str| {
        format!(
            r#"{{"traceId": "{:032x}", "spanId": "{number:016x}", "parentSpanId": "{parent}", "name": "s",
            "startTimeUnixNano": "176000000000000000{number}", "endTimeUnixNano": "1760000000500000000",
            "attributes": {{{attributes}}}}}"#,
            1
        )
    };
    let root = format!("{:016x}", 1);
    let message = |role: &str, text: &str| {
        format!(
            r#""[{{\"role\": \"{role}\", \"parts\": [{{\"type\": \"text\", \"content\": \"{text}\"}}]}}]""#
        )
    };
    let spans = [
        span(1, "", r#""gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "weather""#),
        span(
            2,
            &root,
            &format!(
                r#""gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather",
                "gen_ai.tool.call.arguments": "{{\"city\": \"{city}\"}}", "gen_ai.tool.call.result": "{{\"sky\": \"clear\"}}""#
            ),
        ),
        span(
            3,
            &root,
            &format!(
                r#""gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
                "gen_ai.input.messages": {}, "gen_ai.output.messages": {}"#,
                message("user", "Paris?"),
                message("assistant", "It is sunny.")
            ),
        ),
    ];
    format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{}]}}]}}]}}"#, spans.join(", "))
}

const CONFIG: &str = r#"{"evaluators": [{"name": "tool_trajectory_avg_score"}, {"name": "response_match_score", "threshold": 0.8}]}"#;

fn evaluation(city: &str) -> String {
    format!(r#"{{"traces": {}, "evalSet": {}, "config": {CONFIG}}}"#, trace(city), set(""))
}

fn gzip(text: &str) -> Result<Vec<u8>, Failure> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    Ok(encoder.finish()?)
}

fn post(path: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn json(path: &str, body: &str) -> Vec<u8> {
    post(path, "content-type: application/json\r\n", body.as_bytes())
}

fn form(path: &str, fields: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, file, bytes) in fields {
        let head = format!("--b0undary\r\ncontent-disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend([head.as_bytes(), bytes, b"\r\n"].concat());
    }
    body.extend_from_slice(b"--b0undary--\r\n");
    post(path, "content-type: multipart/form-data; boundary=b0undary\r\n", &body)
}

const FILE: &str = "; filename=\"f.json\"";

impl Mix {
    pub(crate) fn new() -> Result<Self, Failure> {
        let score = format!(
            r#"{{"actual": [{{"user_content": {{"parts": [{{"text": "{NAME}"}}]}}, "final_response": {{"parts": [{{"text": "It is sunny."}}]}}}}],
            "expected": [{{"user_content": {{"parts": [{{"text": "{NAME}"}}]}}, "final_response": {{"parts": [{{"text": "It is very sunny."}}]}}}}],
            "criteria": {{"response_match_score": 0.8}}}}"#
        );
        let large = format!("{}{}", set(""), " ".repeat(100 << 10));
        let (right, wrong) = (trace("Paris"), trace("Rome"));
        // A name in a packed body stays as it is.
        let whole = gzip(&evaluation("Paris").replace(NAME, "in a body"))?;
        let packed = gzip(&right)?;
        let (plain, cases) = (set(""), set(""));
        let files = |traces: &[u8]| {
            form(
                "/api/evaluate",
                &[
                    ("trace_files", FILE, traces),
                    ("eval_set_file", FILE, cases.as_bytes()),
                    ("config", "", CONFIG.as_bytes()),
                ],
            )
        };
        let kind = |name, weight, status, wanted, request| Kind { name, weight, request, status, wanted };
        let validate = "/api/v1/validate/eval-set";
        let kinds = vec![
            kind(
                "validate",
                4,
                200,
                r#""valid":true,"evalSetId":"zzzzzzzz","numCases":1"#,
                form("/api/validate/eval-set", &[("eval_set_file", FILE, plain.as_bytes())]),
            ),
            kind(
                "validate: problems",
                2,
                200,
                r#""valid":false"#,
                json(validate, &set(&format!(r#", "{NAME}": 1"#))),
            ),
            kind("validate: large", 1, 200, r#""valid":true,"evalSetId":"zzzzzzzz""#, json(validate, &large)),
            kind(
                "evaluate: passes",
                4,
                200,
                r#"{"passed":true,"#,
                json("/api/evaluate/json", &evaluation("Paris")),
            ),
            kind("evaluate: fails", 2, 200, r#"{"passed":false,"#, files(wrong.as_bytes())),
            kind("evaluate: gzip", 1, 200, r#""evalCaseId":"case-zzzzzzzz""#, files(&packed)),
            kind(
                "evaluate: a packed body",
                1,
                200,
                r#"{"passed":true,"#,
                post("/api/evaluate/json", "content-encoding: gzip\r\n", &whole),
            ),
            kind(
                "evaluate: events",
                1,
                200,
                r#""done":true"#,
                json("/api/evaluate/json/stream", &evaluation("Paris")),
            ),
            kind("score", 3, 200, r#""verdict":"passed""#, json("/api/v1/score", &score)),
            kind("no JSON", 1, 422, "json_invalid", json("/api/evaluate/json", &evaluation("Paris")[..200])),
            kind(
                "the default evaluator",
                1,
                200,
                r#""metricName":"tool_trajectory_avg_score""#,
                json("/api/evaluate/json", &evaluation("Paris").replace(CONFIG, "{}")),
            ),
            kind("no form", 1, 422, "multipart/form-data", json("/api/convert", "{}")),
            kind(
                "a broken form",
                1,
                400,
                "the form is broken",
                post(
                    "/api/convert",
                    "content-type: multipart/form-data; boundary=b0undary\r\n",
                    b"--b0undary\r\nx",
                ),
            ),
            kind("a broken gzip", 1, 400, "cannot be unpacked", files(&packed[..30])),
            kind("no such page", 1, 404, "Not Found", json("/api/x", "")),
        ];
        // Each kind is spread over the order.
        let total: usize = kinds.iter().map(|kind| kind.weight).sum();
        let mut order: Vec<(usize, usize)> = Vec::new();
        for (at, kind) in kinds.iter().enumerate() {
            order.extend((0..kind.weight).map(|turn| ((2 * turn + 1) * total * 100 / kind.weight + at, at)));
        }
        order.sort_unstable();
        Ok(Self { kinds, order: order.into_iter().map(|(_, at)| at).collect() })
    }

    /// The kind of a request.
    pub(crate) fn kind(&self, number: u64) -> usize {
        let at = usize::try_from(number).unwrap_or_default() % self.order.len();
        self.order[at]
    }
}

impl Kind {
    /// The request of this name.
    pub(crate) fn request(&self, name: &str) -> Vec<u8> {
        named(&self.request, name)
    }
}
