/* An operator: its schema, its slots as a grid or as rows, its registrations and findings; beside it, one slot. */

/** The view of slots: "grid" or "rows", the same for all operators. */
let slotsAs = "grid";

function operatorView({ name, key, entry }) {
  const operatorTable = page.table(name);
  const slot = key !== null ? slotView(name, key) : null;
  return {
    title: key === null ? name : `${name} at ${key}`,
    heading: key === null ? [name] : [operatorLink(name), " at ", key],
    parts: [
      make("p", { class: "schema mono" }, operatorTable.schema),
      make("div", { class: slot ? "beside two" : "beside" },
        markedSlot(make("div", { class: "operator-view" }, operatorParts(operatorTable, entry)), key),
        slot),
    ],
  };
}

function operatorParts(operatorTable, entry) {
  const { name, place } = operatorTable;
  return [
    facts([["Declared at", placeOf(place)], ...operatorTable.facts, ["Marked", entry.marks.length > 0 && entry.marks.map(([, text, tone], at) => [at > 0 ? ", " : "", toned([text, tone])])]]),
    slotsSection(operatorTable),
    (entry.unlisted || page.findingsOf(name).length > 0) && section("Findings", findingCards(page.findingsOf(name), 10), unlistedNote(entry)),
    registrationsSection(operatorTable),
  ];
}

function slotsSection(operatorTable) {
  const choice = (way, text, key) => {
    const choose = () => {
      slotsAs = way;
      show();
    };
    return make("button", { type: "button", id: `choose-${way}`, "aria-pressed": String(way === slotsAs), "data-key": key, click: choose }, text);
  };
  return section("Dispatch table",
    make("div", { class: "choices", role: "group", "aria-label": "How slots are shown" }, choice("grid", "Grid", "g"), choice("rows", "Rows", "r")),
    commandLine(page.command(slotsAs, page.word(operatorTable.name))),
    slotsAs === "grid" ? slotGrid(operatorTable) : slotRows(operatorTable),
    writtenParts(operatorTable.notes));
}

/** A view of an operator, with the slot that is shown marked in the grid or the rows. */
function markedSlot(container, key) {
  for (const link of key === null ? [] : container.querySelectorAll("[data-slots]")) {
    if (!link.dataset.slots.split(" ").includes(key)) continue;
    link.setAttribute("aria-current", "true");
    link.closest("tr.row")?.classList.add("chosen");
  }
  return container;
}

function registrationsSection({ name, registrations, python }) {
  const heads = [["Key"], ["Kernel", "long"], ["Signature", "long"], ["State"], ["Fills", "number"], ["When"], ["Declared at"]];
  const rows = registrations.map(({ key, isAlias, kernel, whole, signature, state, fills, when, place }) => [
    isAlias ? make("span", {}, key, make("span", { class: "dim" }, " [alias]")) : operatorLink(name, key),
    make("span", { title: whole }, kernel), signature, state, fills, when, placeOf(place)]);
  const ofPython = python.map(({ key, kernel, when, place }) => [key, kernel, when, placeOf(place)]);
  return section("Registrations",
    commandLine(page.command("register", page.word(name))),
    rows.length > 0 ? table("Kernels", heads, rows) : paragraph("No kernel is registered."),
    ofPython.length > 0 && table("Python kernels", [["Python dispatcher key"], ["Kernel"], ["When"], ["Declared at"]], ofPython));
}
