// What Hugging Face's Rust engine makes of texts: a JSON text a line on the standard input, its tokens on the output.
// usage: node tests/text/engine_tokens.mjs MODULES TOKENIZER.json [ids] < STRINGS
// MODULES is a node_modules folder with @anush008/tokenizers. A line is ids, offsets (not with `ids`) and the text that the ids
// give.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(process.argv[2] + "/");
const { Tokenizer } = require("@anush008/tokenizers");
const tokenizer = Tokenizer.fromString(readFileSync(process.argv[3], "utf8"));
const lines = readFileSync(0, "utf8").split("\n").filter((l) => l.length > 0);
for (const line of lines) {
  const text = JSON.parse(line);
  const encoding = await tokenizer.encode(text, null, { addSpecialTokens: true });
  const ids = encoding.getIds();
  const offsets = process.argv[4] === "ids" ? undefined : encoding.getOffsets();
  console.log(JSON.stringify({ text, ids, offsets, decoded: await tokenizer.decode(ids, true) }));
}
