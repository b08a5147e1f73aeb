"use strict";
/* A slot explained: the rules in turn, the registrations concerned, and what would come next. */
Object.assign(Page.prototype, {
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
