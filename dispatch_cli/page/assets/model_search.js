"use strict";
/* Finding operators by parts of their names. */
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
});

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
