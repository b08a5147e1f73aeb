/* Finding an operator: a list of all that match, of which only those in sight are elements. */

/** Rows that are made above and below those in sight. */
const SPARE = 10;

const hits = { entries: [], at: -1, height: 28, drawn: "" };

function startSearch() {
  const query = byId("query");
  query.addEventListener("input", search);
  query.addEventListener("keydown", searchKey);
  query.addEventListener("focus", () => {
    byId("hits").classList.add("open");
    if (!query.value) showOpenHit();
  });
  byId("hits").addEventListener("scroll", drawHits, { passive: true });
  byId("hits").addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the input
  byId("hits").addEventListener("click", (event) => {
    const row = event.target.closest(".hit");
    if (row) openHit(Number(row.dataset.at));
  });
  window.addEventListener("resize", drawHits);
  query.value = chosenIn("q") ?? "";
  search();
}

/** Find what the address asks for. */
function takeQuery() {
  const text = chosenOn("q", byId("query").value) ?? "";
  keepChoice("q", text || null);
  if (text === byId("query").value) return;
  byId("query").value = text;
  search();
}

/** On a phone, the list is there while one searches. */
function closeHits() {
  if (!byId("query").matches(":focus")) byId("hits").classList.remove("open");
}

function search() {
  const text = byId("query").value;
  keepChoice("q", text || null);
  const matches = page.search(text);
  const entries = matches.length > 0 ? matches : page.similar(text);
  Object.assign(hits, { entries, at: text && entries.length > 0 ? 0 : -1, drawn: "" });
  byId("found").textContent = countText(text, matches, entries);
  byId("hits").scrollTop = 0;
  drawHits();
  if (!text) showOpenHit();
}

/** Number of operators in the list; higher-order ones have a count of their own, as everywhere. */
function countText(text, matches, entries) {
  if (matches.length === 0) return entries.length > 0 ? "None; the nearest:" : `No operator is like ${shown(text)}`;
  const higher = entries.filter((entry) => entry.higher_order).length;
  const counts = [entries.length > higher && plural(entries.length - higher, "operator"), higher > 0 && plural(higher, "higher-order operator")];
  return `${counts.filter(Boolean).join(", ")}${text ? ` ${entries.length === 1 ? "matches" : "match"}` : ""}`;
}

/** The operator that is open is the chosen one of the list, and in sight. */
function showOpenHit() {
  const open = shownTarget?.entry;
  const at = open ? hits.entries.indexOf(open) : -1;
  if (at < 0) return;
  const box = byId("hits");
  const top = at * hits.height;
  if (top < box.scrollTop || top + hits.height > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
  chooseHit(at);
}

function focusSearch() {
  byId("query").focus();
  byId("query").select();
}

function searchKey(event) {
  const last = hits.entries.length - 1;
  const inSight = Math.max(1, Math.floor(byId("hits").clientHeight / hits.height) - 1);
  const to = {
    ArrowDown: Math.min(last, hits.at + 1),
    ArrowUp: Math.max(0, hits.at - 1),
    PageDown: Math.min(last, Math.max(0, hits.at) + inSight),
    PageUp: Math.max(0, hits.at - inSight),
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
  const box = byId("hits");
  const top = at * hits.height;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + hits.height > box.scrollTop + box.clientHeight) box.scrollTop = top + hits.height - box.clientHeight;
  drawHits();
}

function openHit(at) {
  const entry = hits.entries[at];
  if (!entry) return;
  hits.at = at;
  drawHits();
  byId("query").blur();
  const link = page.link(entry.name, page.keyIn(byId("query").value));
  if (location.hash === link) show();
  else location.hash = link;
}

/** Make the rows anew: another operator is shown. */
function redrawHits() {
  hits.drawn = "";
  drawHits();
}

/** Make the rows in sight, and no others. */
function drawHits() {
  const box = byId("hits");
  const first = Math.max(0, Math.floor(box.scrollTop / hits.height) - SPARE);
  const end = Math.min(hits.entries.length, Math.ceil((box.scrollTop + box.clientHeight) / hits.height) + SPARE);
  const drawn = `${first} ${end} ${hits.at}`;
  if (drawn === hits.drawn) return;
  hits.drawn = drawn;
  const rows = hits.entries.slice(first, end).map((entry, position) => hitRow(entry, first + position));
  const floor = make("div", { "aria-hidden": "true" }); // the height of all rows
  floor.style.height = `${hits.entries.length * hits.height}px`;
  box.replaceChildren(floor, ...rows);
  const chosen = hits.at >= first && hits.at < end ? `hit-${hits.at}` : "";
  if (chosen) byId("query").setAttribute("aria-activedescendant", chosen);
  else byId("query").removeAttribute("aria-activedescendant");
}

function hitRow(entry, at) {
  const marks = entryMarks(entry);
  const attributes = {
    class: shownTarget?.name === entry.name ? "hit here" : "hit", role: "option", id: `hit-${at}`, "data-at": at, "aria-selected": String(at === hits.at),
    "aria-setsize": hits.entries.length, "aria-posinset": at + 1, title: [entry.name, ...marks.map(([, text]) => text)].join(", "),
  };
  const row = make("div", attributes,
    marks.map(([mark, text, tone]) => make("span", { class: `marks ${tone}` }, make("span", { "aria-hidden": "true" }, mark), make("span", { class: "unseen" }, ` (${text}) `))),
    marked(entry.name, page.marksIn(entry.name, byId("query").value)));
  row.style.top = `${at * hits.height}px`;
  row.style.height = row.style.lineHeight = `${hits.height}px`;
  return row;
}

/** Marks of an operator in a list: the sign, what it says, its tone. */
function entryMarks(entry) {
  const marks = [];
  if (entry.findings > 0) marks.push([entry.worst[0].toUpperCase(), plural(entry.findings, "finding"), page.words.severity_tones[entry.worst]]);
  if (entry.stale > 0) marks.push(["!", plural(entry.stale, "stale slot"), "bad"]);
  if (entry.own && page.changes.has_base) marks.push(["+", ownText(entry), "alias"]);
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
