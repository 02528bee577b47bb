// Code that all pages of the service share: requests to the server, and events of changes. Texts become text nodes, never HTML.
const evalset = (() => {
"use strict";

const connection = document.getElementById("connection");
const hearers = new Map();
let source = null;
let retry;

// Asks the server. What it refuses is an error with its words.
async function ask(path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      // No form of another site can send this header.
      headers: { "x-evalset": "page" },
      body: body === undefined || body instanceof Blob || body instanceof FormData ? body : JSON.stringify(body),
    });
  } catch {
    throw new Error("The service does not answer. Is it still running?");
  }
  const text = await answer.text();
  let json;
  try { json = JSON.parse(text); } catch { throw new Error(`The answer cannot be read (status ${answer.status}).`); }
  if (answer.ok) return json;
  if (answer.status === 401) throw new Error("This page is of a service that has ended. Open the URL that the new one printed.");
  const detail = Array.isArray(json.detail) ? json.detail.map((it) => `${it.loc.join(".")}: ${it.msg}`).join("; ") : json.detail;
  const words = [json.error || detail || "it was refused", json.help].filter(Boolean);
  throw Object.assign(new Error(words.join(": ")), { status: answer.status });
}

// Loads a page of the server as a document, whose parts take() puts into this one. Nothing in it runs.
function load(path) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("GET", path);
    request.responseType = "document";
    request.addEventListener("loadend", () => {
      if (request.status === 200 && request.response) done(request.response);
      else fail(Object.assign(new Error("the page cannot be loaded"), { status: request.status }));
    });
    request.send();
  });
}

const focusable = "a, button, summary, select, input";

// Takes what differs of a part of the page from its new form. Folds and the focus stay.
function take(old, fresh) {
  const foldsOf = (node) => [...node.querySelectorAll("details")];
  if (!old.isEqualNode(fresh)) {
    const folds = foldsOf(old).map((fold) => fold.open);
    const had = old.contains(document.activeElement) ? document.activeElement : null;
    const at = [...old.querySelectorAll(focusable)].indexOf(had);
    old.replaceChildren(...fresh.childNodes);
    foldsOf(old).forEach((fold, nth) => { fold.open = folds[nth] ?? fold.open; });
    const now = [...old.querySelectorAll(focusable)];
    const same = had && (now.find((it) => it.tagName === had.tagName && it.getAttribute("href") === had.getAttribute("href") && it.dataset.filter === had.dataset.filter) || now[at]);
    if (same) same.focus({ preventScroll: true });
  }
  for (const { name } of [...old.attributes]) if (name.startsWith("data-")) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
}

// Calls a function with the data of each event of this name.
function on(name, hear) {
  hearers.set(name, hear);
  if (source) listen(name);
  else connect();
}

function listen(name) {
  source.addEventListener(name, (event) => hearers.get(name)(JSON.parse(event.data)));
}

// A browser opens six connections to a server: hidden pages leave theirs to others.
function connect() {
  if (source || document.hidden || !hearers.size) return;
  clearTimeout(retry);
  source = new EventSource("/events");
  for (const name of hearers.keys()) listen(name);
  source.addEventListener("open", () => { connection.textContent = "live"; connection.className = "on"; });
  source.addEventListener("error", () => {
    connection.textContent = "not connected: is the service still running?";
    connection.className = "off";
    disconnect();
    retry = setTimeout(connect, 3000);
  });
}

function disconnect() {
  if (source) source.close();
  source = null;
}

document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
// Otherwise the page could not be kept for the back button.
addEventListener("pagehide", disconnect);
addEventListener("pageshow", connect);

return { ask, el: components.el, load, on, take };
})();
