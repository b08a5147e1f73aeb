/* Findings: how many there are of each check, then one card for each. */

function findingsView() {
  const { summary, checks, unlisted, cards } = page.data.findings;
  const [check] = checks.find(([id]) => id === chosenIn("check")) ?? [""];
  return {
    title: "Findings",
    command: page.command("findings"),
    parts: [
      writtenParts(summary),
      checks.length > 1 && selection("of-check", "Show findings of", checks, check, (value) => choose("check", value)),
      unlisted[check] && [paragraph(unlisted[check]), commandLine(page.command("all-findings"))],
      findingCards(check ? cards.filter((card) => card.check === check) : cards, 100),
    ],
  };
}

/** Number of findings of an operator that the page does not list, and the command that lists them. */
function unlistedNote({ name, unlisted }) {
  return unlisted && [paragraph(unlisted), commandLine(page.command("operator-findings", page.word(name)))];
}

function findingCards(cards, step) {
  const container = make("div", {});
  return inSteps(container, container, cards, step, findingCard);
}

function findingCard({ severity, tone, code, check, message, facts: rows, fix }) {
  const lead = (text, to) => (Array.isArray(to) ? operatorLink(...to, text) : to ? sourceLink(text, text, to) : text);
  return make("article", { class: `card ${severity}` },
    paragraph(toned([severity, tone]), " ", make("code", {}, `${code} ${check}`)),
    paragraph(message),
    facts(rows.map(([label, text, to]) => [label, lead(text, to)])),
    fix !== null && declarations("A fix, as declarations", fix));
}

/** Declarations that can be opened and copied. */
function declarations(title, text) {
  return make("details", {}, make("summary", {}, title), code(text), copyButton(text, "Copy the fix"));
}

/** Lines of code as they are. */
function code(text) {
  const block = make("pre", {});
  block.textContent = text.trimEnd();
  return block;
}
