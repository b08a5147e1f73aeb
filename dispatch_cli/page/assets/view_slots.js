/* The slots of a table: as a grid of functionalities and backends, or as rows. */

/** Content of a slot in words: for lists, for those who do not see the grid. */
function kernelText(row) {
  if (row.kernel === null) return "";
  const name = page.shortKernel(row.kernel);
  if (row.fallthrough) return row.core_fallback ? "fallthrough (PyTorch's own)" : `fallthrough (${name})`;
  return row.core_fallback ? `PyTorch's own, ${name}` : name;
}

/** The link to a slot: its code, and its key, which stands beside the code only where no head of a grid names it. */
function slotLink(name, row, named) {
  const code = page.code(row);
  const says = [code.meaning, code.markMeaning].filter(Boolean).join(", ");
  const attributes = {
    class: `slot ${code.tone} ${row.stale ? "stale" : ""} ${row.before ? "changed" : ""}`, href: page.link(name, row.key),
    "data-slots": JSON.stringify([row.key]), title: `${row.key}: ${says}; ${kernelText(row) || "no kernel"}${row.before ? `; before: ${beforeText(row)}` : ""}`,
  };
  const was = row.before ? `${page.code({ ...row.before, before: null }).letter}\u2192` : "";
  return make("a", attributes, `${was}${code.letter}${code.mark}`,
    make("span", { class: named ? null : "unseen" }, ` ${row.key}`), make("span", { class: "unseen" }, `: ${says}`));
}

/** The grid: one tab stop, then arrows from slot to slot. */
function slotGrid(operatorTable) {
  const grid = page.grid(operatorTable);
  const name = operatorTable.operator;
  const lines = grid.lines.map(({ label, cells }) => ({ label, cells: cells.map((row) => row && slotLink(name, row, false)) }));
  const caption = "Functionalities that are per backend; each cell is a slot";
  return [
    legend(page.legend(operatorTable).map(([sign, tone, meaning, slots]) => [sign, tone, `${meaning}, ${slots.toLocaleString("en-US")}`])),
    lines.length > 0 && matrix(caption, "Functionality", grid.backends.map((backend) => ({ name: backend })), lines),
    make("h3", {}, "Keys that are not per backend"),
    make("ul", { class: "others" }, grid.others.map((row) => make("li", {}, slotLink(name, row, true)))),
  ];
}

/** Rows and columns of links. heads: a name each, and a group with its neighbours. rows: a label, and a node for each column. */
function matrix(caption, corner, heads, rows) {
  const groups = [];
  for (const { group } of heads) {
    if (group && groups.at(-1)?.group === group) groups.at(-1).count += 1;
    else groups.push({ group, count: 1 });
  }
  const looks = heads.map(({ group }, at) => at > 0 && group !== heads[at - 1].group && "apart");
  const above = heads[0]?.group && make("tr", { class: "groups" }, make("td", {}),
    groups.map(({ group, count }) => make("th", { scope: "colgroup", colspan: count }, group)));
  const head = make("tr", {}, make("td", {}, make("span", { class: "unseen" }, corner)),
    heads.map(({ name }, at) => make("th", { scope: "col", class: looks[at] }, make("span", {}, name))));
  const body = make("tbody", {}, rows.map(({ label, cells }) =>
    make("tr", {}, make("th", { scope: "row" }, label), cells.map((cell, at) => make("td", { class: looks[at] }, cell)))));
  body.addEventListener("keydown", gridKey);
  body.querySelectorAll("a").forEach((link, at) => link.setAttribute("tabindex", at === 0 ? "0" : "-1"));
  return marksMore(make("div", { class: "rows" }, make("table", { class: "grid" }, make("caption", {}, caption), make("thead", {}, above, head), body)));
}

/** A matrix of the command; href: where a cell's target leads, null for nowhere. What a cell means is its title. */
function blockMatrix(caption, { corner, heads, rows }, href) {
  const cell = ([marks, title, target]) => {
    const address = href(target);
    return marks.length > 0 && make(address === null ? "span" : "a", { class: `slot ${marks[0][1]}`, href: address, title, "aria-current": address !== null && address === location.hash && "true" },
      marks.map(([text, tone]) => make("span", { class: tone, "aria-hidden": "true" }, text)), make("span", { class: "unseen" }, title));
  };
  const whole = matrix(caption, corner, heads.map(([name, group]) => ({ name, group })), rows.map(([label, ...cells]) => ({ label, cells: cells.map(cell) })));
  const widest = Math.max(...rows.flatMap(([, ...cells]) => cells.map(([marks]) => marks.map(([text]) => text).join("").length)));
  whole.firstChild.classList.toggle("flat", heads.every(([name]) => name.length <= widest));
  if (!whole.querySelector("a")) keyboardScrolls(whole, caption);
  return whole;
}

/** Arrows, Home and End in the grid. */
function gridKey(event) {
  const cell = event.target.closest("td, th");
  const line = cell?.parentElement;
  if (!line || !event.key.startsWith("Arrow") && event.key !== "Home" && event.key !== "End") return;
  event.preventDefault();
  const across = { ArrowLeft: cell.cellIndex - 1, ArrowRight: cell.cellIndex + 1, Home: 1, End: line.cells.length - 1 }[event.key] ?? cell.cellIndex;
  const down = { ArrowUp: line.previousElementSibling, ArrowDown: line.nextElementSibling }[event.key];
  const link = (down === undefined ? line : down)?.cells[across]?.querySelector("a");
  if (!link) return;
  event.target.setAttribute("tabindex", "-1");
  link.setAttribute("tabindex", "0");
  link.focus();
}

/** Rows: one for each slot. */
function slotRows({ operator, entries }) {
  const columns = [
    ["Key", (row) => [markOf(row), make("a", { href: page.link(operator, row.key), "data-slots": JSON.stringify([row.key]) }, row.key)]],
    ["Kernel", (row) => make("span", { class: page.code(row).tone }, kernelText(row))],
    ["Rule", (row) => page.words.rules[row.rule] ?? row.rule],
    ["From", (row) => (row.source === null || row.source === row.key ? "" : row.source)],
    ["When", (row) => row.when ?? ""],
    ["Declared at", placeOf],
    ["Live", (row) => (row.stale ? page.shortKernel(row.live_kernel ?? "missing") : "")],
    ["Before", beforeText],
  ];
  const whole = table(plural(entries.length, "slot"), columns, entries);
  for (const element of [whole].flat()) for (const row of element.querySelectorAll("tbody tr")) row.classList.add("row");
  return whole;
}

function markOf(row) {
  const { mark, markMeaning } = page.code(row);
  return mark ? make("abbr", { class: row.stale ? "bad" : "warn", title: markMeaning }, `${mark} `) : "";
}

function beforeText(row) {
  if (!row.before) return "";
  const rule = page.words.rules[row.before.rule] ?? row.before.rule;
  if (row.before.kernel === null) return rule;
  return `${row.before.fallthrough ? "fallthrough" : page.shortKernel(row.before.kernel)} [${rule}]`;
}

/** Legend of marks: ``[text, tone, meaning]`` each. */
function legend(marks) {
  return make("p", { class: "legend" }, marks.map(([text, tone, meaning]) =>
    make("span", {}, make("span", { class: `slot ${tone}` }, text), ` ${meaning}`)));
}
