// Markdown and JSON as elements, on demand. A small part of Markdown: no images, no HTML, and no links to click, as nobody has checked
// where they lead. Lengths in the expressions are limited, so that no text takes long.

const inlineMark = /`([^`\n]{1,500})`|\*\*([^*\n]{1,500})\*\*|__([^_\n]{1,500})__|\*([^*\s][^*\n]{0,500})\*|(!?)\[([^\]\n]{0,300})\]\(([^)\s]{0,500})\)/g;

// A line with emphasis, code and links as elements.
function inlineOf(text) {
  const out = [];
  let end = 0;
  for (const it of text.matchAll(inlineMark)) {
    out.push(text.slice(end, it.index));
    end = it.index + it[0].length;
    const [, code, strong, other, weak, image, label, address] = it;
    if (code !== undefined) out.push(el("code", "", code));
    else if (strong !== undefined || other !== undefined) out.push(el("strong", "", strong === undefined ? other : strong));
    else if (weak !== undefined) out.push(el("em", "", weak));
    else out.push(el("span", "", image ? `[image: ${label}]` : el("u", "", label), el("span", "soft", ` (${address})`)));
  }
  out.push(text.slice(end));
  return out.filter((part) => part !== "");
}

const listItem = /^\s{0,12}(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;

// A list with the lists in it: an item that is further right is in a list of the item before it. Other lines go on with the item above.
function listOf(lines) {
  const root = el("div", "");
  // The lists that are open, each with how far right it is.
  const stack = [];
  for (const line of lines) {
    const [, bullet, number, text] = listItem.exec(line) ?? [];
    const right = /^\s*/.exec(line)[0].replaceAll("\t", "    ").length;
    if (text === undefined) {
      stack.at(-1).list.lastChild.append("\n", ...inlineOf(line.trim()));
      continue;
    }
    while (stack.length && right < stack.at(-1).right) stack.pop();
    const [top, tag] = [stack.at(-1), bullet ? "ul" : "ol"];
    if (top && right < top.right + 2 && top.tag !== tag) stack.pop();
    if (!top || right >= top.right + 2 || top.tag !== tag) {
      const list = el(tag, "");
      if (number && number !== "1") list.start = Number(number);
      (stack.at(-1)?.list.lastChild ?? root).append(list);
      stack.push({ list, tag, right });
    }
    stack.at(-1).list.append(el("li", "", inlineOf(text)));
  }
  return [...root.childNodes];
}

// The elements of a text, block by block.
function markdownOf(text) {
  const lines = text.split("\n");
  const out = el("div", "rendered");
  let at = 0;
  const take = (fits) => {
    const begin = at;
    while (at < lines.length && fits(lines[at])) at += 1;
    return lines.slice(begin, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (line.trimStart().startsWith("```")) {
      at += 1;
      const code = take((it) => !it.trimStart().startsWith("```"));
      at += 1;
      out.append(el("pre", "", el("code", "", code.join("\n"))));
    } else if (heading) {
      at += 1;
      out.append(el("h4", "", inlineOf(heading[2])));
    } else if (listItem.test(line)) {
      out.append(...listOf(take((it) => listItem.test(it) || /^\s{2,}\S/.test(it))));
    } else if (line.startsWith(">")) {
      out.append(el("blockquote", "", inlineOf(take((it) => it.startsWith(">")).map((it) => it.replace(/^>\s?/, "")).join("\n"))));
    } else if (line.trim() === "") {
      at += 1;
    } else {
      const begins = (it) => it.trim() === "" || /^#{1,6}\s/.test(it) || listItem.test(it) || it.startsWith(">") || it.trimStart().startsWith("```");
      const first = lines[at];
      at += 1;
      const paragraph = [first, ...take((it) => !begins(it))];
      out.append(el("p", "", inlineOf(paragraph.join("\n"))));
    }
  }
  return out;
}

// JSON with a value on each line. Its numbers and texts stay as they are written.
function jsonOfText(text) {
  let depth = 0;
  let inText = false;
  let out = "";
  const pad = () => "\n" + "  ".repeat(Math.min(depth, 40));
  for (let at = 0; at < text.length; at += 1) {
    const c = text[at];
    if (inText) {
      out += c;
      if (c === "\\") out += text[at += 1];
      else if (c === "\"") inText = false;
    } else if (c === "\"") {
      inText = true;
      out += c;
    } else if (c === "{" || c === "[") {
      depth += 1;
      out += c + pad();
    } else if (c === "}" || c === "]") {
      depth -= 1;
      out += pad() + c;
    } else if (c === ",") out += c + pad();
    else if (c === ":") out += ": ";
    else if (!/\s/.test(c)) out += c;
  }
  return el("div", "rendered", el("pre", "", el("code", "", out)));
}

function isJson(text) {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// The way to render a text; null if it is plain.
function renderer(text) {
  if (isJson(text)) return jsonOfText;
  return /^(#{1,6}\s|\s{0,12}([-*+]|\d{1,9}[.)])\s|>\s|```)|\*\*[^*\n]{1,500}\*\*|`[^`\n]{1,500}`|\]\(/m.test(text) ? markdownOf : null;
}

// A text, with a button that renders it if it is Markdown or JSON, and one that copies it if `what` names it.
function message(text, name, what) {
  const node = said(text, name);
  const render = renderer(text.t);
  if (whole || (!render && !what)) return node;
  const tools = el("span", "texttools", render ? toggle(node, text, render) : null, what ? copier(text.t, what) : null);
  return el("div", "message", node, tools);
}

function toggle(node, text, render) {
  const plain = [...node.childNodes];
  const it = button("rendered", () => {
    const isPlain = it.textContent === "rendered";
    node.replaceChildren(...(isPlain ? [render(text.t), ...plain.slice(1)] : plain));
    it.textContent = isPlain ? "as text" : "rendered";
  });
  it.classList.add("copy");
  return it;
}
