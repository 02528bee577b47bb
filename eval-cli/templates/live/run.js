// The page of a run while tests run: cases that changed are asked for; what is open, chosen and typed stays.
window.evalsetLive = (page) => {
"use strict";
const { ask, el, on } = evalset;
const run = document.body.dataset.run;
if (!run) return;
let version = Number(document.body.dataset.version);
let asking = false;
let wanted = false;
let later;
const wasRunning = document.querySelector("body > header").classList.contains("running");

function cell(name, ...children) {
  const node = el("td", name, ...children.flat());
  node.setAttribute("role", "cell");
  return node;
}

function spark(of) {
  if (!of) return null;
  const svg = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const node = svg("svg", { class: "spark", width: of.width, height: 16, role: "img", "aria-label": of.label });
  node.append(svg("path", { class: "reached", d: of.passed }), svg("path", { class: "below", d: of.others }), svg("path", { class: "absent", d: of.absent }));
  return node;
}

// The row of a case, as the template writes it.
function fill(row, of) {
  const link = row.querySelector("a") || el("a", "");
  const had = document.activeElement === link;
  link.href = "#" + of.anchor;
  link.textContent = of.name;
  row.id = of.anchor;
  row.className = "case " + of.state;
  row.dataset.filters = of.filters;
  row.setAttribute("role", "row");
  const unknown = () => el("span", "unknown", "–");
  row.replaceChildren(
    cell("", el("span", "state " + of.state, of.word)),
    cell("name", link, of.reason ? el("span", "why", of.reason) : null),
    cell("number", of.runs, of.of_runs ? [" ", el("span", "more", of.of_runs)] : null),
    cell("pills", of.pills.map((it) => el("span", "pill " + it.state, it.name + " ", el("b", "", it.score)))),
    cell("number", of.tokens || unknown(), of.cost ? el("span", "more", el("span", "label-of", "cost "), of.cost) : null),
    cell("number", of.time || unknown()),
    cell("", spark(of.spark)));
  if (had) link.focus({ preventScroll: true });
}

// Shows the open case again: what was unfolded and where it was scrolled to stays.
function reopen() {
  const detail = document.getElementById("detail");
  const folds = () => [...detail.querySelectorAll("details")];
  const name = (fold) => fold.firstElementChild.firstChild.textContent;
  const open = new Map(folds().map((fold) => [name(fold), fold.open]));
  const [inner, outer] = [detail.scrollTop, scrollY];
  page.again();
  for (const fold of folds()) if (open.has(name(fold))) fold.open = open.get(name(fold));
  detail.scrollTop = inner;
  scrollTo(scrollX, outer);
}

// Facts of the run, as the template writes them.
function facts(list, of, unknown) {
  list.replaceChildren(...of.map((fact) => {
    const value = fact.value === null ? unknown() : el("dd", "", fact.value);
    return el("div", fact.wide ? "wide" : "", el("dt", "", fact.name), value);
  }));
}

// The commands that run again what did not pass.
function again(head, commands) {
  let node = head.querySelector(".again");
  if (!commands.length) return node?.remove();
  if (!node) {
    node = el("p", "again");
    head.querySelector(".facts").before(node);
  }
  node.replaceChildren("Run again what did not pass:", ...commands.flatMap((command) => [" ", el("code", "", command)]));
}

// Plots are drawn by the service, and are those of when the page was loaded.
function old() {
  if (document.getElementById("old")) return;
  const link = el("a", "", "Load the page again");
  link.href = location.pathname;
  const node = el("p", "doubt", "The run has ended. ", link, " for the plots of all of it, and to have what needs attention first.");
  node.id = "old";
  node.setAttribute("role", "status");
  document.getElementById("list").prepend(node);
}

function header(of) {
  const head = document.querySelector("body > header");
  head.className = of.outcome;
  head.querySelector("h1 .word").textContent = of.outcome;
  head.querySelector("h1 .reason").textContent = of.reason;
  head.querySelector(".facts summary").textContent = of.about;
  const verdict = head.querySelector(".verdict");
  verdict.replaceChildren(verdict.querySelector("h1"), ...of.numbers.map((text) => el("p", "", text)),
    ...(of.notes.length ? [el("ul", "notes", of.notes.map((note) => el("li", "", note)))] : []));
  const glance = head.querySelector(".glance") || el("dl", "glance");
  facts(glance, of.glance, () => el("dd", ""));
  if (of.glance.length) verdict.after(glance);
  else glance.remove();
  facts(head.querySelector(".facts dl"), of.facts, () => el("dd", "unknown", "not recorded"));
  again(head, of.rerun);
  document.querySelector("#cases th:nth-child(5)").textContent = of.costs ? "Tokens, cost" : "Tokens";
  if (of.running) document.getElementById("old")?.remove();
  else if (wasRunning) old();
  document.title = of.title;
  for (const count of of.counts) {
    let button = document.querySelector(`[data-filter="${count.filter}"]`);
    if (!button) {
      button = el("button", "", count.name + " ", el("b", ""));
      button.type = "button";
      button.dataset.filter = count.filter;
      button.setAttribute("aria-pressed", "false");
      page.addFilter(button);
    }
    button.firstChild.textContent = count.name + " ";
    button.querySelector("b").textContent = count.cases;
  }
  for (const button of document.querySelectorAll("[data-filter]")) {
    if (!of.counts.some((count) => count.filter === button.dataset.filter)) button.querySelector("b").textContent = "0";
  }
}

function apply(news) {
  version = news.version;
  header(news);
  let isOpen = false;
  for (const of of news.rows) {
    let at = page.places.get(of.anchor);
    if (at === undefined) {
      at = page.rows.length;
      page.rows.push(el("tr", ""));
      page.places.set(of.anchor, at);
      page.list.append(page.rows[at]);
    }
    fill(page.rows[at], of);
    page.sent.set(at, JSON.stringify(of.details));
    page.words[at] = undefined;
    isOpen ||= at === page.opened();
  }
  if (isOpen) {
    page.rows[page.opened()].setAttribute("aria-current", "true");
    reopen();
  } else if (page.opened() === null && page.places.has(location.hash.slice(1))) page.follow();
  if (news.rows.length) page.show();
}

async function refresh() {
  clearTimeout(later);
  if (asking) { wanted = true; return; }
  asking = true;
  let pause = null;
  try {
    const news = await ask(`/runs/${encodeURIComponent(run)}/changes?after=${version}`);
    apply(news);
    pause = news.again;
  } catch (error) {
    if (error.status === 404) document.querySelector("h1 .reason").textContent = error.message;
  }
  asking = false;
  if (wanted) { wanted = false; pause ??= 0; }
  if (pause !== null) later = setTimeout(refresh, pause);
}

on("all", refresh);
on("run", (news) => { if (news.run === run) refresh(); });
};
