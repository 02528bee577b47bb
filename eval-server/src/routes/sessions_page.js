// The page of the live sessions. All that comes from agents is put on the page as text.
"use strict";

const $ = (id) => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token") || "";
const sessions = new Map();
const scores = new Map();
let golden = null;
let open = null;
let about = {};

// A score is true only for the states that its session and the golden session had when it was requested.
// Changes since then are counted, so that a late answer shows no outdated score.
let changes = 0;
let allChanged = 0;
const changed = new Map();

/** Forgets all scores: the golden session is another one, or has changed. */
function forgetAll() {
  scores.clear();
  allChanged = changes += 1;
}

/** The inputs of a score. */
const scored = (session) => JSON.stringify([
  session.key, session.traces, session.spans, session.state, session.turns, session.calls,
  session.gaps, session.failedTurns, session.lost, session.waitsFor,
]);

/** Stores a session that the service sent, and forgets the scores that it makes outdated. Returns whether anything changed. */
function learn(session) {
  const before = sessions.get(session.id);
  sessions.set(session.id, session);
  const isNew = !before || scored(before) !== scored(session);
  if (isNew) {
    scores.delete(session.id);
    changed.set(session.id, changes += 1);
  }
  const wasGolden = golden === session.id;
  if (session.golden) golden = session.id;
  else if (wasGolden) golden = null;
  if (session.golden !== wasGolden || (isNew && session.golden)) forgetAll();
  return isNew || session.golden !== before.golden;
}

/** Forgets a session that is no longer there. */
function forget(id) {
  sessions.delete(id);
  scores.delete(id);
  drawn.delete(id);
  changed.delete(id);
  if (golden === id) {
    golden = null;
    forgetAll();
  }
}

/** An element with a class, and with texts or elements in it. */
function el(name, kind, ...content) {
  const node = document.createElement(name);
  if (kind) node.className = kind;
  node.append(...content.filter((it) => it !== null && it !== undefined && it !== ""));
  return node;
}

function button(text, act) {
  const node = el("button", "", text);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

async function ask(method, path, body) {
  const headers = token ? { authorization: `Bearer ${token}` } : { "x-evalset": "1" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const options = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
  const reply = await fetch(`/api/v1/sessions${path}`, options);
  const answer = await reply.json();
  if (reply.ok) return answer.data;
  const { detail } = answer;
  throw new Error(typeof detail === "string" ? detail : detail.map((it) => `${it.loc.join(".")}: ${it.msg}`).join("; "));
}

function say(text) {
  $("message").hidden = !text;
  $("message").textContent = text;
}

/** Wraps an action of the user: its error is shown. */
const doing = (act) => async (event) => {
  if (event) event.preventDefault();
  try {
    say("");
    await act();
  } catch (error) {
    say(error.message);
  }
};

/** Runs an update that the user has not asked for: earlier messages stay. */
const following = async (act) => {
  try {
    await act();
  } catch (error) {
    say(error.message);
  }
};

/** Whether an agent takes part in a session, or may do so. Other sessions are only counted. */
const isOfAgent = (session) =>
  session.turns > 0 || session.gaps > 0 || session.lost.length > 0 || session.state !== "complete";

let isLost = false;
function showAbout() {
  const parts = [];
  if (isLost) {
    $("about").textContent = "the service does not answer: open this page with the address that it printed, and /sessions in place of /";
    return;
  }
  if (about.otlpPort) parts.push(`traces are received on port ${about.otlpPort} (OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:${about.otlpPort})`);
  else parts.push("no traces are received: the service was started without a port for them");
  if (about.removed) parts.push(`${about.removed} older sessions were removed to make room`);
  if (about.refusedExports) parts.push(`${about.refusedExports} exports were refused, the last because ${about.lastRefusal}`);
  $("about").textContent = parts.join(" · ");
}

function pills(score) {
  const all = [el("span", `pill ${score.verdict}`, score.verdict.replace("_", " "))];
  for (const metric of score.metricResults) {
    const value = metric.scoreShown ?? "-";
    all.push(el("span", `pill ${metric.evalStatus.toLowerCase()}`, `${metric.metricName} ${value}`));
  }
  return all;
}

function row(session) {
  const name = button(session.key, doing(() => go(session.id)));
  name.className = "name";
  const state = [el("span", `pill ${session.state}`, session.state)];
  if (session.golden) state.push(el("span", "pill golden", "golden"));
  if (session.lost.length) state.push(el("span", "pill error", "lost spans"));
  if (session.gaps) state.push(el("span", "pill error", `${session.gaps} gaps`));
  if (session.failedTurns) state.push(el("span", "pill failed", "failed turn"));
  const score = scores.get(session.id);
  const node = el("tr", "",
    el("td", "", name, el("span", "asked", session.userInputPreview)),
    el("td", "", ...state),
    el("td", "", String(session.turns)),
    el("td", "", String(session.calls)),
    el("td", "", ...(score ? pills(score) : [])));
  if (session.id === open) node.setAttribute("aria-current", "true");
  return node;
}

const drawn = new Map();

/** The row of a session. The existing row is reused unless something has changed. */
function rowOf(session) {
  const state = JSON.stringify([session, scores.get(session.id) ?? null, session.id === open]);
  const before = drawn.get(session.id);
  if (before && before.state === state) return before.node;
  const node = row(session);
  node.dataset.id = session.id;
  drawn.set(session.id, { state, node });
  return node;
}

let isDrawn = true;
function draw() {
  if (!isDrawn) return;
  isDrawn = false;
  requestAnimationFrame(() => {
    isDrawn = true;
    const all = [...sessions.values()].sort((one, other) => Number(other.id) - Number(one.id));
    const shown = all.filter(isOfAgent);
    const focused = document.activeElement && document.activeElement.className === "name" && document.activeElement.textContent;
    const nodes = shown.map(rowOf);
    const now = [...$("rows").children];
    const isSame = nodes.length === now.length && nodes.every((node, at) => node.dataset.id === now[at].dataset.id);
    // A row that has not changed stays where it is: the user may be about to click it.
    if (isSame) nodes.forEach((node, at) => node === now[at] || now[at].replaceWith(node));
    else $("rows").replaceChildren(...nodes);
    if (focused) [...$("rows").querySelectorAll(".name")].find((it) => it.textContent === focused)?.focus();
    $("none").hidden = shown.length > 0;
    $("others").hidden = shown.length === all.length;
    $("others").textContent = `${all.length - shown.length} traces without agents are not shown`;
    drawAgainst();
    showAbout();
  });
}

/** The most turns, and calls of a turn, that are shown. */
const MOST = 200;

/** The elements of the first of many items, and a note with the number of the others. */
function first(all, name, make, note) {
  const nodes = all.slice(0, MOST).map(make);
  if (all.length > MOST) nodes.push(el(note, "soft", `${all.length - MOST} more ${name} are not shown; a draft has them all`));
  return nodes;
}

const text = (content) => ((content && content.parts) || []).map((part) => part.text || "").join("");
const call = (it) => `${it.name}(${JSON.stringify(it.args ?? {})})`;

function turnOf(turn, number) {
  const node = el("article", "turn", el("h3", "", `Turn ${number}`),
    el("p", "label", "user"), el("p", "said", text(turn.userContent)));
  const data = turn.intermediateData;
  if (data.toolUses.length) {
    node.append(el("p", "label", "calls"), el("ul", "", ...first(data.toolUses, "calls", (it) => el("li", "mono", call(it)), "li")));
  }
  const before = ([, parts]) => el("div", "", el("p", "label", "said before"), el("p", "said", text({ parts })));
  node.append(...first(data.intermediateResponses, "texts", before, "p"));
  node.append(el("p", "label", "answer"), el("p", "said", turn.finalResponse ? text(turn.finalResponse) : "(none)"));
  return node;
}

/** The calls of a turn beside those of the golden session. */
function comparisonOf(comparison, number) {
  const lines = [];
  const { expected, actual, matched } = comparison;
  const count = Math.max(expected.length, actual.length);
  let differs = false;
  for (let at = 0; at < Math.min(count, MOST); at += 1) {
    const [one, other] = [expected[at], actual[at]].map((it) => (it ? call(it) : "-"));
    differs ||= one !== other;
    lines.push(el("tr", one === other ? "" : "changed", el("td", "mono", one), el("td", "mono", other)));
  }
  const note = (said) => {
    const cell = el("td", "soft", said);
    cell.colSpan = 2;
    lines.push(el("tr", "", cell));
  };
  if (count > MOST) note(`${count - MOST} more calls are not shown`);
  if (!matched && !differs) note("the calls differ in what is not shown");
  const head = el("tr", "", el("th", "", `golden, turn ${number}`), el("th", "", "this session"));
  return el("table", "", el("thead", "", head), el("tbody", "", ...lines));
}

async function marking(method, id) {
  ({ golden } = await ask(method, `/${id}/golden`));
  forgetAll();
  await show(id);
}

/** The element that shows the score of the open session. */
let against = null;
function drawAgainst() {
  if (!against) return;
  const score = scores.get(against.dataset.id);
  if (against.score === score) return;
  against.score = score;
  const node = [];
  if (score) {
    node.push(el("h3", "", "Against the golden session"), el("p", "", ...pills(score)));
    if (score.reason) node.push(el("p", "doubt", score.reason));
    const compared = score.metricResults.find((it) => it.details && it.details.comparisons);
    if (compared) node.push(...first(compared.details.comparisons, "turns", (it, at) => comparisonOf(it, at + 1), "p"));
  }
  against.replaceChildren(...node);
}

let shows = 0;
/** The key that the open session had before the connection was broken, until it is seen again. */
let keyBefore = null;

/** Opens a session. */
async function show(id) {
  const own = shows += 1;
  let answer;
  try {
    answer = await ask("GET", `/${id}`);
    const isOther = id === open && keyBefore !== null && answer.session.key !== keyBefore;
    if (isOther) throw new Error(`the session ${keyBefore} is no longer there`);
  } catch (error) {
    if (own === shows) close();
    throw error;
  }
  // Another session was opened meanwhile.
  if (own !== shows) return;
  const { session, conversation, doubts } = answer;
  open = session.id;
  keyBefore = null;
  // The session may have been joined with another.
  if (inAddress() === id && id !== open) history.replaceState(null, "", `#${open}`);
  learn(session);
  const set = el("input", "");
  set.type = "text";
  set.placeholder = "sessions.evalset.json";
  set.setAttribute("aria-label", "The file of the set");
  const mark = session.golden
    ? button("Unmark", doing(() => marking("DELETE", id)))
    : button("Mark as golden", doing(() => marking("PUT", id)));
  const saved = el("span", "soft");
  saved.setAttribute("role", "status");
  const save = button("Save as draft", doing(async () => {
    const draft = await ask("POST", `/${id}/draft`, set.value ? { set: set.value } : {});
    saved.textContent = draft.evalId ? `draft ${draft.evalId} is in ${draft.set}` : `${draft.set} has an equal case already`;
  }));
  mark.id = "mark";
  save.id = "save";
  const actions = el("div", "actions", mark, ...(about.savesDrafts ? [save, set, saved] : []), button("Close", leave));
  const node = [el("h2", "", session.key), actions];
  for (const doubt of doubts) node.push(el("p", "doubt", doubt));
  against = el("div", "");
  against.id = "against";
  against.dataset.id = session.id;
  node.push(against);
  if (conversation) node.push(...first(conversation.invocations, "turns", (turn, at) => turnOf(turn, at + 1), "p"));
  $("detail").replaceChildren(...node);
  $("detail").hidden = false;
  document.body.classList.add("open");
  draw();
}

function close() {
  shows += 1;
  open = null;
  keyBefore = null;
  against = null;
  $("detail").hidden = true;
  document.body.classList.remove("open");
  draw();
}

/** The session that the address names (`#7`); an empty text if it names none, null if it names another part of the page. */
function inAddress() {
  const [, id] = location.hash.match(/^#?(\d*)$/) ?? [];
  return id ?? null;
}

/** Opens the session that the address names, after a link or the back button. */
async function follow() {
  const id = inAddress();
  if (id === "") close();
  else if (id !== null && id !== open) await show(id);
}

/** Opens a session through the address, so that it can be shared and the back button leads here. */
async function go(id) {
  if (inAddress() === id) await show(id);
  else location.hash = id;
}

/** Closes the open session. */
function leave() {
  if (inAddress()) history.pushState(null, "", location.pathname + location.search);
  close();
}
window.addEventListener("hashchange", doing(follow));

$("metrics").addEventListener("submit", doing(async () => {
  const fields = $("metrics").elements;
  const wanted = [...fields].filter((it) => it.type === "checkbox" && it.checked);
  const evaluators = wanted.map(({ name }) => ({ name, threshold: Number(fields[`${name}-threshold`].value) }));
  const began = changes;
  const result = await ask("POST", "/score", { evaluators });
  if (allChanged > began) throw new Error("the golden session changed while the others were scored: score again");
  scores.clear();
  let late = 0;
  for (const session of result.sessions) {
    if ((changed.get(session.id) ?? 0) > began) late += 1;
    else scores.set(session.id, session);
  }
  if (late) say(`${late === 1 ? "a session" : `${late} sessions`} changed while they were scored: score again`);
  draw();
}));

doing(follow)();
if (token) $("home").href = `/?token=${encodeURIComponent(token)}`;
const source = new EventSource("/api/v1/sessions/events" + (token && `?token=${encodeURIComponent(token)}`));
source.addEventListener("about", ({ data }) => { about = JSON.parse(data); draw(); });
source.addEventListener("removed", ({ data }) => {
  const id = JSON.parse(data);
  forget(id);
  // The session may have been joined with another.
  if (id === open) following(() => show(id));
  draw();
});
source.addEventListener("session", ({ data }) => {
  const session = JSON.parse(data);
  if (learn(session) && session.id === open) following(() => show(open));
  draw();
});
/** Forgets all that is known. */
function forgetSessions() {
  for (const id of [...sessions.keys()]) forget(id);
  golden = null;
  forgetAll();
  drawn.clear();
}

// After a break, the service sends all sessions again. It may have been restarted, and then other sessions
// have the same ids.
source.addEventListener("open", () => {
  keyBefore ??= sessions.get(open)?.key ?? null;
  forgetSessions();
  if (open !== null) following(() => show(open));
  draw();
});
source.addEventListener("error", () => {
  if (source.readyState !== EventSource.CLOSED) {
    $("about").textContent = "the connection is broken; trying again";
    return;
  }
  // The service may have been restarted. Then nothing on this page is true of its sessions, which have the
  // same ids.
  forgetSessions();
  close();
  isLost = true;
  draw();
});
