"use strict";
/* The dispatch tables of operators: rows, folded rows, grids, and what is registered. */
Object.assign(Page.prototype, {
  table(name) {
    const number = this.numbers.get(name);
    if (number === undefined) return null;
    const { schema, place, notes, note_lists: lists, marks } = this.data.operators;
    const { state, through } = this.origin(this.header(number));
    return {
      operator: name,
      schema: this.text(schema[number]),
      declared_at: this.place(place[number]),
      entries: this.rows(number),
      new: (marks[number] & 2) !== 0,
      notes: lists[notes[number]],
      state,
      through,
    };
  },

  /* The slots for which Python's resolve_key chooses a kernel in Python, or another key. */
  pythonChoices(number) {
    const { operators, rows } = this.data.python;
    const row = operators[number] ?? [];
    const found = [];
    for (let at = 0; at < row.length; at += 4) {
      const [shape, kernel, place, error] = row.slice(at, at + 4);
      found.push({ ...rows[shape], kernel: this.text(kernel), declared_at: this.place(place), error: this.text(error) });
    }
    return found;
  },

  origin(from) {
    return { state: from.state ?? null, through: from.through ?? [] };
  },

  rows(number) {
    const plan = this.data.plans[this.data.operators.plan[number]];
    const registrations = this.registrations(number);
    const live = new Map((this.data.operators.live[number] || []).map(([slot, row]) => [slot, row]));
    const before = new Map(this.data.operators.changes[this.data.operators.before[number]]);
    return this.slots.map((key, slot) =>
      this.row(key, plan[2 * slot], registrations, live.get(slot), before.get(slot) ?? null));
  },

  /* One slot. decision: its number. registered: a registration that is not the active one. */
  row(key, decision, registrations, live, before = null, registered = null) {
    const [rule, number, source, blockers, otherwise] = this.data.decisions[decision];
    const found = registered ?? this.registrationFor(rule, this.keyAt(source, key), key, registrations);
    const kernel = rule === "ambiguous" ? this.data.ambiguous : found === null ? null : found.kernel;
    return {
      key,
      rule,
      rule_number: number,
      kernel,
      fallthrough: found !== null && found.of.fallthrough,
      source: this.keyAt(source, key),
      blockers: blockers.map((one) => this.data.key_names[one]),
      core_fallback: rule === "fallback" && found !== null && found.declared_at === null,
      declared_at: found === null ? null : found.declared_at,
      stale: live !== undefined,
      live_kernel: live === undefined ? kernel : live.kernel,
      before,
      ...this.origin(found === null ? {} : found.of),
      when: found === null ? null : found.of.when,
      otherwise: otherwise === undefined ? null : this.otherwise(otherwise, key, registrations),
    };
  },

  /* The registration that a decision takes; null where it takes none. */
  registrationFor(rule, source, key, registrations) {
    if (source !== null) return registrations.get(source)[0];
    if (rule !== "fallback") return null;
    const { kernel, declared_at, ...of } = this.fallbackAt.get(key);
    return { key, kernel, declared_at, of };
  },

  otherwise([rule, number, source], key, registrations) {
    const found = this.registrationFor(rule, this.keyAt(source, key), key, registrations);
    return {
      rule,
      rule_number: number,
      kernel: rule === "ambiguous" ? this.data.ambiguous : found === null ? null : found.kernel,
      fallthrough: found !== null && found.of.fallthrough,
      source: this.keyAt(source, key),
      declared_at: found === null ? null : found.declared_at,
    };
  },

  /* Equal neighbours as one row; what says little aside. aside: title, tone, and the keys in runs. */
  fold(table) {
    const autograd = new Set(this.data.autograd.map((key) => this.data.key_names[key]));
    const { asides, rules } = this.words;
    const asideOf = (row) => {
      if (row.stale || row.before !== null) return null;
      if (row.otherwise !== null) {
        const { rule, source } = row.otherwise;
        if (rule === "missing") return { title: "not known", missing: true };
        const from = source === null ? "" : ` from ${source}`;
        return { title: `not known (unless registered by hand: ${rules[rule]}${from})`, missing: true };
      }
      if (row.blockers.length) return null;
      if (row.rule === "missing") return { title: asides.missing, missing: true };
      if (row.core_fallback && row.fallthrough) return { title: asides["core-fallthrough"] };
      return row.core_fallback && !autograd.has(row.key) ? { title: asides["core-fallback"] } : null;
    };
    const answerOf = (row) => {
      const live = [row.stale, row.stale ? row.live_kernel : null];
      if (row.core_fallback) return [row.rule, row.fallthrough, row.blockers.length > 0, live, row.before];
      const { key, stale, live_kernel: _, core_fallback: __, state, through, ...rest } = row;
      return [{ ...rest, source: row.rule === "kernel" ? null : row.source }, live];
    };
    const { rows, aside } = folded(table.entries, answerOf, asideOf);
    const order = [asides["core-fallback"], asides["core-fallthrough"], asides.missing];
    const place = (one) => (order.includes(one.title) ? order.indexOf(one.title) : order.length);
    return { rows, aside: aside.sort((one, other) => place(one) - place(other)) };
  },

  /* Functionalities down, backends across, and the slots that are not per backend. */
  grid(table) {
    const rows = new Map(table.entries.map((row) => [row.key, row]));
    const { backends, functionalities } = this.keys;
    const names = backends.map((one) => one.backend);
    const expanded = functionalities.filter((one) => one.per_backend).reverse();
    const label = (one) => one.keys[0].slice(0, one.keys[0].length - (one.keys[0].endsWith(names[0]) ? names[0].length : 0));
    const among = new Set(expanded.flatMap((one) => one.keys));
    return {
      backends: names,
      lines: expanded.map((one) => ({
        label: label(one) || one.functionality,
        cells: one.keys.map((key) => rows.get(key) ?? null),
      })),
      others: table.entries.filter((row) => !among.has(row.key)),
    };
  },

  code(row) {
    const { codes, core_fallback: core, fallthrough, marks } = this.words;
    const [letter, meaning, tone] = row.fallthrough ? fallthrough : row.core_fallback ? core : codes[row.rule];
    const mark = row.stale ? (row.before === null ? "!" : "#") : row.before === null ? "" : "*";
    return { letter, meaning, tone, mark, markMeaning: mark ? marks[mark][0] : "", markTone: mark ? marks[mark][1] : "" };
  },

  /* The codes and marks that a table uses. */
  legend(table) {
    const { codes, core_fallback: core, fallthrough, marks } = this.words;
    const found = table.entries.map((row) => ({ row, code: this.code(row) }));
    const lines = [];
    for (const [letter, meaning, tone] of [...Object.values(codes), core, fallthrough]) {
      const having = found.filter((one) => one.code.letter === letter).map((one) => one.row);
      if (!having.length) continue;
      const names = having.map((row) => (row.core_fallback ? "PyTorch's own" : row.kernel));
      const says = letter !== core[0] && letter !== codes.ambiguous[0];
      const kernels = says ? [...new Set(names.filter((name) => name !== null))] : [];
      lines.push({ letter, meaning, tone, slots: having.length, kernels });
    }
    for (const [mark, [meaning, tone]] of Object.entries(marks)) {
      const slots = found.filter((one) => one.code.mark === mark).length;
      if (slots) lines.push({ mark, meaning, tone, slots, kernels: [] });
    }
    return lines;
  },

  register(name) {
    const number = this.numbers.get(name);
    if (number === undefined) return null;
    const operators = this.data.operators;
    const plan = this.data.plans[operators.plan[number]];
    const fills = new Map();
    this.slots.forEach((key, slot) => {
      const source = this.keyAt(this.data.decisions[plan[2 * slot]][2], key);
      if (source !== null) fills.set(source, (fills.get(source) || 0) + 1);
    });
    const header = this.header(number);
    const kernels = [...this.registrations(number)].flatMap(([key, found]) =>
      found.map((one, position) => {
        const { debug, fallthrough: _, flags, ...of } = one.of;
        return {
          key,
          alias: this.aliases.has(key),
          kernel: one.kernel,
          debug: debug ?? one.kernel,
          active: position === 0,
          fills: position ? 0 : fills.get(key) || 0,
          covers: this.covers(key),
          flags,
          declared_at: one.declared_at,
          ...of,
        };
      }));
    return {
      operator: name,
      schema: this.text(operators.schema[number]),
      debug: header.debug ?? null,
      alias_analysis: header.alias_analysis ?? null,
      tags: header.tags ?? [],
      declared_at: this.place(operators.place[number]),
      ...this.origin(header),
      kernels,
      python_kernels: operators.python[number].map(([key, kernel, place, when]) => ({
        key: this.data.key_names[key], kernel, declared_at: this.place(place), when,
      })),
    };
  },

  /* How many slots a kernel at a key reaches. */
  covers(key) {
    const alias = this.aliases.get(key);
    if (alias === undefined) return this.slotOf.has(key) ? 1 : 0;
    return alias.covers.length + (alias.fills_undefined ? 1 : 0);
  },

  higherOrder(name) {
    const found = this.higherOrders.get(name);
    if (found === undefined) return null;
    const { rows } = this.data.higher_order;
    return { ...found, entries: found.entries.map((row, slot) => ({ key: this.slots[slot], ...rows[row] })) };
  },

  foldHigherOrder(table) {
    const { slots, slots_aside: order } = this.words;
    const asideOf = (row) =>
      order.includes(row.slot) ? { title: slots[row.slot], slot: row.slot, missing: row.slot === "missing" } : null;
    const answerOf = (row) =>
      [row.slot, row.rule, row.source, row.kernel, row.declared_at, row.slot === "ambiguous" ? row.error : null];
    const { rows, aside } = folded(table.entries, answerOf, asideOf);
    return { rows, aside: aside.sort((one, other) => order.indexOf(one.slot) - order.indexOf(other.slot)) };
  },
});

/* As answers/shared/folding.py: a run of rows goes on past slots that hold nothing, and past no others. */
function folded(entries, answerOf, asideOf) {
  const runs = [];
  const aside = new Map();
  let open = false;
  let last = null;
  for (const row of entries) {
    const place = asideOf(row);
    const title = place === null ? null : place.title;
    const answer = place === null ? JSON.stringify(answerOf(row)) : null;
    if (place !== null) {
      if (!aside.has(title)) aside.set(title, { ...place, tone: "dim", runs: [] });
      const found = aside.get(title).runs;
      if (title === last) found[found.length - 1].push(row.key);
      else found.push([row.key]);
      open = open && place.missing === true;
    } else if (open && runs[runs.length - 1].same === answer) {
      runs[runs.length - 1].keys.push(row.key);
    } else {
      runs.push({ keys: [row.key], answer: row, same: answer });
      open = true;
    }
    last = title;
  }
  return { rows: runs.map(({ keys, answer }) => ({ keys, answer })), aside: [...aside.values()] };
}
