/* The state as a whole: where to start. */

function startView() {
  const { about, data, support } = page;
  const [ownTitle, own] = data.views.own;
  return {
    title: "What PyTorch's dispatcher decides, and why",
    parts: [
      make("p", { class: "lead" }, about.lead),
      paragraph("An operator has a slot for each dispatch key: what a call runs there, such as on CPU, or for gradients on CUDA. PyTorch fills it by ten rules; open a slot to see which, and why."),
      paragraph("Start with ", page.entries.slice(0, 3).map(({ name }, at) => [at > 0 ? ", " : "", operatorLink(name)]), "."),
      facts([
        ["Changed by the files", about.has_changes && make("a", { href: "#!changes" }, about.changes)],
        ["Findings", make("a", { href: "#!findings" }, data.findings.outcome)],
        ["Stale slots", about.stale],
      ]),
      support !== null && section("Where the operators work", commandLine(page.command("support")), writtenParts(support.blocks)),
      support === null && section("What serves the operators on each backend", commandLine(page.command("overview")), writtenParts(data.coverage.overview)),
      paragraph(make("kbd", {}, "/"), " finds an operator by parts of its name. Each view shows the command that prints the same. To try changes out, use ", make("code", {}, "dispatch-cli explore"), "; this page shows one state as it is."),
      own.length > 0 && section(ownTitle, writtenParts(own)),
    ],
  };
}
