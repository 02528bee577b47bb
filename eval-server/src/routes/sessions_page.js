// The page of the live sessions. All that comes from agents is put on the page as text.
(() => {
"use strict";
const { el, button, pill, body, jumps, reveal, tellCount } = components;

const API = "/api/v1/sessions";
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

async function ask(method, path, content) {
  const headers = token ? { authorization: `Bearer ${token}` } : { "x-evalset": "1" };
  if (content !== undefined) headers["content-type"] = "application/json";
  const options = { method, headers, body: content === undefined ? undefined : JSON.stringify(content) };
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw new Error("the service does not answer: is it still running?");
  }
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
  return [
    pill(score.verdict, score.verdict.replace("_", " ")),
    ...score.metricResults.map((metric) => pill(metric.evalStatus.toLowerCase(), `${metric.metricName} ${metric.scoreShown ?? "–"}`)),
  ];
}

function row(session) {
  const name = button(session.key, doing(() => go(session.id)));
  name.className = "name";
  const state = [pill(session.state, session.state)];
  if (session.golden) state.push(pill("golden", "golden"));
  if (session.lost.length) state.push(pill("error", "lost spans"));
  if (session.gaps) state.push(pill("error", session.gaps === 1 ? "1 gap" : `${session.gaps} gaps`));
  if (session.failedTurns) state.push(pill("failed", "failed turn"));
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
    const listed = all.filter(isOfAgent);
    const focused = document.activeElement && document.activeElement.className === "name" && document.activeElement.textContent;
    const nodes = listed.map(rowOf);
    const now = [...$("rows").children];
    const isSame = nodes.length === now.length && nodes.every((node, at) => node.dataset.id === now[at].dataset.id);
    // A row that has not changed stays where it is: the user may be about to click it.
    if (isSame) nodes.forEach((node, at) => node === now[at] || now[at].replaceWith(node));
    else $("rows").replaceChildren(...nodes);
    if (focused) [...$("rows").querySelectorAll(".name")].find((it) => it.textContent === focused)?.focus();
    $("none").hidden = listed.length > 0;
    $("others").hidden = listed.length === all.length;
    $("others").textContent = `${all.length - listed.length} traces without agents are not shown`;
    drawCase();
    showAbout();
  });
}

async function marking(method, id) {
  ({ golden } = await ask(method, `${API}/${id}/golden`));
  forgetAll();
  await show(id);
}

let shows = 0;
/** The key that the open session had before the connection was broken, until it is seen again. */
let keyBefore = null;

/** The case of the open session without scores, the case with scores, and the score that the second one belongs to. */
let shown = null;

/** Draws the case of the open session, without scores that are not true any more. */
function drawCase() {
  if (!shown || open === null) return;
  const score = scores.get(open);
  const isScored = Boolean(score) && shown.score === score;
  if (score && !isScored) following(() => scoreOpen(open, score));
  const now = isScored ? shown.scored : shown.plain;
  if (shown.drawn === now) return;
  shown.drawn = now;
  staying(shown.place, () => shown.place.replaceChildren(...shown.doubts.map((doubt) => el("p", "doubt", doubt)), ...body(now, false)));
  tellCount();
}

/** Draws a place again: what was unfolded, focused and scrolled to in it stays. */
function staying(place, redraw) {
  const folds = () => [...place.querySelectorAll("summary")].map((summary) => [summary.firstChild.textContent, summary]);
  const isBad = (summary) => summary.parentNode.matches(".turn.bad");
  const before = new Map(folds().map(([name, summary]) => [name, [summary.parentNode.open, summary === document.activeElement, isBad(summary)]]));
  const [inner, outer] = [$("detail").scrollTop, scrollY];
  redraw();
  for (const [name, summary] of folds()) {
    const [isOpen, hadFocus, wasBad] = before.get(name) ?? [summary.parentNode.open, false, true];
    // A turn that turns out to have failed opens by itself.
    summary.parentNode.open = isOpen || (isBad(summary) && !wasBad);
    if (hadFocus) summary.focus({ preventScroll: true });
  }
  $("detail").scrollTop = inner;
  scrollTo(scrollX, outer);
}

/** Asks for the scores of each turn of the open session. */
async function scoreOpen(id, score) {
  if (shown.asked === score) return;
  const of = shown;
  of.asked = score;
  const answer = await ask("POST", `/sessions/${id}/case`, { evaluators: score.evaluators });
  // Another session was opened meanwhile, or this one changed.
  if (shown !== of || scores.get(id) !== score) return;
  Object.assign(of, { scored: answer.case, score });
  drawCase();
}

/** The field for the set of a draft, the button that saves one, and what became of it. It stays while the session changes. */
function saving(id) {
  const set = el("input", "");
  set.type = "text";
  set.placeholder = "sessions.evalset.json";
  set.setAttribute("aria-label", "The file of the set");
  const saved = el("span", "soft");
  saved.setAttribute("role", "status");
  const save = button("Save as draft", doing(async () => {
    saved.replaceChildren("saving …");
    try {
      const draft = await ask("POST", `${API}/${id}/draft`, set.value ? { set: set.value } : {});
      const link = el("a", "", "review it");
      if (draft.link) link.href = draft.link;
      saved.replaceChildren(...(draft.evalId
        ? [`draft ${draft.evalId} is in ${draft.set}`, ...(draft.link ? [": ", link] : [])]
        : [`${draft.set} has an equal case already`]));
    } catch (error) {
      saved.replaceChildren();
      throw error;
    }
  }));
  save.id = "save";
  return [save, set, saved];
}

/** Offers to save the open session as a draft, if the service saves drafts. */
function offerDraft() {
  if (open === null || !about.savesDrafts || document.querySelector(".saving")) return;
  $("mark").after(el("span", "saving", saving(open)));
}

/** Opens a session. */
async function show(id) {
  const own = shows += 1;
  let answer;
  try {
    answer = await ask("POST", `/sessions/${id}/case`);
    const isOther = id === open && keyBefore !== null && answer.session.key !== keyBefore;
    if (isOther) throw new Error(`the session ${keyBefore} is no longer there`);
  } catch (error) {
    if (own === shows) close();
    throw error;
  }
  // Another session was opened meanwhile.
  if (own !== shows) return;
  const { session, doubts } = answer;
  const isNew = open !== session.id;
  open = session.id;
  keyBefore = null;
  // The session may have been joined with another.
  if (inAddress() === id && id !== open) history.replaceState(null, "", `#${open}`);
  learn(session);
  const mark = session.golden
    ? button("Unmark", doing(() => marking("DELETE", id)))
    : button("Mark as golden", doing(() => marking("PUT", id)));
  mark.id = "mark";
  if (isNew) {
    shown = { place: el("div", "") };
    const head = el("div", "case-head", pill(""), el("h2", ""), el("span", "tabs", button("Close", leave)), jumps());
    $("detail").replaceChildren(head, el("div", "actions", mark), shown.place);
  }
  shown = { plain: answer.case, doubts, place: shown.place };
  const [state, name] = $("detail").firstChild.children;
  state.replaceWith(pill(session.state, session.state));
  name.textContent = session.key;
  const before = $("mark");
  const hadFocus = before === document.activeElement;
  before.replaceWith(mark);
  if (hadFocus) mark.focus();
  offerDraft();
  $("detail").hidden = false;
  document.body.classList.add("open");
  drawCase();
  if (isNew) {
    $("detail").scrollTop = 0;
    if (getComputedStyle($("list")).display === "none") $("detail").scrollIntoView();
    $("detail").focus({ preventScroll: true });
    reveal($("detail"));
  }
  draw();
}

function close() {
  shows += 1;
  open = null;
  keyBefore = null;
  shown = null;
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
  const row = drawn.get(open);
  if (inAddress()) history.pushState(null, "", location.pathname + location.search);
  close();
  row?.node.querySelector(".name").focus({ preventScroll: true });
}
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && open !== null && event.target.tagName !== "INPUT") leave();
});
window.addEventListener("hashchange", doing(follow));

$("metrics").addEventListener("submit", doing(async () => {
  const fields = $("metrics").elements;
  const wanted = [...fields].filter((it) => it.type === "checkbox" && it.checked);
  // An empty field would be the threshold 0, which everything passes.
  const lacking = wanted.find(({ name }) => fields[`${name}-threshold`].value.trim() === "");
  if (lacking) throw new Error(`${lacking.name} has no threshold: type one, or take the metric out`);
  const evaluators = wanted.map(({ name }) => ({ name, threshold: Number(fields[`${name}-threshold`].value) }));
  const began = changes;
  const result = await ask("POST", `${API}/score`, { evaluators });
  if (allChanged > began) throw new Error("the golden session changed while the others were scored: score again");
  scores.clear();
  let late = 0;
  for (const session of result.sessions) {
    if ((changed.get(session.id) ?? 0) > began) late += 1;
    else scores.set(session.id, { ...session, evaluators });
  }
  if (late) say(`${late === 1 ? "a session" : `${late} sessions`} changed while they were scored: score again`);
  draw();
}));

doing(follow)();
if (token) $("home").href = `/?token=${encodeURIComponent(token)}`;
const source = new EventSource("/api/v1/sessions/events" + (token && `?token=${encodeURIComponent(token)}`));
source.addEventListener("about", ({ data }) => {
  about = JSON.parse(data);
  offerDraft();
  draw();
});
source.addEventListener("removed", ({ data }) => {
  const id = JSON.parse(data);
  forget(id);
  // The session may have been joined with another.
  if (id === open) following(() => show(id));
  draw();
});
source.addEventListener("session", ({ data }) => {
  const session = JSON.parse(data);
  const before = golden;
  const isNew = learn(session);
  // What the open session is compared with may be another one, or have changed.
  const isCompared = golden !== before || (isNew && session.id === golden);
  if (open !== null && ((isNew && session.id === open) || isCompared)) following(() => show(open));
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
})();
