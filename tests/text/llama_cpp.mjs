// What llama.cpp makes of a GGUF file: the tokens of a text, and those that follow it with the largest logit each.
// usage: node llama_cpp.mjs NODE_MODULES FILE.gguf TEXT COUNT
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, file, text, count] = process.argv.slice(2);
const require = createRequire(folder + "/x.js");
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(require.resolve("node-llama-cpp")).href);
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.warn });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize: 64, batchSize: 64, threads: 1 });
const sequence = context.getSequence();
const tokens = model.tokenize(text, true);
if (model.tokens.shouldPrependBosToken) tokens.unshift(model.tokens.bos);
const written = [];
for await (const token of sequence.evaluate(tokens, { temperature: 0, yieldEogToken: true })) {
    written.push(token);
    if (written.length >= +count || model.isEogToken(token)) break;
}
console.log(JSON.stringify({ tokens, written }));
process.exit(0);
