// A review: what failed and drafts. A choice is written only after its bytes were shown, and only if they are still the same.
(() => {
"use strict";
const { ask, on } = evalset;
const { el, button, copier, commandOf, inCode, runOf, signs, terms } = components;

// A failing case has what its golden expects beside what the agent did. A draft has what a golden expects beside what it expects
// in its place.
const ofFailing = [{ ...signs }, { ...terms }];
const ofDraft = [
  { same: "= same", changed: "~ changed", missing: "− removed", extra: "+ added", moved: "↕ moved", made: "" },
  { expected: "before", actual: "now", same: "the same as before", none: "no answer is expected" },
];

const { run, named, record } = document.getElementById("count").dataset;
const cards = [];

function tell(card, text, isRefused) {
  card.answer.classList.toggle("refused", Boolean(isRefused));
  const again = el("a", "", "Load the page again");
  again.href = location.pathname + location.search;
  card.answer.replaceChildren(text, ...(isRefused === "stale" ? [" ", again] : []));
}

// Asks about a choice of a card. Its buttons wait for the answer.
async function send(card, path, more) {
  const controls = [...card.node.querySelectorAll("button:enabled, input:enabled")];
  controls.forEach((it) => { it.disabled = true; });
  card.isBusy = true;
  try {
    const answer = await ask(path, { run, named: named === "true", record, id: card.of.id, ...more });
    tell(card, "");
    return answer;
  } catch (error) {
    tell(card, error.message, error.status === 409 || error.status === 404 ? "stale" : "refused");
    card.answer.focus();
    return null;
  } finally {
    controls.forEach((it) => { it.disabled = false; });
    card.isBusy = false;
  }
}

function done(card, text) {
  card.done = true;
  card.node.classList.add("decided");
  card.decide.remove();
  card.panel.replaceChildren();
  tell(card, text);
  card.answer.focus();
}

// ---- What is shown before it is written

// The lines of a change, each with its sign.
function bytes(text) {
  const lines = text.t.replace(/\n$/, "").split("\n");
  const kinds = { "-": "removed", "+": "added", "@": "soft" };
  const node = el("pre", "bytes", lines.map((line) => el("span", kinds[line[0]] || "", line + "\n")));
  node.tabIndex = 0;
  node.setAttribute("aria-label", "The bytes that change in the file");
  return node;
}

// The choice with its warnings and its bytes, and the button that writes it.
function show(card, choice) {
  const write = button("Write it", async () => {
    const answer = await send(card, "/review/write", { parts: choice.parts, hash: choice.hash });
    if (answer) done(card, answer.done);
  });
  write.className = "main";
  const back = button("Back", () => { card.panel.replaceChildren(); card.decide.hidden = false; card.decide.querySelector("button").focus(); });
  const sure = el("input", "");
  sure.type = "checkbox";
  const asks = choice.warnings.some((it) => it.asks);
  const line = el("label", "choice", sure, " It will probably be wrong the next time. Accept it anyway.");
  write.disabled = asks;
  sure.addEventListener("change", () => { write.disabled = !sure.checked; });
  card.decide.hidden = true;
  const head = el("p", "", "This is written: ", el("b", "", choice.what), ".");
  head.tabIndex = -1;
  card.panel.replaceChildren(head, ...warnings(choice), bytes(choice.bytes), ...(choice.forecast ? [el("p", "", `It ${choice.forecast}.`)] : []),
    ...(asks ? [line] : []), el("div", "decide", write, back));
  head.focus();
}

const warnings = (choice) => (choice.warnings.length ? [el("ul", "warnings", choice.warnings.map((it) => el("li", "", el("b", "", "! "), inCode(it.message))))] : []);

async function choose(card, parts) {
  const choice = await send(card, "/review/choice", { parts });
  if (choice) show(card, choice);
}

// A list of which some or one are chosen.
function list(card, title, all, type) {
  const name = `${type}-${cards.length}`;
  const boxes = all.map((it) => {
    const box = el("input", "");
    Object.assign(box, { type, name, value: it.name });
    return { box, node: el("label", "choice", box, " ", it.what) };
  });
  const go = button("Show what is written", () => {
    const parts = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
    if (parts.length) choose(card, parts);
    else tell(card, "Choose first.");
  });
  const back = button("Back", () => { card.panel.replaceChildren(); card.decide.hidden = false; card.decide.querySelector("button").focus(); });
  card.decide.hidden = true;
  card.panel.replaceChildren(el("fieldset", "parts", el("legend", "", title), boxes.map((it) => it.node)), el("div", "decide", go, back));
  boxes[0].box.focus();
}

// ---- A card

function begin(node) {
  const of = JSON.parse(node.querySelector("script").textContent);
  const [ownSigns, ownTerms] = of.kind === "draft" ? ofDraft : ofFailing;
  Object.assign(signs, ownSigns);
  Object.assign(terms, ownTerms);
  const answer = el("p", "answer");
  answer.setAttribute("role", "status");
  answer.tabIndex = -1;
  const card = { node, of, answer, panel: el("div", "panel"), decide: el("div", "decide"), done: false };
  const add = (label, action, name) => {
    const it = button(label, action);
    if (name) it.className = name;
    card.decide.append(it);
  };
  if (of.whole) add(of.kind === "draft" ? "Accept the draft …" : `Accept ${of.whole.what} …`, () => show(card, of.whole), "main");
  if (of.parts.length) add("Accept parts …", () => list(card, "What is accepted", of.parts, "checkbox"));
  if (of.rules.length) add("Loosen …", () => list(card, "A rule of this case. A lower threshold is not offered: it would be fitted to these runs", of.rules, "radio"));
  if (of.kind === "draft") {
    add("Reject …", () => choose(card, [":remove"]));
    const edit = el("a", "", "Edit it on the page of drafts");
    edit.href = "/drafts#" + node.id.replace("review-", "draft-");
    card.decide.append(edit);
  } else add("Reject", () => done(card, "The case stays as it is."));
  const rows = of.rows.filter((row) => !row.drawn).map((row) => (row.turn === null
    ? el("div", "", el("dt", "", row.what), el("dd", "said", row.said)) : el("div", "turn-head", el("dt", "", `Turn ${row.turn}`), el("dd", ""))));
  const told = [
    ...(of.judged.length ? [el("details", "", el("summary", "", "What judges said"), of.judged.map((it) => el("p", "soft", it)))] : []),
    ...(of.varied.length ? [el("p", "", "What varied:"), el("ul", "", of.varied.map((it) => el("li", "", inCode(it))))] : []),
    ...(of.again ? [el("div", "next-command", el("span", "label", "Run it five times:"), el("code", "", commandOf(of.again)), copier(of.again, "command"))] : []),
    ...(of.whole ? warnings(of.whole) : []),
    ...(rows.length ? [el("dl", "", rows)] : []),
  ];
  node.append(...told, ...(of.run ? [el("div", "conversation", runOf(of.run))] : []), card.decide, card.panel, answer);
  cards.push(card);
}

document.querySelectorAll(".review").forEach(begin);
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();

// Another page of this service wrote it, or the run is not the newest one any more.
on("review", ({ id }) => {
  for (const card of cards) if (!card.done && !card.isBusy && card.of.id === id) tell(card, "It was decided about on another page.", "stale");
});
on("run", (news) => {
  if (news.running || (named === "true" && news.run !== run)) return;
  const newer = document.getElementById("newer");
  newer.textContent = news.run === run ? "This run was written to. Load the page again." : "A newer run has ended. Load the page again.";
  newer.hidden = false;
});
})();
