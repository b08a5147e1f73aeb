/* An operator: its schema, its slots as a grid or as rows, its registrations and findings; beside it, one slot. */

/** The view of slots: "grid" or "rows", the same for all operators. */
let slotsAs = "grid";

function operatorView({ name, key }) {
  const operatorTable = page.table(name);
  const slot = key !== null ? slotView(name, key) : null;
  return {
    title: key === null ? name : `${name} at ${key}`,
    heading: key === null ? [name] : [make("a", { href: page.link(name) }, name), " at ", key],
    parts: [
      operatorTable.schema ? make("p", { class: "schema mono" }, operatorTable.schema) : paragraph("No schema is declared: it is registered, but not defined."),
      make("div", { class: slot ? "beside two" : "beside", },
        markedSlot(make("div", { class: "operator-view" }, operatorParts(operatorTable)), key),
        slot),
    ],
  };
}

function operatorParts(operatorTable) {
  const entry = page.entry(operatorTable.operator);
  const registered = page.register(operatorTable.operator);
  const facing = [
    ["Declared at", placeOf(operatorTable)],
    ["Alias analysis", registered.alias_analysis],
    ["Tags", registered.tags.join(", ")],
    ["The files change", operatorTable.new ? "all: the operator is new" : entry.changed > 0 && `${plural(entry.changed, "slot")}`],
    ["Findings", entry.findings > 0 && make("span", { class: page.words.severity_tones[entry.worst] }, `${entry.findings}, below`)],
    ["Stale", entry.stale > 0 && plural(entry.stale, "slot")],
  ];
  const findings = page.findingsOf(operatorTable.operator);
  return [
    facts(facing),
    slotsSection(operatorTable),
    entry.findings > 0 && section("Findings", findings.length > 0 && findingCards(findings, 10), unlistedNote(operatorTable.operator)),
    registrationsSection(operatorTable.operator, registered),
  ];
}

function slotsSection(operatorTable) {
  const chosen = (way) => {
    slotsAs = way;
    show();
  };
  return section("Dispatch table",
    choices("How slots are shown", [["grid", "Grid", "g"], ["rows", "Rows", "r"]], slotsAs, chosen),
    commandLine(page.command(slotsAs, operatorTable.operator)),
    slotsAs === "grid" ? slotGrid(operatorTable) : slotRows(operatorTable),
    operatorTable.notes.map((note) => make("p", { class: "note" }, note.text)));
}

/** A view of an operator, with the slot that is shown marked in the grid or the rows. */
function markedSlot(container, key) {
  for (const link of key === null ? [] : container.querySelectorAll("[data-slots]")) {
    if (!JSON.parse(link.dataset.slots).includes(key)) continue;
    link.setAttribute("aria-current", "true");
    link.closest("tr.row")?.classList.add("chosen");
  }
  return container;
}

function registrationsSection(name, registered) {
  const columns = [
    ["Key", (row) => (row.alias ? [row.key, make("span", { class: "dim" }, " [alias]")] : make("a", { href: page.link(name, row.key) }, row.key))],
    ["Kernel", (row) => [make("span", { title: row.kernel }, page.shortKernel(row.kernel)), row.wraps ? ` wraps ${wrapped(row.wraps)}` : ""], "long"],
    ["Signature", (row) => row.signature ?? "", "long"],
    ["State", (row) => (row.active ? "active" : "overridden")],
    ["Fills", (row) => filled(row), "number"],
    ["When", (row) => row.when ?? ""],
    ["Declared at", (row) => placeOf(row)],
  ];
  return section("Registrations",
    commandLine(page.command("register", name)),
    registered.kernels.length > 0
      ? table(plural(registered.kernels.length, "kernel"), columns, registered.kernels)
      : paragraph("No kernel is registered."),
    registered.python_kernels.length > 0 && pythonKernels(registered.python_kernels));
}

/** Kernels of the Python dispatcher. */
function pythonKernels(kernels) {
  const columns = [
    ["Python dispatcher key", (row) => row.key],
    ["Kernel", (row) => row.kernel],
    ["When", (row) => row.when ?? ""],
    ["Declared at", (row) => placeOf(row)],
  ];
  return table(plural(kernels.length, "Python kernel"), columns, kernels);
}

function wrapped(wraps) {
  return typeof wraps === "string" ? wraps : Object.values(wraps).filter((value) => typeof value === "string").join(" ");
}

function filled(row) {
  if (!row.active) return "";
  return row.alias ? `${row.fills} of ${plural(row.covers, "slot")}` : plural(row.fills, "slot");
}

/** Place of a declaration in a file, or the embedded state that has it. */
function placeOf(thing) {
  const place = thing.declared_at;
  if (place) return sourceLink(page.placeUrl(place), page.placeText(place), `${place.file}:${place.line}:${place.column}`);
  return thing.state ?? "";
}
