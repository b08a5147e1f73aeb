/* Elements. All text in the page is set as text; no name ever becomes markup, and links stay in the page. */

function byId(id) {
  return document.getElementById(id);
}

/** Say something to those who do not see the page. */
function say(text) {
  byId("said").textContent = page.safe(text);
}

/** Text as it may be shown: control, direction and invisible characters are spelled out. */
function shown(text) {
  return page ? page.safe(String(text)) : String(text);
}

/** Children as nodes: texts are made safe and can be broken; null, false and undefined are left out; lists are opened. */
function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .flatMap((child) => (child instanceof Node ? child : breakable(shown(child))));
}

/** Breaks of a name or a path: behind its separators; in a long word before a capital, or after 40 letters. */
const SEPARATED = /(?<=::|[/_.])(?=\p{L})/u;
const LONG_WORD = /\S{24,}/u;
const IN_LONG_WORD = /(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=^.{40}|^.{80}|^.{120}|^.{160})/u;

/** A text as nodes that are broken where the parts of names and paths end, if they are broken at all. */
function breakable(text) {
  const inWord = (word) => (LONG_WORD.test(word) ? word.split(IN_LONG_WORD) : word);
  const parts = text.split(SEPARATED).flatMap((part) => (LONG_WORD.test(part) ? part.split(/(?<= )/).flatMap(inWord) : part));
  return parts.flatMap((part, at) => [...(at > 0 ? [document.createElement("wbr")] : []), document.createTextNode(part)]);
}

/** An element. attributes: a function is a listener for the event of that name; null and false are left out. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "href" && !value.startsWith("#") && !isOfRepository(value)) throw new Error("links stay in the page");
    else element.setAttribute(name, shown(value));
  }
  element.append(...nodes(children));
  return element;
}

/** True for the address of a file in the project's repository, or in PyTorch's. */
function isOfRepository(address) {
  const repositories = [page?.about.source_url, "https://github.com/pytorch/pytorch"].filter(Boolean);
  return repositories.some((url) => url.startsWith("https://") && address.startsWith(`${url}/blob/`));
}

/** A text that leads to a file in a repository; as it is where the address is not known. */
function sourceLink(url, text, title) {
  if (url === null) return make("span", { class: "mono", title }, text);
  return make("a", { class: "mono", href: url, title, rel: "noopener noreferrer" }, text);
}

function paragraph(...children) {
  return make("p", {}, ...children);
}

/** Labels and what there is to say of each; those with nothing are left out. */
function facts(rows) {
  const kept = rows.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  return kept.length > 0 && make("dl", { class: "facts" }, kept.map(([label, value]) => [make("dt", {}, label), make("dd", {}, value)]));
}

/** A number with its noun: ``1 slot``, ``1,024 slots``. */
function plural(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : nouns}`;
}

/** A choice with how many there are: ``own kernel (20)``. */
function counted(label, count) {
  return `${label} (${count.toLocaleString("en-US")})`;
}

/** A label as all others are written: ``Autograd keys`` of ``autograd keys``. */
function capital(label) {
  return `${label[0].toUpperCase()}${label.slice(1)}`;
}

function section(title, ...children) {
  return make("section", {}, make("h2", {}, title), ...children);
}

/** The command line that prints what is shown, and a button that copies it. */
function commandLine(command) {
  return make("div", { class: "command" }, make("code", {}, command), copyButton(command, "Copy the command that prints this"));
}

function copyButton(text, label) {
  const copy = async (event) => {
    const done = await copied(text);
    event.target.textContent = done ? "Copied" : "Copy failed";
    say(done ? "Copied" : "The browser did not let the page copy");
    setTimeout(() => { event.target.textContent = "Copy"; }, 1500);
  };
  return make("button", { type: "button", "aria-label": label, click: copy }, "Copy");
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Buttons of which one is chosen. options: ``[value, label, key]`` each; the key chooses it from the keyboard. */
function choices(label, options, chosen, choose) {
  const buttons = options.map(([value, text, key]) =>
    make("button", { type: "button", id: `choose-${value}`, "aria-pressed": String(value === chosen), "data-key": key, click: () => choose(value) }, text));
  return make("div", { class: "choices", role: "group", "aria-label": label }, buttons);
}

/** A choice of many values. options: ``[value, label]`` each. */
function selection(id, label, options, chosen, choose) {
  const select = make("select", { id, change: (event) => choose(event.target.value) },
    options.map(([value, text]) => make("option", { value }, text)));
  select.selectedIndex = Math.max(0, options.findIndex(([value]) => value === chosen));
  return make("p", { class: "choices" }, make("label", { for: id }, label), select);
}

/** A table. columns: ``[header, cell of a row, class]`` each; the first is the row's header. Columns without text in any
 * row are left out. Many rows come in steps. */
function table(caption, columns, rows, { chosen = () => false } = {}) {
  const cells = rows.map((row) => columns.map(([, cell]) => cell(row)));
  const used = columns.filter((_, at) => at === 0 || cells.some((row) => row[at] !== "" && row[at] !== null));
  const body = make("tbody", {});
  const head = make("thead", {}, make("tr", {}, used.map(([header, , look]) => make("th", { scope: "col", class: look }, header))));
  const whole = make("div", { class: "rows lists" }, make("table", {}, make("caption", {}, caption), head, body));
  marksMore(whole);
  const parts = inSteps(whole, body, rows, 200, (row) =>
    make("tr", { class: chosen(row) ? "chosen" : null }, used.map(([header, cell, look], at) =>
      at === 0
        ? make("th", { scope: "row", class: look }, cell(row))
        : make("td", { class: look, "data-head": header }, cell(row)))));
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
  for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", shown(label)]]) whole.setAttribute(name, value);
}

/** Add elements of items to a container, a step at a time: a button below adds more. */
function inSteps(whole, container, items, step, element) {
  const button = make("button", { type: "button", click: more });
  const below = make("p", { class: "choices" }, button);
  let next = 0;
  function more() {
    const first = next;
    next = Math.min(items.length, next + step);
    container.append(...items.slice(first, next).map(element));
    button.textContent = `Show ${Math.min(step, items.length - next)} more of ${items.length - next}`;
    below.hidden = next >= items.length;
    if (first > 0) container.children[first]?.querySelector("a")?.focus();
  }
  more();
  return items.length > step ? [whole, below] : whole;
}
