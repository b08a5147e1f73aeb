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

/** Number of names in the list. */
function countText(text, entries) {
  if (entries.length === 0) return `No name has ${text}`;
  return `${entries.length.toLocaleString("en-US")} ${text ? "found" : "in all"}${entries.length > MOST_HITS ? `; the first ${MOST_HITS} are listed` : ""}`;
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

function hitRow({ name, marks }, at) {
  const attributes = {
    class: shownTarget?.name === name ? "hit here" : "hit", role: "option", id: `hit-${at}`, "data-at": at, "aria-selected": String(at === hits.at),
    title: [name, ...marks.map(([, text]) => text)].join(", "),
  };
  return make("div", attributes,
    marks.map(([mark, text, tone]) => make("span", { class: `marks ${tone}` }, make("span", { "aria-hidden": "true" }, mark), make("span", { class: "unseen" }, ` (${text}) `))),
    marked(name));
}

/** A name in which the words that are looked for are marked. */
function marked(name) {
  const words = searchedWords(byId("query").value).map((word) => word.replace(/\W/g, "\\$&"));
  const parts = words.length > 0 ? name.split(new RegExp(`(${words.join("|")})`, "i")) : [name];
  return parts.map((part, at) => (at % 2 === 1 ? make("b", {}, part) : part));
}
