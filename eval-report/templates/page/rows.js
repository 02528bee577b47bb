// The rows of the table: which are shown, in which order and groups. Without this script the page is the table alone.

const rows = [...document.querySelectorAll("tr.case")];
// The lines are in parts of so many: the browser lays out only the parts in sight.
const ofPart = 50;
const cases = document.getElementById("cases");
const search = document.getElementById("search");
const sort = document.getElementById("sort");
const group = document.getElementById("group");
const tag = document.getElementById("tag");
const shown = document.getElementById("shown");
const none = document.getElementById("none");
const places = new Map(rows.map((row, at) => [row.id, at]));
let filter = "all";

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
let isFollowing = false;

// Works in parts of 30 ms, so that typing never waits. `step` does one thing and gives its weight; a newer work ends this one. Large
// work that follows another one begins in a task of its own.
function inParts(count, step, done) {
  const mine = ++working;
  let at = 0;
  const part = () => {
    if (mine !== working) return;
    const end = performance.now() + 30;
    // The browser lays out what changed in one go.
    let changed = 0;
    while (at < count && changed < 500 && performance.now() < end) changed += step(at++);
    if (at === count) {
      isFollowing = true;
      done();
      isFollowing = false;
    } else {
      if (step === fit) shown.textContent = "searching …";
      setTimeout(part, changed ? 20 : 0);
    }
  };
  if (isFollowing && count > 2000) setTimeout(part, 0);
  else part();
}

let query = "";
let inJson = "";

function fit(at) {
  const row = rows[at];
  factsOf(at);
  fits[at] = (filter === "all" || row.dataset.filters.split(" ").includes(filter))
    && (!tag.value || tagsOf(row).includes(tag.value))
    && (!query || row.textContent.toLowerCase().includes(query) || says(at, query, inJson));
  return 0;
}

// Shows the rows that fit.
function show(done) {
  query = search.value.trim().toLowerCase();
  inJson = asJson(query);
  inParts(rows.length, fit, () => {
    offerTags();
    const count = fits.filter(Boolean).length;
    shown.textContent = count === rows.length ? "" : `${count} of ${rows.length} cases`;
    none.hidden = count > 0;
    arrange(done);
  });
}

// ---- Their order and groups

// What rows are sorted and grouped by, of each row.
let rowFacts = [];
let isRanked = false;

function tagsOf(row) {
  return row.dataset.tags ? row.dataset.tags.split("\n") : [];
}

// Offers the tags of the rows.
function offerTags() {
  const known = new Set([...tag.options].map((option) => option.value));
  const fresh = new Set(rows.flatMap(tagsOf).filter((name) => !known.has(name)));
  for (const name of [...fresh].sort(names.compare)) tag.add(new Option(name, name));
  tag.parentNode.hidden = tag.length < 2;
}

function factsOf(at) {
  if (!rowFacts[at]) {
    const of = rows[at].dataset;
    const number = (text) => (text === undefined ? null : Number(text));
    rowFacts[at] = { at, rank: 0, urgency: Number(of.urgency), place: Number(of.at), cause: of.cause, set: of.set, metric: of.metric, category: of.category,
      tags: tagsOf(rows[at]).sort(names.compare).join(", "), state: rows[at].querySelector(".state").textContent, time: number(of.time), cost: number(of.cost), score: number(of.score) };
  }
  return rowFacts[at];
}

// Forgets the facts: rows have changed.
function forgetFacts() {
  rowFacts = [];
  isRanked = false;
}

// The facts of all rows with their ranks, as the page was sorted.
function ranked() {
  const all = rows.map((row, at) => factsOf(at));
  if (isRanked) return all;
  const first = new Map();
  for (const of of all) if (of.cause) first.set(of.cause, Math.min(of.place, first.get(of.cause) ?? Infinity));
  const place = (of) => (of.cause ? first.get(of.cause) : of.place);
  [...all].sort((a, b) => a.urgency - b.urgency || place(a) - place(b) || a.place - b.place).forEach((of, rank) => { of.rank = rank; });
  isRanked = true;
  return all;
}

const names = new Intl.Collator(undefined, { numeric: true });

const sorts = {
  urgency: () => 0,
  name: (a, b) => names.compare(nameOf(a), nameOf(b)),
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
  tags: (of) => of.tags || "no tags",
  metric: (of) => of.metric || "no metric failed",
  state: (of) => of.state,
  category: (of) => of.category || "not compared with the baseline",
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
  const row = el("tr", "fold-group", cell);
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
  const order = ranked().sort((a, b) => sorts[sort.value](a, b) || a.rank - b.rank);
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
      const same = groupHead(key, isOpen, (fold) => { fold.className = "fold-cause"; return fold; }, text);
      const cell = rows[fitting[0].at].querySelector(".name");
      if (same.parentNode !== cell) cell.append(same);
    }
    for (const it of of) all.push([rows[it.at], !fits[it.at] || (!isOpen && !(isCause && it === fitting[0]))]);
  }
  for (const [key, { node }] of heads) if (!used.has(key)) node.remove();
  return all;
}

let order = rows;

// The part of the table with this number. The first parts are there already.
function partOfTable(number) {
  if (cases.tBodies[number]) return cases.tBodies[number];
  const part = el("tbody", "");
  part.setAttribute("role", "rowgroup");
  cases.append(part);
  return part;
}

// Puts the lines into their order. What has the focus keeps it.
function arrange(done) {
  const all = arranged();
  order = all.map(([node]) => node).filter((node) => node.id);
  const had = cases.contains(document.activeElement) ? document.activeElement : null;
  let part;
  let cursor;
  inParts(all.length, (at) => {
    if (at % ofPart === 0) {
      part = partOfTable(at / ofPart);
      cursor = part.firstElementChild;
      const rows = all.slice(at, at + ofPart).filter(([, hidden]) => !hidden).length;
      part.hidden = rows === 0;
      part.style.setProperty("--rows", rows);
    }
    const [node, hidden] = all[at];
    const isThere = node === cursor;
    if (isThere) cursor = cursor.nextElementSibling;
    else part.insertBefore(node, cursor);
    const isSame = node.hidden === hidden;
    node.hidden = hidden;
    return isThere && isSame ? 0 : 1;
  }, () => {
    for (const left of [...cases.tBodies].slice(Math.ceil(all.length / ofPart))) left.hidden = true;
    if (had && had.isConnected && document.activeElement !== had) had.focus({ preventScroll: true });
    if (done) done();
  });
}

// Shows the rows of a filter. The address has it, so that it can be sent to others.
function choose(name) {
  filter = name;
  pressed();
  if (open === null) history.replaceState(null, "", "#" + listAddress());
  show();
}

const listAddress = () => (filter === "all" ? "cases" : "show-" + filter);

function pressed() {
  for (const it of document.querySelectorAll("[data-filter]")) it.setAttribute("aria-pressed", String(it.dataset.filter === filter));
}
