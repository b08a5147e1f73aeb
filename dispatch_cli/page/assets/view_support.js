/* Support matrix of the operators of the files: each cell opens its call. */

/** One cell, or all. argument: the number of a column, a comma, and the operator. */
function supportView(argument) {
  const support = page.data.support;
  if (support === null) return { title: "Support", parts: [paragraph("The files have no operators, or too many for a matrix on a page.")] };
  const [at, name] = argument === null ? [null, null] : [Number(argument.split(",", 1)[0]), argument.slice(argument.indexOf(",") + 1)];
  const row = support.rows.find(([operator]) => operator === name);
  if (argument === null || row === undefined || !support.heads[at]) {
    return { title: "Where the operators work", command: page.command("support"), parts: supportParts(null) };
  }
  const [backend, context] = support.heads[at];
  const cell = support.answers[row[at + 1]];
  return {
    title: `${name} on ${backend}, ${context}`,
    command: cell.call === null ? page.command("support") : page.command("call", name, cell.call),
    parts: [
      make("p", { class: `lead ${support.marks[cell.verdict][1]}` }, capital(cell.words)),
      facts([
        ["Operator", make("a", { href: page.link(name) }, name)],
        ["Kernel", cell.kernel && page.shortKernel(cell.kernel)],
        ["Key", cell.key && page.slotOf.has(cell.key) ? make("a", { href: page.link(name, cell.key) }, cell.key) : cell.key],
        ["Declared at", placeOf(cell)],
        ["PyTorch's error", cell.error],
        ["What helps", cell.help],
      ]),
      ...supportParts(argument),
    ],
  };
}

/** The matrix and its reasons, the gravest first: a page is read from its top. chosen: the cell that is shown. */
function supportParts(chosen) {
  const { verdict, counts, assumed, heads, marks, rows, answers, reasons } = page.data.support;
  const link = (name, at, { verdict: outcome, words }) => {
    const [text, tone] = marks[outcome];
    const title = `${name} on ${heads[at].join(", ")}: ${words}`;
    const here = chosen === `${at},${name}` && "true";
    const attributes = { class: `slot ${tone}`, href: page.linkTo("support", `${at},${name}`), title, "aria-current": here };
    return make("a", attributes, text, make("span", { class: "unseen" }, ` ${title}`));
  };
  const columns = [
    ["Outcome", (reason) => make("span", { class: marks[reason.verdict][1] }, marks[reason.verdict][2])],
    ["Why", (reason) => reason.text],
    ["Operators", (reason) => reason.operators],
    ["Count", (reason) => reason.count.toLocaleString("en-US"), "number"],
    ["On", (reason) => reason.columns],
    ["What helps", (reason) => reason.help ?? ""],
  ];
  return [
    make("p", { class: "lead" }, verdict),
    counts && paragraph(counts),
    legend(Object.values(marks)),
    matrix("Each cell opens its call", "Operator", heads.map(([group, name]) => ({ group, name })), rows.map(([name, ...cells]) => ({
      label: make("a", { href: page.link(name) }, name),
      cells: cells.map((number, at) => link(name, at, answers[number])),
    }))),
    make("p", { class: "dim" }, assumed),
    reasons.length > 0 && table(plural(reasons.length, "reason"), columns, [...reasons].reverse()),
  ];
}

/** Legend of marks: ``[text, tone, meaning]`` each. */
function legend(marks) {
  return make("p", { class: "legend" }, marks.map(([text, tone, meaning]) =>
    make("span", {}, make("span", { class: `slot ${tone}` }, text), ` ${meaning}`)));
}
