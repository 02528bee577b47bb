// Two runs side by side: which ones, and the conversations of a case.
(() => {
"use strict";
const { ask } = evalset;
const { el, button, runOf, chooseView, signs, terms } = components;

Object.assign(signs, { same: "= same", changed: "~ differs", missing: "− before alone", extra: "+ now alone", made: "" });
Object.assign(terms, { expected: "before", actual: "now", same: "the same as before", none: "no answer" });

chooseView("side");

const sides = ["before", "now"].map((name) => document.getElementById(name));
const chosen = () => sides.map((it) => it.value);
for (const it of sides) it.addEventListener("change", () => {
  const [before, now] = chosen();
  if (before && now) location.href = `/diff?before=${encodeURIComponent(before)}&now=${encodeURIComponent(now)}`;
});

for (const node of document.querySelectorAll("[data-key]")) {
  const place = el("div", "conversation");
  const open = button("Side by side", async () => {
    open.disabled = true;
    try {
      const [before, now] = chosen();
      const found = await ask("/diff/case", { before, now, ...JSON.parse(node.dataset.key) });
      place.replaceChildren(el("p", "soft", `Before: ${found.before}. Now: ${found.now}.`), runOf(found.run));
      open.remove();
    } catch (error) {
      place.replaceChildren(el("p", "refused", error.message));
      open.disabled = false;
    }
  });
  node.append(open, place);
}
})();
