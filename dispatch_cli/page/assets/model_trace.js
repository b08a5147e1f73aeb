"use strict";
/* The calls of a recorded program. */
Object.assign(Page.prototype, {
  /* The lines of the tree, decoded once; null where the page has no recording. */
  trace() {
    const { trace } = this.data;
    if (!trace) return null;
    this.decodedTrace ??= this.decodeTrace(trace);
    return this.decodedTrace;
  },

  decodeTrace(trace) {
    const width = trace.fields.length;
    const place = (number) => (number < 0 ? null : trace.places[number]);
    const thread = trace.threads.flatMap(([name, , count]) => Array(count).fill(name));
    const rows = [];
    for (let at = 0; at < trace.rows.length; at += width) {
      const one = Object.fromEntries(trace.fields.map((field, position) => [field, trace.rows[at + position]]));
      const path = one.path < 0 ? null : trace.paths[one.path];
      rows.push({
        ...one,
        thread: thread[rows.length],
        operator: one.operator < 0 ? null : trace.called[one.operator],
        key: path === null ? null : path[0],
        kernels: path === null ? [] : path[1],
        place: place(one.place),
        forward: one.forward < 0 ? null : one.forward,
        forward_place: place(one.forward_place),
        time: one.time < 0 ? null : one.time,
      });
    }
    return {
      ...trace,
      rows,
      totals: new Map(trace.totals.map(([number, calls]) => [trace.called[number], calls])),
      findings: trace.findings.map((one) => ({ ...one, operator: trace.called[one.operator], places: one.places.map(place) })),
    };
  },

  /* The lines of one operator; those of all where none is named. */
  traceRows(operator = null) {
    return this.trace().rows.filter((row) => operator === null || row.operator === operator);
  },

  /* How often the recorded program called an operator. */
  callsOf(name) {
    return this.trace()?.totals.get(name) ?? 0;
  },

  /* Where an operator's slot is; null where the state has no such operator. */
  linkToSlot(name, key) {
    if (this.entry(name) === null) return null;
    return this.link(name, key !== null && this.slotOf.has(key) ? key : null);
  },
});
