/* Higher-order operators: the list, and one of them. */

function higherOrderView() {
  const entries = page.entries.filter((entry) => entry.higher_order);
  return {
    title: "Higher-order operators",
    command: page.command("all-tables"),
    parts: [
      make("p", { class: "lead" }, "Operators such as cond take functions as arguments, and are implemented in Python."),
      entries.length > 0 ? entriesTable(entries) : paragraph("There is none in this state."),
    ],
  };
}

function higherOrderOperatorView({ name, key }) {
  const found = page.higherOrder(name);
  const folded = page.foldHigherOrder(found);
  const at = key === null ? null : found.entries.find((row) => row.key === key);
  const columns = [
    ["Key", ({ keys }) => keyRun(name, keys)],
    ["Kernel", ({ answer }) => answer.kernel ?? page.words.slots?.[answer.slot] ?? answer.slot],
    ["Rule", ({ answer }) => (answer.rule ? page.words.rules[answer.rule] ?? answer.rule : "")],
    ["From", ({ answer }) => (answer.source === answer.key ? "" : answer.source ?? "")],
    ["Declared at", ({ answer }) => placeOf(answer)],
  ];
  return {
    title: key === null ? name : `${name} at ${key}`,
    heading: headingOf(name, key),
    command: page.command("table", name),
    parts: [
      paragraph("Higher-order operator"),
      key !== null && (at ? make("p", { class: "lead" }, [`${key}: `, at.kernel ?? at.error ?? at.slot].join("")) : paragraph("No slot is called ", make("code", {}, key), ".")),
      facts([["Declared at", placeOf(found)], ["Has side effects", found.side_effect && "yes"], ["Mutates its arguments", found.mutates && "yes"]]),
      page.findingsOf(name).map(findingCard),
      unlistedNote(name),
      section("Dispatch table", table(plural(found.entries.length, "slot"), columns, folded.rows), folded.aside.map(({ title, tone, runs }) => asideLine(name, title, tone, runs))),
      section("Implementations", table(plural(found.impls.length, "implementation"), [
        ["Asked for", (one) => one.kind],
        ["Name", (one) => one.name || (one.registered_at ?? []).join(", ")],
        ["Kernel", (one) => one.kernel ?? ""],
        ["Fills", (one) => (one.fills ? plural(one.fills, "slot") : ""), "number"],
        ["Declared at", (one) => placeOf(one)],
      ], found.impls)),
    ],
  };
}
