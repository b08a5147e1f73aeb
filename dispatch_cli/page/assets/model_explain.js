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
      registrations: concerned.flatMap((one) => this.concerned(one, key, registrations)),
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
    const own = (keys) => keys.map((one) => (one === "" ? key : one));
    return { ...line, looks_at: own(line.looks_at), blockers: own(line.blockers) };
  },

  concerned([number, role, place, andOverridden], key, registrations) {
    const one = (found, as, isFallback) => ({
      rule_number: number,
      role: as,
      key: found.key,
      kernel: found.kernel,
      fallthrough: found.of.fallthrough,
      backend_fallback: isFallback,
      core_fallback: isFallback && found.declared_at === null,
      declared_at: found.declared_at,
      ...this.origin(found.of),
      when: found.of.when,
      text: this.words.roles[as],
      tone: this.words.role_tones[as],
    });
    if (place === NO_KEY) return [one(this.registrationFor("fallback", null, key), role, true)];
    const [active, ...others] = registrations.get(this.keyAt(place, key));
    return [one(active, role, false), ...(andOverridden ? others.map((other) => one(other, "overridden", false)) : [])];
  },

  next(decision, next, overridden, key, registrations) {
    if (overridden !== undefined) return this.row(key, decision, registrations, undefined, null, overridden);
    return next < 0 ? null : this.row(key, next, registrations);
  },

  /* What would help, and the same in sentences; null where the page does not have it. */
  adviceFor(number, slot) {
    const { operators, values } = this.data.advice;
    const found = operators[number] ?? [];
    for (let at = 0; at < found.length; at += 2) if (found[at] === slot) return values[found[at + 1]];
    return null;
  },
});
