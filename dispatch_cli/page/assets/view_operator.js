/* An operator: its schema, its slots as a grid or as rows, its registrations and findings; beside it, one slot. */

/** Views of slots; the choice is kept from one operator to the next, and in the address. */
const SLOTS_AS = ["grid", "rows"];
let slotsAs = SLOTS_AS[0];

function keepSlotsAs(chosen) {
  slotsAs = chosen;
  keepChoice("as", chosen === SLOTS_AS[0] ? null : chosen);
}

/** View of the slots: as the address says, or as before. */
function wantedSlotsAs() {
  return SLOTS_AS.find((way) => way === chosenOn("as", slotsAs)) ?? SLOTS_AS[0];
}

function operatorView({ name, key }) {
  const operatorTable = page.table(name);
  const slot = key !== null ? slotView(name, key) : null;
  return {
    title: key === null ? name : `${name} at ${key}`,
    heading: headingOf(name, key),
    parts: [
      operatorTable.schema ? make("p", { class: "schema mono" }, operatorTable.schema) : paragraph("No schema is declared: it is registered, but not defined."),
      make("div", { class: slot ? "beside two" : "beside", id: "beside" },
        make("div", { class: "operator-view" }, operatorParts(operatorTable)),
        slot),
    ],
  };
}

function headingOf(name, key) {
  return key === null ? [name] : [make("a", { href: page.link(name) }, name), " at ", key];
}

/** Go to another slot of the operator that is shown already: only the slot is new. */
function showAnotherSlot(target) {
  const beside = byId("beside");
  if (!beside || shownTarget?.name !== target.name || !target.entry || target.entry.higher_order) return false;
  if (wantedSlotsAs() !== slotsAs) return false;
  const heading = byId("main").querySelector("h1");
  heading.replaceChildren(...nodes(headingOf(target.name, target.key)));
  beside.querySelector(".slot-view")?.remove();
  beside.classList.toggle("two", target.key !== null);
  if (target.key !== null) beside.append(slotView(target.name, target.key));
  markSlot(beside, target.key);
  const side = isWide();
  keepSlotsAs(slotsAs);
  arrive(target, target.key === null ? target.name : `${target.name} at ${target.key}`);
  if (side) {
    if (target.key !== null) say(beside.querySelector(".slot-view h2")?.textContent ?? "");
    return true;
  }
  window.scrollTo(0, 0);
  heading.focus({ preventScroll: true });
  return true;
}

/** True if a slot stands beside its operator; the same width as in page.css. */
function isWide() {
  return matchMedia("(min-width: 100rem)").matches;
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
  const part = section("Dispatch table");
  const body = make("div", {});
  const draw = (chosen) => {
    keepSlotsAs(chosen);
    const buttons = choices("How slots are shown", [["grid", "Grid", "g"], ["rows", "Rows", "r"]], slotsAs, redraw);
    const command = page.command(slotsAs, operatorTable.operator);
    body.replaceChildren(...nodes([buttons, commandLine(command), slotsAs === "grid" ? slotGrid(operatorTable) : slotRows(operatorTable), operatorTable.notes.map((note) => make("p", { class: "note" }, note.text))]));
    markSlot(body, shownSlotOf(operatorTable.operator));
  };
  const redraw = (chosen) => {
    draw(chosen);
    body.querySelector('[aria-pressed="true"]').focus();
  };
  draw(wantedSlotsAs());
  part.append(body);
  return part;
}

/** The key of the slot that is shown, if it is one of that operator. */
function shownSlotOf(name) {
  const target = wanted();
  return target.name === name ? target.key : null;
}

/** Mark the slot that is shown, in the grid or the rows. */
function markSlot(container, key) {
  for (const link of container.querySelectorAll("[data-slots]")) {
    const here = key !== null && JSON.parse(link.dataset.slots).includes(key);
    if (here) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    link.closest("tr.row")?.classList.toggle("chosen", here);
  }
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
