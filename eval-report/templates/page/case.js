// The details of a case, which are JSON in the page.

// The place of the run that is shown.
let openRun = 0;

// The metrics that decide the case in a table, the others in a line.
function metrics(of) {
  const deciding = of.metrics.filter((metric) => metric.state !== "informational");
  const others = of.metrics.filter((metric) => metric.state === "informational");
  const lines = deciding.map((metric) => [
    "",
    el("span", "", el("b", "", metric.name), metric.about ? el("div", "soft", metric.about) : null),
    pill(metric.state, titles[metric.state] || metric.state),
    metric.score,
    metric.threshold === null ? "–" : metric.threshold,
    metric.scored,
    el("span", "", [metric.reason, ...metric.notes].filter(Boolean).map((note) => el("div", "", note)),
      metric.criterion.length ? el("details", "", el("summary", "", "criterion"),
        metric.criterion.map(([key, value]) => el("div", "soft", `${key}: ${value}`))) : null),
  ]);
  if (!of.metrics.length) return null;
  const line = others.map((metric) => `${metric.name} ${metric.score === null ? "–" : metric.score}`).join(", ");
  return block("Metrics over all runs",
    lines.length ? table("grid", ["metric", "verdict", "score", "needed", "scored", "remarks"], lines) : null,
    line ? el("p", "soft", "For information: " + line) : null);
}

// A score that misses a threshold, such as "< 0.8" of "≥ 0.8".
const missed = (threshold) => threshold.replace("≥", "<").replace("≤", ">");

// The results that decided the case, at a glance.
function glance(of) {
  const marks = of.metrics.filter((metric) => metric.threshold !== null).map((metric) => {
    const score = metric.score === null ? "not scored" : metric.score;
    const side = metric.state === "failed" ? ` ${missed(metric.threshold)}` : "";
    return pill(metric.state, [metric.name + " ", el("b", "", score + side)]);
  });
  return marks.length ? el("p", "pills", marks) : null;
}

// A column for each run, a line for each metric and each turn. It is open if the runs differ.
function sideBySide(of) {
  if (of.runs.length < 2) return null;
  const most = Math.max(...of.runs.map((run) => run.turns.length));
  const deciding = of.runs.flatMap((run) => run.scores.filter((score) => score.threshold !== null));
  const names = [...new Set(deciding.map((score) => score.metric))];
  const cell = (run, name) => {
    const it = run.scores.find((score) => score.metric === name);
    return it ? pill(it.state, it.score === null ? "not scored" : it.score) : "–";
  };
  const calls = (turn) => turn.calls.map((call) => call.actual).filter(Boolean).join(", ");
  const lines = [
    ["", "verdict", ...of.runs.map((run) => pill(run.state, titles[run.state] || run.state))],
    ...names.map((name) => ["", name, ...of.runs.map((run) => cell(run, name))]),
  ];
  for (let at = 0; at < most; at += 1) {
    const cells = (what) => of.runs.map((run) => (!run.turns[at] ? "–" : run.turns[at].played ? what(run.turns[at]) : "not played"));
    lines.push(["", `turn ${at + 1}: calls`, ...cells((turn) => calls(turn).slice(0, 200) || "none")]);
    lines.push(["", `turn ${at + 1}: answer`, ...cells((turn) => (turn.actual ? turn.actual.t.slice(0, 200) : "none"))]);
  }
  const states = new Set(of.runs.map((run) => run.state));
  const node = el("details", "block", el("summary", "", "Runs side by side"),
    table("grid", ["", ...of.runs.map((run) => "run " + run.number)], lines));
  node.open = states.size > 1;
  return node;
}

function scoreOf(score) {
  const state = score.state;
  const value = score.score === null ? "not scored" : score.score;
  const line = el("div", "score", pill(state, `${score.metric} ${value}`),
    state === "failed" ? el("span", "soft", missed(score.threshold)) : null, score.reason ? el("span", "", score.reason) : null);
  const verdict = (score) => (score === null ? ["not_evaluated", "no verdict"] : score === 1 ? ["passed", "yes"] : ["failed", score === 0 ? "no" : String(score)]);
  const rubrics = score.rubrics.map((rubric) => el("div", "rubric", pill(...verdict(rubric.score)), " ", el("b", "", rubric.id),
    rubric.text ? said(rubric.text) : null,
    rubric.rationale ? el("div", "", el("span", "soft", "The judge: "), said(rubric.rationale)) : null));
  return el("div", "", line, rubrics, score.notes.map((note) => said(note, "remark")));
}

// The expectations of a turn that was not played.
function awaited(turn) {
  return [
    turn.calls.length ? [el("p", "label", "Tool calls that were expected"), turn.calls.map((call) => el("p", "", el("code", "", call.expected)))] : null,
    turn.expected ? [el("p", "label", "Answer that was expected"), said(turn.expected)] : null,
  ].flat(2);
}

function answer(turn) {
  if (!turn.expected) return [el("p", "label", "Answer"), turn.actual ? said(turn.actual) : el("p", "soft", names.none)];
  const [left, right] = turn.pieces || [null, null];
  const column = (name, text, parts) => {
    const what = text ? said(parts ? { t: "", cut: text.cut } : text) : el("p", "soft", names.none);
    if (parts) what.prepend(...parts);
    return el("div", "", el("div", "side", name), what);
  };
  // Secrets are masked, and long texts are cut.
  const alike = !turn.same && turn.actual && turn.expected.t === turn.actual.t;
  return [
    el("p", "label", turn.same ? "Answer, " + names.same : "Answer"),
    alike ? el("p", "soft", "They differ in what is masked or cut here.") : null,
    turn.same ? said(turn.actual) : el("div", "pair",
      column(names.expected, turn.expected, left && pieces(left, "del")),
      column(names.actual, turn.actual, right && pieces(right, "ins"))),
  ];
}

function calls(turn) {
  if (!turn.calls.length) return [el("p", "label", "Tool calls: " + (turn.compared ? "none expected, none called" : "none"))];
  const compared = turn.calls.some((call) => call.is !== "made");
  const code = (text, parts, tag) => (text === null ? "–" : el("code", "", parts && compared ? pieces(parts, tag) : text));
  const actual = (call) => el("span", "", code(call.actual, call.pieces && call.pieces[1], "ins"),
    call.result ? el("span", "result", "returned " + call.result) : null);
  const lines = turn.calls.map((call) => (compared
    ? [call.is, signs[call.is], code(call.expected, call.pieces && call.pieces[0], "del"), actual(call)]
    : [call.is, signs[call.is], actual(call)]));
  const heads = compared ? ["", names.expected, names.actual] : ["", "call"];
  return [el("p", "label", "Tool calls" + (turn.compared ? ", " + turn.compared : "")), table("calls", heads, lines)];
}

// A bar from when a step began to when it ended, in parts of the turn.
function bar(step, whole) {
  const svg = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const drawn = svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
  const left = whole > 0 ? (step.from / whole) * 100 : 0;
  const width = whole > 0 ? Math.max(0.7, ((step.at - step.from) / whole) * 100) : 0.7;
  drawn.append(svg("rect", { class: "all", width: 100, height: 8 }),
    svg("rect", { class: step.by, x: Math.min(left, 99.3), width, height: 8 }));
  return drawn;
}

function timeline(turn) {
  if (!turn.steps.length) return turn.took ? el("p", "label", "Took " + turn.took) : null;
  const whole = Math.max(...turn.steps.map((step) => step.at));
  const steps = turn.steps.map((step) => el("li", "",
    el("span", "number soft", step.at.toFixed(3) + " s"),
    bar(step, whole),
    el("span", "", el("b", "", step.what), " ", el("span", "soft", step.author)),
    el("span", "", step.text, step.model || step.tokens
      ? el("span", "soft", " " + [step.model, step.tokens].filter(Boolean).join(" · ")) : null)));
  if (turn.more_steps) steps.push(el("li", "soft", `… ${turn.more_steps} more in the record`));
  const key = el("p", "soft", el("span", "key model"), "until the agent's event came  ", el("span", "key tool"), "from a call to its result");
  return el("details", "", el("summary", "", "Timeline" + (turn.took ? ": " + turn.took : "")), el("ol", "steps", steps), key);
}

function isBad(turn) {
  return turn.scores.some((score) => ["failed", "not_evaluated", "error"].includes(score.state));
}

// A turn. The others are closed if one is bad.
function turnOf(turn, at, of, isOpen) {
  const deciding = turn.scores.filter((score) => score.threshold !== null || score.notes.length);
  const others = turn.scores.filter((score) => !deciding.includes(score));
  const bad = isBad(turn);
  const line = others.map((score) => `${score.metric} ${score.score === null ? "–" : score.score}`).join(", ");
  const node = el("details", bad ? "turn bad" : "turn",
    el("summary", "", `Turn ${at + 1} of ${of} `, turn.played ? null : el("b", "", "not played "), el("span", "said-first", turn.user.t.slice(0, 80)), deciding.map((score) => (score.state === "failed" ? pill("failed", score.metric) : null))),
    el("p", "label", turn.played ? "The user" : "What the user would have said"), said(turn.user, "user"),
    turn.played ? [calls(turn), turn.between.map((text) => [el("p", "label", "Said before the answer"), said(text)]), answer(turn)].flat(3) : awaited(turn),
    deciding.length ? el("p", "label", "Scores of this turn") : null, deciding.map(scoreOf),
    line ? el("p", "label", "For information: " + line) : null, timeline(turn));
  node.open = isOpen;
  return node;
}

function stateOf(run) {
  if (!run.state_rows.length) return null;
  const lines = run.state_rows.map((row) => [
    row.differs ? "missing" : "", row.differs ? "~ differs" : "", row.key, row.before, row.after, row.expected,
  ]);
  return block("Session state", table("grid", ["", "key", "before", "after", "expected"], lines));
}

function runOf(run, all) {
  const anyBad = run.turns.some(isBad);
  // The place at which it broke off.
  const last = Math.max(run.turns.filter((turn) => turn.played).length - 1, 0);
  const isOpen = (turn, at) => all || (run.error ? at === last : !anyBad || isBad(turn));
  return el("div", "",
    run.error ? el("div", "block", el("h3", "", "What ended the run"), said(run.error)) : null,
    run.turns.map((turn, at) => turnOf(turn, at, run.turns.length, isOpen(turn, at))),
    run.scores.filter((score) => score.whole).map((score) => block("The run as a whole", scoreOf(score.whole))),
    stateOf(run),
    judges(run, all));
}

// The judges' questions and answers in a run.
function judges(run, all) {
  if (!run.judges.length) return null;
  return block("Judges", run.judges.map((judge) => el("div", "judge",
    el("p", "", el("b", "", judge.purpose), ` asked ${judge.model}: `, judge.asked),
    judge.questions.map((question, at) => {
      const which = judge.questions.length > 1 ? `Prompt ${at + 1} of ${judge.questions.length}` : "The prompt";
      const answers = question.answers.length === 1 ? "its answer" : `its ${question.answers.length} answers`;
      const name = [`${which} and ${answers}`, question.template].filter(Boolean).join(": ");
      const votes = question.answers.map((text, sample) => el("div", "",
        el("p", "label", question.answers.length > 1 ? `Vote ${sample + 1} of ${question.answers.length}` : "The answer"), said(pretty(text), "vote")));
      const node = el("details", "", el("summary", "", name), votes, el("p", "label", "What was asked"), said(question.prompt, "prompt"));
      node.open = all || run.scores.some((score) => score.metric === judge.purpose && score.state === "failed");
      return node;
    }),
    judge.questions.length ? null : el("p", "soft", "The prompts are not recorded."))));
}

// JSON with a field on each line, if the text is such.
function pretty(text) {
  try {
    const value = text.cut ? null : JSON.parse(text.t);
    if (!value || typeof value !== "object" || Array.isArray(value)) return text;
    const line = ([key, it]) => `${key}: ${typeof it === "string" ? it : JSON.stringify(it)}`;
    return { t: Object.entries(value).map(line).join("\n") };
  } catch {
    return text;
  }
}

function conversation(of, all) {
  if (!of.runs.length) return block("Conversation", el("p", "soft", of.word === "IN WORK" ? "No run has ended yet." : "No run was recorded."));
  if (all) return of.runs.map((run) => block(`Run ${run.number}`, runOf(run, true)));
  const at = Math.min(openRun, of.runs.length - 1);
  const panel = el("div", "", runOf(of.runs[at]));
  const tabs = of.runs.map((run, other) => {
    const tab = button(`run ${run.number}: ${titles[run.state] || run.state}`, () => {
      openRun = other;
      tabs.forEach((it, n) => it.setAttribute("aria-pressed", String(n === other)));
      panel.replaceChildren(runOf(run));
    });
    tab.setAttribute("aria-pressed", String(other === at));
    return tab;
  });
  return block("Conversation", of.runs.length > 1 ? el("div", "tabs", tabs) : null, panel);
}

function command(of) {
  if (!of.rerun) return null;
  const copy = button("Copy", () => {
    const done = () => { copy.textContent = "Copied"; };
    const select = () => getSelection().selectAllChildren(text);
    if (navigator.clipboard) navigator.clipboard.writeText(of.rerun).then(done, select);
    else select();
  });
  const text = el("pre", "", of.rerun);
  const records = of.rerun.startsWith("EVALSET_JUDGE=record ");
  return block(records ? "Record what the judge did not answer" : "Run it again", el("div", "command", text, copy));
}

function body(of, all) {
  const facts = of.facts.map(([name, value]) => el("div", "", el("dt", "", name), el("dd", "", value)));
  const known = el("details", "block facts", el("summary", "", "About the case"), el("dl", "", facts));
  known.open = all;
  const output = of.printed ? el("details", "block", el("summary", "", "What the test printed"), el("pre", "", of.printed.t)) : null;
  const earlier = of.earlier.map((it) => el("div", "", `attempt ${it.attempt}: `, pill(it.state, it.state), " " + (it.reason || "")));
  return [
    of.reason ? el("p", "lead", of.reason) : null,
    of.doubt ? el("p", "doubt", of.doubt) : null,
    of.notes.map((note) => el("p", "soft", note)),
    earlier.length ? block("Earlier attempts", earlier) : null,
    glance(of), command(of), conversation(of, all), sideBySide(of), metrics(of), output, known,
  ].flat().filter(Boolean);
}
