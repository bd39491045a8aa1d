// What Hugging Face's Rust engine learns from a text of lines: its merges, in order, as tokenizer.json has them.
// usage: node tests/text/engine_train.mjs MODULES TEXT MERGES
// MODULES is a node_modules folder with @anush008/tokenizers. The engine reads a text line by line and learns until
// every word is a token; the text should have no two line ends beside each other, and no spaces around them.
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(process.argv[2] + "/");
const { Tokenizer, BPE, byteLevelPreTokenizer } = require("@anush008/tokenizers");
const tokenizer = new Tokenizer(BPE.init({}, []));
tokenizer.setPreTokenizer(byteLevelPreTokenizer(false));
const folder = mkdtempSync(join(tmpdir(), "train-"));
const file = join(folder, "tokenizer.json");
tokenizer.train([process.argv[3]]);
tokenizer.save(file);
const { merges } = JSON.parse(readFileSync(file, "utf8")).model;
rmSync(folder, { recursive: true });
writeFileSync(process.argv[4], merges.map((m) => JSON.stringify(Array.isArray(m) ? m.join(" ") : m)).join(",\n") + "]");
