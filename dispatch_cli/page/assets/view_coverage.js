/* Coverage: groups of operators on all backends as a picture, and each operator on one backend. */

function coverageView(argument) {
  if (argument === null) return { title: "What serves the operators", command: page.command("overview"), parts: overviewParts() };
  const keys = page.backends.map((backend) => backend.key);
  if (!keys.includes(argument)) {
    return { title: "No such backend", parts: [paragraph("Coverage is asked for a backend; ", make("code", {}, argument), " is none."), backendChoice(keys, "", "")] };
  }
  const key = argument;
  const group = chosenIn("group") ?? "";
  const row = page.data.coverage.backends.find((backend) => backend.backend.key === key);
  const operators = page.coverage(key).filter((operator) => page.isIn(operator.operator, group));
  const served = (service) => operators.filter((operator) => operator.service === service);
  const services = row.counts.services.map((count) => count.service).filter((service) => served(service).length > 0);
  const options = [["", counted("all", operators.length)], ...services.map((service) => [service, counted(page.words.services[service], served(service).length)])];
  const service = services.find((known) => known === chosenIn("served")) ?? "";
  const { share, served_by: servedBy, tables, backend: { device, autograd } } = row;
  return {
    title: `Coverage of ${key}${group && `, ${group}`}`,
    command: page.command("coverage", key, service, group),
    parts: [
      backendChoice(keys, key, group),
      make("p", { class: "lead" }, group ? plural(operators.length, "operator") : share),
      !group && servedBy && paragraph(`${capital(servedBy)}.`),
      page.notBuilt(key) && make("p", { class: "note" }, page.notBuilt(key)),
      facts([
        ["Device", device],
        ["Autograd at", autograd],
        ["Not counted", page.about.counts.higher_order_operators > 0 && `${plural(page.about.counts.higher_order_operators, "higher-order operator")}, which no backend has kernels for`],
        ["All backends", make("a", { href: page.linkTo("coverage") }, "as a picture")],
      ]),
      !group && writtenParts(tables),
      selection("served-by", "Show operators served by", options, service, (value) => choose("served", value)),
      coverageTable(key, service ? served(service) : operators),
    ],
  };
}

/** The groups of operators on all backends: each cell opens the list of its operators. */
function overviewParts() {
  const { title, matrices } = page.data.coverage.overview;
  const choice = backendChoice(page.backends.map((backend) => backend.key), "", "");
  if (matrices.length === 0) return [paragraph("No backend has kernels of its own."), choice];
  return [
    make("p", { class: "lead" }, title),
    choice,
    legend(matrices[0].legend),
    matrices.map((drawn) => blockMatrix(drawn.head || "All operators", drawn, ([key, options]) => coverageLink(key, groupOf(options)))),
  ];
}

/** The group that options of the command choose; nothing for all operators. */
function groupOf(options) {
  return options.at(-1) ?? "";
}

function coverageLink(key, group, served) {
  const chosen = new URLSearchParams({ ...(group && { group }), ...(served && { served }) }).toString();
  return `${page.linkTo("coverage", key)}${chosen && `?${chosen}`}`;
}

function backendChoice(keys, key, group) {
  const options = page.backends.map((backend) => [backend.key, backend.device ? `${backend.key} (${backend.device})` : backend.key]);
  const all = keys.includes(key) ? options : [["", "choose one"], ...options];
  return selection("backend", "Backend", all, key, (chosen) => { location.hash = coverageLink(chosen, group, chosenIn("served")); });
}

function coverageTable(key, rows) {
  const columns = [
    ["Operator", (row) => make("a", { href: page.link(row.operator, row.slot ?? key) }, row.operator)],
    ["Served by", (row) => row.words[0]],
    ["Trains by", (row) => row.words[1]],
    ["Kernel", (row) => (row.kernel ? page.shortKernel(row.kernel) : "")],
    ["Declared at", (row) => placeOf(row)],
  ];
  return table(plural(rows.length, "operator"), columns, rows);
}
