// Files that are dropped: recognised by what is in them, checked, and scored.
(() => {
"use strict";
const { ask } = evalset;
const { el, table } = components;
const drop = document.getElementById("drop");
const working = document.getElementById("working");
const results = document.getElementById("results");
const scores = document.getElementById("scores");

// The set and the config that were dropped last, and the traces. A file that cannot be used replaces the one before:
// what is scored with an earlier one, or with none, would look as if it were scored with this one.
const have = { set: null, config: null, traces: [] };

// ADK's default criteria.
const DEFAULTS = JSON.parse(drop.dataset.criteria);

function parse(text) {
  try { return JSON.parse(text); } catch { return undefined; }
}

// The kind of a file, by its content, or else by its name. A broken file is checked as a set, which tells where it is broken.
function kindOf(name, text) {
  const first = parse(text.slice(0, text.indexOf("\n") + 1 || undefined));
  if (first && typeof first.record === "string") return "journal";
  const json = parse(text);
  const keys = Object.keys(Object(json));
  const has = (...names) => names.some((it) => keys.includes(it));
  if (has("resourceSpans", "resource_spans") || (first && (first.resourceSpans || first.resource_spans)) || Array.isArray(json?.data) || (Array.isArray(json) && json[0]?.resourceSpans)) return "trace";
  if (has("criteria", "custom_metrics", "customMetrics") && !has("eval_cases", "evalCases", "eval_set_id")) return "config";
  if (json === undefined && /config\.json$/.test(name)) return "config";
  if (json === undefined && /\.jsonl$/.test(name)) return "journal";
  return "set";
}

function card(name, what, ...children) {
  const node = el("section", "card", el("h2", "", name), el("p", "soft", what), ...children);
  results.prepend(node);
  return node;
}

function state(name, word) {
  return el("span", "state " + name, word);
}

function problems(list) {
  if (!list.length) return null;
  return el("ul", "problems", list.map((it) => el("li", "",
    state(it.severity === "error" ? "failed" : "flaky", it.severity), " ",
    el("span", "number", `line ${it.place.line}, column ${it.place.column}`), " ", el("b", "", it.message),
    it.path ? el("span", "soft", " ", el("code", "", it.path)) : null,
    it.help ? el("div", "soft", it.help) : null)));
}

function counted(count, noun) {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

async function set(file) {
  const form = new FormData();
  form.append("eval_set_file", file, file.name);
  const { data } = await ask("/api/validate/eval-set", form);
  have.set = { name: file.name, file: data.valid ? file : null };
  const errors = data.problems.filter((it) => it.severity === "error");
  // A valid file that is no eval set is told without a place.
  const rest = errors.length || data.valid ? [] : data.errors;
  card(file.name, data.valid ? `eval set ${data.evalSetId}, ${counted(data.numCases, "case")}` : "eval set",
    state(data.valid ? "passed" : "failed", data.valid ? (data.problems.length ? counted(data.problems.length, "warning") : "no problems") : counted(data.errors.length, "error")),
    problems(data.problems), rest.map((text) => el("p", "", text)));
}

async function config(file, text) {
  const { data } = await ask("/api/v1/validate/config", file);
  have.config = { name: file.name, read: data.valid ? parse(text) : undefined };
  card(file.name, data.valid ? "config with " + (data.metrics.join(", ") || "no metric") : "config",
    state(data.valid ? "passed" : "failed", data.valid ? (data.problems.length ? counted(data.problems.length, "warning") : "no problems") : counted(data.errors.length, "error")),
    problems(data.problems));
}

async function trace(file) {
  const form = new FormData();
  form.append("trace_files", file, file.name);
  form.append("group_by", "conversation");
  const { data } = await ask("/api/convert", form);
  have.traces = [...have.traces.filter((it) => it.name !== file.name), file];
  const text = (content) => (content?.parts || []).map((part) => part.text).filter(Boolean).join(" ");
  const turns = (of) => of.invocations.map((turn) => el("div", "shown-turn",
    el("p", "", el("b", "", "user "), text(turn.userContent)),
    (turn.intermediateData?.toolUses || []).map((call) => el("p", "", el("b", "", "calls "), el("code", "", `${call.name}(${JSON.stringify(call.args)})`))),
    el("p", "", el("b", "", "answer "), text(turn.finalResponse) || "none")));
  card(file.name, `trace with ${counted(data.traces.length, "conversation")}`,
    data.traces.map((of) => el("details", "", el("summary", "", `${of.metadata.sessionName || of.traceId}: ${counted(of.invocations.length, "turn")}`),
      turns(of), of.warnings.map((warning) => el("p", "doubt", warning)))),
    have.set ? null : el("p", "lacks", "Drop an eval set too, and it is scored."));
}

async function journal(file) {
  const found = await ask("/check/journal", file);
  const link = el("a", "", "Open the run");
  link.href = found.link;
  card(file.name, "journal of a run", el("p", "", state(found.outcome, found.outcome), " ", found.reason, ". ", link));
}

// A rubric as the service takes it, from either spelling of ADK's keys.
function rubric(it) {
  const content = it.rubric_content ?? it.rubricContent;
  return { id: it.rubric_id ?? it.rubricId, text: content?.text_property ?? content?.textProperty ?? "" };
}

// The metrics that the service is asked for, and those of the config that it cannot be told in full, with what is left out.
function evaluators() {
  const all = [];
  const left = [];
  const MATCHES = ["EXACT", "IN_ORDER", "ANY_ORDER"];
  // An entry of custom_metrics is an error of the config: no function of Rust is here.
  const criteria = have.config ? have.config.read.criteria : DEFAULTS;
  for (const [name, given] of Object.entries(criteria)) {
    const criterion = typeof given === "object" && given ? given : { threshold: given };
    const of = { name, threshold: criterion.threshold ?? 0.5 };
    const options = [];
    for (const [key, value] of Object.entries(criterion)) {
      // A key that begins with an underscore is a comment.
      if (key === "threshold" || key.startsWith("_") || value === null) continue;
      if (key === "match_type" || key === "matchType") of.trajectoryMatchType = MATCHES[value] || value;
      else if (key === "rubrics") of.rubrics = value.map(rubric);
      else options.push(key);
    }
    if (options.length) left.push([name, options.join(", ")]);
    else all.push(of);
  }
  return { all, left };
}

// Why nothing can be scored with what was dropped last.
function blocked() {
  const broken = [];
  if (!have.set.file) broken.push("eval set " + have.set.name);
  if (have.config && !have.config.read) broken.push("config " + have.config.name);
  return broken.map((what) => el("p", "refused", `Nothing is scored: the ${what} cannot be used. Drop one without errors, or load the page again to begin anew.`));
}

function showScores(...children) {
  scores.replaceChildren(el("section", "card", el("h2", "", "Scores"), ...children));
}

async function score() {
  if (!have.set || !have.traces.length) return scores.replaceChildren();
  for (const node of document.querySelectorAll(".lacks")) node.remove();
  const why = blocked();
  if (why.length) return showScores(why);
  const { all, left } = evaluators();
  const form = new FormData();
  for (const file of have.traces) form.append("trace_files", file, file.name);
  form.append("eval_set_file", have.set.file, have.set.name);
  form.append("config", JSON.stringify({ evaluators: all }));
  const { data } = all.length ? await ask("/api/evaluate", form) : { data: { passed: true, traceResults: [], errors: [] } };
  const words = { PASSED: ["passed", "passed"], FAILED: ["failed", "failed"], NOT_EVALUATED: ["not_evaluated", "not scored"] };
  const lines = data.traceResults.flatMap((of) => of.metricResults.map((metric) => ["",
    of.evalCaseId || `no case: ${of.conversationId || of.traceId}`, metric.metricName,
    state(...(words[metric.evalStatus] || ["", metric.evalStatus])), metric.scoreShown, metric.error || ""]));
  for (const [name, what] of left) {
    lines.push(["", "every case", name, state("not_evaluated", "not scored"), null, `not applied here: ${what}`]);
  }
  const verdict = !data.passed ? ["failed", "not passed"] : left.length ? ["not_evaluated", "no verdict"] : ["passed", "passed"];
  const scored = table("grid", ["case", "metric", "verdict", "score", "why"], lines);
  showScores(
    el("p", "soft", `${have.traces.map((it) => it.name).join(", ")} with ${have.set.name} and ${have.config ? `the config ${have.config.name}` : "ADK’s default criteria"}`),
    el("p", "", state(...verdict)), scored, data.errors.map((text) => el("p", "doubt", text)),
    left.length ? el("p", "doubt", "This page does not apply all of the config, so it does not say whether the trace passes. On the command line, run SET --trace FILE applies every option.") : null);
}

async function take(files) {
  for (const [at, file] of [...files].entries()) {
    working.textContent = `Reading ${at + 1} of ${files.length} …`;
    let kind;
    try {
      const text = await file.text();
      kind = kindOf(file.name, text);
      await { set, config, trace, journal }[kind](file, text);
    } catch (error) {
      if (kind === "set" || kind === "config") have[kind] = { name: file.name };
      have.traces = have.traces.filter((it) => it.name !== file.name);
      card(file.name, "it is not read", el("p", "refused", error.message));
    }
  }
  try {
    await score();
  } catch (error) {
    showScores(el("p", "refused", error.message));
  }
  working.textContent = `${counted(files.length, "file")} read.`;
}

const input = document.getElementById("files");
input.addEventListener("change", () => take([...input.files]).then(() => { input.value = ""; }));
// A file that is dropped beside must not be opened in place of the page.
addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  if (event.dataTransfer.files.length) take([...event.dataTransfer.files]);
});
})();
