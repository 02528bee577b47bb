// Elements of all pages. Untrusted texts become text nodes: nothing here makes HTML of a text.

// An element with a class and children: nodes, or texts. Nothing is left out but null.
function el(tag, name, ...children) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function button(label, action) {
  const node = el("button", "", label);
  node.type = "button";
  node.addEventListener("click", action);
  return node;
}

const signs = { same: "= same", changed: "~ differs", missing: "− not called", extra: "+ not expected", made: "called" };
// The names of what is compared. A page that compares something else changes them.
const names = { expected: "expected", actual: "actual", same: "word for word as expected", none: "no answer" };
const titles = { not_evaluated: "not scored", informational: "information" };

function pill(state, ...text) {
  return el("span", "pill " + state, ...text);
}

// A text that may be cut.
function said(text, name) {
  const node = el("div", "said " + (name || ""), text.t);
  node.dir = "auto";
  if (text.cut) node.append(el("div", "soft", `… cut: the record has ${text.cut} more characters`));
  return node;
}

function block(title, ...children) {
  return el("div", "block", el("h3", "", title), ...children);
}

function table(name, heads, lines) {
  const head = el("tr", "", heads.map((text) => {
    const cell = el("th", "", text);
    cell.scope = "col";
    return cell;
  }));
  const body = lines.map(([state, ...cells]) => el("tr", state, cells.map((cell) => el("td", "", cell === null ? "–" : cell))));
  const scroll = el("div", "scroll", el("table", name, el("thead", "", head), el("tbody", "", body)));
  // On a phone it is scrolled, with a keyboard too.
  scroll.tabIndex = 0;
  return scroll;
}

function pieces(side, tag) {
  return side.map((piece) => (piece.d ? el(tag, "", piece.t) : piece.t));
}
