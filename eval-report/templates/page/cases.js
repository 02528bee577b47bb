// The table of the cases. Without this script the page is the table alone; the script sorts, groups, filters and searches it, and opens cases.

const rows = [...document.querySelectorAll("tr.case")];
const lines = document.querySelector("#cases tbody");
const list = document.getElementById("list");
const detail = document.getElementById("detail");
const search = document.getElementById("search");
const sort = document.getElementById("sort");
const group = document.getElementById("group");
const shown = document.getElementById("shown");
const none = document.getElementById("none");
const printed = document.getElementById("printed");
const places = new Map(rows.map((row, at) => [row.id, at]));
let filter = "all";
let open = null;
let scrolled = 0;

// Cases that a server sent since the page was loaded, by their places.
const sent = new Map();

function jsonOf(at) {
  return sent.has(at) ? sent.get(at) : document.getElementById("data-" + at).textContent;
}

function detailsOf(at) {
  return JSON.parse(jsonOf(at));
}

// ---- Which cases fit

const words = [];

// Whether a text of a case contains this one, which is in lower case.
function says(at, query, inJson) {
  if (words[at] === undefined) {
    // Most cases do not have it, and need not be read.
    const json = jsonOf(at);
    if (!json.toLowerCase().includes(inJson)) return false;
    const found = [];
    const collect = (value) => {
      if (typeof value === "string") found.push(value);
      else if (value && typeof value === "object") Object.values(value).forEach(collect);
    };
    collect(JSON.parse(json));
    words[at] = found.join("\n").toLowerCase();
  }
  return words[at].includes(query);
}

// A text as the JSON of the page has it.
function asJson(text) {
  return JSON.stringify(text).slice(1, -1).replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

const fits = [];
let working = 0;

// Works in parts of 30 ms, so that typing never waits. `step` does one thing and gives its weight; a newer work ends this one.
function inParts(count, step, done) {
  const mine = ++working;
  let at = 0;
  const part = () => {
    if (mine !== working) return;
    const end = performance.now() + 30;
    // The browser lays out what changed in one go.
    let changed = 0;
    while (at < count && changed < 500 && performance.now() < end) changed += step(at++);
    if (at === count) done();
    else {
      if (step === fit) shown.textContent = "searching …";
      setTimeout(part, changed ? 20 : 0);
    }
  };
  part();
}

let query = "";
let inJson = "";

function fit(at) {
  const row = rows[at];
  fits[at] = (filter === "all" || row.dataset.filters.split(" ").includes(filter))
    && (!query || row.textContent.toLowerCase().includes(query) || says(at, query, inJson));
  return 0;
}

// Shows the rows that fit.
function show(done) {
  query = search.value.trim().toLowerCase();
  inJson = asJson(query);
  inParts(rows.length, fit, () => {
    const count = fits.filter(Boolean).length;
    shown.textContent = count === rows.length ? "" : `${count} of ${rows.length} cases`;
    none.hidden = count > 0;
    arrange(done);
  });
}

// ---- Their order and groups

// What rows are sorted and grouped by, of each row.
let rowFacts = null;

function factsOf() {
  const all = rows.map((row, at) => {
    const of = row.dataset;
    const number = (text) => (text === undefined ? null : Number(text));
    return { at, rank: 0, urgency: Number(of.urgency), place: Number(of.at), cause: of.cause, set: of.set, metric: of.metric,
      state: row.querySelector(".state").textContent, time: number(of.time), cost: number(of.cost), score: number(of.score) };
  });
  const first = new Map();
  for (const of of all) if (of.cause) first.set(of.cause, Math.min(of.place, first.get(of.cause) ?? Infinity));
  const place = (of) => (of.cause ? first.get(of.cause) : of.place);
  [...all].sort((a, b) => a.urgency - b.urgency || place(a) - place(b) || a.place - b.place).forEach((of, rank) => { of.rank = rank; });
  return all;
}

const sorts = {
  urgency: () => 0,
  name: (a, b) => nameOf(a).localeCompare(nameOf(b), undefined, { numeric: true }),
  time: (a, b) => (b.time ?? -1) - (a.time ?? -1),
  cost: (a, b) => (b.cost ?? -1) - (a.cost ?? -1),
  score: (a, b) => (a.score ?? Infinity) - (b.score ?? Infinity) || 0,
};

function nameOf(of) {
  of.name ??= rows[of.at].querySelector("a").textContent;
  return of.name;
}

const groups = {
  "": () => null,
  cause: (of) => of.cause,
  set: (of) => of.set,
  metric: (of) => of.metric || "no metric failed",
  state: (of) => of.state,
};

// Causes of fewer cases are not folded.
const leastFolded = 3;
// Groups whose fold is not as it is at first.
const turned = new Set();
const heads = new Map();

// A button that folds a group.
function groupHead(key, isOpen, wrap, text) {
  if (!heads.has(key)) {
    const fold = button("", () => {
      if (!turned.delete(key)) turned.add(key);
      arrange();
    });
    heads.set(key, { fold, node: wrap(fold) });
  }
  const { fold, node } = heads.get(key);
  fold.setAttribute("aria-expanded", String(isOpen));
  if (fold.textContent !== text) fold.textContent = text;
  return node;
}

function groupLine(fold) {
  const cell = el("td", "", fold);
  cell.setAttribute("role", "cell");
  const row = el("tr", "group", cell);
  row.setAttribute("role", "row");
  return row;
}

// The group that a row is in, as it is chosen now.
function keyOf(of) {
  const value = groups[group.value](of);
  return value ? group.value + " " + value : null;
}

// The lines of the table in their order: each with whether it is hidden.
function arranged() {
  rowFacts ??= factsOf();
  const order = [...rowFacts].sort((a, b) => sorts[sort.value](a, b) || a.rank - b.rank);
  const found = new Map();
  for (const of of order) {
    const key = keyOf(of) ?? of.at;
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(of);
  }
  const used = new Set();
  const all = [];
  for (const [key, of] of found) {
    const fitting = of.filter((it) => fits[it.at]);
    const isCause = group.value === "cause";
    const folds = typeof key === "string" && fitting.length >= (isCause ? leastFolded : 1);
    const isOpen = !folds || Boolean(query) || turned.has(key) === isCause;
    if (folds) used.add(key);
    if (folds && !isCause) {
      const bad = fitting.filter((it) => it.urgency < 4).length;
      const name = key.slice(group.value.length + 1);
      all.push([groupHead(key, isOpen, groupLine, `${name}: ${fitting.length} ${fitting.length === 1 ? "case" : "cases"}${bad ? `, ${bad} to look at` : ""}`), false]);
    } else if (folds) {
      const text = isOpen ? `${fitting.length} cases with this cause` : `and ${fitting.length - 1} more with the same cause`;
      const same = groupHead(key, isOpen, (fold) => { fold.className = "same"; return fold; }, text);
      const cell = rows[fitting[0].at].querySelector(".name");
      if (same.parentNode !== cell) cell.append(same);
    }
    for (const it of of) all.push([rows[it.at], !fits[it.at] || (!isOpen && !(isCause && it === fitting[0]))]);
  }
  for (const [key, { node }] of heads) if (!used.has(key)) node.remove();
  return all;
}

let order = rows;

// Puts the lines into their order. What has the focus keeps it.
function arrange(done) {
  const all = arranged();
  order = all.map(([node]) => node).filter((node) => node.id);
  const had = lines.contains(document.activeElement) ? document.activeElement : null;
  let cursor = lines.firstElementChild;
  inParts(all.length, (at) => {
    const [node, hidden] = all[at];
    const isThere = node === cursor;
    if (isThere) cursor = cursor.nextElementSibling;
    else lines.insertBefore(node, cursor);
    const isSame = node.hidden === hidden;
    node.hidden = hidden;
    return isThere && isSame ? 0 : 1;
  }, () => {
    if (had && had.isConnected && document.activeElement !== had) had.focus({ preventScroll: true });
    if (done) done();
  });
}

function choose(name) {
  filter = name;
  pressed();
  show();
}

function pressed() {
  for (const it of document.querySelectorAll("[data-filter]")) it.setAttribute("aria-pressed", String(it.dataset.filter === filter));
}

// ---- The open case

function firstBad(of) {
  const at = of.runs.findIndex((run) => run.state !== "passed");
  return Math.max(at, 0);
}

function openCase(at) {
  if (open === null) scrolled = scrollY;
  else rows[open].removeAttribute("aria-current");
  open = at;
  const of = detailsOf(at);
  openRun = firstBad(of);
  const title = el("h2", "", of.name);
  detail.replaceChildren(
    el("div", "case-head", el("span", "state " + of.state, of.word), title,
      el("span", "tabs", button("‹ previous", () => step(-1)), button("next ›", () => step(1)), button("Close", close))),
    ...body(of, false));
  detail.hidden = false;
  document.body.classList.add("open");
  rows[at].setAttribute("aria-current", "true");
  if (rows[at].hidden && fits[at]) unfold(at);
  detail.scrollTop = 0;
  if (getComputedStyle(list).display === "none") detail.scrollIntoView();
  else rows[at].scrollIntoView({ block: "nearest" });
  detail.focus({ preventScroll: true });
}

// Opens the group of a case that a link leads to.
function unfold(at) {
  rowFacts ??= factsOf();
  const key = keyOf(rowFacts[at]);
  if (!turned.delete(key)) turned.add(key);
  arrange(() => rows[at].scrollIntoView({ block: "nearest" }));
}

function closeCase() {
  if (open === null) return;
  const row = rows[open];
  row.removeAttribute("aria-current");
  open = null;
  detail.hidden = true;
  detail.replaceChildren();
  document.body.classList.remove("open");
  scrollTo(0, scrolled);
  row.querySelector("a").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function close() {
  location.hash = "cases";
}

// Goes to the next row that is shown, or to the first one.
function step(by) {
  let at = open === null ? (by > 0 ? 0 : order.length - 1) : order.indexOf(rows[open]) + by;
  while (order[at] && order[at].hidden) at += by;
  if (order[at]) location.hash = order[at].id;
}

function follow() {
  const at = places.get(location.hash.slice(1));
  if (at === undefined) closeCase();
  else openCase(at);
}

// ---- Events

// The header and the filters are replaced while tests run, so the document listens.
document.addEventListener("click", (event) => {
  const it = event.target.closest("[data-filter], [data-case], [data-copy]");
  if (!it) return;
  const { filter: name, case: anchor, copy } = it.dataset;
  if (name) choose(name === filter ? "all" : name);
  else if (anchor) location.hash = anchor;
  else if (navigator.clipboard) navigator.clipboard.writeText(copy).then(() => { it.textContent = "Copied"; }, () => getSelection().selectAllChildren(it.previousElementSibling));
  else getSelection().selectAllChildren(it.previousElementSibling);
});
for (const it of [sort, group]) it.addEventListener("change", () => arrange());
document.getElementById("reset").addEventListener("click", () => {
  search.value = "";
  choose("all");
});
let typing;
search.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(show, 120);
});
addEventListener("hashchange", follow);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === search || event.target === sort || event.target === group) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const action = { j: () => step(1), k: () => step(-1), "/": () => search.focus(), s: () => sort.focus(), g: () => group.focus(), Escape: close }[event.key];
  if (!action || (event.key === "Escape" && open === null)) return;
  event.preventDefault();
  action();
});
// The open case is printed, else the first cases that need attention, one of each cause.
addEventListener("beforeprint", () => {
  for (const it of document.querySelectorAll("#below .facts, .notes")) it.open = true;
  if (open !== null) return;
  const bad = order.filter((row) => row.dataset.urgency < 4 && !row.hidden).map((row) => places.get(row.id));
  printed.replaceChildren(...bad.slice(0, 25).map((at) => {
    const of = detailsOf(at);
    return el("div", "", el("h2", "", `${of.word} ${of.name}`), ...body(of, true));
  }));
  printed.hidden = false;
});
addEventListener("afterprint", () => {
  printed.replaceChildren();
  printed.hidden = true;
});

document.querySelector(".tools").hidden = false;
document.body.classList.add("scripted");
show();
follow();

// Tells a server's script of the page, so that it can change cases while tests run.
if (window.evalsetLive) window.evalsetLive({
  rows, places, words, sent, show, follow, pressed,
  opened: () => open,
  changed: () => { rowFacts = null; },
  again() {
    const of = detailsOf(open);
    const state = detail.querySelector(".case-head .state");
    state.className = "state " + of.state;
    state.textContent = of.word;
    detail.replaceChildren(detail.firstElementChild, ...body(of, false));
  },
});
