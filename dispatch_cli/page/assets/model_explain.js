"use strict";
/* A slot explained: the rules in turn, the registrations concerned, what would come next, and all of it in sentences. */
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
    const found = {
      ...head,
      over: this.about.over,
      over_files: this.about.over_files,
      key,
      answer: rows[slot],
      rules: lines.map((line) => this.ruleLine(line, key)),
      registrations: concerned.flatMap((one) => this.concerned(one, key, registrations)),
      next: this.next(plan[2 * slot], next, overridden, key, registrations),
      next_is_overridden: overridden !== undefined,
      live: behind === undefined ? null : behind[1],
      cause: behind === undefined ? null : behind[2],
      above: around(this.data.above),
      below: around(this.data.below),
      in_base: this.about.has_base && !head.new,
      python: this.pythonChoices(number).find((one) => one.key === key) ?? null,
      advice: this.adviceFor(number, slot),
    };
    return { ...found, sentences: this.sentences(found) };
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

  // sentences, as answers/explain/wording.py has them

  sentences(found) {
    const said = [this.answerText(found.answer)];
    const row = found.answer;
    if (row.fallthrough) said.push("It falls through: the dispatcher skips this key and goes on to the next one.");
    if (found.live !== null) said.push(this.staleText(found));
    if (row.before !== null) said.push(`In ${this.about.below}, ${row.key} holds ${this.beforePhrase(row.before)}.`);
    else if (found.in_base) said.push(`In ${this.about.below}, ${row.key} holds the same.`);
    else if (found.new) said.push("The base does not have the operator.");
    return [...said, ...this.aroundTexts(found)];
  },

  staleText({ live, cause, key }) {
    const verb = cause.change === "registered" ? "registering" : "dropping";
    const kind = cause.backend_fallback ? "backend fallback" : "kernel";
    const place = cause.declared_at === null ? "" : ` (${this.placeText(cause.declared_at)})`;
    const what = `${verb} the ${kind} ${cause.kernel} at ${cause.key}${place}`;
    return `Stale: a call runs ${this.kernelPhrase(live)}, because ${what} did not recompute ${key}.`;
  },

  beforePhrase(before) {
    if (before.kernel === null) return "nothing";
    const label = this.beforeLabel(before);
    return label.startsWith("registered at ") ? `the kernel ${label}` : label;
  },

  beforeLabel(before) {
    const rule = this.words.rules[before.rule];
    if (before.kernel === null) return rule;
    return `${before.fallthrough ? "fallthrough " : ""}${before.kernel} [${rule}]`;
  },

  answerText(row) {
    const place = row.declared_at === null ? "" : `, declared at ${this.placeText(row.declared_at)}`;
    const rule = `rule ${row.rule_number}, ${this.words.rules[row.rule]}`;
    if (row.otherwise !== null) return `What ${row.key} holds is not known. ${this.otherwiseText(row)}`;
    if (row.rule === "missing") return `${row.key} holds nothing (${rule}).`;
    if (row.rule === "ambiguous") return `${row.key} holds ${row.kernel} (${rule}), which raises when it is called.`;
    const from = row.rule === "kernel" || row.rule === "fallback" ? "" : `, from ${row.source}`;
    return `${row.key} holds ${this.kernelPhrase(row)}${from} (${rule})${place}.`;
  },

  otherwiseText(row) {
    const { rule, rule_number: number, kernel, fallthrough, source } = row.otherwise;
    const from = source === null || source === row.key ? "" : `, from ${source}`;
    const held = kernel === null ? "nothing" : `${this.kernelPhrase({ ...row, rule, kernel, fallthrough })}${from}`;
    const what = row.blockers.includes(row.key) ? "kernel or backend fallback" : "kernel";
    const by = `rule ${number}, ${this.words.rules[rule]}`;
    return `Unless PyTorch registers a ${what} at ${someOf(row.blockers)} by hand, it holds ${held} (${by}).`;
  },

  /* What there is to say of a fallthrough beside that it is one and where it is declared. */
  fallthroughText(kernel, place) {
    const at = kernel.lastIndexOf(":");
    const same = place !== null && kernel.slice(0, Math.max(at, 0)) === `registered at ${place.file}`;
    return same ? "" : ` ${kernel}`;
  },

  kernelPhrase(row) {
    if (row.kernel === null) return "nothing";
    if (row.fallthrough && !this.fallthroughText(row.kernel, row.declared_at)) return "a fallthrough";
    let phrase = row.kernel;
    if (row.core_fallback) phrase = `PyTorch's own fallback, ${this.shortKernel(row.kernel)}`;
    else if (row.kernel.startsWith("registered at ")) phrase = `the kernel ${row.kernel}`;
    else if (row.rule === "fallback") phrase = `the backend fallback ${row.kernel}`;
    return row.fallthrough ? `a fallthrough, ${phrase}` : phrase;
  },

  kernelLabel(row) {
    if (row.kernel === null) return "nothing";
    const kernel = row.core_fallback ? `PyTorch's own, ${this.shortKernel(row.kernel)}` : row.kernel;
    if (!row.fallthrough) return kernel;
    return this.fallthroughText(row.kernel, row.declared_at) ? `fallthrough ${kernel}` : "fallthrough";
  },

  pythonPhrase({ key, source, kernel, rule, error, why }) {
    const from = source === null || source === key ? "" : ` from ${source}`;
    const chosen = error === null ? `${kernel}${from}, ${this.words.rules[rule]}` : error.replace(/\.+$/, "");
    return why === null ? chosen : `${chosen}: ${why}`;
  },

  aroundTexts({ answer: row, next, next_is_overridden: isOverridden, python, above, below }) {
    const said = [];
    if (next !== null && row.otherwise === null) {
      const from = next.source === null || next.source === row.key ? "" : ` from ${next.source}`;
      let held = this.kernelPhrase(next);
      if (next.rule !== "fallback") held += ` [${this.words.rules[next.rule]}]`;
      if (next.kernel === null) held = "nothing";
      else if (next.rule === "ambiguous") held = "an ambiguity";
      if (row.rule === "ambiguous") said.push(`Without the composite kernel, it would hold ${held}${from}.`);
      else {
        const kernel = isOverridden ? `the kernel that it overrides, ${this.kernelLabel(next)}` : `${held}${from}`;
        said.push(`Without ${this.kernelPhrase(row)}, ${row.key} would hold ${kernel}.`);
      }
    }
    if (python !== null) {
      const does = python.error === null ? "chooses another kernel" : "raises an error";
      said.push(`Here the Python dispatcher (resolve_key) ${does}: ${this.pythonPhrase(python)}.`);
    }
    if (above !== null) {
      const first = `Tensors also carry ${above.key}, which comes first except in inference mode:`;
      said.push(`${first} ${this.answerText(above)}`);
    }
    if (below !== null) said.push(`Without the autograd keys, as in inference mode: ${this.answerText(below)}`);
    return said;
  },
});

/* Some of many names: all of a few, else the first ones and how many more there are. */
function someOf(names) {
  if (names.length <= 4) return names.join(", ");
  return `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}
