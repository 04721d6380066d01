// Elements of the page and numbers as text. Names and texts of the data enter the page as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
    else if (name === "style") Object.assign(node.style, value);
    else if (name.startsWith("aria-") && typeof value === "boolean") node.setAttribute(name, String(value));
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}

// Replaces what is in a part of the page; the focus stays on the element with the same key, and what was unfolded stays so.
function rendered(id, ...children) {
  const part = document.getElementById(id);
  const active = part.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const open = new Set([...part.querySelectorAll("details[open][data-key]")].map(one => one.dataset.key));
  part.replaceChildren(...children.flat().filter(Boolean));
  for (const one of part.querySelectorAll("[data-key]")) {
    if (open.has(one.dataset.key)) one.open = true;
    if (active && one.dataset.key === active) one.focus({ preventScroll: true });
  }
}

function selectBox(label, id, options, value, change) {
  const control = element(
    "select",
    { id, "data-key": id, on: { change: () => change(control.value) } },
    options.map(([key, text]) => element("option", { value: key }, text)),
  );
  control.value = value;
  return element("p", { class: "field" }, element("label", { for: id }, label), control);
}

// A table whose columns are [name, text of a row, number it is sorted by]; the first column has the names.
function tableOf(caption, columns, rows) {
  const heads = columns.map(([name, , key]) => element("th", { scope: "col", class: key ? "n" : null }, name));
  const cell = ([, text, key], row, i) => {
    if (i === 0) return element("th", { scope: "row" }, text(row));
    const value = key ? key(row) : NaN;
    return element("td", { class: key ? "n" : null, "data-key": isKnown(value) ? value : null }, text(row));
  };
  const body = rows.map(row =>
    element(
      "tr",
      {},
      columns.map((column, i) => cell(column, row, i)),
    ),
  );
  const table = element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, heads)),
    element("tbody", {}, body),
  );
  return element("div", { class: "wide", role: "region", tabindex: 0, "aria-label": caption }, sortable(table));
}

// A name that may be broken after the signs that separate its words.
function breakable(text) {
  return text.split(/(?<=[_\-.\/:])/).flatMap((word, i) => (i ? [document.createElement("wbr"), word] : [word]));
}

// ---------------------------------------------------------------------- numbers as text

function isKnown(value) {
  return value === value;
}

// The minus sign in place of the hyphen before a number; hyphens within names and ranges stay.
function withMinus(text) {
  return text.replace(/(?<![\w.-])-(?=[\d.])/g, "\u2212");
}

function number(value, digits = 4) {
  return isKnown(value) ? withMinus(value.toFixed(digits)) : "–";
}

function signed(value, digits = 3) {
  if (!isKnown(value)) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : withMinus(value > 0 ? `+${text}` : text);
}

function interval({ low, high }) {
  return isKnown(low) ? `[${number(low, 3)}, ${number(high, 3)}]` : "no interval";
}

function counted(n, one, several = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : several}`;
}

function listed(names, most = 5) {
  const parts = names.length <= most ? names.slice() : [...names.slice(0, most - 1), `${names.length - most + 1} more`];
  const last = parts.pop();
  return parts.length ? `${parts.join(", ")} and ${last}` : last;
}

function percent(share) {
  return `${Number((100 * share).toPrecision(3))} %`;
}

function sentence(text) {
  return text ? `${text[0].toUpperCase()}${text.slice(1).replace(/\.$/, "")}.` : "";
}
