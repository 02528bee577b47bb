// Differences: in texts, in values by their keys, in calls; and the way from one to the next. What differs was decided before: see
// `page/comparison.rs`.

// The way in which differences are shown. It stays while the page is open.
let view = "inline";
const views = { inline: "inline", side: "side by side", raw: "raw" };

// Whether everything is shown, as for paper.
let whole = false;

// An element that is drawn again when the view changes.
function drawn(make) {
  const node = el("div", "drawn");
  node.draw = () => node.replaceChildren(...[make()].flat().filter(Boolean));
  node.draw();
  return node;
}

// Which side of a difference has which mark.
const legend = () => el("div", "side", el("del", "", terms.expected), " ", el("ins", "", terms.actual));

// Marks an element as a place to which the keys lead, with the number of differences in it. All views have as many in all.
function place(node, count = 1) {
  node.dataset.diff = count;
  node.tabIndex = -1;
  return node;
}

// The places of a text and of keys. How many differences a call, an answer and a run have was counted before: see `page/count.rs`.
const differs = (row) => !["same", "more", "ruled"].includes(row.is);
const begins = (parts, at) => parts[at].d !== "=" && (at === 0 || parts[at - 1].d === "=");
const counted = (count) => `${count} difference${count === 1 ? "" : "s"}`;

// The text of a part, in nodes. A long one that is equal is closed behind its name.
function partOf(part) {
  // Ends of lines stay outside of the mark: an empty line would have a stripe of colour.
  const [, first, inner, last] = part.t.match(/^(\n*)([^]*?)(\n*)$/);
  if (part.d !== "=") return [first, el(part.d === "-" ? "del" : "ins", "", part.w ? part.w.map((it) => (it.d === "=" ? it.t : el("mark", "", it.t))) : inner || "↵"), last];
  if (!part.fold || whole) return [part.t];
  const node = button(`… ${part.fold} …`, () => node.replaceWith(part.t));
  node.classList.add("folded");
  return [node];
}

// The parts of both texts, or of one of them. The first part of each difference is a place, in whichever text it is.
function partsOf(parts, without) {
  return parts.flatMap((part, at) => {
    if (part.d === without) return [];
    const nodes = partOf(part);
    if (begins(parts, at)) place(nodes[1]);
    return nodes;
  });
}

// Lines of code, each with its sign.
function linesOf(parts, without) {
  const shown = parts.map((part, at) => {
    if (part.d === without) return null;
    const node = el("div", { "-": "line gone", "+": "line added", "=": "line" }[part.d], partOf(part));
    return begins(parts, at) ? place(node) : node;
  });
  return el("div", "code", shown);
}

function arrow() {
  const node = el("span", "soft", " → ");
  node.title = `left: ${terms.expected}, right: ${terms.actual}`;
  return node;
}

// Why a value that is not expected is no difference.
const allowed = (row) => (row.is === "more" ? el("span", "soft", " allowed beside") : row.is === "ruled" ? el("span", "soft", " allowed by a rule") : null);

// The values of a key: the expected one, and the actual one.
function valuesOf(row) {
  if (!differs(row)) return el("span", "", row.actual === null ? absent(true) : row.actual, allowed(row));
  if (row.is === "missing") return el("span", "", el("del", "", row.expected), el("b", "", " missing"));
  if (row.is === "extra") return el("span", "", el("ins", "", row.actual), el("b", "", " not expected"));
  const isLong = row.parts && row.expected.length + row.actual.length > 80;
  if (isLong) return el("span", "said", row.parts.flatMap(partOf));
  return el("span", "", el("del", "", row.expected), arrow(), el("ins", "", row.actual));
}

// Rows of a table, with those that are equal in a row behind a row that opens them, if they are at least so many.
function foldRows(node, isEqual, noun, least) {
  const rows = whole ? [] : [...node.querySelector("tbody").rows];
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (end < rows.length && isEqual(end)) end += 1;
    if (end - at >= least) {
      const closed = rows.slice(at, end);
      const open = button(`… ${closed.length} equal ${noun}${closed.length === 1 ? "" : "s"}`, () => {
        for (const row of closed) row.hidden = !row.hidden;
        open.setAttribute("aria-expanded", String(!closed[0].hidden));
      });
      open.classList.add("folded");
      open.setAttribute("aria-expanded", "false");
      for (const row of closed) row.hidden = true;
      const cell = el("td", "", open);
      cell.colSpan = rows[at].cells.length;
      rows[at].before(el("tr", "fold", cell));
    }
    at = Math.max(end, at + 1);
  }
  return node;
}

// The place of a value that one side alone has.
const absent = (isActual) => el("span", "soft", isActual ? "missing" : "not expected");

// Values by the paths of their keys.
function keysOf(keys) {
  const beside = view !== "inline";
  const heads = beside ? ["key", terms.expected, terms.actual] : ["key", "value"];
  const side = (text, row, tag) => (text === null ? absent(tag === "ins") : differs(row) ? el(tag, "", text) : text);
  const lines = keys.rows.map((row) => [row.is, row.path || "the value", ...(beside
    ? [side(row.expected, row, "del"), el("span", "", side(row.actual, row, "ins"), allowed(row))] : [valuesOf(row)])]);
  const node = table(beside ? "keys beside" : "keys", heads, lines).firstChild;
  [...node.tBodies[0].rows].forEach((row, at) => { if (differs(keys.rows[at])) place(row); });
  foldRows(node, (at) => keys.rows[at].is === "same", "value", 2);
  return el("div", "", node, keys.more ? el("p", "soft", `… ${keys.more} more values`) : null);
}

function blockOf(it, without) {
  if (it.by === "keys") return keysOf(it);
  if (it.by === "lines") return linesOf(it.parts, without);
  const node = el("div", "said", partsOf(it.parts, without));
  node.dir = "auto";
  return node;
}

// Whether little of two texts is equal, so that marks between their words would be hard to read: nothing, or less than a third of many parts.
function isRewritten(blocks) {
  const parts = blocks.flatMap((it) => (it.by === "words" ? it.parts : []));
  const length = (of) => parts.reduce((sum, part) => sum + (of(part) ? part.t.length : 0), 0);
  const equal = length((part) => part.d === "=");
  return blocks.every((it) => it.by === "words") && (equal === 0 || (parts.length > 4 && equal < length((part) => part.d !== "=") / 2));
}

const column = (name, ...children) => el("div", "", el("div", "side", name), ...children);

// Two texts that differ in so many places. `as` shows a text of which nothing is marked.
function textsOf(blocks, expected, actual, as, count) {
  return drawn(() => {
    const plain = (text) => (text ? as(text) : el("p", "soft", terms.none));
    const isUnmarked = view === "inline" && blocks.length > 0 && isRewritten(blocks);
    if (view === "raw" || !blocks.length || isUnmarked) {
      const pair = el("div", "pair", column(terms.expected, plain(expected)), column(terms.actual, plain(actual)));
      const note = isUnmarked && count > 1 ? el("p", "soft", `Most words differ, so none is marked: “${views.side}” marks them.`) : null;
      return [note, count ? place(pair, count) : pair];
    }
    const cut = [expected, actual].some((text) => text.cut) ? el("p", "soft", "Both are compared as far as they are shown: the record has more.") : null;
    // Keys are in a table of their own with both sides.
    const beside = (it) => (it.by === "keys" ? keysOf(it) : el("div", "pair",
      column(terms.expected, blockOf(it, "+")), column(terms.actual, blockOf(it, "-"))));
    if (view === "side") return [blocks.map(beside), cut].flat();
    return [el("div", "inline", legend(), blocks.map((it) => blockOf(it))), cut];
  });
}

// ---- Calls

// The arguments of one side of a call that changed.
function argumentsOf(call, side) {
  const value = (row) => (differs(row) ? el(side === "expected" ? "del" : "ins", "", row[side]) : row[side]);
  return el("div", "", el("code", "", call.name), call.keys.rows.map((row) => {
    const node = el("div", "argument", el("span", "soft mono", row.path + " "), row[side] === null ? absent(side === "actual") : value(row), side === "actual" ? allowed(row) : null);
    return differs(row) && (side === "expected" || row.expected === null) ? place(node) : node;
  }));
}

// Whether a call is as expected, by itself or by a rule of the case.
const holds = (call) => ["same", "made", "loosened", "left_out", "other"].includes(call.is);

const callText = (call) => call.actual === null ? call.expected : call.actual;

function callOf(call, compared) {
  const copy = whole ? null : copier(callText(call), "call");
  const result = [call.note, call.result && "returned " + call.result].filter(Boolean).map((text) => el("span", "result", text === call.note ? inCode(text) : text)).concat(media(call.result_media) ?? []);
  const code = (text, tag) => (text === null ? "–" : el("code", "", tag ? el(tag, "", text) : text));
  const sign = signs[call.is];
  if (!compared) return [call.is, sign, el("span", "", code(call.actual), ...result), copy];
  if (view === "inline") {
    const what = call.is === "changed" && call.keys
      ? [el("code", "", call.name), keysOf(call.keys)]
      : [code(callText(call), { missing: "del", extra: "ins" }[call.is])];
    return [call.is, sign, el("div", "", what, ...result), copy];
  }
  const marked = view === "side";
  if (marked && call.is === "changed" && call.keys) {
    return [call.is, sign, argumentsOf(call, "expected"), el("div", "", argumentsOf(call, "actual"), ...result), copy];
  }
  return [call.is, sign, code(call.expected, marked && !holds(call) && "del"),
    el("span", "", code(call.actual, marked && !holds(call) && "ins"), ...result), copy];
}

function calls(turn) {
  if (!turn.calls.length) return [el("p", "label", "Tool calls: " + (turn.compared ? "none expected, none called" : "none"))];
  const compared = turn.calls.some((call) => call.is !== "made");
  const make = () => {
    const heads = compared && view !== "inline" ? ["", terms.expected, terms.actual, ""] : ["", "call", ""];
    const node = table(heads.length === 4 ? "calls beside" : "calls", heads, turn.calls.map((call) => callOf(call, compared)));
    [...node.querySelector("tbody").rows].forEach((row, at) => {
      // The keys of a call are places of their own.
      if (turn.calls[at].differences && !row.querySelector("[data-diff]")) place(row, turn.calls[at].differences);
    });
    foldRows(node, (at) => turn.calls[at].is === "same", "call", turn.differs ? 2 : 8);
    return [view === "inline" && turn.calls.some((call) => call.is === "changed" && call.keys) ? legend() : null, node];
  };
  return [el("p", "label", "Tool calls" + (turn.compared ? ", " + turn.compared : "")), drawn(make)];
}

// ---- From one difference to the next

function differences() {
  return [...document.querySelectorAll("[data-diff]")].filter((it) => !it.closest("[hidden]"));
}

function openTo(node, block) {
  for (let it = node.closest("details:not([open])"); it; it = it.parentElement.closest("details:not([open])")) it.open = true;
  node.scrollIntoView({ block });
}

function tellCount(at) {
  const bar = document.querySelector(".jumps");
  if (!bar) return;
  const counts = differences().map((it) => Number(it.dataset.diff));
  const before = counts.slice(0, at ?? 0).reduce((one, other) => one + other, 0);
  const { name, count, error } = document.querySelector("[data-count]")?.dataset ?? {};
  bar.hidden = !counts.length && !error;
  const all = [error, Number(count) ? counted(Number(count)) : null].filter(Boolean).join(", ");
  bar.querySelector("[role=status]").textContent = at === undefined ? (name || "") + all : counts[at] === 0 ? "the error"
    : counts[at] > 1 ? `differences ${before + 1} to ${before + counts[at]} of ${count}` : `difference ${before + 1} of ${count}`;
}

function jump(by) {
  const all = differences();
  if (!all.length) return;
  const here = all.findIndex((it) => it.classList.contains("here"));
  for (const it of all) it.classList.remove("here");
  const at = here < 0 && by < 0 ? all.length - 1 : (here + by + all.length) % all.length;
  all[at].classList.add("here");
  openTo(all[at], "center");
  all[at].focus({ preventScroll: true });
  tellCount(at);
}

// Brings an element to the top of the window.
const toTop = (node) => scrollBy(0, node.getBoundingClientRect().top);

// Brings the first difference of an open case into sight: of a turn that failed, if there is one.
function reveal(of) {
  tellCount();
  const first = of.querySelector(".turn.bad [data-diff]") || (of.querySelector(".turn.bad") ? null : of.querySelector(".session-state [data-diff], .turn[open] [data-diff]"));
  // What to do is read first, so it stays in sight: the head of the page makes room alone.
  if (of.querySelector(".next")) {
    const seen = of.querySelector(".error-text") || first;
    if (seen && seen.getBoundingClientRect().bottom > innerHeight) toTop(of);
    return;
  }
  if (!first || of.querySelector(".error-text")) return;
  const isInSight = () => first.getBoundingClientRect().bottom < innerHeight - 80;
  openTo(first, "nearest");
  // From the begin of its turn, if that has room for it: what the user said is read before what differs.
  const turn = first.closest(".turn, .session-state");
  if (!turn || of.scrollTop + scrollY === 0) return;
  turn.scrollIntoView({ block: "start" });
  if (!isInSight()) openTo(first, "center");
}

function chooseView(name) {
  view = name;
  for (const node of document.querySelectorAll(".drawn")) node.draw();
  for (const it of document.querySelectorAll("[data-view]")) it.setAttribute("aria-pressed", String(it.dataset.view === view));
  tellCount();
}

// The buttons of a case with differences, for its head.
function jumps() {
  const choices = Object.entries(views).map(([name, label]) => {
    const node = button(label, () => chooseView(name));
    node.dataset.view = name;
    node.setAttribute("aria-pressed", String(name === view));
    return node;
  });
  const group = el("span", "tabs", choices);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "How differences are shown");
  const status = el("span", "soft", "");
  status.setAttribute("role", "status");
  const named = (label, by, name) => {
    const node = button(label, () => jump(by));
    node.setAttribute("aria-label", `${label}: ${name}`);
    return node;
  };
  return el("div", "jumps", named("↑ difference", -1, "the one before, key p"), named("↓ difference", 1, "the next one, key n"), status, group);
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  const by = { n: 1, p: -1 }[event.key];
  if (!by || !document.querySelector(".jumps")) return;
  event.preventDefault();
  jump(by);
});
