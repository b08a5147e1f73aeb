"use strict";
/* What a misspelt name may mean, as `explore` and hints find it: dispatch_cli/answers/shared/nearest_names.py. */
Object.assign(Page.prototype, {
  /* As `search`; where a query finds nothing, or only names that have its letters here and there, the nearest come first;
     a key among its words chooses no operator then. near: how many these are. */
  lookUp(text) {
    const { total, found } = this.search(text, Infinity);
    const words = searchedWords(text);
    if (words.length === 0 || isGlob(text)) return { total, found, near: 0 };
    const isScattered = (name) => words.some((word) => word.length >= MISSPELT_LETTERS && wordCost(name.toLowerCase(), word) >= SCATTERED);
    if (total > 0 && !isScattered(found[0].entry.name)) return { total, found, near: 0 };
    const asked = text.split(/\s+/);
    const others = asked.filter((word) => !this.slotOf.has(word));
    if (others.length > 0 && others.length < asked.length) return this.lookUp(others.join(" "));
    const near = this.nearest(words.join("."), total > 0 ? MISSPELT : ALIKE);
    if (near.length === 0 || near.includes(found[0]?.entry)) return { total, found, near: 0 };
    const rest = found.filter(({ entry }) => !near.includes(entry));
    return { total, found: [...near.map((entry) => ({ entry })), ...rest], near: near.length };
  },

  /* The key of a slot among the words of a query, after others. */
  keyIn(text) {
    return text.trim().split(/\s+/).slice(1).find((word) => this.slotOf.has(word)) ?? null;
  },

  /* The operators with the nearest names, as dispatch_cli/answers/shared/nearest_names.py finds them. alike: how alike they are at least,
     from 0 to 1. */
  nearest(text, alike = ALIKE) {
    const asked = text.slice(0, MOST_LETTERS).toLowerCase();
    const wanted = bareName(asked);
    const overload = asked.slice(wanted.length + 1);
    const letters = wanted.length - bareStart(wanted);
    if (letters < LEAST_LETTERS) return [];
    const byName = new Map();
    for (const entry of this.entries) {
      const name = bareName(entry.name.toLowerCase());
      if (!byName.has(name)) byName.set(name, []);
      byName.get(name).push(entry);
    }
    const found = [];
    for (const [name, entries] of byName) {
      const start = bareStart(name);
      const known = wanted.includes("::") ? name : name.slice(start);
      const cost = misspeltBy(wanted, known, mostThatDiffer(alike, letters + name.length - start));
      if (cost === null) continue;
      const near = ofOverload(entries, name.length + 1, overload, alike);
      const changed = cost - Math.abs(wanted.length - known.length);
      found.push({ name, entries: near.entries ?? entries, cost, other: near.cost, changed, hasOverload: near.entries !== null });
    }
    const ofAten = (one) => (one.name.startsWith("aten::") ? 0 : 1);
    found.sort((one, next) => one.cost - next.cost || one.other - next.other || one.changed - next.changed || ofAten(one) - ofAten(next));
    const withOverload = found.filter((one) => one.hasOverload);
    return (withOverload.length > 0 ? withOverload : found).slice(0, MOST_NEAR).flatMap((one) => one.entries);
  },

  /* Operators for a name that is not there: the nearest, else those that the longest beginning of it finds. A beginning that finds
     nothing has no longer one that does, so a few searches are enough, however long the name is. */
  similar(name) {
    const near = this.nearest(name);
    if (near.length > 0) return near.slice(0, MOST_NEAR);
    let shorter = 2; // a length that finds something, or is too short to be looked for
    let longer = Math.min(name.length, MOST_LETTERS) + 1; // a length that finds nothing, or is beyond the end
    let like = [];
    while (longer - shorter > 1) {
      const middle = (shorter + longer) >> 1;
      const { found } = this.search(name.slice(0, middle), MOST_NEAR);
      if (found.length > 0) [shorter, like] = [middle, found.map((one) => one.entry)];
      else longer = middle;
    }
    return like;
  },
});

/* The nearest names. */
const MOST_NEAR = 8;

/* Letters of two names together from which one may differ, however alike they have to be. */
const LEAST_TOGETHER = 5;

/* As dispatch_cli/explore/nearest.py and fuzzy.py: how alike names are where nothing else is found, and where something is; letters
   of a word that can be misspelt beside others, and alone; the cost of one of which a piece begins inside a part, or a worse one. */
const ALIKE = 0.6;
const MISSPELT = 0.75;
const MISSPELT_LETTERS = 4;
const LEAST_LETTERS = 2;
const SCATTERED = 11;

const mostThatDiffer = (alike, letters) => Math.max(Math.floor(((1 - alike) * letters) / 2), letters >= LEAST_TOGETHER ? 1 : 0);

/* The operators with an overload, or with those nearest to it, and by how many letters these differ; null for none. at: where
   overloads begin. */
function ofOverload(entries, at, overload, alike) {
  if (overload === "") return { entries: null, cost: 0 };
  const costs = entries.map((entry) => {
    const other = entry.name.slice(at).toLowerCase();
    return { entry, cost: misspeltBy(overload, other, mostThatDiffer(alike, overload.length + other.length)) };
  });
  const known = costs.filter(({ cost }) => cost !== null);
  if (known.length === 0) return { entries: null, cost: overload.length };
  const best = Math.min(...known.map(({ cost }) => cost));
  return { entries: known.filter(({ cost }) => cost === best).map(({ entry }) => entry), cost: best };
}

/* How many letters are left out, added, changed, or exchanged with the next one; null for more than *most*. */
function misspeltBy(word, other, most) {
  if (Math.abs(word.length - other.length) > most) return null;
  let [earlier, last] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let at = 1; at <= word.length; at += 1) {
    const row = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const isSame = word[at - 1] === other[to - 1];
      row[to] = Math.min(last[to] + 1, row[to - 1] + 1, last[to - 1] + (isSame ? 0 : 1));
      const isExchanged = at > 1 && to > 1 && word[at - 1] === other[to - 2] && word[at - 2] === other[to - 1];
      if (isExchanged) row[to] = Math.min(row[to], earlier[to - 2] + 1);
    }
    if (Math.min(...row) > most) return null;
    [earlier, last] = [last, row];
  }
  return last[other.length] <= most ? last[other.length] : null;
}
