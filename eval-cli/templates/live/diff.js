// Two runs side by side: which ones, and a case in both: its conversation, its verdicts, and the session state.
(() => {
"use strict";
const { ask } = evalset;
const { el, button, table, copier, pill, runOf, chooseView, signs, terms } = components;

Object.assign(signs, { same: "= same", changed: "~ differs", missing: "− before alone", extra: "+ now alone", made: "" });
Object.assign(terms, { expected: "before", actual: "now", same: "the same as before", none: "no answer" });

chooseView("side");

// The most changed cases that are loaded by themselves.
const MOST = 3;

const sides = ["before", "now"].map((name) => document.getElementById(name));
const chosen = () => sides.map((it) => it.value);
for (const it of sides) it.addEventListener("change", () => {
  const [before, now] = chosen();
  if (before && now) location.href = `/diff?before=${encodeURIComponent(before)}&now=${encodeURIComponent(now)}`;
});

// A table of what both sides have under a name. `said` is the text of a cell, by which they are compared, and `shown` its element.
function beside(title, of, name, said, shown) {
  const names = [...new Set(of.flatMap((side) => side.map(name)))];
  const lines = names.map((it) => {
    const cells = of.map((side) => side.find((one) => name(one) === it));
    const [before, now] = cells.map((cell) => (cell ? said(cell) : null));
    return ["", el("b", "", it), before === now ? "= same" : "~ differs", ...cells.map((cell) => (cell ? shown(cell) : null))];
  });
  return lines.length ? el("div", "block", el("h4", "", title), table("grid", ["name", "", "before", "now"], lines)) : null;
}

const verdict = (it) => [it.state.replace("_", " "), it.score, it.said].filter((part) => part !== null).join(" ");
const verdictOf = (it) => el("div", "", pill(it.state, it.state.replace("_", " ")), " ", it.score ?? "", it.said ? el("div", "soft", it.said) : null);

function shownOf(found) {
  const of = (part) => found.sides.map((side) => side[part]);
  const errors = found.sides.map((side, at) => (side.error ? el("p", "", `${["Before", "Now"][at]}: `, pill("error", "error"), ` ${side.error}`) : null));
  return [
    el("p", "soft", `Before: ${found.before}. Now: ${found.now}.`), ...errors, runOf(found.run),
    beside("Verdicts, and what judges said", of("metrics"), (it) => it.name, verdict, verdictOf),
    beside("Session state at the end", of("state"), ([key]) => key, ([, value]) => value, ([, value]) => el("code", "", value)),
  ].filter(Boolean);
}

for (const node of document.querySelectorAll("[data-copy]")) node.append(copier(node.dataset.copy, "command"));

[...document.querySelectorAll("[data-key]")].forEach((node, at) => {
  const place = el("div", "conversation");
  const load = async () => {
    open.disabled = true;
    try {
      const [before, now] = chosen();
      place.replaceChildren(...shownOf(await ask("/diff/case", { before, now, ...JSON.parse(node.dataset.key) })));
      open.remove();
    } catch (error) {
      place.replaceChildren(el("p", "refused", error.message));
      open.disabled = false;
    }
  };
  const open = button("Side by side", load);
  node.append(open, place);
  if (node.open && at < MOST) load();
});
})();
