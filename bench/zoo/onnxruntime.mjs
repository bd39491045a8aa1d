// Runs a model that `zoo NAME --onnx FILE` wrote in onnxruntime and prints network<TAB>metric<TAB>value, as zoo --infer does.
// usage: node onnxruntime.mjs MODULES FILE [threads] [steps], where MODULES is a folder with node_modules.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [modules, file, threads = '1', steps = '5'] = process.argv.slice(2);
const ort = createRequire(path.join(path.resolve(modules), 'onnxruntime.cjs'))('onnxruntime-node');
const options = { logSeverityLevel: 3, intraOpNumThreads: Number(threads), interOpNumThreads: 1 };
const name = path.basename(file, '.onnx');
const emit = (metric, value) => console.log(`${name}\t${metric}\t${Number(value.toPrecision(6))}`);
const now = () => Number(process.hrtime.bigint()) * 1e-6;
const cpu = () => Object.values(process.cpuUsage()).reduce((a, b) => a + b) * 1e-3;

// The numbers of bench_uniforms: 24 bits of SplitMix64, from seed 1, in halves of 32 bits.
function uniforms(count) {
  const made = new Float32Array(count), mask = (1n << 64n) - 1n;
  let state = 1n;
  for (let i = 0; i < count; i++) {
    state = (state + 0x9E3779B97F4A7C15n) & mask;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xBF58476D1CE4E5B9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94D049BB133111EBn) & mask;
    made[i] = Number((z ^ (z >> 31n)) >> 40n) / 16777216;
  }
  return made;
}

function feedOf(line) {
  const [input, below, ...dims] = line.split(' ').map((each, i) => (i === 0 ? each : Number(each)));
  const values = uniforms(dims.reduce((a, b) => a * b, 1));
  const tensor = below === 0 ? new ort.Tensor('float32', values, dims)
    : new ort.Tensor('int32', Int32Array.from(values, (each) => Math.fround(each * below)), dims);
  return [input, tensor];
}

const lines = readFileSync(`${file}.inputs`, 'utf8').trim().split('\n');
const feeds = Object.fromEntries(lines.map(feedOf));
let start = now();
const session = await ort.InferenceSession.create(file, options);
emit('compile_ms', now() - start);
const times = [];
let used = 0, result;
for (let i = 0; i < Number(steps); i++) {
  used = i <= 1 ? cpu() : used;
  start = now();
  result = (await session.run(feeds)).result;
  times.push(now() - start);
}
used = cpu() - used;
const first = times.length > 1 ? 1 : 0, warm = times.slice(first).sort((a, b) => a - b), half = warm.length >> 1;
emit('first_ms', times[0]);
emit('step_ms', warm.length % 2 ? warm[half] : (warm[half - 1] + warm[half]) / 2);
emit('cpu_ms', used / warm.length);
const status = readFileSync('/proc/self/status', 'ascii');
emit('peak_mb', Number(/VmHWM:\s+(\d+)/.exec(status)[1]) * 1024 / 1e6);
emit('result', result.data.reduce((sum, each) => sum + Math.abs(each), 0) / result.data.length);
