/* One slot: what it holds and why, by the rules in turn and the registrations that matter. */

function slotView(name, key) {
  const explained = page.explain(name, key);
  const part = make("section", { class: "slot-view", "aria-label": `${name} at ${key}` });
  if (!explained) {
    part.append(...nodes([make("h2", {}, "No such slot"), paragraph(`No dispatch key of ${page.about.universe} that is a slot is called `, make("code", {}, key), ".")]));
    return part;
  }
  const code = page.code(explained.answer);
  part.append(...nodes([
    make("h2", {}, make("span", { class: code.tone }, capital(code.meaning))),
    commandLine(page.command("explain", name, key)),
    explained.stale && make("p", { class: "bad" }, explained.stale),
    explained.answer.rule !== "kernel" && explained.advice === null && page.notBuilt(key) && make("p", { class: "note" }, page.notBuilt(key)),
    facts(slotFacts(name, explained)),
    page.findingsOf(name, key).map(findingCard),
    unlistedNote(name),
    adviceParts(explained.advice),
    make("h3", {}, "The rules in turn"),
    rulesTable(explained),
    make("h3", {}, "Registrations that matter here"),
    explained.registrations.length > 0 ? slotRegistrations(explained) : paragraph("Nothing is registered that covers this key."),
  ]));
  return part;
}

function slotFacts(name, { answer, live, next, above, below, in_base: inBase }) {
  const held = (row) => [page.words.rules[row.rule] ?? row.rule, kernelText(row)].filter(Boolean).join(", ");
  const at = (row) => row && [make("a", { href: page.link(name, row.key) }, row.key), ": ", heldAround(row)];
  return [
    ["Kernel", answer.kernel && sourceLink(page.kernelUrl(answer.kernel), page.shortKernel(answer.kernel), answer.kernel)],
    ["Rule", `${answer.rule_number} ${page.words.rules[answer.rule] ?? answer.rule}`],
    ["From", answer.source !== null && answer.source !== answer.key && answer.source],
    ["Unless registered by hand", answer.otherwise && held(answer.otherwise)],
    ["Declared at", placeOf(answer)],
    [`In ${page.about.below}`, answer.before ? beforeText(answer) || "nothing" : inBase && "the same"],
    ["Live table", live && held(live)],
    ["Without this kernel", next && answer.otherwise === null && held(next)],
    ["Above", at(above)],
    ["Below", at(below)],
  ];
}

/** Meaning of a slot and its kernel, in a few words. */
function heldAround(row) {
  if (row.fallthrough) return kernelText(row);
  const kernel = row.core_fallback ? page.shortKernel(row.kernel) : kernelText(row);
  return [page.code(row).meaning, kernel].filter(Boolean).join(", ");
}

/** Advice, as `explain` gives it; where the page does not have it, a pointer to the command. */
function adviceParts(advice) {
  if (advice === null) return make("p", { class: "dim" }, "This page has no advice for this slot. There may be some: the command above prints it.");
  return advice.lines.map(([label, ...texts], at) => [
    make("p", { class: "note advice" }, make("strong", {}, label), ...texts),
    advice.fixes[at] && declarations("The first way, as declarations", advice.fixes[at]),
  ]);
}

function rulesTable(explained) {
  const columns = [
    ["#", (rule) => [fired(rule, explained) && make("span", { class: "kernel" }, "\u25b6 "), String(rule.rule_number)], "number"],
    ["Rule", (rule) => rule.name],
    ["Looks at", (rule) => rule.looks_at.join(", ")],
    ["Outcome", (rule) => make("span", { class: rule.reached ? "" : "dim" }, rule.text)],
  ];
  return table("Ten rules; the first that applies fills the slot", columns, explained.rules, { chosen: (rule) => fired(rule, explained) });
}

function fired(rule, { answer }) {
  return rule.reached && rule.rule_number === answer.rule_number;
}

function slotRegistrations({ operator, registrations }) {
  const columns = [
    ["Registered at", (row) => row.key],
    ["Kernel", (row) => kernelText(row) || "none"],
    ["What it does", (row) => row.text],
    ["When", (row) => row.when ?? ""],
    ["Declared at", (row) => placeOf(row)],
  ];
  return table(`For ${operator}`, columns, registrations, { chosen: (row) => row.role === "fills" });
}
