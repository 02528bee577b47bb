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

const signs = { same: "= same", changed: "~ differs", missing: "− not called", unanswered: "! no response", extra: "+ not expected", moved: "↕ moved", loosened: "≈ by a rule", left_out: "? optional", other: "≈ allowed", unreached: "− not reached", made: "called" };
// The terms for the two sides of a comparison. A page that compares something else changes them.
const terms = { expected: "expected", actual: "actual", same: "word for word as expected", none: "no answer" };
const titles = { not_evaluated: "unscored", informational: "information" };

function pill(state, ...text) {
  return el("span", "pill " + state, ...text);
}

// A text that may be cut, and how it is shown.
function said(text, name, shown = text.t) {
  const node = el("div", "said " + (name || ""), shown);
  node.dir = "auto";
  if (text.cut) node.append(el("div", "soft", `… cut: the record has ${text.cut} more characters`));
  return node;
}

// The parts of a command, which are not broken unless a line is too short: words, and options with the value behind them.
const commandOf = (command) => command.split(/((?:--?\w[\w-]* )?(?:'[^']*'|\\.|[^ '])+)/).map((it, at) => (at % 2 ? el("span", "word", it) : it));

// An element with long lines, which are scrolled, with a keyboard too.
function scrollable(node) {
  node.tabIndex = 0;
  return node;
}

// The titles of signs and words in a line of differences: see `page/model.rs`.
const meanings = { "→": "left: expected, right: actual", golden: "the response that the case has for a call" };
function titled(text) {
  const node = el("span", "", text);
  node.title = meanings[text];
  return node;
}
const explained = (text, isCompared) => text.split(isCompared ? /(→|(?<=no )golden(?= response ))/ : /((?<=no )golden(?= response ))/)
  .map((part, at) => (at % 2 ? titled(part) : part));

// A text in which names are between backticks, and quotes between “ and ”, whose direction is their own. A quote can have the parts of
// two texts in it: “午[後→前]から”. The table is cut in the same way: see `page/model.rs`.
const inCode = (text) => text.split(/(`[^`\n]+`|(?<=“)[^”]*(?=”))/).flatMap((part, at) => {
  if (at % 2 === 0) return explained(part, / → actual |expected → actual: /.test(text));
  if (part[0] === "`") return el("code", "", part.slice(1, -1));
  const [, before, one, other, after] = part.match(/^([^[]*)\[([^\]→]*)→([^\]]*)\]([^]*)$/) || [null, part];
  return el("bdi", "", before, one === undefined ? null : [el("del", "", one), titled("→"), el("ins", "", other), after]);
});

function block(title, ...children) {
  return el("div", "block", el("h3", "", title), ...children);
}

function table(name, heads, lines) {
  const head = el("tr", "", heads.map((text) => {
    const cell = el("th", "", text);
    cell.scope = "col";
    return cell;
  }));
  const body = lines.map(([state, ...cells]) => el("tr", state, cells.map((cell, at) => {
    const node = el("td", "", cell === null ? "–" : cell);
    node.dataset.label = heads[at];
    return node;
  })));
  const scroll = el("div", "scroll", el("table", name, el("thead", "", head), el("tbody", "", body)));
  return scrollable(scroll);
}

// A button that copies a text. `what` names the text for those who do not see where the button is: "command".
function copier(text, what, label) {
  const tell = (word, name) => {
    node.textContent = word;
    node.setAttribute("aria-label", name);
  };
  const node = button("", () => {
    // Without a clipboard the text is selected, so that the keys for copying take it.
    const select = () => {
      const shown = el("pre", "", text);
      node.after(shown);
      getSelection().selectAllChildren(shown);
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => tell("Copied", `Copied ${what}`), select);
    else select();
  });
  node.classList.add("copy");
  tell(label || "Copy", `Copy ${what}`);
  return node;
}

// Images and other parts of a message. The address of an image was made of its bytes.
function media(parts) {
  if (!parts || !parts.length) return null;
  return el("div", "media", parts.map((part) => {
    if (!part.src || !/^data:image\/(png|jpeg|gif|webp);base64,/.test(part.src)) return el("span", "soft", part.label);
    const image = el("img", "");
    image.alt = part.label;
    image.loading = "lazy";
    image.src = part.src;
    const node = button("", () => node.setAttribute("aria-pressed", String(node.classList.toggle("large"))));
    node.append(image, el("span", "soft", part.label));
    node.classList.add("thumb");
    node.setAttribute("aria-pressed", "false");
    return node;
  }));
}
