/* The state as a whole: where to start, what the files change, fallbacks, and what the page was made from. */

function startView() {
  const { counts } = page.about;
  return {
    title: "What PyTorch's dispatcher decides, and why",
    parts: [
      make("p", { class: "lead" }, `${plural(counts.operators, "operator")} with ${plural(counts.slots, "slot")}, and ${plural(counts.higher_order_operators, "higher-order operator")}: ${stateText()}.`),
      paragraph("An operator has a slot for each dispatch key: what a call runs there, such as on CPU, or for gradients on CUDA. PyTorch fills it by ten rules; open a slot to see which, and why."),
      paragraph("Start with ", page.entries.slice(0, 3).map(({ name }, at) => [at > 0 ? ", " : "", make("a", { href: page.link(name) }, name)]), "."),
      facts([
        ["Changed by the files", hasChanges() && make("a", { href: "#!changes" }, changesText())],
        ["Findings", make("a", { href: "#!findings" }, page.data.written.outcome)],
        ["Stale slots", counts.stale_slots > 0 && counts.stale_slots.toLocaleString("en-US")],
      ]),
      page.data.support !== null && section("Where the operators work", commandLine(page.command("support")), writtenParts(page.data.support.blocks)),
      page.data.support === null && section("What serves the operators on each backend", commandLine(page.command("overview")), overviewParts()),
      paragraph(make("kbd", {}, "/"), " finds an operator by parts of its name. Each view shows the command that prints the same. To try changes out, use ", make("code", {}, "dispatch-cli explore"), "; this page shows one state as it is."),
      ownOperators(),
    ],
  };
}

/** True if there is a state below the files that they can be compared with. */
function hasChanges() {
  return page.about.has_base && page.about.names.length > 0;
}

function stateText() {
  const { names: named, over } = page.about;
  const count = named.length;
  const shownFiles = count > 3 ? `${named.slice(0, 2).join(", ")} and ${count - 2} more` : named.join(", ");
  return [shownFiles, over.length > 0 && `${named.length > 0 ? "over " : "of "}${over.join(", ")}`].filter(Boolean).join(" ") || page.about.universe;
}

function ownOperators() {
  const own = page.entries.filter((entry) => entry.own);
  return own.length > 0 && section("Operators of these files", entriesTable(own));
}

function entriesTable(entries) {
  const columns = [
    ["Operator", (entry) => make("a", { href: page.link(entry.name) }, entry.name)],
    ["Kind", (entry) => [entry.new && "new", entry.higher_order && "higher-order"].filter(Boolean).join(", ")],
    ["Slots changed", (entry) => (entry.changed > 0 ? String(entry.changed) : ""), "number"],
    ["Stale", (entry) => (entry.stale > 0 ? String(entry.stale) : ""), "number"],
    ["Findings", (entry) => (entry.findings > 0 ? String(entry.findings) : ""), "number"],
    ["Worst finding", (entry) => (entry.findings > 0 ? severityRun(entry.worst) : "")],
  ];
  return table(plural(entries.length, "operator"), columns, entries);
}

/** Operators that differ from what they are below the files. */
function changedOperators() {
  return page.entries.filter((entry) => entry.changed > 0 || entry.new);
}

/** Size of the changes, in the words of the command; of a state that `diff` cannot compare, the number of operators. */
function changesText() {
  return page.about.diff?.outcome ?? plural(changedOperators().length, "operator");
}

function changesView() {
  return {
    title: "What the files change",
    command: page.command("changes"),
    parts: [
      page.about.diff !== null ? writtenParts(page.about.diff.blocks) : make("p", { class: "lead" }, page.about.has_base
        ? `Compared with ${page.about.below}: ${changesText()}.`
        : "There is no state below the files to compare with: everything is theirs."),
      section("Operators that change", entriesTable(changedOperators())),
    ],
  };
}

function aboutView() {
  const { about } = page;
  return {
    title: "What this page was made from",
    command: page.command("page"),
    parts: [
      facts([
        ["dispatch-cli", about.dispatch_cli],
        ["Universe", about.universe],
        ["PyTorch", about.torch],
        ["Over", [...about.over, ...about.over_files].join(", ") + (about.over_assumed ? " (assumed: neither files nor --base name another)" : "")],
        ["Operators", `${about.counts.operators.toLocaleString("en-US")}, without higher-order ones`],
        ["Higher-order operators", about.counts.higher_order_operators.toLocaleString("en-US")],
        ["Slots", about.counts.slots.toLocaleString("en-US")],
      ]),
      about.files.length > 0 && section("Files", table("By name", [
        ["File", (file) => file.name],
        ["SHA-256", (file) => file.sha256 ?? ""],
      ], about.files), about.more_files > 0 && paragraph(`${plural(about.more_files, "more file")} that the page does not name.`)),
      section("What it does not have", paragraph("The page shows one state as it is: it loads nothing, sends nothing, and runs nothing of what it names. To simulate calls, try changes out, or compare states and versions, use ", make("code", {}, "dispatch-cli resolve"), ", ", make("code", {}, "explore"), ", ", make("code", {}, "diff"), " and ", make("code", {}, "history"), ".")),
    ],
  };
}
