/* Finding an operator: a list of the first that match. */

/** Operators that are listed; more letters find the others. */
const MOST_HITS = 200;

const hits = { entries: [], at: -1 };

function startSearch() {
  const query = byId("query");
  query.addEventListener("input", search);
  query.addEventListener("keydown", searchKey);
  query.addEventListener("focus", () => {
    byId("hits").classList.add("open");
    if (!query.value) showOpenHit();
  });
  byId("hits").addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the input
  byId("hits").addEventListener("click", (event) => {
    const row = event.target.closest(".hit");
    if (row) openHit(Number(row.dataset.at));
  });
  search();
}

/** On a phone, the list is there while one searches. */
function closeHits() {
  if (!byId("query").matches(":focus")) byId("hits").classList.remove("open");
}

function search() {
  const text = byId("query").value;
  const entries = page.search(text);
  Object.assign(hits, { entries: entries.slice(0, MOST_HITS), at: text && entries.length > 0 ? 0 : -1 });
  byId("found").textContent = countText(text, entries);
  byId("hits").scrollTop = 0;
  drawHits();
  if (!text) showOpenHit();
}

/** Number of operators in the list; higher-order ones have a count of their own, as everywhere. */
function countText(text, entries) {
  if (entries.length === 0) return `No name has ${shown(text)}`;
  const higher = entries.filter((entry) => entry.higher_order).length;
  const counts = [entries.length > higher && plural(entries.length - higher, "operator"), higher > 0 && plural(higher, "higher-order operator")];
  const more = entries.length > MOST_HITS ? `; the first ${MOST_HITS} are listed` : "";
  return `${counts.filter(Boolean).join(", ")}${text ? ` ${entries.length === 1 ? "matches" : "match"}` : ""}${more}`;
}

/** The operator that is open is the chosen one of the list, and in sight. */
function showOpenHit() {
  const open = shownTarget?.entry;
  const at = open ? hits.entries.indexOf(open) : -1;
  if (at >= 0) chooseHit(at);
}

function focusSearch() {
  byId("query").focus();
  byId("query").select();
}

function searchKey(event) {
  const last = hits.entries.length - 1;
  const to = {
    ArrowDown: Math.min(last, hits.at + 1),
    ArrowUp: Math.max(0, hits.at - 1),
  }[event.key];
  if (to !== undefined) chooseHit(to);
  else if (event.key === "Enter") openHit(Math.max(0, hits.at));
  else if (event.key === "Escape") leaveSearch();
  else return;
  event.preventDefault();
}

/** Escape empties the input; in an empty one, it goes back to what is shown. */
function leaveSearch() {
  if (byId("query").value) {
    byId("query").value = "";
    search();
    return;
  }
  byId("query").blur();
  byId("main").querySelector("h1")?.focus();
  closeHits();
}

function chooseHit(at) {
  if (hits.entries.length === 0) return;
  hits.at = at;
  drawHits();
  byId(`hit-${at}`).scrollIntoView({ block: "nearest" });
}

function openHit(at) {
  const entry = hits.entries[at];
  if (!entry) return;
  hits.at = at;
  drawHits();
  byId("query").blur();
  const link = page.link(entry.name);
  if (location.hash === link) show();
  else location.hash = link;
}

function drawHits() {
  byId("hits").replaceChildren(...hits.entries.map(hitRow));
  if (hits.at >= 0) byId("query").setAttribute("aria-activedescendant", `hit-${hits.at}`);
  else byId("query").removeAttribute("aria-activedescendant");
}

function hitRow(entry, at) {
  const marks = entryMarks(entry);
  const attributes = {
    class: shownTarget?.name === entry.name ? "hit here" : "hit", role: "option", id: `hit-${at}`, "data-at": at, "aria-selected": String(at === hits.at),
    title: [entry.name, ...marks.map(([, text]) => text)].join(", "),
  };
  return make("div", attributes,
    marks.map(([mark, text, tone]) => make("span", { class: `marks ${tone}` }, make("span", { "aria-hidden": "true" }, mark), make("span", { class: "unseen" }, ` (${text}) `))),
    marked(entry.name, page.marksIn(entry.name, byId("query").value)));
}

/** Marks of an operator in a list: the sign, what it says, its tone. */
function entryMarks(entry) {
  const marks = [];
  if (entry.findings > 0) marks.push([entry.worst[0].toUpperCase(), plural(entry.findings, "finding"), page.words.severity_tones[entry.worst]]);
  if (entry.stale > 0) marks.push(["!", plural(entry.stale, "stale slot"), "bad"]);
  if (entry.own && page.about.has_base) marks.push(["+", ownText(entry), "alias"]);
  if (entry.higher_order) marks.push(["h", "higher-order operator", "dim"]);
  return marks;
}

/** Effect of the files on an operator that they register or change. */
function ownText(entry) {
  if (entry.new) return "new";
  return entry.changed > 0 ? `${plural(entry.changed, "slot")} changed` : "of the files";
}

/** A name in which the letters that were found are marked. */
function marked(name, places) {
  const parts = name.split("").map((letter, at) => ({ letter, isFound: places.has(at) }));
  const runs = [];
  for (const { letter, isFound } of parts) {
    if (runs.at(-1)?.isFound === isFound) runs.at(-1).text += letter;
    else runs.push({ text: letter, isFound });
  }
  return runs.map(({ text, isFound }) => (isFound ? make("b", {}, text) : text));
}
