/* The calls of a recorded program: the folded tree, a line for each call, and the findings. */

/** Lines that are shown at once; a button shows more. */
const TRACE_STEP = 300;

/** The view of all calls, of those of an operator, or with one call in sight: its number. */
function traceView(argument) {
  const trace = page.trace();
  if (trace === null) return unknownView("trace");
  const isCall = argument !== null && /^\d{1,9}$/.test(argument);
  const operator = argument !== null && !isCall ? argument : null;
  const rows = page.traceRows(operator);
  const wanted = isCall ? rows.findIndex((row) => row.operator !== null && row.number === Number(argument)) : -1;
  return {
    title: operator === null ? `Trace of ${trace.program}` : `Calls of ${operator}`,
    command: isCall ? page.command("trace-call", argument) : page.command("trace", operator),
    arrived: () => traceCallInSight(wanted),
    parts: [
      make("p", { class: "lead" }, `${plural(trace.counts.calls, "call")} of ${plural(trace.counts.operators, "operator")}${trace.counts.threads > 1 ? ` on ${plural(trace.counts.threads, "thread")}` : ""}.`),
      isCall && wanted < 0 && paragraph(`No line begins with call ${argument}: it is in one that stands for several calls, or is not in the page.`),
      facts([
        ["PyTorch", trace.torch],
        ["Kernels", trace.seen],
        ["Registrations", trace.registrations],
        ["Unfinished", trace.unfinished],
        ["Not recorded", trace.missing.join("; ")],
        ["Left out", trace.more && `all after the first ${trace.rows.length.toLocaleString("en-US")} lines; the command prints them with --limit 0`],
      ]),
      traceFindings(trace, operator),
      traceOperators(trace, operator),
      rows.length === 0
        ? paragraph(operator === null ? "No call was recorded." : "No line of the page is of this operator.")
        : traceTable(rows, wanted),
    ],
  };
}

function traceFindings(trace, operator) {
  const found = trace.findings.filter((one) => operator === null || one.operator === operator);
  const cards = make("div", {});
  return found.length > 0 && section("Findings of the trace", inSteps(cards, cards, found, 20, traceFinding));
}

function traceFinding(one) {
  const link = page.linkToSlot(one.operator, one.key || null);
  const name = one.key ? `${one.operator} at ${one.key}` : one.operator;
  const places = [...one.places.map(placeName), one.more_places > 0 && plural(one.more_places, "more line")].filter(Boolean);
  return make("article", { class: "card info" },
    make("h3", {}, one.title),
    paragraph(`${one.operator}: ${one.text}`),
    facts([
      ["Slot", link === null ? name : make("a", { href: link }, name)],
      ["First call", make("a", { href: page.linkTo("trace", String(one.first)) }, String(one.first))],
      ["Python lines", places.join(", ")],
      ["Tip", one.help],
    ]));
}

function traceOperators(trace, operator) {
  const options = [["", counted("all", trace.counts.calls)], ...[...trace.totals].map(([name, calls]) => [name, counted(name, calls)])];
  if (operator !== null && !trace.totals.has(operator)) options.push([operator, counted(operator, 0)]);
  return selection("of-operator", "Show calls of", options, operator ?? "", (name) => {
    location.hash = name === "" ? "#!trace" : page.linkTo("trace", name);
  });
}

function traceTable(rows, wanted) {
  const threads = new Set(rows.map((row) => row.thread)).size > 1;
  const columns = [
    ["Call", (row) => (row.operator === null ? "" : make("a", { href: page.linkTo("trace", String(row.number)) }, String(row.number))), "number"],
    ["Operator", traceOperator],
    ["Times", (row) => (row.operator === null || row.times === 1 ? "" : `\u00d7${row.times.toLocaleString("en-US")}`), "number"],
    ["Kernels in turn", (row) => row.kernels.map(([text, tone]) => make("span", { class: tone }, text)).concat(traceEnd(row))],
    ["Python line", (row) => (row.place === null ? "" : placeName(row.place))],
    ["Backward of", (row) => (row.forward === null ? "" : [row.forwards > 1 ? `${row.forwards.toLocaleString("en-US")} calls, first ` : "call ", make("a", { href: page.linkTo("trace", String(row.forward)) }, String(row.forward)), row.forward_place === null ? "" : `, ${placeName(row.forward_place)}`])],
    ...(threads ? [["Thread", (row) => row.thread]] : []),
  ];
  const step = Math.max(TRACE_STEP, wanted + 50);
  const chosen = wanted < 0 ? null : rows[wanted];
  return make("div", { class: "trace" }, table(plural(rows.length, "line"), columns, rows, { chosen: (row) => row === chosen, step }));
}

/** That calls of a line raised, or that their end is not recorded. */
function traceEnd(row) {
  if (row.raised > 0) return [make("span", { class: "bad" }, " raised")];
  return row.unfinished > 0 ? [make("span", { class: "warn" }, " unfinished")] : [];
}

/** The operator of a line, indented by how deep it is; a link to the slot of its first kernel. */
function traceOperator(row) {
  const depth = make("span", { class: "depth", "aria-hidden": "true" }, "\u00b7 ".repeat(Math.min(row.level, 40)));
  const level = make("span", { class: "unseen" }, `level ${row.level + 1} `);
  if (row.operator === null) return [depth, level, make("span", { class: "dim" }, `${row.times.toLocaleString("en-US")} times:`)];
  const link = page.linkToSlot(row.operator, row.key);
  return [depth, level, link === null ? row.operator : make("a", { href: link }, row.operator)];
}

function placeName([file, line, name]) {
  return `${file}:${line}${name === "" || name === "<module>" ? "" : ` in ${name}`}`;
}

/** Bring the chosen call into sight. */
function traceCallInSight(wanted) {
  if (wanted < 0) return;
  const row = byId("main").querySelector(".trace tr.chosen");
  row?.scrollIntoView({ block: "center" });
  row?.querySelector("a")?.focus({ preventScroll: true });
}
