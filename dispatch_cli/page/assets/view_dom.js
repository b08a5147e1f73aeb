/* Elements. All text in the page is set as text; no name ever becomes markup, and links stay in the page. */

function byId(id) {
  return document.getElementById(id);
}

/** Say something to those who do not see the page. */
function say(text) {
  byId("said").textContent = text;
}

/** Children as nodes: texts can be broken; null, false and undefined are left out; lists are opened. */
function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .flatMap((child) => (child instanceof Node ? child : breakable(String(child))));
}

/** Breaks of a name or a path: behind its separators, and before a capital in a long word. */
const BREAKS = /(?=\p{L})(?<=::|[/_.])|(?=\p{Lu})(?<=[\p{L}\d]{16,}[\p{Ll}\d])/u;

/** A text as nodes that are broken where the parts of names and paths end, if they are broken at all. */
function breakable(text) {
  return text.split(BREAKS).flatMap((part, at) => (at > 0 ? [document.createElement("wbr"), part] : [part]));
}

/** An element. attributes: a function is a listener for the event of that name; null and false are left out. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "href" && !value.startsWith("#") && !isOfRepository(value)) throw new Error("links stay in the page");
    else element.setAttribute(name, value);
  }
  element.append(...nodes(children));
  return element;
}

/** True for the address of a file in the project's repository, or in PyTorch's. */
function isOfRepository(address) {
  const repositories = [page?.about.url, "https://github.com/pytorch/pytorch"].filter(Boolean);
  return repositories.some((url) => url.startsWith("https://") && address.startsWith(`${url}/blob/`));
}

/** A text that leads to a file in a repository; as it is where the address is not known. */
function sourceLink(text, title, url) {
  if (!url) return make("span", { class: "mono", title }, text);
  return make("a", { class: "mono", href: url, title, rel: "noopener noreferrer" }, text);
}

/** Place of a declaration in a file, or the embedded state that has it. */
function placeOf({ text, whole, url }) {
  return text && (text === whole && !url ? text : sourceLink(text, whole, url));
}

/** A text in a tone, where it has one: a cell or a fact as Python wrote it. */
function toned(cell) {
  return Array.isArray(cell) ? make("span", { class: cell[1] }, cell[0]) : cell;
}

/** A text that leads to an operator, or to its slot at a key. */
function operatorLink(name, key = null, text = key ?? name) {
  return make("a", { href: page.link(name, key) }, text);
}

function paragraph(...children) {
  return make("p", {}, ...children);
}

/** Labels and what there is to say of each; those with nothing are left out. */
function facts(rows) {
  const kept = rows.filter(([, value]) => value);
  return kept.length > 0 && make("dl", { class: "facts" }, kept.map(([label, value]) => [make("dt", {}, label), make("dd", {}, value)]));
}

function section(title, ...children) {
  return make("section", {}, make("h2", {}, title), ...children);
}

/** The command line that prints what is shown, and a button that copies it. */
function commandLine(command) {
  return make("div", { class: "command" }, make("code", {}, command), copyButton(command, "Copy the command that prints this"));
}

function copyButton(text, label) {
  const copy = async ({ target }) => {
    const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    target.textContent = done ? "Copied" : "Copy failed";
    say(done ? "Copied" : "The browser did not let the page copy");
    setTimeout(() => { target.textContent = "Copy"; }, 1500);
  };
  return make("button", { type: "button", "aria-label": label, click: copy }, "Copy");
}

/** A choice of many values. options: ``[value, label]`` each. */
function selection(id, label, options, chosen, choose) {
  const select = make("select", { id, change: (event) => choose(event.target.value) },
    options.map(([value, text]) => make("option", { value }, text)));
  select.selectedIndex = Math.max(0, options.findIndex(([value]) => value === chosen));
  return make("p", { class: "choices" }, make("label", { for: id }, label), select);
}

/** A table. heads: a text and a class each. rows: a cell for each; the first is the row's header. look: the class of a
 * row. Columns without text in any row are left out. Many rows come in steps. */
function table(caption, heads, rows, look = () => null) {
  const used = heads.map((_, at) => at).filter((at) => at === 0 || rows.some((row) => row[at] !== ""));
  const body = make("tbody", {});
  const head = make("thead", {}, make("tr", {}, used.map((at) => make("th", { scope: "col", class: heads[at][1] }, heads[at][0]))));
  const whole = make("div", { class: "rows lists" }, make("table", {}, make("caption", {}, caption), head, body));
  marksMore(whole);
  const parts = inSteps(whole, body, rows, 200, (row, number) =>
    make("tr", { class: look(number) }, used.map((at) =>
      make(at === 0 ? "th" : "td", { scope: at === 0 ? "row" : null, class: heads[at][1], "data-head": at === 0 ? null : heads[at][0] }, toned(row[at])))));
  if (!whole.querySelector("a, button")) keyboardScrolls(whole, caption);
  return parts;
}

/** Something that is wider than its place shows that it goes on to the right. */
function marksMore(whole) {
  const mark = () => whole.classList.toggle("more", whole.scrollWidth - whole.clientWidth - whole.scrollLeft > 1);
  whole.addEventListener("scroll", mark, { passive: true });
  new ResizeObserver(mark).observe(whole);
  return whole;
}

/** Without anything in it that takes the focus, a table that is too wide is scrolled by its own. */
function keyboardScrolls(whole, label) {
  for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", label]]) whole.setAttribute(name, value);
}

/** Add elements of items to a container, a step at a time: a button below adds more. */
function inSteps(whole, container, items, step, element) {
  const button = make("button", { type: "button", click: more });
  const below = make("p", { class: "choices" }, button);
  let next = 0;
  function more() {
    const first = next;
    next = Math.min(items.length, next + step);
    container.append(...items.slice(first, next).map((item, at) => element(item, first + at)));
    button.textContent = `Show ${Math.min(step, items.length - next)} more of ${items.length - next}`;
    below.hidden = next >= items.length;
    if (first > 0) container.children[first]?.querySelector("a")?.focus();
  }
  more();
  return items.length > step ? [whole, below] : whole;
}
