// ONNX files of commands and examples in onnxruntime, with 1 and with 5 examples: each has a result whose first extent is
// that number.
// usage: node tests/client/onnxruntime_batch.mjs MODULES FILE.., where MODULES is a folder with node_modules. A file is
// given as PATH=SHAPE, the shape of one example of its only input without the batch: net.onnx=1x28x28.
import { createRequire } from 'node:module';
import path from 'node:path';

const [modules, ...files] = process.argv.slice(2);
const ort = createRequire(path.join(path.resolve(modules), 'onnxruntime.cjs'))('onnxruntime-node');
let failed = 0;

async function run(file, shape, examples) {
  const session = await ort.InferenceSession.create(file, { logSeverityLevel: 4, intraOpNumThreads: 1 });
  const dims = [examples, ...shape], count = dims.reduce((a, b) => a * b, 1);
  const input = new ort.Tensor('float32', new Float32Array(count).fill(0.5), dims);
  const results = await session.run({ [session.inputNames[0]]: input });
  for (const name of session.outputNames)
    if (results[name].dims[0] !== examples) throw new Error(`${name} is [${results[name].dims}]`);
}

for (const each of files) {
  const [file, shape] = each.split('=');
  for (const examples of [1, 5]) {
    try {
      await run(file, shape.split('x').map(Number), examples);
    } catch (error) {
      failed++;
      console.log(`FAILED ${file} with ${examples}: ${error.message}`);
    }
  }
}
console.log(`${2 * files.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
