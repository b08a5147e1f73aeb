/* The index of versions: which operators changed in which of them, and what. The address has what is chosen. */

/** What view_dom.js needs to know of the page. */
let page = null;
let index = null;

/** What the rows that are drawn were chosen by. */
let drawnFor = "";

const SAME = "as before";

/** What is chosen: letters of a name, a kind of change, the number of a version, an operator. */
function chosen() {
  return new URLSearchParams(location.hash.slice(1));
}

/** The address with a choice put into it; null takes it out. */
function withChoice(name, value) {
  const all = chosen();
  if (value === null || value === "") all.delete(name);
  else all.set(name, value);
  return `#${all}`;
}

function choose(name, value) {
  history.replaceState(null, "", withChoice(name, value));
  drawRows();
  document.body.dataset.address = location.hash;
}

/** The rows with the letters in their names, and with a change of the kind, in the version. */
function wantedRows() {
  const [letters, kind, version] = ["q", "what", "in"].map((name) => chosen().get(name) ?? "");
  const words = letters.toLowerCase().split(/\s+/).filter(Boolean);
  const numbers = index.marks.flatMap(([, , meaning], number) => (kind ? meaning === kind : meaning !== SAME) ? [number] : []);
  const has = index.cells.map(([marks]) => marks.some((mark) => numbers.includes(mark)));
  const at = index.versions.findIndex(([name]) => name === version);
  return index.rows.filter(([name, ...cells]) =>
    words.every((word) => name.toLowerCase().includes(word)) && (at < 0 ? cells : [cells[at]]).some((cell) => has[cell]));
}

/** A cell: its marks, which lead to the operator in the page of that version. */
function historyCell(name, number, at) {
  const [marks, title, isThere] = index.cells[number];
  if (!marks.length) return make("td", {});
  const [version, , file] = index.versions[at];
  const tone = index.marks[marks[0]][1];
  const texts = marks.map((mark) => make("span", { class: index.marks[mark][1] }, index.marks[mark][0]));
  const letters = marks.map((mark) => index.marks[mark][0]).join("");
  const label = `${version}: ${title}`;
  const inside = isThere
    ? make("a", { class: "mark", href: `${file}#${linked(name)}`, title: label, "aria-label": `${letters} ${label}` }, texts)
    : make("span", { class: "cell", title: label, role: "img", "aria-label": label }, texts);
  return make("td", { class: `mark ${tone}` }, inside);
}

function historyRow([name, ...cells]) {
  const link = make("a", { href: withChoice("op", name) }, name);
  return make("tr", {}, make("th", { scope: "row" }, link), cells.map((cell, at) => historyCell(name, cell, at)));
}

function filters() {
  return JSON.stringify(["q", "what", "in"].map((name) => chosen().get(name)));
}

function drawRows() {
  drawnFor = filters();
  const rows = wantedRows();
  const heads = index.versions.map(([name, , file]) => make("th", { scope: "col" }, make("a", { href: file }, name)));
  const body = make("tbody", {});
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Operator"), heads));
  const count = plural(rows.length, "operator");
  const whole = make("div", { class: "rows" }, make("table", { class: "history" }, make("caption", {}, count), head, body));
  marksMore(whole);
  byId("rows").replaceChildren(...nodes([inSteps(whole, body, rows, 200, historyRow)]));
  say(count);
}

/** What changed in one operator, as `history` says it. */
function operatorPart(name) {
  const number = index.rows.findIndex(([operator]) => operator === name);
  if (number < 0) return section("No such operator", paragraph("No operator that changed is called ", make("code", {}, name), "."));
  const [sentences, rows] = index.changes[number];
  const text = (at) => index.texts[at];
  const columns = ["Since", "What", "Where", "Before", "After", "Because"].map((header, at) =>
    [header, at === 0 ? (row) => row[0] : (row) => text(row[at])]);
  return section(make("span", { id: "shown", tabindex: "-1" }, name), sentences.map((at) => paragraph(text(at))), table(plural(rows.length, "change"), columns, rows));
}

function drawOperator() {
  const name = chosen().get("op");
  byId("operator").replaceChildren(...nodes([name !== null && operatorPart(name)]));
}

function draw() {
  const kinds = index.marks.map(([, , meaning]) => meaning).filter((meaning) => meaning !== SAME);
  const letters = make("input", { id: "query", type: "search", autocomplete: "off", spellcheck: "false", input: (event) => choose("q", event.target.value) });
  letters.value = chosen().get("q") ?? "";
  const versions = index.versions.slice(1).map(([name]) => name);
  byId("main").replaceChildren(...nodes([
    make("h1", { tabindex: "-1" }, index.title),
    make("p", { class: "lead" }, index.counts),
    make("ul", { class: "versions" }, index.versions.map(([, torch, file]) => make("li", {}, make("a", { href: file }, `PyTorch ${torch}`)))),
    make("div", { class: "filters", role: "search" },
      make("p", { class: "choices" }, make("label", { for: "query" }, "Find an operator"), letters),
      selection("what", "Changed", [["", "anything"], ...kinds.map((kind) => [kind, kind])], chosen().get("what") ?? "", (kind) => choose("what", kind)),
      selection("in", "In version", [["", "any"], ...versions.map((name) => [name, name])], chosen().get("in") ?? "", (name) => choose("in", name))),
    make("p", { class: "legend" }, index.marks.map(([text, tone, meaning]) => make("span", {}, make("span", { class: tone }, text), ` ${meaning}`))),
    make("div", { id: "operator" }),
    make("div", { id: "rows" }),
  ]));
  drawOperator();
  drawRows();
}

/** After a link within the index, or a step back: the operator comes into sight; the rows stay where they are. */
function arrive() {
  if (filters() === drawnFor) drawOperator();
  else draw();
  byId("shown")?.focus();
  document.body.dataset.address = location.hash;
}

function start(data) {
  index = data;
  const unsafe = unsafeIn(data.words);
  page = { about: data.about, safe: (text) => spelledOut(text, unsafe) };
  byId("foot").textContent = `dispatch-cli ${data.about.dispatch_cli}`;
  document.title = page.safe(`${data.title} - dispatch-cli`);
  window.addEventListener("hashchange", arrive);
  draw();
  document.body.dataset.address = location.hash;
  document.documentElement.dataset.ready = "yes";
}

unpacked(byId("data").textContent).then(start).catch((error) =>
  byId("main").replaceChildren(make("h1", {}, "This page cannot be shown"), paragraph(`${error.message ?? error}`)));
