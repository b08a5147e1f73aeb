"use strict";
/* Finding operators by parts of their names, or by letters of them. */
Object.assign(Page.prototype, {
  /* Operators for what is typed, the best first. Every word is a part of the name, or its letters are in the name, in order. */
  search(text) {
    const words = searchedWords(text).filter((word, at) => at === 0 || !this.slotOf.has(word)).map((word) => word.toLowerCase());
    const rows = this.entries.map((entry) => ({ entry, costs: words.map((word) => wordCost(entry.name.toLowerCase(), word)) }));
    const matches = rows.filter(({ costs }) => !costs.includes(null));
    const cost = ({ entry, costs }) => 2 * costs.reduce((sum, each) => sum + each, 0) + (entry.name.startsWith("aten::") ? 0 : 1);
    if (words.length > 0) matches.sort((row, other) => cost(row) - cost(other) || row.entry.name.length - other.entry.name.length);
    return matches.map(({ entry }) => entry);
  },

  /* The key of a slot among the words of a query, after others. */
  keyIn(text) {
    return searchedWords(text).slice(1).find((word) => this.slotOf.has(word)) ?? null;
  },

  /* Operators for a name that is not there: those that the longest beginning of it finds. */
  similar(name) {
    for (let end = Math.min(name.length, MOST_LETTERS); end > 2; end -= 1) {
      const entries = this.search(name.slice(0, end));
      if (entries.length > 0) return entries.slice(0, MOST_SIMILAR);
    }
    return [];
  },

  /* The places of letters of a name that a query finds. */
  marksIn(name, query) {
    return new Set(searchedWords(query).flatMap((word) => letterPlaces(name.toLowerCase(), word.toLowerCase()) ?? []));
  },
});

/* Letters of a query that are looked for. */
const MOST_LETTERS = 80;
const MOST_SIMILAR = 8;

/* The words of a query. A name may be written as in PyTorch's Python. */
function searchedWords(query) {
  const text = query.slice(0, MOST_LETTERS).trim().replace(/^torch\.(?:_?ops)\.(\w+)\./, "$1::");
  return text.replace(/^(aten|prims|higher_order)\./, "$1::").replace(/^higher_order::/, "").replace(/\.default$/, "").split(/\s+/).filter(Boolean);
}

/* Cost of a word in a name: 0 for the best fit, null for none. */
function wordCost(name, word) {
  const places = letterPlaces(name, word);
  if (places === null) return null;
  const [at] = places;
  const end = at + word.length;
  if (places.at(-1) !== end - 1) return 4;
  const isStart = at === 0 || name.slice(0, at).endsWith("::");
  if (isStart) return end === name.length || "_.:".includes(name[end]) ? 0 : 1;
  return "_.".includes(name[at - 1]) ? 2 : 3;
}

/* Places of the letters of a word in a name: in one piece if they can be, the best one; null where they are not. */
function letterPlaces(name, word) {
  const starts = [name.startsWith(word) ? 0 : -1, name.indexOf(`::${word}`) + 2, name.indexOf(`_${word}`) + 1, name.indexOf(`.${word}`) + 1, name.indexOf(word)];
  const start = starts.find((at) => at >= 0 && name.startsWith(word, at));
  if (start !== undefined) return Array.from({ length: word.length }, (_, number) => start + number);
  const places = [];
  for (const letter of word.split("")) {
    const at = name.indexOf(letter, (places.at(-1) ?? -1) + 1);
    if (at < 0) return null;
    places.push(at);
  }
  return places;
}
