"use strict";
/* The dispatch tables of operators: rows, grids, what is registered, and slots explained. */
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
    const registration = registered ?? this.registrationFor(rule, this.keyAt(source, key), key, registrations);
    const kernel = rule === "ambiguous" ? this.data.ambiguous : registration === null ? null : registration.kernel;
    return {
      key,
      rule,
      rule_number: number,
      kernel,
      fallthrough: registration !== null && registration.of.fallthrough,
      source: this.keyAt(source, key),
      blockers: blockers.map((blocker) => this.data.key_names[blocker]),
      core_fallback: rule === "fallback" && registration !== null && registration.declared_at === null,
      declared_at: registration === null ? null : registration.declared_at,
      stale: live !== undefined,
      live_kernel: live === undefined ? kernel : live.kernel,
      before,
      ...this.origin(registration === null ? {} : registration.of),
      when: registration === null ? null : registration.of.when,
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
    const registration = this.registrationFor(rule, this.keyAt(source, key), key, registrations);
    return {
      rule,
      rule_number: number,
      kernel: rule === "ambiguous" ? this.data.ambiguous : registration === null ? null : registration.kernel,
      fallthrough: registration !== null && registration.of.fallthrough,
      source: this.keyAt(source, key),
      declared_at: registration === null ? null : registration.declared_at,
    };
  },

  /* Functionalities down, backends across, and the slots that are not per backend. */
  grid(table) {
    const rows = new Map(table.entries.map((row) => [row.key, row]));
    const { backends, functionalities } = this.keys;
    const names = backends.map((row) => row.backend);
    const expanded = functionalities.filter((row) => row.per_backend).reverse();
    const label = (row) => row.keys[0].slice(0, row.keys[0].length - (row.keys[0].endsWith(names[0]) ? names[0].length : 0));
    const among = new Set(expanded.flatMap((row) => row.keys));
    return {
      backends: names,
      lines: expanded.map((row) => ({
        label: label(row) || row.functionality,
        cells: row.keys.map((key) => rows.get(key) ?? null),
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

  /* The codes and marks that a table uses, each with its number of slots. */
  legend(table) {
    const counts = new Map();
    for (const { letter, meaning, tone, mark, markMeaning, markTone } of table.entries.map((row) => this.code(row))) {
      const used = [[letter, tone, meaning], ...(mark ? [[mark, markTone, markMeaning]] : [])];
      for (const sign of used.map((code) => JSON.stringify(code))) counts.set(sign, (counts.get(sign) ?? 0) + 1);
    }
    return [...counts].map(([sign, slots]) => [...JSON.parse(sign), slots]);
  },

  /* The registrations of an operator; of several at a key the active one first. */
  register(name) {
    const number = this.numbers.get(name);
    const { plan: plans, python } = this.data.operators;
    const plan = this.data.plans[plans[number]];
    const sources = this.slots.map((key, slot) => this.keyAt(this.data.decisions[plan[2 * slot]][2], key));
    const { alias_analysis, tags } = this.header(number);
    const kernels = [...this.registrations(number)].flatMap(([key, registered]) => registered.map((registration, position) => ({
      key,
      alias: this.aliases.has(key),
      kernel: registration.kernel,
      active: position === 0,
      fills: position ? 0 : sources.filter((source) => source === key).length,
      covers: this.covers(key),
      declared_at: registration.declared_at,
      ...registration.of,
    })));
    const pythonKernels = python[number].map(([key, kernel, place, when]) => ({
      key: this.data.key_names[key], kernel, declared_at: this.place(place), when,
    }));
    return { alias_analysis, tags, kernels, python_kernels: pythonKernels };
  },

  /* Number of slots that a kernel at a key reaches. */
  covers(key) {
    const alias = this.aliases.get(key);
    if (alias === undefined) return this.slotOf.has(key) ? 1 : 0;
    return alias.covers.length + (alias.fills_undefined ? 1 : 0);
  },

  // a slot explained: the rules in turn, the registrations concerned, and what would come next

  explain(name, key) {
    const number = this.numbers.get(name);
    const slot = this.slotOf.get(key);
    if (number === undefined || slot === undefined) return null;
    const { operators, plans, reasons, decisions } = this.data;
    const plan = plans[operators.plan[number]];
    const registrations = this.registrations(number);
    const rows = this.rows(number);
    const [lines, concerned, next] = reasons[plan[2 * slot + 1]];
    const source = this.keyAt(decisions[plan[2 * slot]][2], key);
    const overridden = source === null ? undefined : registrations.get(source)[1];
    const behind = (operators.live[number] || []).find(([at]) => at === slot);
    const around = (places) => {
      const row = places[slot] < 0 ? null : rows[places[slot]];
      return row === null ? null : { ...row, before: null };
    };
    const { entries: _, notes: __, ...head } = this.table(name);
    return {
      ...head,
      key,
      answer: rows[slot],
      rules: lines.map((line) => this.ruleLine(line, key)),
      registrations: concerned.flatMap((entry) => this.concerned(entry, key, registrations)),
      next: this.next(plan[2 * slot], next, overridden, key, registrations),
      live: behind === undefined ? null : behind[1],
      stale: behind === undefined ? null : behind[2],
      above: around(this.data.above),
      below: around(this.data.below),
      in_base: this.about.has_base && !head.new,
      advice: this.adviceFor(number, slot),
    };
  },

  ruleLine(number, key) {
    const line = this.data.lines[number];
    const own = (keys) => keys.map((name) => (name === "" ? key : name));
    return { ...line, looks_at: own(line.looks_at), blockers: own(line.blockers) };
  },

  concerned([number, role, place, andOverridden], key, registrations) {
    const described = (registration, as, isFallback) => ({
      rule_number: number,
      role: as,
      key: registration.key,
      kernel: registration.kernel,
      fallthrough: registration.of.fallthrough,
      backend_fallback: isFallback,
      core_fallback: isFallback && registration.declared_at === null,
      declared_at: registration.declared_at,
      ...this.origin(registration.of),
      when: registration.of.when,
      text: this.words.roles[as],
      tone: this.words.role_tones[as],
    });
    if (place === NO_KEY) return [described(this.registrationFor("fallback", null, key), role, true)];
    const [active, ...others] = registrations.get(this.keyAt(place, key));
    return [described(active, role, false), ...(andOverridden ? others.map((other) => described(other, "overridden", false)) : [])];
  },

  next(decision, next, overridden, key, registrations) {
    if (overridden !== undefined) return this.row(key, decision, registrations, undefined, null, overridden);
    return next < 0 ? null : this.row(key, next, registrations);
  },

  /* Advice, as data and in sentences; null where the page does not have it. */
  adviceFor(number, slot) {
    const { operators, values } = this.data.advice;
    const pairs = operators[number] ?? [];
    for (let at = 0; at < pairs.length; at += 2) if (pairs[at] === slot) return values[pairs[at + 1]];
    return null;
  },
});
