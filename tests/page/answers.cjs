// Answers questions by the script of a page: node answers.cjs PAGE < questions, one JSON array a line: [method, ...].
"use strict";
const { readFileSync } = require("node:fs");
const { createInterface } = require("node:readline");
const vm = require("node:vm");

const html = readFileSync(process.argv[2], "utf8");
const inside = (id) => new RegExp(`<script[^>]* id="${id}">([^]*?)</script>`).exec(html)[1];
// what browsers have, and nothing else: no document, no window, no require
const world = vm.createContext({ atob, Blob, DecompressionStream, Response });
vm.runInContext(`${inside("model")}\nglobalThis.load = loadPage;`, world);

async function main() {
  const page = await world.load(inside("data"));
  for await (const line of createInterface({ input: process.stdin })) {
    const [method, ...args] = JSON.parse(line);
    const found = typeof page[method] === "function" ? page[method](...args) : page[method];
    if (!process.stdout.write(`${JSON.stringify(found)}\n`)) {
      await new Promise((resolve) => process.stdout.once("drain", resolve));
    }
  }
}
main();
