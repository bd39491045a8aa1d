// Checks the syntax of what this machine has no compiler for: Swift and Ruby, by tree-sitter's grammars.
// usage: node tools/packages/lint_grammar.mjs MODULES FILE..; MODULES has web-tree-sitter 0.22.6 and tree-sitter-wasms 0.1.13
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const require = createRequire(join(resolve(process.argv[2]), "x.js"));
const Parser = require("web-tree-sitter");
const grammars = { swift: "tree-sitter-swift.wasm", rb: "tree-sitter-ruby.wasm" };

function faults(node) {
    if (!node.hasError) return [];
    const own = node.isError || node.isMissing ? [node] : [];
    return own.length ? own : node.children.flatMap(faults);
}

await Parser.init();
for (const path of process.argv.slice(3)) {
    const parser = new Parser();
    parser.setLanguage(await Parser.Language.load(require.resolve(`tree-sitter-wasms/out/${grammars[path.split(".").pop()]}`)));
    const found = faults(parser.parse(readFileSync(path, "utf8")).rootNode);
    for (const { startPosition: at, text } of found)
        console.error(`${path}:${at.row + 1}:${at.column + 1}: no grammar for "${text.split("\n")[0]}"`);
    if (found.length) process.exitCode = 1;
}
