/* One slot: what it holds and why, by the rules in turn and the registrations that matter. */

function slotView(name, key) {
  const explained = page.explain(name, key);
  const part = (...children) => make("section", { class: "slot-view", "aria-label": `${name} at ${key}` }, children);
  if (!explained) {
    return part(make("h2", {}, "No such slot"), paragraph(`No dispatch key of ${page.about.universe} that is a slot is called `, make("code", {}, key), "."));
  }
  const { answer, rules, registrations, advice } = explained;
  const [meaning, tone] = answer.cell;
  const notBuilt = !answer.isOwn && advice === null && page.backends.get(key)?.not_built;
  return part(
    make("h2", { class: tone }, meaning),
    commandLine(page.command("explain", `${page.word(name, false)} ${key}`)),
    answer.live && make("p", { class: "bad" }, answer.live[0]),
    notBuilt && make("p", { class: "note" }, notBuilt),
    facts(slotFacts(name, explained)),
    page.findingsOf(name, key).map(findingCard),
    unlistedNote(page.entry(name)),
    adviceParts(advice),
    make("h3", {}, "The rules in turn"),
    table("Ten rules; the first that applies fills the slot", [["#", "number"], ["Rule"], ["Looks at"], ["Outcome"]], rules,
      (at) => rules[at][0][0].startsWith(">") && "chosen"),
    make("h3", {}, "Registrations that matter here"),
    registrations.length > 0
      ? table(`For ${name}`, [["Registered at"], ["Kernel"], ["What it does"], ["When"], ["Declared at"]],
        registrations.map((row) => [row.key, row.kernel, [row.does, row.tone], row.when, placeOf(row.place)]), (at) => registrations[at].tone === "kernel" && "chosen")
      : paragraph("Nothing is registered that covers this key."));
}

function slotFacts(name, { answer, next, above, below }) {
  const held = (what) => what && [what.rule, what.kernel].filter(Boolean).join(", ");
  const at = (slot) => slot && [operatorLink(name, slot.key), ": ", page.slotWords(slot)];
  return [
    ["Kernel", answer.kernel && sourceLink(answer.kernel, answer.whole, answer.kernelUrl)],
    ["Rule", `${answer.ruleNumber} ${answer.rule}`],
    ["From", !answer.isOwn && answer.source],
    ["Unless registered by hand", held(answer.without)],
    ["Declared at", placeOf(answer.place)],
    [`In ${page.about.below}`, answer.before || (page.entry(name).in_base && "the same")],
    ["Live table", answer.live?.[1]],
    ["Without this kernel", held(next)],
    ["Above", at(above)],
    ["Below", at(below)],
  ];
}

/** Advice, as `explain` gives it; where the page does not have it, a pointer to the command. */
function adviceParts(advice) {
  if (advice === null) return make("p", { class: "dim" }, "This page has no advice for this slot. There may be some: the command above prints it.");
  return advice.lines.map(([label, ...texts], at) => [
    make("p", { class: "note advice" }, make("strong", {}, label), ...texts),
    advice.fixes[at] && declarations("The first way, as declarations", advice.fixes[at]),
  ]);
}
