"use strict";
/* What the page of a state and the index of versions have in common: their data, safe texts, and parts of links. */

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
