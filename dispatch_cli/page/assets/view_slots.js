/* The slots of a table: as a grid of functionalities and backends, or as rows; and matrices as Python made them. */

/** A cell of a matrix: its marks, and what they say; href: where it leads, null for nowhere. */
function slotCell([marks, title], href, more, ...named) {
  if (marks.length === 0) return null;
  const tone = more.class ?? marks[0][1];
  const signs = marks.map(([text, look]) => make("span", { class: look, "aria-hidden": "true" }, text));
  return make(href === null ? "span" : "a", { href, title, ...more, class: `slot ${tone}` }, signs, named, make("span", { class: "unseen" }, title));
}

/** A slot in the grid, or beside it, where its key is named. */
function slotLink(operatorTable, slot, ...named) {
  const { key, kernel, bare = kernel, before, live, cell: [, tone, title, marks] } = operatorTable.slots[slot];
  const says = `${key}: ${title}; ${bare || "no kernel"}${before && `; before: ${before}`}`;
  const look = `${tone}${live ? " stale" : ""}${before && " changed"}`;
  return slotCell([marks, says], page.link(operatorTable.name, key), { class: look, "data-slots": key }, ...named);
}

/** The grid: one tab stop, then arrows from slot to slot. */
function slotGrid(operatorTable) {
  const { backends, lines, others } = page.data.grid;
  const rows = lines.map(([label, ...slots]) => [label, ...slots.map((slot) => slot >= 0 && slotLink(operatorTable, slot))]);
  const named = (slot) => make("span", { class: "named", "aria-hidden": "true" }, page.slots[slot]);
  return [
    legend(operatorTable.legend),
    rows.length > 0 && matrix("Functionalities that are per backend; each cell is a slot", "Functionality", backends.map((name) => [name, ""]), rows),
    make("h3", {}, "Keys that are not per backend"),
    make("ul", { class: "others" }, others.map((slot) => make("li", {}, slotLink(operatorTable, slot, named(slot))))),
  ];
}

/** Rows and columns of links. heads: a name each, and a group with its neighbours. rows: a label, and a node for each column. */
function matrix(caption, corner, heads, rows) {
  const groups = [];
  for (const [, group] of heads) {
    if (groups.at(-1)?.group === group) groups.at(-1).count += 1;
    else groups.push({ group, count: 1 });
  }
  const looks = heads.map(([, group], at) => at > 0 && group !== heads[at - 1][1] && "apart");
  const above = groups[0]?.group && make("tr", { class: "groups" }, make("td", {}),
    groups.map(({ group, count }) => make("th", { scope: "colgroup", colspan: count }, group)));
  const head = make("tr", {}, make("td", {}, make("span", { class: "unseen" }, corner)),
    heads.map(([name], at) => make("th", { scope: "col", class: looks[at] }, make("span", {}, name))));
  const body = make("tbody", {}, rows.map(([label, ...cells]) =>
    make("tr", {}, make("th", { scope: "row" }, label), cells.map((cell, at) => make("td", { class: looks[at] }, cell)))));
  body.addEventListener("keydown", gridKey);
  body.querySelectorAll("a").forEach((link, at) => link.setAttribute("tabindex", at === 0 ? "0" : "-1"));
  return marksMore(make("div", { class: "rows" }, make("table", { class: "grid" }, make("caption", {}, caption), make("thead", {}, above, head), body)));
}

/** A matrix of the command; its cells have addresses, or lead nowhere. */
function blockMatrix({ corner, heads, rows }) {
  const caption = corner || "Groups";
  const cell = ([marks, title, address]) => slotCell([marks, title], address, { "aria-current": address === location.hash && "true" });
  const whole = matrix(caption, corner, heads, rows.map(([label, ...cells]) => [label, ...cells.map(cell)]));
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

/** The folded rows of a table, then the slots without a row. */
function slotRows(operatorTable) {
  const heads = [["Key"], ["Kernel"], ["Rule"], ["From"], ["When"], ["Declared at"], ["Live"], ["Before"]];
  const rows = operatorTable.rows.map(([label, slots]) => {
    const { key, cell, kernel, rule, isOwn, source, when, place, live, before } = operatorTable.slots[slots[0]];
    const link = make("a", { href: page.link(operatorTable.name, key), "data-slots": slots.map((slot) => page.slots[slot]).join(" ") }, label);
    return [link, [kernel || "-", cell[1]], rule, isOwn ? "" : source ?? "", when, placeOf(place), live?.[1] ?? "", before];
  });
  return [table("Dispatch table", heads, rows, () => "row"), writtenParts(operatorTable.asides)];
}

/** Legend of marks: ``[text, tone, meaning]`` each. */
function legend(marks) {
  return make("p", { class: "legend" }, marks.map(([text, tone, meaning]) =>
    make("span", {}, make("span", { class: `slot ${tone}` }, text), ` ${meaning}`)));
}
