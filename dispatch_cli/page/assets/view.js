"use strict";
/* The view that is shown: the address decides, so that links, back and forward work. */

/** The state that is shown, once it has been read: what model.js makes of the data. */
let page = null;

/** Target of the address that was shown last. */
let shownTarget = null;

const VIEWS = {
  start: startView,
  changes: () => writtenView("changes"),
  findings: findingsView,
  coverage: coverageView,
  keys: () => writtenView("keys"),
  fallbacks: () => writtenView("fallbacks"),
  "higher-order": () => writtenView("higher-order"),
  about: () => writtenView("about"),
  support: supportView,
};

/** Target of the address; an empty one is the start. */
function wanted() {
  const [address] = location.hash.split("?");
  if (address.length < 2 || address === "#!start") return { view: "start" };
  const target = page.target(address) ?? { name: address.slice(1), key: null, entry: null };
  return !target.entry && Object.hasOwn(VIEWS, target.name ?? "") ? page.target(`#!${address.slice(1)}`) : target;
}

/** Choice in a view: behind the "?" of the address, which no name in it has as it is. */
function chosenIn(name) {
  return new URLSearchParams(location.hash.split("?")[1] ?? "").get(name);
}

/** Go on with a choice, which stands in the address; nothing for what is so without it. */
function choose(name, value) {
  const [address, behind] = location.hash.split("?");
  const all = new URLSearchParams(behind ?? "");
  if (value) all.set(name, value);
  else all.delete(name);
  location.hash = `${address}${all.size > 0 ? `?${all}` : ""}`;
}

/** The title, the command line and the parts of what a target shows. */
function viewOf(target) {
  if (target.view !== undefined) {
    const view = Object.hasOwn(VIEWS, target.view) ? VIEWS[target.view] : null;
    if (!view) return unknownView(target.view);
    const argument = target.argument ?? null;
    return argument && view.length === 0 ? unknownView(`${target.view}/${argument}`) : view(argument);
  }
  if (!target.entry) return unknownOperator(target.name, target.key);
  return target.entry.blocks ? higherOrderOperatorView(target) : operatorView(target);
}

function unknownView(name) {
  return {
    title: "No such view",
    parts: [paragraph("This page has no view called ", make("code", {}, name), ". The views are in the head of the page.")],
  };
}

/** An address of an operator that is not in the state. */
function unknownOperator(operator, key) {
  const name = key === null || page.slotOf.has(key) ? operator : `${operator}/${key}`;
  return {
    title: "No such operator",
    parts: [paragraph("This state has no operator ", make("code", {}, name), ".")],
  };
}

/** Show what the address asks for. An error shows itself, and the page goes on. */
function show() {
  const target = wanted();
  let view;
  try {
    view = viewOf(target);
  } catch (error) {
    view = { title: "This view has an error", parts: [paragraph(`${error}`), paragraph("The other views work.")] };
  }
  const heading = make("h1", { tabindex: "-1" }, ...[view.heading ?? view.title].flat());
  const parts = [view.command && commandLine(view.command), ...view.parts];
  const [before, focused] = [shownTarget, document.activeElement?.id];
  byId("main").replaceChildren(...nodes([heading, ...parts]));
  arrive(target, view.title);
  if (before !== null) goOn(heading, before.name !== undefined && before.name === target.name, focused);
}

/** Put the focus where the reader goes on: into what was chosen in, on a slot beside its operator, or at the top. */
function goOn(heading, isSameOperator, focused) {
  const slot = isSameOperator && matchMedia("(min-width: 100rem)").matches && document.querySelector(".operator-view [aria-current]");
  const stays = (focused && byId("main").querySelector(`#${CSS.escape(focused)}`)) || slot;
  if (slot) say(document.querySelector(".slot-view h2").textContent);
  if (!stays) window.scrollTo(0, 0);
  if (!byId("query").matches(":focus")) (stays || heading).focus({ preventScroll: true });
}

/** Show the place of the reader: in the window's title, in the list of views, for styles and for those who listen. */
function arrive(target, title) {
  shownTarget = target;
  document.title = `${title} - dispatch-cli`;
  document.body.dataset.address = location.hash;
  document.body.dataset.view = target.view ?? "operator";
  document.body.classList.toggle("at-slot", target.name !== undefined && target.key !== null);
  for (const link of document.querySelectorAll(".views a")) {
    const current = link.getAttribute("href") === `#!${target.view}`;
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  closeHits();
  drawHits();
  showOpenHit();
}

/** Single keys, where no text is being typed. */
function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || byId("keys").open) return;
  if (event.target.closest("input, select, textarea")) return;
  const done = keyAction(event.key);
  if (!done) return;
  event.preventDefault();
  done();
}

function keyAction(key) {
  if (key === "/") return focusSearch;
  if (key === "?") return () => byId("keys").showModal();
  if (key === "y") return () => document.querySelector("main .command button")?.click();
  if (key === "u" && shownTarget?.key) return () => { location.hash = page.link(shownTarget.name); };
  if (/^[1-9]$/.test(key)) return () => document.querySelectorAll(".views li:not([hidden]) a")[Number(key) - 1]?.click();
  const button = document.querySelector(`main button[data-key="${CSS.escape(key)}"]`);
  return button && (() => button.click());
}

function start(loaded) {
  page = loaded;
  byId("state").textContent = page.about.title;
  byId("foot").textContent = page.about.foot;
  byId("changes").hidden = !page.about.has_changes;
  startSearch();
  window.addEventListener("hashchange", show);
  document.addEventListener("keydown", pressed);
  show();
  document.documentElement.dataset.ready = "yes";
}

function failed(error) {
  byId("main").replaceChildren(make("h1", {}, "This page cannot be shown"), paragraph(`${error.message ?? error}`));
}

byId("help").addEventListener("click", () => byId("keys").showModal());
loadPage(byId("data").textContent).then(start).catch(failed);
