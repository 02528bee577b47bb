// Journals with as many cases as are asked for, and with what an attacker would have an agent say.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const HOSTILE = [
  "</script><script>document.title = 'run'</script>",
  "<img src=x onerror=\"document.title = 'run'\">",
  "<a href=\"javascript:document.title='run'\">javascript:alert(1)</a>",
  "<!--<script>",
  "]]><svg onload=document.title='run'>",
  "\" onmouseover=\"document.title='run'\" x=\"",
  "' autofocus onfocus='document.title=1",
  "\u202egnp.exe\u202c \u2066x\u2069 \u001b[2J",
  "a \u0000 b \ufeff\u00ad\u200b\u{e0041}",
  "{{7*7}} {% raw %} ${7*7} \u2028 \u2029 \\u003c",
];

const text = (role, value) => ({ role, parts: [{ text: value }] });

// A line with its number and checksum: eval-core's `journal/line.rs`.
function sealed(record, number) {
  const line = Buffer.from(`${JSON.stringify(record).slice(0, -1)},"n":${number}`);
  const blocks = Math.floor(line.length / 8);
  const padded = Buffer.alloc(blocks * 8 + 8);
  line.copy(padded);
  const prime = 0x9e3779b97f4a7c15n;
  let hash = BigInt.asUintN(64, (BigInt(line.length) ^ padded.readBigUInt64LE(blocks * 8)) * prime);
  for (let at = 0; at < blocks; at += 1) {
    const turned = BigInt.asUintN(64, hash << 23n) | (hash >> 41n);
    hash = BigInt.asUintN(64, (turned ^ padded.readBigUInt64LE(at * 8)) * prime);
  }
  return `${line},"sum":"${(hash ^ (hash >> 32n)).toString(16).padStart(16, "0")}"}\n`;
}

// Writes a run of `count` cases. `said` gives the answer of a case, `name` its name. `asked` gives what a judge was asked, and what it
// said; `rubric` and `why` what it looked for, and what it found. `fails` says which cases fail, and `tags` gives the tags of a case.
export function journal(folder, count, {
  said, name = (at) => `weather::case_${at}`, events = 6, metric = "response_match_score", asked = () => null, rubric = said, why = said,
  id = "run-of-" + count, began = "2026-11-22T02:31:07.250Z", fails = (at) => at % 7 === 0, set = "weather", tags = () => [],
}) {
  const at = join(folder, "target/evalset", id);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "run.json"), JSON.stringify({ run: id, started: began }));
  const lines = [{ record: "head", schema: 2, evalset: "0.1.0", run: id, package: "app", workspace: folder, version: "0.0.0", binary: "evals", pid: 4711, started: began, env: {} }];
  lines.push({ record: "listed", sets: [{ tests: Array.from({ length: count }, (_, at) => name(at + 1)) }] });
  const judge = (n) => {
    const { model, ...question } = asked(n) || {};
    return model ? [{ model, asked: question.answers.length, failed: 1, replayed: 0, usage: {}, questions: [question] }] : [];
  };
  for (let n = 1; n <= count; n += 1) {
    const score = fails(n) ? 0.5 : 1;
    const verdict = { is: score < 0.8 ? "failed" : "passed" };
    const calls = Array.from({ length: events }, (_, k) => ({
      author: "agent", at: k * 0.01,
      content: { role: "model", parts: [{ function_call: { name: "get_weather", args: { city: `city ${k}`, said: said(n) } } }] },
    }));
    lines.push(
      { record: "started", test: n, name: name(n), eval_set_id: set, eval_id: name(n), file: `evals/${set}.evalset.json`, line: n, column: 5, asks: "0", expects: "1", tags: tags(n), runs: 1, pass: "mean", gate: "mean", attempt: 1, at: "2026-11-22T02:31:08.000Z" },
      { record: "ran", test: n, run: 1, evaluation: 1, tokens: 12, transcript: {
        session: { app_name: "a", user_id: "u", session_id: "s", state: { [said(n)]: 1 } },
        turns: [{ invocation_id: "t", user_content: text("user", "Weather? " + said(n)), events: [...calls, { author: said(n).slice(0, 40), content: text("model", said(n)), usage: { total_token_count: 12 }, at: 0.25 }], creation_timestamp: 1 }],
      } },
      { record: "scored", test: n, run: 1, evaluation: 1, metrics: [{ name: metric, verdict, turns: [verdict.is], outcome: { scored: { overall: score, scores: [{ value: score, notes: [why(n)], rubrics: [{ rubric_id: rubric(n), score, rationale: why(n) }] }] } }, judge: judge(n) }] },
      { record: "decided", test: n, verdict, metrics: [{ name: metric, criterion: { threshold: 0.8 }, score, scored: 1, total: 1, verdict }], elapsed: 1.25, failure: score < 0.8 ? "Error: " + why(n) : null, headline: score < 0.8 ? why(n) : null, at: "2026-11-22T02:31:38.500Z" },
    );
  }
  writeFileSync(join(at, "app-evals-4711-0.jsonl"), lines.map((line, at) => sealed(line, at + 1)).join(""));
}
