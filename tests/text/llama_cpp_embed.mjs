// Embeddings that llama.cpp gives with an encoder of GGUF beside those of mw embed: how far they are apart.
// usage: node llama_cpp_embed.mjs NODE_MODULES MW FILE.gguf TEXT..
import { createRequire } from "node:module";
import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";

const [folder, mw, file, ...texts] = process.argv.slice(2);
const require = createRequire(folder + "/x.js");
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(require.resolve("node-llama-cpp")).href);
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createEmbeddingContext({ contextSize: 64, batchSize: 64, threads: 1 });
const own = JSON.parse(execFileSync(mw, ["embed", file, "--json", ...texts])).embeddings;
let apart = 0;
for (const [i, text] of texts.entries()) {
  const { vector } = await context.getEmbeddingFor(text);
  const largest = Math.max(...own[i].map(Math.abs));
  own[i].forEach((value, k) => (apart = Math.max(apart, Math.abs(value - vector[k]) / largest)));
}
console.log(`bert: embeddings differ by ${apart.toExponential(1)}`);
process.exit(apart < 2e-3 ? 0 : 1);
