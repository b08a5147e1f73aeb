"use strict";
/* Searches, coverage, links, and the command lines that print what the page shows. */
Object.assign(Page.prototype, {
  /* Operators for what is typed, the best first: names that have every word. */
  search(text) {
    const words = searchedWords(text);
    const rows = this.entries.map((entry) => ({ entry, places: words.map((word) => placeIn(entry.name.toLowerCase(), word)) }));
    const matches = rows.filter(({ places }) => !places.includes(-1));
    const cost = ({ entry, places }) => places.filter((at) => at > 0 && entry.name[at - 1] !== ":").length;
    if (words.length > 0) matches.sort((row, other) => cost(row) - cost(other) || row.entry.name.length - other.entry.name.length);
    return matches.map(({ entry }) => entry);
  },

  /* The places of letters of a name that a query finds. */
  marksIn(name, query) {
    return new Set(searchedWords(query).flatMap((word) => {
      const start = placeIn(name.toLowerCase(), word);
      return start < 0 ? [] : Array.from(word, (_, at) => start + at);
    }));
  },

  /* Service of each operator on a backend; null for another key. */
  coverage(key) {
    const { backends, answers, class: classes } = this.data.coverage;
    const row = backends.find((backend) => backend.backend.key === key);
    return row === undefined ? null : classes.map((kind, number) => this.covered(number, answers[row.answers[kind]]));
  },

  /* Note on a backend that the embedded build lacks; null for another key. */
  notBuilt(key) {
    return this.data.coverage.backends.find((backend) => backend.backend.key === key)?.not_built ?? null;
  },

  /* True if an operator is in a group: all, a namespace, such as aten::*, or a tag. */
  isIn(name, group) {
    if (!group || group.endsWith("::*")) return name.startsWith(group.slice(0, -1));
    const { groups, group_lists: lists } = this.data.coverage;
    return lists[groups[this.numbers.get(name)]].includes(group);
  },

  covered(number, answer) {
    const { rule, source } = answer;
    const fallback = this.fallbackAt.get(source);
    const [active] = (rule === "fallback" ? fallback && [{ ...fallback, of: fallback }] : this.registrations(number).get(source)) ?? [];
    return {
      operator: this.data.operators.name[number],
      ...answer,
      kernel: active?.kernel ?? null,
      declared_at: active?.declared_at ?? null,
      state: active?.of.state ?? null,
    };
  },

  // links

  link(name, key = null) {
    return `#${linked(name)}${key === null ? "" : `/${linked(key)}`}`;
  },

  linkTo(view, argument = null) {
    return `#!${linked(view)}${argument === null ? "" : `/${linked(argument)}`}`;
  },

  /* Target of a link; null for a link that leads nowhere. */
  target(hash) {
    const isView = hash.startsWith("#!");
    const [first, second = null, ...others] = hash.slice(isView ? 2 : 1).split("/").map(unlinked);
    const isWhole = others.length === 0 && (second !== null || !hash.includes("/"));
    if (isView && !isWhole) return { view: hash.slice(2), argument: null };
    if (isView) return { view: first || hash.slice(2), argument: second };
    return first && isWhole ? { name: first, key: second, entry: this.entry(first) } : null;
  },

  // command lines

  command(view, ...args) {
    const source = this.about.arguments;
    const glob = (name) => this.operatorGlob(name);
    const commands = {
      table: (name) => ["table", ...source, "--op", glob(name), "--view", "rows"],
      rows: (name) => ["table", ...source, "--op", glob(name), "--full"],
      grid: (name) => ["table", ...source, "--op", glob(name), "--view", "grid"],
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
      page: () => ["page", ...source],
      support: () => ["support", ...source],
      call: (name, call) => ["resolve", name, ...source, ...givenTo(call)],
    };
    return ["dispatch-cli", ...commands[view](...args)].map((word) => this.quoted(word)).join(" ");
  },

  /* Value of --op that chooses an operator, and no other. */
  operatorGlob(name) {
    const exact = this.whole(name).replace(/[[*?]/g, "[$&]");
    return this.overloaded.has(name) ? `${exact}.default` : exact;
  },

  /* A name with its namespace, which higher-order operators are listed without: no option begins so. */
  whole(name) {
    return this.entry(name)?.higher_order ? `higher_order::${name}` : name;
  },

  /* Options of `keys` for the universe of the page: its name, and that of the backend at PrivateUse1. */
  universeArguments() {
    const { universe_argument: universe, privateuse1 } = this.about;
    return ["--universe", universe, ...(privateuse1 === "privateuseone" ? [] : ["--privateuse1", privateuse1])];
  },

  /* One word for a shell. What cannot be seen is spelled in bytes: bash gives the same text back, whatever its locale. */
  quoted(text) {
    if (/^[\w@%+=:,./-]+$/.test(text)) return text;
    if (this.safe(text) === text && !/[\ud800-\udfff]/u.test(text)) return `'${text.replace(/'/g, "'\"'\"'")}'`;
    return `$'${Array.from(text, (sign) => (/[\w ]/.test(sign) ? sign : inBytes(sign))).join("")}'`;
  },
});

/* Options that choose a group of operators. */
function grouped(group) {
  return group ? [group.endsWith("::*") ? "--op" : "--tag", group] : [];
}

/* Options of `resolve` for a call. */
function givenTo({ tensors, contexts, arguments: others }) {
  const given = { "--tensor": tensors, "--context": contexts, "--argument": others };
  return Object.entries(given).flatMap(([option, values]) => values.flatMap((value) => [option, value]));
}

/* A character within $'…'. U+DC80 to U+DCFF stand for bytes that are no text, as in Python's names of files. */
function inBytes(sign) {
  const code = sign.codePointAt(0);
  const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code;
  return byte < 0x80 || byte !== code ? `\\x${byte.toString(16).padStart(2, "0")}` : encodeURIComponent(sign).replaceAll("%", "\\x");
}

/* Letters of a query that are looked for. */
const MOST_LETTERS = 80;

/* The words of a query, in small letters. A name may be written as in PyTorch's Python. */
function searchedWords(query) {
  const text = query.slice(0, MOST_LETTERS).trim().toLowerCase().replace(/^torch\.(?:_?ops)\.(\w+)\./, "$1::");
  return text.replace(/^(aten|prims|higher_order)\./, "$1::").replace(/^higher_order::/, "").replace(/\.default$/, "").split(/\s+/).filter(Boolean);
}

/* The place of a word in a name, behind its namespace if it is there; -1 where it is not in it. */
function placeIn(name, word) {
  const inside = name.indexOf(`::${word}`);
  return inside < 0 ? name.indexOf(word) : inside + 2;
}
