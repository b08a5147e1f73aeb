"use strict";
/* Finding operators by some of the letters of their names, as `explore` does: dispatch_cli/explore/fuzzy.py. */
Object.assign(Page.prototype, {
  /* Operators for what is typed, as `explore` finds and orders them: every word has its letters in the name, in order. */
  search(text, limit = 200) {
    const words = searchedWords(text);
    let found = this.entries.map((entry, number) => ({ entry, number, name: entry.name.toLowerCase() }));
    for (const glob of searchedGlobs(text)) {
      const chosen = this.globbed(glob);
      found = found.filter(({ entry }) => chosen.has(entry.name));
    }
    if (words.length > 0) {
      found = found.filter(({ name }) => words.every((word) => hasLetters(name, word)));
      for (const one of found) one.cost = 2 * words.reduce((sum, word) => sum + wordCost(one.name, word), 0) + (one.name.startsWith("aten::") ? 0 : 1);
      found.sort((one, other) => one.cost - other.cost || one.name.length - other.name.length || one.number - other.number);
    }
    return { total: found.length, found: found.slice(0, limit).map(({ entry }) => ({ entry })) };
  },

  /* The names that a glob chooses, as --op does. Those without a namespace are of higher-order operators. */
  globbed(glob) {
    const names = this.entries.map((entry) => entry.name);
    const bare = glob.replace(/\.default$/, "");
    const ordinary = names.filter((name) => name.includes("::"));
    let found = matchingNames(ordinary, bare);
    if (found.length === 0 && bare.includes(".")) found = matchingNames(ordinary, asCpp(bare));
    if (bare !== glob) found = found.filter((name) => bareName(name) === name);
    const higherOrder = glob.replace(/^torch\.ops\./, "").replace(/^higher_order(::|\.)/, "");
    return new Set([...found, ...matchingNames(names.filter((name) => !name.includes("::")), higherOrder)]);
  },

  /* The parts of a name that a query finds: from, to. */
  marksIn(name, query) {
    return foundParts(name.toLowerCase(), searchedWords(query));
  },
});

/* Letters of a query that are looked for. */
const MOST_LETTERS = 80;

const isGlob = (word) => word.includes("*") || word.includes("?");

/* The words of a query that are globs. */
function searchedGlobs(query) {
  return query.slice(0, MOST_LETTERS).split(/\s+/).filter(isGlob);
}

/* A name of PyTorch's Python as C++ writes it. */
function asCpp(name) {
  const bare = name.replace(/[.:]+$/, "");
  if (bare.includes("::")) return bare;
  return bare.replace(/^(torch\._ops\.)?(torch\.)?(_ops\.)?(ops\.)?/, "").replace(".", "::").replace(/\.default$/, "");
}

function bareName(name) {
  const dot = name.indexOf(".", name.lastIndexOf("::") + 1);
  return dot < 0 ? name : name.slice(0, dot);
}

function matchingNames(names, glob) {
  if (!/[*?[]/.test(glob)) return names.filter((name) => name === glob || name.startsWith(`${glob}.`));
  const parts = [...glob.matchAll(/\*+|\?|\[!?\]?[^\]]*\]|[^]/gu)].map(([part]) => part);
  return names.filter((name) => globFits(parts, [...name]) || globFits(parts, [...bareName(name)]));
}

/* Whether letters fit a glob. Only the last star is tried again, so that no glob takes long. */
function globFits(parts, letters) {
  let [at, part, star, from] = [0, 0, -1, 0];
  while (at < letters.length) {
    if (part < parts.length && parts[part][0] === "*") [star, from, part] = [part, at, part + 1];
    else if (part < parts.length && letterFits(parts[part], letters[at])) [at, part] = [at + 1, part + 1];
    else if (star >= 0) [from, at, part] = [from + 1, from + 1, star + 1];
    else return false;
  }
  return parts.slice(part).every((one) => one[0] === "*");
}

function letterFits(part, letter) {
  if (part === "?") return true;
  if (part[0] !== "[" || part.length === 1) return part === letter;
  const inverted = part[1] === "!";
  const signs = [...part.slice(inverted ? 2 : 1, -1)];
  let isIn = false;
  for (let at = 0; at < signs.length; at += 1) {
    const isRange = signs[at + 1] === "-" && at + 2 < signs.length;
    isIn ||= isRange ? signs[at] <= letter && letter <= signs[at + 2] : signs[at] === letter;
    if (isRange) at += 2;
  }
  return isIn !== inverted;
}

/* The words of a query beside its globs; names as PyTorch's Python writes them are taken, too. */
function searchedWords(query) {
  const asked = query.slice(0, MOST_LETTERS).toLowerCase().trim();
  let text = (isGlob(asked) ? asked.split(/\s+/).filter((word) => !isGlob(word)).join(" ") : asked).replace(/^torch\.ops\./, "").replace(/^torch\._ops\./, "");
  if (!text.includes("::") && ["aten", "prims", "higher_order"].includes(text.split(".", 1)[0])) text = text.replace(".", "::");
  return text.replace(/^higher_order::/, "").replace(/\.default$/, "").split(/\s+/).filter(Boolean);
}

function hasLetters(name, word) {
  let at = -1;
  for (const letter of word) {
    at = name.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

const beginsPart = (name, at) => at === 0 || "_.:".includes(name[at - 1]);
const bareStart = (name) => (name.includes("::") ? name.lastIndexOf("::") + 2 : 0);

/* How well a word fits; 0 is the best: whole, at the beginning of the name, of a part, elsewhere, in pieces. */
function wordCost(name, word) {
  const start = bareStart(name);
  if (name.includes(word)) {
    let at = name.startsWith(word) ? 0 : name.indexOf(word, start);
    if (at === 0 || at === start) {
      const end = at + word.length;
      return end === name.length || "_.:".includes(name[end]) ? 0 : 2;
    }
    for (; at > 0; at = name.indexOf(word, at + 1)) if (beginsPart(name, at)) return 3;
    return 5;
  }
  const places = letterPlaces(name, word);
  const runs = places.filter((place, at) => at === 0 || place !== places[at - 1] + 1);
  const begun = runs.filter((place) => beginsPart(name, place)).length;
  return 6 + 4 * (runs.length - begun) + begun;
}

/* Where the letters of a word are: in one piece if they can be, at the beginnings of parts where possible. */
function letterPlaces(name, word) {
  const start = bareStart(name);
  for (const at of [name.indexOf(word, start), name.indexOf(word)]) {
    if (at >= 0) return Array.from({ length: word.length }, (_, number) => at + number);
  }
  const latest = []; // where each letter can be at the latest, so that the rest still fits
  for (let number = word.length - 1, end = name.length; number >= 0; number -= 1) {
    end = end === 0 ? -1 : name.lastIndexOf(word[number], end - 1);
    if (end < 0) return [];
    latest[number] = end;
  }
  const places = [];
  let at = latest[0] >= start ? start - 1 : -1;
  for (let number = 0; number < word.length; number += 1) {
    const goesOn = places.length > 0 && at + 1 <= latest[number] && name[at + 1] === word[number];
    at = goesOn ? at + 1 : nextLetter(name, word[number], at + 1, latest[number]);
    places.push(at);
  }
  return places;
}

/* The first place of a letter that begins a part; else the first of all. There is one up to *last*. */
function nextLetter(name, letter, first, last) {
  const found = name.indexOf(letter, first);
  for (let at = found; at >= 0 && at <= last; at = name.indexOf(letter, at + 1)) if (beginsPart(name, at)) return at;
  return found;
}

/* The parts of a name that words are found in: from, to. */
function foundParts(name, words) {
  const places = [...new Set(words.flatMap((word) => letterPlaces(name, word)))].sort((one, other) => one - other);
  const parts = [];
  for (const place of places) {
    const last = parts[parts.length - 1];
    if (last !== undefined && last[1] === place) last[1] = place + 1;
    else parts.push([place, place + 1]);
  }
  return parts;
}
