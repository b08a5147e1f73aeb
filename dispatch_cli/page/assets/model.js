"use strict";
/* Data of a page, decoded. Python has decided and worded everything in it; this finds it, and puts it together. There
   is no document here, so that all of it runs in tests.
   OWN, FALLBACK: in the place of a key: that of the slot itself, and the backend fallback of the slot; NO_KEY is -2. */
const OWN = -1;
const FALLBACK = -3;

class Page {
  constructor(data) {
    this.data = data;
    this.about = data.about;
    this.support = data.support;
    this.slots = data.key_names.slice(0, data.slots);
    this.slotOf = new Map(this.slots.map((key, slot) => [key, slot]));
    this.backends = new Map(data.coverage.backends.map((backend) => [backend.key, backend]));
    this.fallbacks = new Map(this.registered(data.operators.fallbacks).map((registration) => [registration.key, registration]));
    this.words = new Map(Object.entries(data.operator_words));
    const { standing, standings } = data.listing;
    const names = [...data.operators.name, ...data.higher_order.map(([name]) => name)];
    this.entries = data.order.map((number) => ({ name: names[number], number, blocks: data.higher_order[number - data.operators.name.length]?.[1], ...standings[standing[number]] }));
    this.byName = new Map(this.entries.map((entry) => [entry.name, entry]));
  }

  entry(name) {
    return this.byName.get(name) ?? null;
  }

  findingsOf(name, key = null) {
    return this.data.findings.cards.filter((card) => card.operator === name && (key === null || card.key === key));
  }

  // search

  /* Operators for what is typed, the best first: names that have every word; of equals those of the files. */
  search(text) {
    const words = searchedWords(text);
    const rows = this.entries.map((entry) => ({ entry, places: words.map((word) => placeIn(entry.name.toLowerCase(), word)) }));
    const matches = rows.filter(({ places }) => !places.includes(-1));
    const cost = ({ entry, places }) => places.filter((at) => at > 0 && entry.name[at - 1] !== ":").length;
    if (words.length > 0) matches.sort((row, other) => cost(row) - cost(other) || other.entry.own - row.entry.own || row.entry.name.length - other.entry.name.length);
    return matches.map(({ entry }) => entry);
  }

  // links, and the command lines that print what the page shows

  link(name, key = null) {
    return `#${linked(name)}${key === null ? "" : `/${linked(key)}`}`;
  }

  linkTo(view, argument = null) {
    return `#!${linked(view)}${argument === null ? "" : `/${linked(argument)}`}`;
  }

  /* Target of a link; null for a link that leads nowhere. */
  target(hash) {
    const isView = hash.startsWith("#!");
    const [first, second = null, ...others] = hash.slice(isView ? 2 : 1).split("/").map(unlinked);
    const isWhole = others.length === 0 && (second !== null || !hash.includes("/"));
    if (isView && !isWhole) return { view: hash.slice(2), argument: null };
    if (isView) return { view: first || hash.slice(2), argument: second };
    return first && isWhole ? { name: first, key: second, entry: this.entry(first) } : null;
  }

  command(view, about = "", more = "") {
    const [before, after] = this.data.commands[view];
    return [before, about, after, more].filter(Boolean).join(" ");
  }

  /* An operator in a command: as --op takes it, or else by its name. */
  word(name, isGlob = true) {
    return this.words.get(name)?.[isGlob ? 0 : 1] ?? name;
  }

  // the parts of answers

  /* A slot in words: what its code means, and its kernel where that says more. */
  slotWords({ cell: [meaning], kernel, bare = kernel }) {
    return bare && !meaning.startsWith(bare) ? `${meaning}, ${bare}` : meaning;
  }

  kernel(number) {
    const [front, rest] = this.data.kernels[number];
    const [words, whole, folder] = this.data.fronts[front];
    const [, file, line] = /^([\w.-]+):(\d+)/.exec(rest) ?? [];
    return { kernel: words + rest, bare: rest || words, whole: whole + rest, kernelUrl: folder && file ? `${folder}${file}#L${line}` : null };
  }

  /* A place: its short text, the whole one, and its address. */
  place(number) {
    const [text, whole = text, url = null] = this.data.places[number] ?? [""];
    return { text, whole, url };
  }

  keyAt(number, own) {
    return number === OWN ? own : this.data.key_names[number] ?? null;
  }

  /* Registrations in a row; of several at a key the active one comes first. */
  registered(row) {
    const kernels = [];
    for (let at = 0; at < row.length; at += 4) {
      const [signature, when] = this.data.operators.attributes[row[at + 2]];
      kernels.push({ key: this.data.key_names[row[at]], ...this.kernel(row[at + 1]), signature, when, place: this.place(row[at + 3]) });
    }
    return kernels;
  }

  /* Each operator with its service on a backend, those of the files first; in a group, where one is given: aten::*, or a tag. */
  coverage(key, group = "") {
    const { class: classes, answers, groups, group_lists: lists } = this.data.coverage;
    const names = this.data.operators.name;
    const isIn = (number) => (!group || group.endsWith("::*") ? names[number].startsWith(group.slice(0, -1)) : lists[groups[number]].includes(group));
    const { answers: ofClass } = this.backends.get(key);
    const rows = classes.flatMap((kind, number) => (isIn(number) ? [{ operator: names[number], ...this.covered(number, answers[ofClass[kind]]) }] : []));
    return rows.sort((row, other) => this.entry(other.operator).own - this.entry(row.operator).own);
  }

  covered(number, answer) {
    const { source, is_fallback: isFallback } = answer;
    const kernels = isFallback || source === null ? [] : this.registered(this.data.operators.kernels[number]);
    const registration = isFallback ? this.fallbacks.get(source) : kernels.find((kernel) => kernel.key === source);
    return { ...answer, kernel: registration?.kernel ?? "", place: registration?.place ?? this.place(-1) };
  }

  /* The table of an operator: what it has in common with others, and its kernels. */
  table(name) {
    const { number } = this.entry(name);
    const { schema, header, headers, place, table, kernels, python } = this.data.operators;
    const shared = this.data.tables[table[number]];
    const registrations = this.registered(kernels[number]).map((registration, at) => {
      const [isAlias, state, fills] = shared.kernels[at];
      return { ...registration, isAlias, state, fills };
    });
    return {
      ...shared,
      name,
      schema: schema[number],
      facts: headers[header[number]],
      place: this.place(place[number]),
      slots: this.slots.map((key, slot) => ({
        ...this.held(this.data.decisions[shared.plan[2 * slot]], key, registrations),
        cell: this.data.cells[shared.cells[slot]], before: shared.before[slot] ?? "", live: shared.live[slot] ?? null,
      })),
      registrations,
      python: python[number].map(([key, kernel, at, when]) => ({ key, kernel, place: this.place(at), when })),
    };
  }

  /* What a slot holds by a decision. taken: a registration that is not the active one. */
  held([rule, ruleNumber, source, kernel, without], key, registrations, taken) {
    const from = this.keyAt(source, key);
    const registration = taken ?? (source === FALLBACK ? this.fallbacks.get(key) : registrations.find((other) => other.key === from));
    const nothing = { kernel, whole: kernel, kernelUrl: null, when: "", place: this.place(-1) };
    return {
      ...(registration ?? nothing), rule, ruleNumber, source: from, key, isOwn: source === OWN,
      without: without && this.held(without, key, registrations),
    };
  }

  /* A slot explained: the rules in turn, the registrations concerned, what would come next, and advice; null where the
     page does not have it. */
  explain(name, key) {
    const slot = this.slotOf.get(key);
    if (slot === undefined) return null;
    const table = this.table(name);
    const { decisions, reasons, lines, above, below } = this.data;
    const [rules, concerned, next] = reasons[table.plan[2 * slot + 1]];
    const answer = table.slots[slot];
    const decision = decisions[table.plan[2 * slot]];
    const [, overridden] = table.registrations.filter((registration) => registration.key === answer.source);
    const following = overridden ? decision : decisions[next];
    const around = (places) => table.slots[places[slot]] ?? null;
    return {
      answer,
      rules: rules.map((line) => lines[line].map(([text, tone]) => [text === OWN ? key : text, tone])),
      registrations: concerned.flatMap((part) => this.concerned(part, key, table.registrations)),
      next: following && !answer.without ? this.held(following, key, table.registrations, overridden) : null,
      above: around(above),
      below: around(below),
      advice: this.data.advice.values[this.data.advice.operators[this.entry(name).number]?.[slot]] ?? null,
    };
  }

  concerned([place, does, tone, overridden], key, registrations) {
    if (place === FALLBACK) return [{ ...this.fallbacks.get(key), does, tone }];
    const [active, ...others] = registrations.filter((registration) => registration.key === this.keyAt(place, key));
    return [{ ...active, does, tone }, ...(overridden ? others.map((other) => ({ ...other, does: overridden, tone: "dim" })) : [])];
  }
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

/* A name as a part of a link. A "!" at its beginning would make the link one of a view. */
function linked(text) {
  return encodeURIComponent(text).replace(/%3A/g, ":").replace(/%2C/g, ",").replace(/^!/, "%21");
}

function unlinked(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/* The data in the text of an element. */
async function unpacked(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old for this page: it has no DecompressionStream.");
  }
  const packed = Uint8Array.from(atob(text.trim()), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/* The page of the text in the element with the data. */
async function loadPage(text) {
  return new Page(await unpacked(text));
}
