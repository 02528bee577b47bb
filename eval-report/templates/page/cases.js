// What people do with the table: cases are opened, keys are pressed, the page is printed.

const list = document.getElementById("list");
const detail = document.getElementById("detail");
const printed = document.getElementById("printed");
let open = null;
let scrolled = 0;

// ---- The open case

// The first run that failed, else the first one that did not pass.
function firstBad(of) {
  const failed = of.runs.findIndex((run) => run.state === "failed");
  return failed < 0 ? Math.max(of.runs.findIndex((run) => run.state !== "passed"), 0) : failed;
}

function openCase(at) {
  document.body.classList.add("still");
  if (open === null) scrolled = scrollY;
  else rows[open].removeAttribute("aria-current");
  open = at;
  const of = detailsOf(at);
  openRun = firstBad(of);
  const title = el("h2", "", of.name);
  detail.replaceChildren(
    el("div", "case-head", el("span", "state " + of.state, of.word), title,
      el("span", "tabs", button("‹ previous", () => step(-1)), button("next ›", () => step(1)), button("Close", close)), leadOf(of), jumps()),
    ...body(of, false, true));
  detail.hidden = false;
  document.body.classList.add("open");
  rows[at].setAttribute("aria-current", "true");
  if (rows[at].hidden && fits[at]) unfold(at);
  detail.scrollTop = 0;
  const isAlone = getComputedStyle(list).display === "none";
  if (!isAlone) rows[at].scrollIntoView({ block: "nearest" });
  // The head of the page is there as a whole, or not at all.
  if (isAlone || scrollY > 0) toTop(detail);
  detail.focus({ preventScroll: true });
  reveal(detail);
}

// Opens the group of a case that a link leads to.
function unfold(at) {
  const key = keyOf(factsOf(at));
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

// At once: the event of a changed address comes later, and a key in between would still find the case open.
function close() {
  go(listAddress());
}

// Opens a case under its address. The browser itself would scroll to its row.
function go(anchor) {
  history.pushState(null, "", "#" + anchor);
  follow();
}

// Goes to the next row that is shown, or to the first one.
function step(by) {
  let at = open === null ? (by > 0 ? 0 : order.length - 1) : order.indexOf(rows[open]) + by;
  while (order[at] && order[at].hidden) at += by;
  if (order[at]) go(order[at].id);
}

function follow() {
  const at = places.get(location.hash.slice(1));
  if (at !== undefined) return openCase(at);
  closeCase();
  const [, name] = location.hash.match(/^#show-(\w+)$/) || [];
  if (name && name !== filter && document.querySelector(`[data-filter="${name}"]`)) choose(name);
}

// ---- Events

// The header and the filters are replaced while tests run, so the document listens.
document.addEventListener("click", (event) => {
  const link = event.target.closest(".name a");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    go(link.hash.slice(1));
  }
  const it = event.target.closest("[data-filter], [data-case], [data-copy]");
  if (!it) return;
  const { filter: name, case: anchor, copy } = it.dataset;
  if (name) choose(name === filter ? "all" : name);
  else if (anchor) go(anchor);
  else if (navigator.clipboard) navigator.clipboard.writeText(copy).then(() => { it.textContent = "Copied"; }, () => getSelection().selectAllChildren(it.previousElementSibling));
  else getSelection().selectAllChildren(it.previousElementSibling);
});
for (const it of [sort, group]) it.addEventListener("change", () => arrange());
tag.addEventListener("change", () => show());
document.getElementById("reset").addEventListener("click", () => {
  search.value = tag.value = "";
  choose("all");
});
let typing;
search.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(show, 120);
});
addEventListener("hashchange", follow);
// What an opened case moves under the pointer is not pointed at.
addEventListener("pointermove", (event) => {
  if (event.movementX || event.movementY) document.body.classList.remove("still");
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if ([search, sort, group, tag].includes(event.target)) {
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
  changed: forgetFacts,
  again() {
    const of = detailsOf(open);
    const state = detail.querySelector(".case-head .state");
    state.className = "state " + of.state;
    state.textContent = of.word;
    detail.querySelector(".case-head .lead")?.remove();
    detail.querySelector(".jumps").before(leadOf(of) || "");
    detail.replaceChildren(detail.firstElementChild, ...body(of, false, true));
    tellCount();
  },
});
