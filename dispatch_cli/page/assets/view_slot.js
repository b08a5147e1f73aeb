/* One slot: what it holds and why, by the rules in turn and the registrations that matter. */

function slotView(name, key) {
  const found = page.explain(name, key);
  const part = make("section", { class: "slot-view", "aria-label": `${name} at ${key}` });
  if (!found) {
    part.append(...nodes([make("h2", {}, "No such slot"), paragraph(`No dispatch key of ${page.about.universe} that is a slot is called `, make("code", {}, key), ".")]));
    return part;
  }
  const code = page.code(found.answer);
  part.append(...nodes([
    make("h2", {}, make("span", { class: code.tone }, capital(code.meaning))),
    commandLine(page.command("explain", name, key)),
    found.stale && make("p", { class: "bad" }, found.stale),
    found.answer.rule !== "kernel" && found.advice === null && page.notBuilt(key) && make("p", { class: "note" }, page.notBuilt(key)),
    facts(slotFacts(name, found)),
    page.findingsOf(name, key).map(findingCard),
    unlistedNote(name),
    adviceParts(found.advice),
    make("h3", {}, "The rules in turn"),
    rulesTable(found),
    make("h3", {}, "Registrations that matter here"),
    found.registrations.length > 0 ? slotRegistrations(found) : paragraph("Nothing is registered that covers this key."),
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

/** What a slot holds and its kernel, in a few words; what the one says the other does not say again. */
function heldAround(row) {
  if (row.fallthrough) return kernelText(row);
  const kernel = row.core_fallback ? page.shortKernel(row.kernel) : kernelText(row);
  return [page.code(row).meaning, kernel].filter(Boolean).join(", ");
}

/** What would help, as `explain` says it; where the page does not have it, who says it. */
function adviceParts(advice) {
  if (advice === null) return make("p", { class: "dim" }, "This page has no advice for this slot. There may be some: the command above prints it.");
  return advice.lines.map(([label, ...texts], at) => [
    make("p", { class: "note advice" }, make("strong", {}, label), ...texts),
    advice.fixes[at] && declarations("The first way, as declarations", advice.fixes[at], `way-${at + 1}`),
  ]);
}

function rulesTable(found) {
  const columns = [
    ["#", (rule) => [fired(rule, found) && make("span", { class: "kernel" }, "\u25b6 "), String(rule.rule_number)], "number"],
    ["Rule", (rule) => rule.name],
    ["Looks at", (rule) => rule.looks_at.join(", ")],
    ["Outcome", (rule) => make("span", { class: rule.reached ? "" : "dim" }, rule.text)],
  ];
  return table("Ten rules; the first that applies fills the slot", columns, found.rules, { chosen: (rule) => fired(rule, found) });
}

function fired(rule, { answer }) {
  return rule.reached && rule.rule_number === answer.rule_number;
}

function slotRegistrations({ operator, registrations }) {
  const columns = [
    ["Registered at", (one) => one.key],
    ["Kernel", (one) => kernelText(one) || "none"],
    ["What it does", (one) => one.text],
    ["When", (one) => one.when ?? ""],
    ["Declared at", (one) => placeOf(one)],
  ];
  return table(`For ${operator}`, columns, registrations, { chosen: (one) => one.role === "fills" });
}
