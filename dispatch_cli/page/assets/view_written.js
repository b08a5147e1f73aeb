/* Answers as Python wrote them: the keys, the backend fallbacks, higher-order operators, and the support matrix. */

function keysView() {
  return { title: `Dispatch keys of ${page.about.universe}`, command: page.command("keys"), parts: writtenParts(page.data.written.keys) };
}

function fallbacksView() {
  return { title: "Backend fallbacks", command: page.command("fallbacks"), parts: writtenParts(page.data.written.fallbacks) };
}

function higherOrderView() {
  const entries = page.entries.filter((entry) => entry.higher_order);
  return {
    title: "Higher-order operators",
    command: page.command("all-tables"),
    parts: [entries.length > 0 ? entriesTable(entries) : paragraph("There is none in this state.")],
  };
}

function higherOrderOperatorView({ name }) {
  return {
    title: name,
    command: page.command("table", name),
    parts: [writtenParts(page.higherOrders.get(name)), page.findingsOf(name).map(findingCard), unlistedNote(name)],
  };
}

/** Look of each kind of block; all others are paragraphs. */
const WRITTEN = {
  title: (text) => make("p", { class: "lead" }, text),
  code: (text) => make("pre", {}, codeLines(text)),
  facts,
  table: (heads, rows) => {
    const columns = heads.map(([head, isRight], at) => [head || "Meaning", (row) => row[at], isRight ? "number" : null]);
    return table(plural(rows.length, "row"), columns, rows);
  },
  matrix: (drawn) => [legend(drawn.legend), blockMatrix(drawn.corner || "Each cell is a key", drawn, (target) => target && page.linkTo(...target))],
};

function writtenParts(blocks) {
  return blocks.map(([kind, ...parts]) => (WRITTEN[kind] ?? paragraph)(...parts));
}

/** All calls, or one. argument: the number of a column, a comma, and the operator. */
function supportView(argument) {
  const support = page.data.support;
  if (support === null) return { title: "Support", parts: [paragraph("The files have no operators, or too many for a matrix on a page.")] };
  const matrixParts = writtenParts(support.blocks);
  if (!Object.hasOwn(support.calls, argument ?? "")) {
    return { title: "Where the operators work", command: page.command("support"), parts: matrixParts };
  }
  const [title, name, number] = support.calls[argument];
  const { call, blocks } = support.answers[number];
  return {
    title,
    command: call === null ? page.command("support") : page.command("call", name, call),
    parts: [facts([["Operator", make("a", { href: page.link(name) }, name)]]), writtenParts(blocks), matrixParts],
  };
}
