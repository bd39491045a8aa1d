// Models of ONNX, kept by `test_format_onnx_write --cases FOLDER` and `test_format_onnx_nets --cases FOLDER`, in
// onnxruntime: it computes what our engine does, to 1e-5 of the largest value and 1. What it cannot run is listed below,
// each with the reason; an entry that runs after all fails.
// usage: node tests/client/onnxruntime.mjs MODULES FOLDER, where MODULES is a folder with node_modules.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const TOLERANCE = 1e-5;
const OPTIONS = { logSeverityLevel: 4, intraOpNumThreads: 1, interOpNumThreads: 1 };
const LEAST = { cases: 525, nets: 38 };

// [start of the title, what onnxruntime 1.17.3 says or does]
const EXCEPTIONS = [
  ['exp2 (int32)', 'is -2^31 beyond the range of int32, where ONNX says nothing'],
  ['avg_pool (windows of padding alone)', 'takes no border that is as wide as the window'],
  ['layer_norm (far from zero)', 'takes the mean of squares less the square of the mean, which cancels: 7e-4 off'],
  ['resize_bilinear (wider than a tile)', 'has positions in fp32, 2e-5 of an element off at 500'],
];

const [modules, folder] = process.argv.slice(2).map((each) => path.resolve(each));
const ort = createRequire(path.join(modules, 'onnxruntime.cjs'))('onnxruntime-node');

const arrays = {
  float32: Float32Array, int32: Int32Array, int64: BigInt64Array, bool: Uint8Array, int8: Int8Array,
  uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, uint32: Uint32Array,
};

function readCase(name) {
  const bytes = readFileSync(path.join(folder, `${name}.f64`));
  const values = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const lines = readFileSync(path.join(folder, `${name}.case`), 'utf8').trim().split('\n');
  const found = { name, title: lines[0].slice('title '.length), ports: [] };
  let at = 0;
  for (const line of lines.slice(1)) {
    const [kind, port, type, ...shape] = line.split(' ');
    const dims = shape.map(Number), count = dims.reduce((a, b) => a * b, 1);
    found.ports.push({ kind, port, type, dims, values: values.subarray(at, at + count) });
    at += count;
  }
  return found;
}

function tensorOf({ type, dims, values }) {
  const data = type === 'int64' ? BigInt64Array.from(values, (each) => BigInt(each)) : arrays[type].from(values);
  return new ort.Tensor(type, data, dims);
}

function compare(wanted, got) {
  if (got.type !== wanted.type) return `the result is ${got.type}, not ${wanted.type}`;
  if (got.dims.join() !== wanted.dims.join()) return `the shape is [${got.dims}], not [${wanted.dims}]`;
  const largest = wanted.values.reduce((most, each) => (Number.isFinite(each) ? Math.max(most, Math.abs(each)) : most), 1);
  for (let i = 0; i < wanted.values.length; i++) {
    const a = wanted.values[i], b = Number(got.data[i]);
    if (!(Math.abs(a - b) <= TOLERANCE * largest) && !Object.is(a, b) && a !== b)
      return `element ${i} is ${b}, ours ${a} (the largest is ${largest})`;
  }
  return null;
}

async function trouble(one) {
  try {
    const session = await ort.InferenceSession.create(path.join(folder, `${one.name}.onnx`), OPTIONS);
    const inputs = one.ports.filter((each) => each.kind === 'input');
    const wanted = one.ports.find((each) => each.kind === 'output');
    const results = await session.run(Object.fromEntries(inputs.map((each) => [each.port, tensorOf(each)])));
    return compare(wanted, results[wanted.port]);
  } catch (error) {
    return error.message.split('\n')[0];
  }
}

const names = readdirSync(folder).filter((each) => each.endsWith('.case')).map((each) => each.slice(0, -'.case'.length));
const passed = { cases: 0, nets: 0 };
let failed = 0;
for (const one of names.sort().map(readCase)) {
  const exception = EXCEPTIONS.find(([start]) => one.title.startsWith(start));
  const problem = await trouble(one);
  if (problem === null) passed[one.name.startsWith('net') ? 'nets' : 'cases']++;
  if ((problem === null) === (exception === undefined)) continue;
  failed++;
  console.log(`${one.name} ${one.title}: ${problem ?? 'is listed as an exception, but runs'}`);
}
for (const [kind, least] of Object.entries(LEAST)) {
  console.log(`${passed[kind]} ${kind} compute the same in onnxruntime`);
  if (passed[kind] < least) failed++;
}
process.exit(failed === 0 ? 0 : 1);
