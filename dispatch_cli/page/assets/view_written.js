/* Views as Python wrote them, such as the keys, and higher-order operators; and the support matrix. */

function writtenView(view) {
  const [title, blocks] = page.data.views[view];
  return { title, command: page.command(view), parts: writtenParts(blocks) };
}

function higherOrderOperatorView({ name, entry }) {
  return {
    title: name,
    command: page.command("rows", page.word(name)),
    parts: [writtenParts(entry.blocks), page.findingsOf(name).map(findingCard), unlistedNote(entry)],
  };
}

/** Look of each kind of block; all others are paragraphs. */
const WRITTEN = {
  title: (text) => make("p", { class: "lead" }, text),
  section: (text) => make("h2", {}, text),
  code,
  facts,
  table: (heads, rows) => table("Rows", heads.map(([head, isRight]) => [head || "Meaning", isRight && "number"]), rows),
  operators: (heads, rows) => WRITTEN.table(heads, rows.map(([name, ...cells]) => [operatorLink(name), ...cells])),
  matrix: (drawn) => [drawn.legend.length > 0 && legend(drawn.legend), blockMatrix(drawn)],
};

function writtenParts(blocks) {
  return blocks.map(([kind, ...parts]) => (WRITTEN[kind] ?? paragraph)(...parts));
}

/** All calls, or one. argument: the number of a column, a comma, and the operator. */
function supportView(argument) {
  const { support } = page;
  if (support === null) return { title: "Support", parts: [paragraph("The files have no operators, or too many for a matrix on a page.")] };
  const matrixParts = writtenParts(support.blocks);
  if (!Object.hasOwn(support.calls, argument ?? "")) {
    return { title: "Where the operators work", command: page.command("support"), parts: matrixParts };
  }
  const [title, name, number] = support.calls[argument];
  const { options, blocks } = support.answers[number];
  return {
    title,
    command: options === null ? page.command("support") : page.command("call", page.word(name, false), options),
    parts: [facts([["Operator", operatorLink(name)]]), writtenParts(blocks), matrixParts],
  };
}
