// Drafts: each is accepted or rejected as it was shown.
(() => {
"use strict";
const { ask, el, on } = evalset;

let left = document.querySelectorAll(".draft").length;

for (const draft of document.querySelectorAll(".draft")) {
  const answer = draft.querySelector(".answer");
  const buttons = [...draft.querySelectorAll("button")];
  const sure = draft.querySelector(".sure");
  const of = (act) => draft.querySelector(`[data-act=${act}]`);
  const decide = async (path) => {
    const { set, case: eval_case, seen } = draft.dataset;
    buttons.forEach((button) => { button.disabled = true; });
    answer.textContent = "Writing …";
    try {
      const { done } = await ask(path, { set, case: eval_case, seen });
      draft.classList.add("decided");
      draft.querySelector(".decide").remove();
      draft.querySelector("dl").hidden = true;
      answer.textContent = done;
      left -= 1;
      document.getElementById("count").textContent = left === 0 ? "No draft waits." : `${left} ${left === 1 ? "draft waits" : "drafts wait"}.`;
    } catch (error) {
      buttons.forEach((button) => { button.disabled = false; });
      const again = el("a", "", "Load the page again");
      again.href = "/drafts";
      answer.classList.add("refused");
      answer.replaceChildren(error.message + " ", again);
    }
    answer.focus();
  };
  of("accept").addEventListener("click", () => decide("/drafts/accept"));
  of("remove").addEventListener("click", () => decide("/drafts/reject"));
  of("reject").addEventListener("click", () => {
    sure.hidden = false;
    of("keep").focus();
  });
  of("keep").addEventListener("click", () => {
    sure.hidden = true;
    of("reject").focus();
  });
}

// Another page of this service decided about a draft.
on("drafts", ({ case: decided, set }) => {
  const other = [...document.querySelectorAll(".draft:not(.decided)")].find((it) => it.dataset.set === set && it.dataset.case === decided);
  if (other && !other.querySelector("button").disabled) other.querySelector(".answer").textContent = "It was decided about on another page.";
});
})();
