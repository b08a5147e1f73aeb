"use strict";
/* Coverage, links, and the command lines that print what the page shows. */
Object.assign(Page.prototype, {
  coverage(key) {
    const { backends, answers, class: classes } = this.data.coverage;
    const found = backends.find((one) => one.backend.key === key);
    if (found === undefined) return null;
    return {
      universe: this.about.universe,
      over: this.about.over,
      over_files: this.about.over_files,
      over_assumed: this.about.over_assumed,
      backend: found.backend,
      ...found.counts,
      overlay: found.overlay,
      operators: classes.map((one, number) => this.covered(number, answers[found.answers[one]])),
    };
  },

  /* What there is to say of a backend that the embedded build lacks; null for another key. */
  notBuilt(key) {
    return this.data.coverage.backends.find((one) => one.backend.key === key)?.not_built ?? null;
  },

  /* Whether an operator is in a group: all, a namespace, such as aten::*, or a tag. */
  isIn(name, group) {
    if (!group || group.endsWith("::*")) return name.startsWith(group.slice(0, -1));
    const { groups, group_lists: lists } = this.data.coverage;
    return lists[groups[this.numbers.get(name)]].includes(group);
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

  /* What a link leads to; null for what leads nowhere. beyond: what a view has no part for. */
  target(hash) {
    const isView = hash.startsWith("#!");
    const [first, second = null, ...others] = hash.slice(isView ? 2 : 1).split("/").map(unlinked);
    const isWhole = others.length === 0 && (second !== null || !hash.includes("/"));
    if (isView && first && !isWhole) return { view: first, argument: null, beyond: hash.slice(hash.indexOf("/") + 1) };
    if (isView) return { view: first || hash.slice(2), argument: second };
    return first && isWhole ? { name: first, key: second, entry: this.entry(first) } : null;
  },

  // command lines

  command(view, ...args) {
    const source = this.about.arguments;
    const glob = (name) => this.operatorGlob(name);
    const commands = {
      table: (name) => ["table", ...source, "--op", glob(name), "--view", "rows"],
      "all-rows": (name) => ["table", ...source, "--op", glob(name), "--full"],
      grid: (name) => ["table", ...source, "--op", glob(name), "--view", "grid"],
      python: (name) => ["table", ...source, "--op", glob(name), "--resolver", "differences"],
      history: (name) => ["history", this.whole(name)],
      resolve: (name) => ["resolve", this.whole(name), ...source, "--tensor", "cpu"],
      explore: () => ["explore", ...this.whatIsShown()],
      explain: (name, key) => ["explain", this.whole(name), key, ...source],
      register: (name) => ["register", ...source, "--op", glob(name)],
      findings: () => ["check-invariants", "--severity", "info", ...source],
      "all-findings": () => ["check-invariants", "--severity", "info", ...source, "--full"],
      "operator-findings": (name) => ["check-invariants", "--severity", "info", ...source, "--op", glob(name)],
      coverage: (key, service, group) => ["coverage", key, ...source, ...(service ? ["--served-by", service] : []), ...grouped(group)],
      overview: () => ["coverage", ...source],
      changes: () => (this.about.diff !== null ? ["diff", ...this.about.diff.arguments] : commands["all-tables"]()),
      "all-tables": () => ["table", ...source],
      fallbacks: () => ["register", ...source, "--view", "fallbacks"],
      keys: () => ["keys", ...this.universeArguments()],
      key: (key) => ["keys", key, ...this.universeArguments()],
      tensor: () => ["keys", "--tensor", "cuda nested", "--context", "autocast cuda", ...this.universeArguments()],
      page: () => ["page", ...this.whatIsShown()],
      support: () => ["support", ...source],
      call: (name, call) => ["resolve", name, ...source, ...givenTo(call)],
      trace: (name) => ["trace", this.data.trace.argument, ...(name === null ? [] : ["--op", glob(name)])],
      "trace-call": (number) => ["trace", this.data.trace.argument, "--explain", number],
    };
    return ["dispatch-cli", ...commands[view](...args)].map((one) => this.quoted(one)).join(" ");
  },

  /* The arguments of a command that shows it all: --trace loads the state that --base names at the end, and its calls. */
  whatIsShown() {
    const { arguments: source } = this.about;
    return this.data.trace === null ? source : [...source.slice(0, -2), "--trace", this.data.trace.argument];
  },

  /* What chooses an operator with --op, and no other. */
  operatorGlob(name) {
    const exact = this.whole(name).replace(/[[*?]/g, "[$&]");
    return this.overloaded.has(name) ? `${exact}.default` : exact;
  },

  /* A name with its namespace, which higher-order operators are listed without: no option begins so. */
  whole(name) {
    return this.entry(name)?.higher_order ? `higher_order::${name}` : name;
  },

  /* What `keys` needs for the universe of the page: the one that was named, and the name of the backend at PrivateUse1. */
  universeArguments() {
    const { universe_argument: universe, privateuse1 } = this.about;
    return ["--universe", universe, ...(privateuse1 === "privateuseone" ? [] : ["--privateuse1", privateuse1])];
  },

  /* One word for a shell. What cannot be seen is spelled in bytes: bash gives the same text back, whatever its locale. */
  quoted(text) {
    if (/^[\w@%+=:,./-]+$/.test(text)) return text;
    if (this.safe(text) === text && !/[\ud800-\udfff]/u.test(text)) return `'${text.replace(/'/g, "'\"'\"'")}'`;
    const plain = (sign) => this.safe(sign) === sign && !/[\\'!\ud800-\udfff]/u.test(sign);
    return `$'${Array.from(text, (sign) => (plain(sign) ? sign : ansiQuoted(sign))).join("")}'`;
  },
});

/* What chooses a group of operators. */
function grouped(group) {
  return group ? [group.endsWith("::*") ? "--op" : "--tag", group] : [];
}

/* What `resolve` is told of a call. */
function givenTo({ tensors, contexts, arguments: others }) {
  const given = { "--tensor": tensors, "--context": contexts, "--argument": others };
  return Object.entries(given).flatMap(([option, values]) => values.flatMap((value) => [option, value]));
}

/* A character within $'…'. */
function ansiQuoted(sign) {
  const short = { "\\": "\\\\", "'": "\\'", "\t": "\\t", "\n": "\\n", "\r": "\\r" }[sign];
  return short ?? bytesOf(sign.codePointAt(0)).map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

/* A character in UTF-8. U+DC80 to U+DCFF stand for bytes that are no text, as in Python's names of files. */
function bytesOf(code) {
  if (code < 0x80) return [code];
  if (code >= 0xdc80 && code <= 0xdcff) return [code - 0xdc00];
  const rest = (shift) => 0x80 | ((code >> shift) & 0x3f);
  if (code < 0x800) return [0xc0 | (code >> 6), rest(0)];
  if (code < 0x10000) return [0xe0 | (code >> 12), rest(6), rest(0)];
  return [0xf0 | (code >> 18), rest(12), rest(6), rest(0)];
}
