"use strict";
/* Data of a page, decoded, and the answers that are made of it. There is no document here, so that all of it
   runs in tests. What an answer has are the fields of the JSON that the command of that name prints.
   OWN, NO_KEY: in the place of a key: that of the slot itself, and none. */
const OWN = -1;
const NO_KEY = -2;
/* From the worst on. */
const SEVERITIES = ["error", "warning", "info"];

class Page {
  constructor(data) {
    this.data = data;
    this.about = data.about;
    this.words = data.words;
    this.keys = data.keys;
    this.findings = data.findings;
    this.fixes = data.fixes;
    this.findingChecks = data.summary;
    this.affected = new Map(Object.entries(data.affected));
    this.fallbacks = data.fallbacks;
    this.slots = data.key_names.slice(0, data.slots);
    this.slotOf = new Map(this.slots.map((key, slot) => [key, slot]));
    this.aliases = new Map(data.keys.aliases.map((alias) => [alias.alias, alias]));
    this.fallbackAt = new Map(data.fallbacks.map((fallback) => [fallback.key, fallback]));
    this.numbers = new Map(data.operators.name.map((name, number) => [name, number]));
    this.overloaded = new Set(data.operators.name.flatMap(withoutOverload));
    this.higherOrders = new Map(data.higher_order.operators);
    this.registered = new RegExp(data.words.registered, "u");
    this.ofPyTorch = new RegExp(data.words.of_pytorch, "u");
    this.unsafe = unsafeIn(data.words);
    const every = this.listed();
    this.entries = data.listed.map((number) => every[number]);
    this.byName = new Map(this.entries.map((entry) => [entry.name, entry]));
    this.backends = data.coverage.backends.map((backend) => backend.backend);
    this.about.counts = this.counted();
  }

  /* Every operator, for lists, in the order of the data. */
  listed() {
    const { name, marks, before, changes } = this.data.operators;
    const live = this.data.operators.live;
    const entry = (operator, higher, marked, changed, stale) => ({
      name: operator, higher_order: higher, own: (marked & 1) !== 0, new: (marked & 2) !== 0, changed, stale, ...this.findingCounts(operator),
    });
    const own = new Set(this.data.higher_order.own);
    return [
      ...name.map((operator, number) =>
        entry(operator, false, marks[number], changes[before[number]].length, (live[number] || []).length)),
      ...this.data.higher_order.operators.map(([operator]) => entry(operator, true, own.has(operator) ? 1 : 0, 0, 0)),
    ];
  }

  /* Number of findings of an operator, listed or not, and the worst severity of them. */
  findingCounts(name) {
    const counts = this.affected.get(name) ?? {};
    const worst = SEVERITIES.find((severity) => counts[severity] > 0) ?? null;
    return { findings: Object.values(counts).reduce((total, count) => total + count, 0), worst };
  }

  counted() {
    return {
      operators: this.numbers.size,
      higher_order_operators: this.higherOrders.size,
      slots: this.numbers.size * this.slots.length,
      stale_slots: this.entries.reduce((total, entry) => total + entry.stale, 0),
    };
  }

  entry(name) {
    return this.byName.get(name) || null;
  }

  /* The findings, worst first, then by place: as the command lists them. */
  rankedFindings() {
    return SEVERITIES.flatMap((severity) => this.findings.findings.filter((finding) => finding.severity === severity));
  }

  findingsOf(name, key = null) {
    return this.findings.findings.filter((finding) => finding.operator === name && (key === null || finding.key === key));
  }

  /* Number of findings of an operator that are counted and not listed. */
  unlistedOf(name) {
    return this.findingCounts(name).findings - this.findingsOf(name).length;
  }

  /* The same of a check; of all without one. */
  unlisted(check = "") {
    const rows = this.findings.unlisted.filter((row) => check === "" || row.check === check);
    return rows.reduce((total, row) => total + row.findings, 0);
  }

  /* Control, direction and invisible characters spelled out. */
  safe(text) {
    return spelledOut(text, this.unsafe);
  }

  /* A kernel's text for a narrow place: of PyTorch's own, only the file; else the place. */
  shortKernel(text) {
    const match = this.registered.exec(text);
    if (match === null) return text;
    const isTheirs = this.ofPyTorch.test(match.groups.place.replaceAll("\\", "/"));
    return (isTheirs ? match.groups.file : match.groups.place) + text.slice(match[0].length);
  }

  /* A place; of PyTorch's own sources only the file. */
  placeText(place) {
    if (place === null) return "";
    const isTheirs = this.ofPyTorch.test(place.file.replaceAll("\\", "/"));
    return `${isTheirs ? place.file.replace(/.*[/\\]/, "") : place.file}:${place.line}:${place.column}`;
  }

  /* The address of a place in the project's repository; null where it is not known to be in that. */
  placeUrl({ file, line }) {
    const { source_url: url, files } = this.about;
    const isInside = files.some((known) => known.name === file) && !/^[/\\~]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(file);
    return url && isInside ? `${url}/blob/main/${addressOf(file)}#L${line}` : null;
  }

  /* The address of the place in a kernel's text, where that is a file of PyTorch's repository: not one that its build made. */
  kernelUrl(text) {
    const match = /[/ ](?:__w\/pytorch\/pytorch|site-packages)\/((?:aten|torch|c10)\/(?!csrc\/autograd\/generated\/)[\w./-]+):(\d+)/.exec(text);
    const [version] = /^\d+\.\d+\.\d+/.exec(this.about.torch ?? "") ?? [];
    return match && version ? `https://github.com/pytorch/pytorch/blob/v${version}/${addressOf(match[1])}#L${match[2]}` : null;
  }

  // the parts of answers

  text(number) {
    return number < 0 ? null : this.data.texts[number];
  }

  place(number) {
    if (number < 0) return null;
    const [file, line, column] = this.data.places[number];
    return { file: this.text(file), line, column };
  }

  keyAt(number, own) {
    return number === OWN ? own : number === NO_KEY ? null : this.data.key_names[number];
  }

  /* The registrations of an operator by key, the active one first. */
  registrations(number) {
    const { kernels, attributes } = this.data.operators;
    const row = kernels[number];
    const byKey = new Map();
    for (let at = 0; at < row.length; at += 4) {
      const key = this.data.key_names[row[at]];
      const registration = { key, kernel: this.text(row[at + 1]), declared_at: this.place(row[at + 3]), of: attributes[row[at + 2]] };
      if (byKey.has(key)) byKey.get(key).push(registration);
      else byKey.set(key, [registration]);
    }
    return byKey;
  }

  header(number) {
    return this.data.operators.headers[this.data.operators.header[number]];
  }
}

function addressOf(file) {
  return file.replace(/^\.\//, "").split("/").map(encodeURIComponent).join("/");
}

/* The name that an overload has without it, in a list; an empty list for a name without overload. */
function withoutOverload(name) {
  const at = name.indexOf(".", name.indexOf("::") + 2);
  return at < 0 ? [] : [name.slice(0, at)];
}

/* The data in the text of an element. */
async function unpacked(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old for this page: it has no DecompressionStream.");
  }
  const packed = Uint8Array.from(atob(text.trim()), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/* Characters that are spelled out. */
function unsafeIn(words) {
  return new RegExp(`[${words.unsafe}]`, "gu");
}

/* A text with them spelled out: control, direction and invisible characters. */
function spelledOut(text, unsafe) {
  return String(text).replace(unsafe, (sign) => {
    const code = sign.codePointAt(0);
    const short = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];
    if (short) return short;
    const digits = code.toString(16);
    if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
    return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
  });
}

/* A name as a part of a link. A "!" at its beginning would make the link one of a view; half a pair of surrogates has no form in links of its own. */
function linked(text) {
  const whole = text.replace(/[~\ud800-\udfff]/gu, (sign) => `~${sign.codePointAt(0).toString(16)}.`);
  return encodeURIComponent(whole).replace(/%3A/g, ":").replace(/%2C/g, ",").replace(/^!/, "%21");
}

function unlinked(text) {
  try {
    return decodeURIComponent(text).replace(/~([0-9a-f]{2,4})\./g, (_, code) => String.fromCharCode(parseInt(code, 16)));
  } catch {
    return null;
  }
}

const dispatchPage = {
  /* The page of the text in the element with the data. */
  async load(text) {
    return new Page(await unpacked(text));
  },
};
