// What tiktoken makes of a text, and its vocabulary as tokenizer.json: a JSON text a line on the standard input.
// usage: node tests/text/tiktoken_tokens.mjs MODULES gpt2|cl100k_base|o200k_base FOLDER < STRINGS
// MODULES is a node_modules folder with tiktoken. FOLDER gets tokenizer.json, the text (the strings in lines), and ids:
// its numbers in one line, as mw tokens -n prints them.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [modules, name, folder] = process.argv.slice(2);
const require = createRequire(modules + "/");
const { Tiktoken } = require("tiktoken");
const encoder = require(`tiktoken/encoders/${name}.json`);

// ---- ranks: lines of "! FIRST TOKEN TOKEN ..", tokens in base 64 ----

const ranks = new Map(); // by bytes, one character each
for (const line of encoder.bpe_ranks.split("\n").filter((l) => l.length > 0)) {
  const [, first, ...tokens] = line.split(" ");
  tokens.forEach((t, i) => ranks.set(Buffer.from(t, "base64").toString("latin1"), Number(first) + i));
}

// The two parts that a token is made of: what pairs of lower ranks leave.
function partsOf(token, rank) {
  const parts = [...token];
  while (parts.length > 2) {
    let best = -1;
    let lowest = rank;
    for (let i = 0; i + 1 < parts.length; i++) {
      const r = ranks.get(parts[i] + parts[i + 1]);
      if (r !== undefined && r < lowest) [best, lowest] = [i, r];
    }
    if (best < 0) return null;
    parts.splice(best, 2, parts[best] + parts[best + 1]);
  }
  return parts;
}

// ---- as files spell bytes ----

const spelled = [];
for (let byte = 0, next = 256; byte < 256; byte++) {
  const prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  spelled.push(String.fromCharCode(prints ? byte : next++));
}
const spell = (token) => [...token].map((c) => spelled[c.charCodeAt(0)]).join("");

const vocab = {};
const merges = [];
for (const [token, rank] of [...ranks].sort((a, b) => a[1] - b[1])) {
  vocab[spell(token)] = rank;
  const parts = token.length > 1 ? partsOf(token, rank) : null;
  if (parts !== null) merges.push(parts.map(spell).join(" "));
}
const level = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
const split = { type: "Split", pattern: { Regex: encoder.pat_str }, behavior: "Isolated", invert: false };
const model = { type: "BPE", vocab, merges, ignore_merges: true };
const tokenizer = { pre_tokenizer: { type: "Sequence", pretokenizers: [split, level] }, decoder: level, model };

// ---- the text ----

const lines = readFileSync(0, "utf8").split("\n").filter((l) => l.length > 0);
const text = lines.map((l) => JSON.parse(l)).join("\n");
const tiktoken = new Tiktoken(encoder.bpe_ranks, encoder.special_tokens, encoder.pat_str);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
writeFileSync(join(folder, "text"), text);
writeFileSync(join(folder, "ids"), Array.from(tiktoken.encode_ordinary(text)).join(" ") + "\n");
