// The details of a case, which are JSON in the page.

// The place of the run that is shown.
let openRun = 0;

// Whether a metric passed over all turns, but not in each of them.
const isMixed = (of, metric) => metric.state === "passed" && of.runs.some((run) => run.turns.some((turn) => turn.scores.some((it) => it.metric === metric.name && it.state === "failed")));

// The metrics that decide the case in a table, the others in a line.
function metrics(of) {
  const deciding = of.metrics.filter((metric) => metric.state !== "informational");
  const others = of.metrics.filter((metric) => metric.state === "informational");
  const remarks = (metric) => el("span", "", [metric.reason, ...metric.notes].filter(Boolean).map((note) => el("div", "", inCode(note))),
      metric.criterion.length ? el("details", "", el("summary", "", "criterion"),
        metric.criterion.map(([key, value]) => el("div", "soft", `${key}: ${value}`))) : null);
  const lines = deciding.map((metric) => [
    "",
    el("span", "", el("b", "", metric.name), metric.about ? el("div", "soft", inCode(metric.about)) : null),
    pill(metric.state, titles[metric.state] || metric.state),
    metric.score,
    metric.threshold === null ? "–" : metric.threshold,
    metric.scored,
    [remarks(metric)].filter((it) => it.hasChildNodes()),
  ]);
  if (!of.metrics.length) return null;
  return block(of.runs.length > 1 ? "Metrics over all runs" : "Metrics",
    lines.length ? table("grid metrics", ["metric", "verdict", "score", "needed", "scored", "remarks"], lines) : null,
    informed(others, "soft"));
}

// The scores of metrics that decide nothing, in a line. Nothing is said of metrics without a score.
function informed(metrics, name) {
  const scored = metrics.filter((metric) => metric.score !== null).map((metric) => `${metric.metric || metric.name} ${metric.score}`);
  return scored.length ? el("p", name, "For information: " + scored.join(", ")) : null;
}

// A score that misses a threshold, such as "< 0.8" of "≥ 0.8".
const missed = (threshold) => threshold.replace("≥", "<").replace("≤", ">");

// The results that decided the case, at a glance.
function glance(of) {
  const marks = of.metrics.filter((metric) => metric.threshold !== null).map((metric) => {
    const score = metric.score === null ? titles[metric.state] || metric.state : metric.score;
    const mixed = isMixed(of, metric);
    const side = metric.state === "failed" ? ` ${missed(metric.threshold)}` : mixed ? ` ${metric.threshold}` : "";
    return pill(metric.state, [metric.name + (mixed ? (of.runs.length > 1 ? ": mean " : ": mean over turns ") : " "), el("b", "", score + side)]);
  });
  return marks.length ? el("p", "pills", marks) : null;
}

// The case beside its line of the baseline.
function sinceBaseline(of) {
  if (!of.since) return null;
  const { category, before, now, p, why, tokens, calls, from } = of.since;
  const median = (name, [old, is]) => old !== is ? `${name} of a run, median: ${old || "none"} before, ${is || "none"} now. ` : "";
  const taken = median("Tokens", tokens) + median("Tool calls", calls);
  const lines = of.since.metrics.map((it) => ["", it.name, it.before, it.now, it.scores[0], it.scores[1], it.incomparable || ""]);
  return block("Since the baseline",
    el("p", "", el("b", "", category), `: ${before} runs passed before, ${now} now`, p ? `, p = ${p}` : "", why ? `; ${why}` : ""),
    taken ? el("p", "soft", taken) : null,
    lines.length ? table("grid", ["metric", "passed before", "now", "mean before", "now", "not comparable"], lines) : null,
    from ? el("p", "soft", `The baseline holds no transcripts. It was measured in ${from}.`) : null);
}

// The results of the case in the runs before. A service shows each beside this one.
function historyOf({ history: { runs, others } }) {
  if (!runs.length && !others) return null;
  const passed = runs.filter((run) => run.state === "passed").length;
  const lines = runs.map((run) => {
    const { run: now } = document.body.dataset;
    const when = now ? el("a", "", run.when) : run.when;
    if (now) when.href = `/diff?before=${encodeURIComponent(run.id)}&now=${encodeURIComponent(now)}`;
    return ["", when, pill(run.state, titles[run.state] || run.state), run.passed];
  });
  const shown = table("grid", ["run", "result", "runs passed"], lines);
  shown.firstChild.prepend(el("caption", "label", "Last runs of this case, the newest first"));
  const left = others === 1 ? "1 run before is" : `${others} runs before are`;
  const node = el("details", "block", el("summary", "", `Last runs: passed in ${passed} of ${runs.length} before this one`),
    lines.length ? shown : null,
    others ? el("p", "soft", `${left} left out: what the case asks, or what it expects, was something else.`) : null);
  node.open = whole;
  return node;
}

// A column for each run, a line for each metric and each turn. Cells that differ from those of the runs that passed, or from most of
// their line if none did, are marked, and lines in which the runs agree are closed. It is open if the runs differ.
function sideBySide(of) {
  if (of.runs.length < 2) return null;
  const most = Math.max(...of.runs.map((run) => run.turns.length));
  const deciding = of.runs.flatMap((run) => run.scores.filter((score) => score.threshold !== null));
  const deciders = [...new Set(deciding.map((score) => score.metric))];
  const scored = (run, name) => run.scores.find((score) => score.metric === name);
  const lines = [];
  // A line of texts, each with the element that shows it.
  const line = (name, texts, shown) => {
    const count = (text) => texts.filter((other) => other === text).length;
    const ofPassed = texts.filter((text, at) => of.runs[at].state === "passed");
    const usual = (ofPassed.length ? ofPassed : texts).reduce((one, other) => (count(other) > count(one) ? other : one));
    lines.push({ agrees: texts.every((text) => text === usual), cells: ["", name, ...texts.map((text, at) => el("div", text === usual ? "" : "odd", shown ? shown(at) : text))] });
  };
  line("verdict", of.runs.map((run) => run.state), (at) => pill(of.runs[at].state, titles[of.runs[at].state] || of.runs[at].state));
  for (const name of deciders) {
    const text = (run) => { const it = scored(run, name); return it ? it.score || titles[it.state] || it.state : "–"; };
    line(name, of.runs.map(text), (at) => { const it = scored(of.runs[at], name); return it ? pill(it.state, text(of.runs[at])) : "–"; });
  }
  const called = (turn) => turn.calls.map((call) => call.actual).filter(Boolean).join(", ");
  for (let at = 0; at < most; at += 1) {
    const texts = (what) => of.runs.map((run) => (!run.turns[at] ? "–" : run.turns[at].played ? what(run.turns[at]) || "none" : "not played"));
    line(`turn ${at + 1}: calls`, texts(called));
    line(`turn ${at + 1}: answer`, texts((turn) => turn.actual && turn.actual.t));
  }
  const cells = table("grid runs", ["", ...of.runs.map((run) => "run " + run.number)], lines.map((it) => it.cells));
  const node = el("details", "block", el("summary", "", of.runs.some((run) => run.state === "passed") ? "Runs side by side (≠: not as in the runs that passed)" : "Runs side by side (≠: not as in most runs)"), foldRows(cells, (at) => lines[at].agrees, "line", 3));
  node.style.setProperty("--runs", of.runs.length);
  node.open = lines.some((it) => !it.agrees);
  return node;
}

// The score of the run, if it passes a metric that a turn fails: the mean over its turns decides.
const overTurns = (score, run) => (score.state === "failed" ? run.scores.find((it) => it.metric === score.metric && it.state === "passed") : undefined);

// Whether a turn is the reason why its run did not pass.
const isReason = (turn, run) => turn.bad && turn.scores.some((it) => ["failed", "not_evaluated", "error"].includes(it.state) && !overTurns(it, run));

// A score with its reason. Rubrics that a judge's card shows are named alone.
function scoreOf(score, run, hasCard) {
  const state = score.state;
  const mean = overTurns(score, run);
  const value = score.score === null ? titles[state] || state : score.score;
  const line = el("div", "score", pill(state, score.metric + " ", el("b", "", value + (state === "failed" ? " " + missed(score.threshold) : ""))), mean ? el("span", "soft", `the run passes: its mean over turns is ${mean.score} ${mean.threshold}`) : null, score.reason ? el("span", "", inCode(score.reason)) : null);
  const rubrics = hasCard ? score.rubrics.map((rubric) => pill(verdictOf(rubric.score)[0], `${rubric.id}: ${verdictOf(rubric.score)[1]}`)) : rubricTable(score.rubrics);
  return el("div", "", line, rubrics, score.notes.map((note) => said(note, "remark", inCode(note.t))));
}

// The expectations of a turn that was not played.
function awaited(turn) {
  return [
    turn.calls.length ? [el("p", "label", "Tool calls that were expected"), turn.calls.map((call) => el("p", "", el("code", "", call.expected)))] : null,
    turn.expected ? [el("p", "label", "Answer that was expected"), message(turn.expected), media(turn.expected_media)] : null,
  ].flat(2);
}

function answer(turn) {
  const nothing = () => el("p", "soft", terms.none);
  if (!turn.expected) return [el("p", "label", turn.compared ? "Answer, for which the case expects nothing" : "Answer"), turn.actual ? message(turn.actual, "", "answer") : nothing(), media(turn.actual_media)];
  if (turn.same) return [el("p", "label", "Answer, " + terms.same), message(turn.actual, "", "answer"), media(turn.actual_media)];
  const note = turn.hidden ? "They differ in what is masked or cut here."
    : turn.other_parts && turn.actual && turn.expected.t === turn.actual.t ? "The text is the same, what is beside it is not."
      : turn.other_parts ? "What is beside the text differs too." : null;
  const isText = !turn.actual || turn.in_answer > 0;
  const copies = whole ? null : el("span", "texttools", copier(turn.expected.t, `${terms.expected} answer`, `Copy ${terms.expected}`),
    turn.actual ? copier(turn.actual.t, `${terms.actual} answer`, `Copy ${terms.actual}`) : null);
  const plain = (text) => message(text);
  const parts = (list) => media(list) || el("p", "soft", "nothing beside the text");
  return [
    el("p", "label", "Answer"), note ? el("p", "note", note) : null,
    isText ? textsOf(turn.diff, turn.expected, turn.actual, plain, turn.in_answer) : message(turn.actual),
    turn.other_parts ? place(el("div", "pair", column(terms.expected, parts(turn.expected_media)), column(terms.actual, parts(turn.actual_media)))) : media(turn.actual_media),
    copies,
  ];
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

// A turn. The others are closed if one is bad.
function turnOf(turn, at, run, isOpen) {
  const hasCard = (score) => run.judges.some((judge) => judge.purpose === score.metric);
  const deciding = turn.scores.filter((score) => score.threshold !== null || score.notes.length);
  const others = turn.scores.filter((score) => !deciding.includes(score));
  const mark = (score) => (score.state !== "failed" ? null : overTurns(score, run) ? pill("skipped", `${score.metric}: the mean passes`) : pill("failed", score.metric));
  const node = el("details", turn.broke ? "turn bad broke" : isReason(turn, run) ? "turn bad" : turn.differs ? "turn" : "turn equal",
    el("summary", "", `Turn ${at + 1} of ${run.turns.length} `, turn.played ? null : el("b", "", "not played "), el("span", "said-first", "user: “", el("bdi", "", turn.user.t.slice(0, 80)), "”"), turn.broke ? place(pill("error", "error"), 0) : null, deciding.map(mark), turn.differences ? el("span", "count", counted(turn.differences)) : null),
    el("p", "label", turn.played ? "The user" : "What the user would have said"), message(turn.user, "user"), media(turn.user_media),
    turn.played ? [calls(turn), turn.between.map((text) => [el("p", "label", "Said before the answer"), message(text)]), answer(turn)].flat(3) : awaited(turn),
    deciding.length ? el("p", "label", "Scores of this turn") : null, deciding.map((score) => scoreOf(score, run, hasCard(score))),
    informed(others, "label"), timeline(turn));
  node.open = isOpen;
  return node;
}

// The turns of a run. Those in a row in which all is as expected are closed behind their number, if another one is not.
function turnsOf(run, isOpen) {
  const nodes = run.turns.map((turn, at) => turnOf(turn, at, run, isOpen(turn, at)));
  if (whole || run.turns.every((turn) => !turn.differs)) return nodes;
  const out = [];
  for (let at = 0; at < nodes.length;) {
    let end = at;
    while (end < nodes.length && !run.turns[end].differs && !isOpen(run.turns[end], end)) end += 1;
    if (end - at > 1) {
      out.push(el("details", "fold", el("summary", "", `… ${end - at} equal turns`), nodes.slice(at, end)));
      at = end;
    } else {
      out.push(nodes[at]);
      at += 1;
    }
  }
  return out;
}

function stateOf(run, of) {
  if (!run.state_rows.length) return null;
  const sign = (row) => (row.differs ? "~ differs" : row.expected === null ? "" : row.after === row.expected ? "= same" : "≈ equal");
  const side = (row, value, tag) => (value === null || !row.differs ? value : el(tag, "", value));
  const lines = run.state_rows.map((row) => [row.differs ? "missing" : "", sign(row), row.key, row.before, side(row, row.expected, "del"), side(row, row.after, "ins")]);
  const isLoose = run.state_rows.some((row) => sign(row)[0] === "≈");
  const node = block("Session state" + of, table("grid", ["", "key", "at the start", "expected", "actual"], lines),
    isLoose ? el("p", "soft", "≈ Values that are written in another way are equal, as in ADK: 1, 1.0 and true.") : null);
  [...node.querySelector("tbody").rows].forEach((row, at) => { if (run.state_rows[at].differs) place(row); });
  node.classList.add("session-state");
  return node;
}

const ofLibrary = /(site|dist)-packages|\/lib\/python|\/python\/evalset\/|^</;
const mostFrames = 4;
const frame = /^[|\s]*File "([^"]*)", line \d+/;

// The lines of a traceback before the frames of the agent that led to the error, and how many frames they are.
function framesBefore(lines) {
  const frames = lines.flatMap((line, at) => { const found = line.match(frame); return found ? [{ at, file: found[1] }] : []; });
  const ofAgent = frames.map(({ file }) => !ofLibrary.test(file));
  let begin = ofAgent.lastIndexOf(false) + 1;
  // A library raised it, for the agent.
  if (begin === frames.length) begin = Math.max(ofAgent.lastIndexOf(true), 0);
  else begin = Math.max(begin, frames.length - mostFrames);
  return begin > 1 ? { from: frames[0].at, to: frames[begin].at, count: begin } : null;
}

// What ended a run. The frames of a traceback that are not the agent's own are folded.
function errorOf(text) {
  const node = said(text, "mono");
  const lines = text.t.split("\n");
  const before = whole ? null : framesBefore(lines);
  const shown = (from, to) => inCode(lines.slice(from, to).join("\n"));
  if (!before) node.firstChild.replaceWith(...shown(0));
  else node.firstChild.replaceWith(...shown(0, before.from), el("details", "frames", el("summary", "", `${before.count} frames before`), shown(before.from, before.to)), ...shown(before.to));
  const isTraceback = lines.some((line) => frame.test(line));
  const box = scrollable(el("div", isTraceback ? "error-text traceback" : "error-text", node));
  // The last line of a traceback says what went wrong.
  if (isTraceback && !whole) requestAnimationFrame(() => { box.scrollTop = box.scrollHeight; });
  return box;
}

// A run. `several` tells that the case has others.
function runOf(run, all, several) {
  const unplayed = run.state === "draft" ? 0 : run.turns.filter((turn) => !turn.played).length;
  const anyBad = run.turns.some((turn) => isReason(turn, run));
  // The place at which it broke off.
  const last = Math.max(run.turns.filter((turn) => turn.played).length - 1, 0);
  const leads = (turn) => (anyBad ? isReason(turn, run) : turn.differs || run.turns.every((it) => !it.differs));
  const isOpen = (turn, at) => all || (run.error ? at === last : leads(turn));
  const stateFirst = !anyBad && run.state_rows.some((row) => row.differs);
  const error = run.error && !run.headline_has_error && errorOf(run.error);
  const state = stateOf(run, several ? ` of run ${run.number}` : "");
  const node = el("div", "run",
    error ? el("div", "block", el("h3", "", run.state === "failed" ? "Why the run failed" : "The error that ended the run"), error) : null,
    unplayed ? el("p", "label", `The conversation ended early: ${unplayed} of ${run.turns.length} turns ${unplayed === 1 ? "was" : "were"} not played.`) : null,
    stateFirst ? state : null,
    turnsOf(run, isOpen),
    run.scores.filter((score) => score.whole).map((score) => block("The run as a whole", scoreOf(score.whole, run))),
    stateFirst ? null : state,
    judges(run));
  Object.assign(node.dataset, { name: several ? `run ${run.number}: ` : "", count: run.differences, error: run.error && run.state === "error" ? "1 error" : "" });
  return node;
}

function conversation(of, all) {
  if (!of.runs.length) return block("Conversation", el("p", "soft", of.word === "IN WORK" ? "No run has ended yet." : "No run was recorded."));
  if (all) return of.runs.map((run) => block(`Run ${run.number}`, runOf(run, true, of.runs.length > 1)));
  const at = Math.min(openRun, of.runs.length - 1);
  const several = of.runs.length > 1;
  const panel = el("div", "", runOf(of.runs[at], false, several));
  const tabs = of.runs.map((run, other) => {
    const tab = button(`run ${run.number}: ${titles[run.state] || run.state}`, () => {
      openRun = other;
      tabs.forEach((it, n) => it.setAttribute("aria-pressed", String(n === other)));
      panel.replaceChildren(runOf(run, false, several));
      tellCount();
    });
    tab.setAttribute("aria-pressed", String(other === at));
    return tab;
  });
  return several ? block("Conversation", el("div", "tabs", tabs), panel) : panel;
}

const isPhone = () => !whole && matchMedia("(max-width: 37.49rem)").matches;

// What can be done about all cases with the cause of this one. It is closed if there is something to do about this one alone: what differs
// stays in sight.
function ofGroup({ steps, group }, { reasons, commands }, listed) {
  const node = el("details", "", el("summary", "", `All ${group.cases} cases with this cause`), reasons ? el("p", "", inCode(group.why)) : null, commands ? listed(group.commands) : null);
  node.open = whole || !reasons || steps.every((step) => !step.commands.length);
  return node;
}

// The things to do about the case, by the causes of its verdict, and about all cases with this cause. A phone has the commands below
// the conversation, so that what differs is in sight.
function whatToDo(of, { reasons, commands }) {
  if (!of.next) return null;
  const { steps, group } = of.next;
  const hasCommands = group || steps.some((step) => step.commands.length);
  if (!reasons && !hasCommands) return null;
  const listed = (all) => (all.length ? el("div", "commands", all.map(({ does, command }) => el("div", "command",
    el("p", "label", does), el("pre", "", commandOf(command)), whole ? null : copier(command, "command: " + does)))) : null);
  const advice = (name, text) => el("div", "advice", el("h3", "", name), " ", text ? el("p", "", inCode(text)) : null);
  const label = reasons ? "What to do" : "Commands";
  const name = group ? `${label} about this case` : label;
  const node = el("section", "next",
    steps.map((step) => [reasons || step.commands.length ? advice(step.about ? `${name}: ${step.about}.` : name, reasons ? step.why : "") : null, commands ? listed(step.commands) : null]).flat(),
    group ? ofGroup(of.next, { reasons, commands }, listed) : null,
    commands || !hasCommands ? null : button("Commands ↓", () => document.querySelector(".next.below").scrollIntoView()));
  if (!reasons) node.classList.add("below");
  node.setAttribute("aria-label", label);
  return node;
}

// The part of a case that is in work, since when. A server's page tells how long ago that is.
function inWork(it) {
  const since = it.began ? el("span", "", `, since ${it.shown}`) : null;
  if (since) since.dataset.began = it.began;
  return el("p", "lead", it.what, since);
}

// The part that is in work, or the differences in a line, or else the reason of the verdict.
function leadOf(of) {
  if (of.in_work) return inWork(of.in_work);
  const text = of.differs || of.reason;
  return text ? el("p", "lead", inCode(text)) : null;
}

// The details of a case. `hasLead` tells that its head shows the line of what differs.
function body(of, all, hasLead) {
  whole = all;
  const facts = of.facts.map(([name, value]) => el("div", "", el("dt", "", name), el("dd", "", value)));
  const known = el("details", "block facts", el("summary", "", "About the case"), el("dl", "", facts));
  known.open = all;
  const output = of.printed ? el("details", "block", el("summary", "", "What was printed"), el("pre", "", of.printed.t)) : null;
  const earlier = of.earlier.map((it) => el("div", "", `attempt ${it.attempt}: `, pill(it.state, it.state), " " + (it.reason || "")));
  return [
    hasLead ? null : leadOf(of),
    whatToDo(of, { reasons: true, commands: !isPhone() }),
    el("div", "where", of.place ? el("p", "place", el("code", "", of.place)) : null, glance(of)),
    of.doubt ? el("p", "doubt", of.doubt) : null,
    of.notes.map((note) => el("p", "soft", inCode(note))),
    earlier.length ? block("Earlier attempts", earlier) : null,
    conversation(of, all), isPhone() ? whatToDo(of, { reasons: false, commands: true }) : null, sideBySide(of), metrics(of), sinceBaseline(of), historyOf(of), output, known,
  ].flat().filter(Boolean);
}
