/* Findings: how many there are of each check, then one card for each. */

function findingsView() {
  const all = page.rankedFindings();
  const total = page.findingChecks.reduce((sum, row) => sum + row.findings, 0);
  const check = page.findingChecks.find((row) => row.check === chosenIn("check"))?.check ?? "";
  const more = page.unlisted(check);
  const options = [["", counted("all", total)], ...page.findingChecks.map((row) => [row.check, counted(row.check, row.findings)])];
  return {
    title: "Findings",
    command: page.command("findings"),
    parts: [
      writtenParts(page.data.written.findings),
      total > 0 && selection("of-check", "Show findings of", options, check, (value) => choose("check", value)),
      more > 0 && [paragraph(`${plural(more, "more finding")} ${more === 1 ? "is" : "are"} not listed on this page. This command lists all:`), commandLine(page.command("all-findings"))],
      findingCards(check ? all.filter((finding) => finding.check === check) : all, 100),
    ],
  };
}

/** Number of findings of an operator that the page does not list, and the command that lists them. */
function unlistedNote(name) {
  const more = page.unlistedOf(name);
  return more > 0 && [
    paragraph(`${plural(more, "finding")} of this operator ${more === 1 ? "is" : "are"} not listed on this page, which has very many. This command lists ${more === 1 ? "it" : "them"}:`),
    commandLine(page.command("operator-findings", name)),
  ];
}

function severityRun(severity) {
  return make("span", { class: page.words.severity_tones[severity] }, severity);
}

function findingCards(findings, step) {
  const cards = make("div", {});
  return inSteps(cards, cards, findings, step, findingCard);
}

function findingCard(finding) {
  const about = finding.operator && page.entry(finding.operator);
  const related = finding.related.map((other) => ["Note", [`${other.message} `, placeOf(other)]]);
  return make("article", { class: `card ${finding.severity}` },
    paragraph(severityRun(finding.severity), " ", make("code", {}, `${finding.code} ${finding.check}`)),
    paragraph(finding.message),
    facts([
      ["Slot", about && finding.key && make("a", { href: page.link(finding.operator, finding.key) }, `${finding.operator} at ${finding.key}`)],
      ["Operator", about && !finding.key && make("a", { href: page.link(finding.operator) }, finding.operator)],
      ["Declared at", placeOf(finding)],
      ["When", finding.when],
      ...Object.entries(finding.details).map(([label, value]) => [capital(label), value]),
      ...related,
      ["Tip", finding.tip],
    ]),
    fixOf(finding));
}

/** The fix of a finding, as the declarations that the command proposes. */
function fixOf({ fingerprint }) {
  const text = page.fixes[fingerprint];
  return text !== undefined && declarations("A fix, as declarations", text);
}

/** Declarations that can be opened and copied. */
function declarations(title, text) {
  return make("details", {}, make("summary", {}, title), make("pre", {}, codeLines(text)), copyButton(text, "Copy the fix"));
}

/** Lines of code as they are: what is not text in them is spelled out. */
function codeLines(text) {
  return text.trimEnd().split("\n").map((line, at) => document.createTextNode(`${at > 0 ? "\n" : ""}${page.safe(line)}`));
}
