/* Coverage: groups of operators on all backends as a picture, and each operator on one backend. */

function coverageView(key) {
  const { overview, options } = page.data.coverage;
  if (key === null) return { title: "What serves the operators", command: page.command("overview"), parts: [backendChoice("", ""), writtenParts(overview)] };
  if (!page.backends.has(key)) {
    return { title: "No such backend", parts: [paragraph("Coverage is asked for a backend; ", make("code", {}, key), " is none."), backendChoice("", "")] };
  }
  const group = Object.hasOwn(options, chosenIn("group") ?? "") ? chosenIn("group") : "";
  const { share, facts: rows, services, tables } = page.backends.get(key);
  const operators = page.coverage(key, group);
  const served = (service) => operators.filter((operator) => service === "" || operator.service === service);
  const counts = [["", "all"], ...services].map(([service, words]) => [service, `${words} (${served(service).length.toLocaleString("en-US")})`]);
  const [service] = counts.find(([known]) => known === chosenIn("served")) ?? [""];
  return {
    title: `Coverage of ${key}${group && `, ${group}`}`,
    command: page.command("coverage", key, [service && `--served-by ${service}`, options[group]].filter(Boolean).join(" ")),
    parts: [
      backendChoice(key, group),
      !group && make("p", { class: "lead" }, share),
      page.backends.get(key).not_built && make("p", { class: "note" }, page.backends.get(key).not_built),
      facts([...rows.filter(([label]) => !group || label !== "Served by"), ["All backends", make("a", { href: page.linkTo("coverage") }, "as a picture")]]),
      !group && writtenParts(tables),
      selection("served-by", "Show operators served by", counts, service, (value) => choose("served", value)),
      table("Operators", [["Operator"], ["Served by"], ["Trains by"], ["Kernel"], ["Declared at"]],
        served(service).map((row) => [operatorLink(row.operator, row.slot ?? key, row.operator), ...row.words, row.kernel, placeOf(row.place)])),
    ],
  };
}

function coverageLink(key, group, served) {
  const chosen = new URLSearchParams({ ...(group && { group }), ...(served && { served }) }).toString();
  return `${page.linkTo("coverage", key)}${chosen && `?${chosen}`}`;
}

function backendChoice(key, group) {
  const options = [...page.backends.values()].map((backend) => [backend.key, backend.name]);
  return selection("backend", "Backend", key ? options : [["", "choose one"], ...options], key, (chosen) => {
    location.hash = coverageLink(chosen, group, chosenIn("served"));
  });
}
