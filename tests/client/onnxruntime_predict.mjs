// Probabilities of mw predict (.jsonl with --all) beside softmax of what onnxruntime gives for the rows of a CSV of
// numbers with a class behind them.
// usage: node onnxruntime_predict.mjs MODULES MODEL ROWS PREDICTIONS, where MODULES is a folder with node_modules.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [modules, model, rows, predictions] = process.argv.slice(2).map((each) => path.resolve(each));
const ort = createRequire(path.join(modules, 'onnxruntime.cjs'))('onnxruntime-node');

const lines = (file) => readFileSync(file, 'utf8').trim().split('\n');
const numbers = lines(rows).slice(1).map((line) => line.split(',').slice(0, -1).map(Number));
const said = lines(predictions).map((line) => JSON.parse(line));
const session = await ort.InferenceSession.create(model, { logSeverityLevel: 4 });
const x = new ort.Tensor('float32', Float32Array.from(numbers.flat()), [numbers.length, numbers[0].length]);
const results = await session.run({ [session.inputNames[0]]: x });
const scores = results[session.outputNames[0]];
const width = scores.dims[1];

let worst = said.length === numbers.length ? 0 : Infinity;
said.forEach((row, i) => {
  const own = Array.from(scores.data.slice(i * width, (i + 1) * width), (each) => Math.exp(each));
  const sum = own.reduce((a, b) => a + b, 0);
  Object.values(row.probabilities).forEach((p, k) => {
    worst = Math.max(worst, Math.abs(p - own[k] / sum));
  });
  const best = own.indexOf(Math.max(...own));
  if (Object.keys(row.probabilities)[best] !== row.class) worst = Infinity;
});
console.log(`${path.basename(model)}: ${said.length} rows, probabilities differ by ${worst.toExponential(1)} at most`);
process.exit(worst < 1e-5 ? 0 : 1);
