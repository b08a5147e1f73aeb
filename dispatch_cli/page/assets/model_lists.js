"use strict";
/* Search, coverage, links, and the command lines that print what the page shows. */
Object.assign(Page.prototype, {
  /* Operators for what is typed: whole texts before texts that begin so, parts of texts, and letters in that order. */
  search(text, limit = 200) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) {
      return { total: this.entries.length, found: this.entries.slice(0, limit).map((entry) => ({ entry, marks: [] })) };
    }
    const found = [];
    for (const entry of this.entries) {
      const match = matched(entry.name, wanted);
      if (match !== null) found.push({ entry, ...match });
    }
    found.sort((one, other) =>
      one.cost - other.cost || one.entry.name.length - other.entry.name.length || (one.entry.name < other.entry.name ? -1 : 1));
    return { total: found.length, found: found.slice(0, limit).map(({ entry, marks }) => ({ entry, marks })) };
  },

  coverage(key) {
    const { backends, answers, class: classes } = this.data.coverage;
    const found = backends.find((one) => one.backend.key === key);
    if (found === undefined) return null;
    return {
      universe: this.about.universe,
      over: this.about.over,
      over_assumed: this.about.over_assumed,
      backend: found.backend,
      ...found.counts,
      overlay: found.overlay,
      operators: classes.map((one, number) => this.covered(number, answers[found.answers[one]])),
    };
  },

  covered(number, { otherwise, autocast, vmap, ...answer }) {
    const operator = this.data.operators.name[number];
    let found = null;
    if (answer.source !== null) {
      found = answer.rule === "fallback" ? this.fallbackAt.get(answer.source) ?? null : null;
      if (answer.rule !== "fallback") {
        const [active] = this.registrations(number).get(answer.source) ?? [null];
        found = active === null ? null : { ...active, ...active.of };
      }
    }
    const base = operator.split(".", 1)[0];
    return {
      operator,
      family: base.endsWith("_") && !base.endsWith("__") && !base.endsWith(":_") ? base.slice(0, -1) : base,
      ...answer,
      kernel: found === null ? null : found.kernel,
      otherwise,
      declared_at: found === null ? null : found.declared_at,
      ...this.origin(found ?? {}),
    };
  },

  // links

  link(name, key = null) {
    return `#${linked(name)}${key === null ? "" : `/${linked(key)}`}`;
  },

  linkTo(view, argument = null) {
    return `#!${linked(view)}${argument === null ? "" : `/${linked(argument)}`}`;
  },

  /* What a link leads to; null for what leads nowhere. */
  target(hash) {
    const isView = hash.startsWith("#!");
    const parts = hash.slice(isView ? 2 : 1).split("/").map(unlinked);
    if (!parts[0] || parts.includes(null) || parts.length > 2) return null;
    const [first, second = null] = parts;
    if (isView) return { view: first, argument: second };
    return { name: first, key: second, entry: this.entry(first) };
  },

  // command lines

  command(view, ...args) {
    const source = this.about.arguments;
    const glob = (name) => name.replace(/[[*?]/g, "[$&]");
    const commands = {
      table: (name) => ["table", ...source, "--op", glob(name)],
      "all-rows": (name) => ["table", ...source, "--op", glob(name), "--all"],
      grid: (name) => ["table", ...source, "--op", glob(name), "--view", "grid"],
      explain: (name, key) => ["explain", name, key, ...source],
      register: (name) => ["register", ...source, "--op", glob(name)],
      findings: () => ["check-invariants", ...source],
      coverage: (key) => ["coverage", key, ...source],
      changes: () => ["table", ...source],
      fallbacks: () => ["register", ...source],
      keys: () => ["keys", ...this.universeArguments()],
      key: (key) => ["keys", key, ...this.universeArguments()],
      page: () => ["page", ...source],
    };
    return ["dispatch-cli", ...commands[view](...args)].map((one) => this.quoted(one)).join(" ");
  },

  /* What `keys` needs for the universe of the page: the one that was named, and the name of the backend at PrivateUse1. */
  universeArguments() {
    const { arguments: source, universe, privateuse1 } = this.about;
    const named = source.lastIndexOf("--universe");
    const own = privateuse1 === "privateuseone" ? [] : ["--privateuse1", privateuse1];
    return ["--universe", named < 0 ? universe : source[named + 1], ...own];
  },

  /* As a POSIX shell reads it; control characters spelled out. */
  quoted(text) {
    if (/^[\w@%+=:,./-]+$/.test(text)) return text;
    const shown = this.safe(text);
    if (shown !== text) return `$'${shown.replace(/'/g, "\\'")}'`;
    return `'${text.replace(/'/g, "'\"'\"'")}'`;
  },
});

/* How well a name fits: the cost, and the parts of the name that are meant. */
function matched(name, wanted) {
  const lower = name.toLowerCase();
  const bare = lower.indexOf("::") < 0 ? 0 : lower.indexOf("::") + 2;
  const at = lower.indexOf(wanted, lower.startsWith(wanted) ? 0 : bare) >= 0
    ? lower.indexOf(wanted, lower.startsWith(wanted) ? 0 : bare) : lower.indexOf(wanted);
  if (at >= 0) {
    const whole = at + wanted.length === lower.length || lower[at + wanted.length] === ".";
    const start = at === 0 || at === bare;
    return { cost: (start ? (whole ? 0 : 1) : 2) * 1000, marks: [[at, at + wanted.length]] };
  }
  const letters = wanted.replaceAll(" ", "");
  const places = inOrder(lower, letters, bare) ?? inOrder(lower, letters, 0);
  if (places === null) return null;
  const marks = [];
  for (const place of places) {
    const last = marks[marks.length - 1];
    if (last !== undefined && last[1] === place) last[1] = place + 1;
    else marks.push([place, place + 1]);
  }
  return { cost: 3000 + 100 * marks.length + marks[marks.length - 1][1] - marks[0][0], marks };
}

/* Where letters are in a text, in their order and close together; null where they are not. */
function inOrder(text, letters, start) {
  let end = start;
  for (let at = 0; at < letters.length; at += 1) {
    const found = text.indexOf(letters[at], end);
    if (found < 0) return null;
    end = found + 1;
  }
  const places = [];
  for (let at = letters.length - 1; at >= 0; at -= 1) {
    end = text.lastIndexOf(letters[at], end - 1);
    places.unshift(end);
  }
  return places;
}

/* A name as a part of a link. Half a pair of surrogates has no form in links of its own. */
function linked(text) {
  const whole = text.replace(/[~\ud800-\udfff]/gu, (sign) => `~${sign.codePointAt(0).toString(16)}.`);
  return encodeURIComponent(whole).replace(/%3A/g, ":").replace(/%2C/g, ",");
}

function unlinked(text) {
  try {
    return decodeURIComponent(text).replace(/~([0-9a-f]{2,4})\./g, (_, code) => String.fromCharCode(parseInt(code, 16)));
  } catch {
    return null;
  }
}
