// Drafts: each is read beside the golden that it replaces, edited, and accepted or rejected as it was shown.
(() => {
"use strict";
const { ask, on } = evalset;
const { el, button, runOf, signs, terms } = components;

// No agent is judged here: a draft stands alone, or beside the golden that it replaces.
Object.assign(signs, { same: "= same", changed: "~ changed", missing: "− removed", extra: "+ added", moved: "↕ moved", made: "" });
Object.assign(terms, { expected: "before", actual: "now", same: "the same as before", none: "no answer is expected" });

const cards = new Map();
const waiting = () => [...cards.values()].filter((card) => !card.done);

function counted(count, noun) {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

function recount() {
  const left = waiting().length;
  document.getElementById("count").textContent = left === 0 ? "No draft waits." : `${left} ${left === 1 ? "draft waits" : "drafts wait"}.`;
  for (const section of document.querySelectorAll(".of-set")) offer(section);
}

// What is said below a card. An error has a link to the page as it is now.
function tell(card, text, isRefused) {
  card.answer.classList.toggle("refused", Boolean(isRefused));
  const again = el("a", "", "Load the page again");
  again.href = "/drafts#" + card.node.id;
  // An address that differs in its end alone is no other page.
  again.addEventListener("click", () => setTimeout(() => location.reload()));
  card.answer.replaceChildren(...[text].concat(isRefused === "stale" ? [" ", again] : []));
}

function decided(card, text) {
  card.done = true;
  card.node.classList.add("decided");
  for (const part of [card.list, card.place, card.decide]) part.remove();
  tell(card, text);
}

// Sends a request about a card. Its buttons wait for the answer.
async function send(card, path, more) {
  const { set } = card.node.dataset;
  const buttons = [...card.node.querySelectorAll("button")];
  buttons.forEach((it) => { it.disabled = true; });
  tell(card, "Writing …");
  try {
    return await ask(path, { set, case: card.of.case, seen: card.of.seen, ...more });
  } catch (error) {
    tell(card, error.message, error.status === 409 || error.status === 404 ? "stale" : "refused");
    return null;
  } finally {
    buttons.forEach((it) => { it.disabled = false; });
  }
}

async function decide(card, path) {
  const answer = await send(card, path);
  if (answer) {
    decided(card, answer.done);
    recount();
  }
  card.answer.focus();
}

// ---- Editing

function field(label, value, { isCode, hint } = {}) {
  if ("fixed" in value) return { node: el("p", "soft", `${label}: ${value.fixed}.`), changed: () => undefined };
  const area = el("textarea", isCode ? "mono" : "");
  area.value = value.text;
  area.rows = Math.min(Math.max(value.text.split("\n").length, Math.ceil(value.text.length / 90), 1) + (isCode ? 0 : 1), 16);
  area.spellcheck = !isCode;
  area.dir = isCode ? "ltr" : "auto";
  // Browsers write each line end as one character.
  const first = area.value;
  return { node: el("label", "field", el("span", "label", label, hint ? ` (${hint})` : null), area), area, changed: () => (area.value === first ? undefined : area.value) };
}

// The edits of a turn; null if it has none.
function editsOf(turn, at) {
  const removed = turn.calls.map((it, n) => (it.isRemoved() ? n + 1 : 0)).filter(Boolean);
  const calls = turn.calls.map((it, n) => ({ call: n + 1, args: it.changed() })).filter((it) => it.args !== undefined && !removed.includes(it.call));
  const added = turn.added.map((it) => ({ tool: it.tool.value, args: it.args.area.value }));
  const [user, answer] = [turn.user.changed(), turn.answer.changed()];
  const isEdited = [calls, removed, added].some((it) => it.length) || user !== undefined || answer !== undefined;
  return isEdited ? { turn: at + 1, user, answer, calls, removed, added } : null;
}

// A call with a button that removes it, and that takes it back.
function callField(tool, args, n) {
  const it = field(`Arguments of call ${n + 1}, ${tool}, as JSON`, args, { isCode: true });
  const remove = button("Remove", () => {
    const isRemoved = remove.getAttribute("aria-pressed") !== "true";
    remove.setAttribute("aria-pressed", String(isRemoved));
    remove.textContent = isRemoved ? "Removed: take it back" : "Remove";
    if (it.area) it.area.disabled = isRemoved;
  });
  remove.setAttribute("aria-pressed", "false");
  remove.setAttribute("aria-label", `Remove call ${n + 1}, ${tool}`);
  return { ...it, node: el("div", "call-field", it.node, remove), isRemoved: () => remove.getAttribute("aria-pressed") === "true" };
}

// A call that is added: the name of its tool, and its arguments.
function newCall(turn) {
  const tool = el("input", "mono");
  tool.type = "text";
  tool.spellcheck = false;
  const args = field("Its arguments as JSON", { text: "{}" }, { isCode: true });
  const it = { tool, args };
  const node = el("div", "call-field new", el("label", "field", el("span", "label", "The tool of a new call"), tool), args.node, button("Remove the new call", () => {
    turn.added.splice(turn.added.indexOf(it), 1);
    node.remove();
    turn.add.focus();
  }));
  turn.added.push(it);
  turn.add.before(node);
  tool.focus();
}

function edit(card) {
  tell(card, "");
  const turns = card.of.fields.map((of) => {
    const turn = {
      user: field("The user says", of.user), calls: of.calls.map(([tool, args], n) => callField(tool, args, n)), added: [],
      answer: field("The answer", of.answer, { hint: "none is expected if it is empty" }),
    };
    turn.add = button("Add a call", () => newCall(turn));
    return turn;
  });
  const leave = () => {
    form.remove();
    card.place.hidden = card.decide.hidden = false;
    card.edit.focus();
  };
  const save = el("button", "main", "Save the draft");
  save.type = "submit";
  const form = el("form", "edit", turns.map((turn, at) => el("fieldset", "",
    el("legend", "", `Turn ${at + 1}`), turn.user.node, turn.calls.map((it) => it.node), turn.add, turn.answer.node)),
  el("div", "decide", save, button("Cancel", () => { tell(card, ""); leave(); })));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await send(card, "/drafts/edit", { turns: turns.map(editsOf).filter(Boolean) });
    if (answer) {
      draw(card, answer.card);
      leave();
      tell(card, answer.done);
    }
    card.answer.focus();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { tell(card, ""); leave(); }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  card.place.hidden = card.decide.hidden = true;
  card.place.after(form);
  form.querySelector("textarea")?.focus();
}

// ---- A card

// What the conversation does not show: where the draft comes from, its session, rubrics, and keys of others.
function draw(card, of) {
  card.of = of;
  card.node.dataset.seen = of.seen;
  card.list.replaceChildren(...of.rows.filter((row) => !row.drawn).map((row) => {
    const said = el("dd", "said", row.said);
    said.dir = "auto";
    return row.turn === null
      ? el("div", "", el("dt", "", row.what), said)
      : el("div", "turn-head", el("dt", "", `Turn ${row.turn}`), el("dd", ""));
  }));
  card.place.replaceChildren(runOf(of.run));
}

function begin(node) {
  const answer = el("p", "answer");
  answer.setAttribute("role", "status");
  answer.tabIndex = -1;
  const card = { node, answer, list: node.querySelector("dl"), place: el("div", "conversation"), done: false };
  const keep = button("Keep it", () => { sure.hidden = true; reject.focus(); });
  const remove = button("Remove it", () => decide(card, "/drafts/reject"));
  remove.className = "danger";
  const of = JSON.parse(node.querySelector("script").textContent);
  const sure = el("span", "sure", of.replaces ? "Puts the golden back. " : "Takes the case out of the file. ", remove, " ", keep);
  sure.hidden = true;
  const reject = button("Reject", () => { sure.hidden = false; keep.focus(); });
  const accept = button("Accept", () => decide(card, "/drafts/accept"));
  accept.className = "main";
  card.edit = button("Edit", () => edit(card));
  card.decide = el("div", "decide", accept, card.edit, reject, sure);
  if (!of.fields.length) card.edit.hidden = true;
  if (of.replaces) node.querySelector("h3").after(el("p", "soft", "It replaces a golden, a case that was accepted: “before” is what the golden expects, “now” is what the draft expects."));
  node.append(card.place, card.decide, answer);
  draw(card, of);
  cards.set(node, card);
}

// ---- All of a set

function ofSet(section) {
  return waiting().filter((card) => card.node.parentElement === section);
}

// The button that opens the list of what would be accepted.
function offer(section) {
  const place = section.querySelector(".all");
  const left = ofSet(section);
  if (left.length < 2) return place.querySelector("[role=status]") ? undefined : place.replaceChildren();
  if (place.querySelector(".list")) return undefined;
  const open = button(`Accept all ${left.length} of ${section.dataset.shown.split(/[/\\]/).pop()}`, () => list(section));
  place.replaceChildren(open);
  return open;
}

function list(section) {
  const place = section.querySelector(".all");
  const all = ofSet(section);
  const cancel = button("Cancel", () => { place.replaceChildren(); offer(section)?.focus(); });
  const accept = button(`Accept these ${all.length}`, async () => {
    accept.disabled = cancel.disabled = true;
    status.textContent = "Writing …";
    try {
      const drafts = all.map((card) => ({ case: card.of.case, seen: card.of.seen }));
      const answer = await ask("/drafts/accept-all", { set: section.dataset.set, drafts });
      for (const card of all) {
        if (answer.accepted.includes(card.of.case)) decided(card, "accepted");
        const left = answer.left.find((it) => it.case === card.of.case);
        if (left) tell(card, `${left.error}: ${left.help}`, "stale");
      }
      status.textContent = answer.done + (answer.left.length ? `: ${answer.left.map((it) => it.error).join("; ")}` : "");
      place.replaceChildren(status);
      recount();
    } catch (error) {
      accept.disabled = cancel.disabled = false;
      status.textContent = error.message;
      status.className = "answer refused";
    }
    status.focus();
  });
  accept.className = "main";
  const status = el("p", "answer");
  status.setAttribute("role", "status");
  status.tabIndex = -1;
  const lines = all.map((card) => {
    const link = el("a", "", card.of.shown);
    link.href = "#" + card.node.id;
    const turns = card.of.run.turns;
    return el("li", "", link, " ", el("span", "soft", `${turns.length ? turns[0].user.t.slice(0, 100) : "a scenario"} (${counted(turns.length, "turn")}${card.of.replaces ? ", replaces a golden" : ""})`));
  });
  const head = el("p", "", `Each is a test in the next build, and agents are held to it. Have you read these ${all.length}?`);
  head.tabIndex = -1;
  place.replaceChildren(el("div", "card list", head, el("ul", "", lines), el("div", "decide", accept, cancel), status));
  head.focus();
}

document.querySelectorAll(".draft").forEach(begin);
document.querySelectorAll(".of-set").forEach(offer);
// The cards were longer before they were drawn.
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();

// Another page of this service decided about a draft, or changed it.
on("drafts", ({ case: id, set, seen }) => {
  const card = waiting().find((it) => it.node.dataset.set === set && it.of.case === id);
  if (!card || card.edit.disabled || seen === card.of.seen) return;
  tell(card, seen ? "It was changed on another page." : "It was decided about on another page.", "stale");
});
})();
