/* What serves each operator on one backend, and whether it trains there. */

const coverage = { key: null, service: "" };

function coverageView(argument) {
  const keys = page.backends.map((one) => one.key);
  const key = argument ?? coverage.key ?? mainBackend(keys);
  if (!keys.includes(key)) {
    return { title: "No such backend", parts: [paragraph("Coverage is asked for a backend; ", make("code", {}, key), " is none."), backendChoice(keys, "")] };
  }
  Object.assign(coverage, { key, service: chosenIn("served") ?? "" });
  const found = page.coverage(key);
  const [line, body] = [make("div", {}), make("div", {})];
  const served = (service) => found.operators.filter((one) => one.service === service);
  const groups = [...new Set(found.services.map((one) => one.service))];
  const options = [["", counted("all", found.operators.length)], ...groups.map((group) => [group, counted(page.words.services[group], served(group).length)])];
  if (!groups.includes(coverage.service)) coverage.service = "";
  const draw = (service) => {
    coverage.service = service;
    keepChoice("served", service || null);
    const chosen = service ? served(service) : found.operators;
    line.replaceChildren(commandLine(page.command("coverage", key, service)));
    body.replaceChildren(...nodes([coverageTable(key, chosen)]));
    say(plural(chosen.length, "operator"));
  };
  draw(coverage.service);
  const { device, autograd } = found.backend;
  const isBroken = found.trainings.some(({ training }) => training === "broken");
  return {
    title: `Coverage of ${key}`,
    parts: [
      line,
      backendChoice(keys, key),
      make("p", { class: "lead" }, servedShare(found)),
      facts([
        ["Device", device],
        ["Autograd at", autograd],
        ["Not counted", page.about.counts.higher_order_operators > 0 && `${plural(page.about.counts.higher_order_operators, "higher-order operator")}, which no backend has kernels for`],
      ]),
      countsTable("Served by", found, found.services, servedBy, (row) => serviceMeaning(key, row), isBroken),
      isBroken && make("p", { class: "dim" }, page.words.served_means),
      countsTable("Trains by", found, found.trainings, trainsBy, trainingMeaning, true),
      selection("served-by", "Show operators served by", options, coverage.service, draw),
      body,
    ],
  };
}

/** How many operators are served, in the words of the command: of those of which it is known. */
function servedShare({ chosen, served, not_known: unknown, percent }) {
  const known = chosen - unknown;
  const verb = known === 1 || served === 1 ? "is" : "are";
  const share = percent === null ? "" : ` (${page.percentText(served, known)} %)`;
  const others = unknown > 0 ? `, ${unknown.toLocaleString("en-US")} not known` : "";
  return `${served.toLocaleString("en-US")} of ${plural(known, "operator")} ${verb} served${share}${others}`;
}

/** The backend that coverage starts with: PrivateUse1 where the files say something of it, else the first one. */
function mainBackend(keys) {
  const own = page.entries.some((entry) => entry.own);
  return own && keys.includes("PrivateUse1") ? "PrivateUse1" : keys[0];
}

function backendChoice(keys, key) {
  const options = page.backends.map((one) => [one.key, one.device ? `${one.key} (${one.device})` : one.key]);
  return selection("backend", "Backend", options, key, (chosen) => { location.hash = page.linkTo("coverage", chosen); });
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
