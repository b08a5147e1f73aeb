/* What serves the operators: groups of them on all backends as a picture, and each operator on one backend. */

const coverage = { key: null, service: "" };

function coverageView(argument) {
  if (argument === null) return { title: "What serves the operators", command: page.command("overview"), parts: overviewParts(false) };
  const keys = page.backends.map((one) => one.key);
  if (!keys.includes(argument)) {
    return { title: "No such backend", parts: [paragraph("Coverage is asked for a backend; ", make("code", {}, argument), " is none."), backendChoice(keys, "", "")] };
  }
  const key = argument;
  const all = overviewGroups(key);
  const { group, title } = all.find((one) => one.group === chosenIn("group")) ?? { group: "" };
  Object.assign(coverage, { key, service: chosenIn("served") ?? "" });
  const found = page.coverage(key);
  const operators = found.operators.filter((one) => page.isIn(one.operator, group));
  const [line, body] = [make("div", {}), make("div", {})];
  const served = (service) => operators.filter((one) => one.service === service);
  const services = [...new Set(found.services.map((one) => one.service))].filter((service) => served(service).length > 0);
  const options = [["", counted("all", operators.length)], ...services.map((one) => [one, counted(page.words.services[one], served(one).length)])];
  if (!services.includes(coverage.service)) coverage.service = "";
  const draw = (service) => {
    coverage.service = service;
    keepChoice("served", service || null);
    const chosen = service ? served(service) : operators;
    line.replaceChildren(commandLine(page.command("coverage", key, service, group)));
    body.replaceChildren(...nodes([coverageTable(key, chosen)]));
    say(plural(chosen.length, "operator"));
  };
  draw(coverage.service);
  const { device, autograd } = found.backend;
  const isBroken = found.trainings.some(({ training }) => training === "broken");
  return {
    title: `Coverage of ${key}${group && `, ${group}`}`,
    parts: [
      line,
      backendChoice(keys, key, group),
      all.length > 0 && selection("group", "Operators", [["", "all"], ...all.map((one) => [one.group, one.group])], group, (chosen) => { location.hash = coverageLink(key, chosen); }),
      make("p", { class: "lead" }, title ?? servedShare(found)),
      facts([
        ["Device", device],
        ["Autograd at", autograd],
        ["Not counted", page.about.counts.higher_order_operators > 0 && `${plural(page.about.counts.higher_order_operators, "higher-order operator")}, which no backend has kernels for`],
        ["All backends", make("a", { href: page.linkTo("coverage") }, "as a picture")],
      ]),
      !group && [
        countsTable("Served by", found, found.services, servedBy, (row) => serviceMeaning(key, row), isBroken),
        isBroken && make("p", { class: "dim" }, page.words.served_means),
        countsTable("Trains by", found, found.trainings, trainsBy, trainingMeaning, true),
      ],
      selection("served-by", "Show operators served by", options, coverage.service, draw),
      body,
    ],
  };
}

/** The groups of operators on all backends: each cell opens the list of its operators. short: the first groups alone. */
function overviewParts(short) {
  const { title, matrices } = page.data.coverage.overview;
  const choice = backendChoice(page.backends.map((one) => one.key), "", "");
  if (matrices.length === 0) return [paragraph("No backend has kernels of its own."), choice];
  const shownOnes = short ? matrices.slice(0, 2).map(({ rows, ...one }) => ({ ...one, rows: rows.slice(0, 8) })) : matrices;
  return [
    make("p", { class: "lead" }, `${title}: percent that are served, and by what.`),
    legend(matrices[0].legend),
    shownOnes.map((one) => blockMatrix(one.head || "All operators", one, ([key, options]) => coverageLink(key, groupOf(options)))),
    short ? paragraph(make("a", { href: page.linkTo("coverage") }, "All groups, by namespace, tag and kind of schema")) : choice,
  ];
}

/** The group that options of the command choose; nothing for all operators. */
function groupOf(options) {
  return options.at(-1) ?? "";
}

/** The groups of the picture, with what it says of each on a backend. */
function overviewGroups(key) {
  const rows = page.data.coverage.overview.matrices.flatMap((one) => one.rows);
  const cells = rows.flatMap(([, ...all]) => all.filter(([, , [backend]]) => backend === key));
  return cells.map(([, title, [, options]]) => ({ group: groupOf(options), title })).filter(({ group }) => group);
}

function coverageLink(key, group) {
  return `${page.linkTo("coverage", key)}${group && `?${new URLSearchParams({ group })}`}`;
}

/** How many operators are served, in the words of the command: of those of which it is known. */
function servedShare({ chosen, served, not_known: unknown, percent }) {
  const known = chosen - unknown;
  const verb = known === 1 || served === 1 ? "is" : "are";
  const share = percent === null ? "" : ` (${page.percentText(served, known)} %)`;
  const others = unknown > 0 ? `, ${unknown.toLocaleString("en-US")} not known` : "";
  return `${served.toLocaleString("en-US")} of ${plural(known, "operator")} ${verb} served${share}${others}`;
}

function backendChoice(keys, key, group) {
  const options = page.backends.map((one) => [one.key, one.device ? `${one.key} (${one.device})` : one.key]);
  const all = keys.includes(key) ? options : [["", "choose one"], ...options];
  return selection("backend", "Backend", all, key, (chosen) => { location.hash = coverageLink(chosen, group); });
}

/** withServed: whether fewer operators than those counted may be served. */
function countsTable(header, { chosen }, rows, label, meaning, withServed) {
  const columns = [
    [header, label],
    ["Operators", (row) => row.operators.toLocaleString("en-US"), "number"],
    ["%", (row) => page.percentText(row.operators, chosen), "number"],
    ["Served", (row) => (withServed ? row.served.toLocaleString("en-US") : ""), "number"],
    ["Meaning", meaning],
  ];
  return table(header, columns, rows);
}

/** What serves an operator, in the words of the command. */
function servedBy({ service, source, lack, otherwise }) {
  const { services } = page.words;
  if (otherwise) return `not known, or ${services[otherwise]}`;
  if (service === "composite") return source ?? "composite";
  if (service === "above") return `kernel at ${source}`;
  if (lack && lack !== "missing") return `nothing: ${lack.replaceAll("-", " ")}`;
  return services[service];
}

function serviceMeaning(key, { service, lack }) {
  return (lack ? page.words.lacks_mean[lack] : page.words.services_mean[service]).replaceAll("KEY", key);
}

/** How an operator trains, in the words of the command. */
function trainsBy({ training, gradient }) {
  const name = training.replaceAll("-", " ");
  return gradient ? `${name}: ${gradient.replaceAll("-", " ")}` : name;
}

function trainingMeaning({ training, gradient }) {
  return gradient ? page.words.gradients_mean[gradient] : page.words.trainings_mean[training];
}

function coverageTable(key, rows) {
  const columns = [
    ["Operator", (row) => make("a", { href: page.link(row.operator, row.slot ?? key) }, row.operator)],
    ["Served by", servedBy],
    ["Trains by", trainsBy],
    ["Kernel", (row) => (row.kernel ? page.shortKernel(row.kernel) : "")],
    ["Declared at", (row) => placeOf(row)],
  ];
  return table(plural(rows.length, "operator"), columns, rows);
}
