/* The dispatch keys of the universe: functionalities in order of priority, backends, aliases; and one key. */

function keysView(argument) {
  const { keys } = page;
  if (argument !== null) return keyView(argument);
  const perBackend = keys.functionalities.filter((one) => one.per_backend);
  return {
    title: `Dispatch keys of ${keys.universe}`,
    command: page.command("keys"),
    parts: [
      make("p", { class: "lead" }, `${plural(keys.functionalities.length, "functionality", "functionalities")} and ${plural(keys.backends.length, "backend")} make ${plural(keys.keys.length, "runtime key")}; ${plural(keys.aliases.length, "alias key")}.`),
      paragraph("The page does not have the keys that a tensor carries, such as a nested one on CUDA under autocast:"),
      commandLine(page.command("tensor")),
      section("Functionalities that are per backend", keyGrid(perBackend)),
      section("Priority", paragraph("A call goes to the highest key of its set."), table("Highest first", [
        ["Priority", (one) => String(one.priority), "number"],
        ["Functionality", (one) => (one.per_backend ? one.functionality : keyLink(one.keys[0]))],
        ["Keys", (one) => (one.per_backend ? plural(one.keys.length, "key") : "")],
        ["Core fallback", (one) => (one.per_backend ? "" : coreOf(one.keys[0]))],
      ], keys.functionalities)),
      section("Alias keys", table("What they cover", [
        ["Alias", (one) => keyLink(one.alias)],
        ["Rule", (one) => (one.rule_number === null ? "" : `${one.rule_number} ${page.words.rules[one.rule] ?? one.rule}`)],
        ["Covers", (one) => plural(page.covers(one.alias), "slot")],
      ], keys.aliases)),
    ],
  };
}

function keyLink(key) {
  return make("a", { href: page.linkTo("keys", key) }, key);
}

function coreOf(key) {
  const core = page.keys.keys.find((one) => one.key === key)?.core;
  return core && core !== "nothing" ? core : "";
}

function keyGrid(functionalities) {
  const backends = page.keys.backends.map((one) => one.backend);
  const signs = { nothing: ".", fallback: "f", kernel: "f", fallthrough: ">" };
  const byPlace = new Map(page.keys.keys.map((one) => [`${one.functionality} ${one.backend}`, one]));
  const cell = (one) => make("a", { class: "slot", href: page.linkTo("keys", one.key), title: one.key }, signs[one.core] ?? "f", make("span", { class: "unseen" }, ` ${one.key}: ${one.core}`));
  const body = make("tbody", {}, functionalities.map((row) => make("tr", {}, make("th", { scope: "row" }, row.functionality),
    backends.map((backend) => {
      const one = byPlace.get(`${row.functionality} ${backend}`);
      return make("td", {}, one && cell(one));
    }))));
  body.addEventListener("keydown", gridKey);
  body.querySelectorAll("a").forEach((link, at) => link.setAttribute("tabindex", at === 0 ? "0" : "-1"));
  const head = make("tr", {}, make("td", {}, make("span", { class: "unseen" }, "Functionality")), backends.map((backend) => make("th", { scope: "col" }, make("span", {}, backend))));
  return make("div", { class: "rows" }, make("table", { class: "grid" },
    make("caption", {}, "What PyTorch itself registers for all operators: f a fallback, > a fallthrough, . nothing"), make("thead", {}, head), body));
}

function keyView(name) {
  const { keys } = page;
  const key = keys.keys.find((one) => one.key === name);
  const alias = keys.aliases.find((one) => one.alias === name);
  if (!key && !alias) return { title: "No such key", parts: [paragraph("The universe has no dispatch key ", make("code", {}, name), "."), paragraph(make("a", { href: page.linkTo("keys") }, "All keys"))] };
  const fallbacks = page.fallbacks.filter((one) => one.key === name);
  return {
    title: name,
    command: page.command("key", name),
    parts: [
      key && facts([
        ["Functionality", key.functionality],
        ["Backend", key.backend],
        ["Priority", `${key.priority} of ${keys.functionalities.length}, 1 is the lowest`],
        ["Slot", `${key.slot} of ${keys.keys.length}, 0 is Undefined`],
        ["Enum id", String(key.id)],
        ["Devices", Object.entries(keys.devices).filter(([, one]) => one === name).map(([device]) => device).join(", ")],
        ["Core fallback", coreOf(name) || "none"],
        ["Filled by", keys.aliases.filter((one) => one.covers.includes(name)).map((one, at) => [at > 0 ? ", " : "", keyLink(one.alias)])],
      ]),
      alias && facts([["Rule", alias.rule_number === null ? "" : `${alias.rule_number} ${page.words.rules[alias.rule] ?? alias.rule}`]]),
      alias && section(`Covers ${plural(page.covers(name), "slot")}`, make("p", {}, alias.covers.map((one, at) => [at > 0 ? ", " : "", keyLink(one)]), alias.fills_undefined ? `, ${page.slots[0]}` : "")),
      fallbacks.length > 0 && section("Backend fallback", fallbackTable(fallbacks)),
      paragraph(make("a", { href: page.linkTo("keys") }, "All keys")),
    ],
  };
}
