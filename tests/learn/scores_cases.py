"""Figures by scikit-learn (1.2.1 and later): python3 tests/learn/scores_cases.py writes scores.safetensors for test_scores.c;
with a seed and a path other cases to another file, which the test takes as its argument (./run nightly figures).
"case.<i>" in its metadata is the task, the columns, and name=value of each figure with 17 digits; the tensors are <i>.p
(predictions), <i>.t (labels or targets) and <i>.w (weights, where there are any). Numbers are exact in fp32, so that both
sides see the same. Of what scikit-learn has not, the calibration error, the definition is written out here."""
import json
import pathlib
import struct
import sys
import warnings

import numpy as np
from sklearn import metrics

warnings.filterwarnings("ignore")  # classes that are never predicted: that is what the cases are for
random = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
notes, tensors = {}, {}


def record(task, columns, p, t, w, figures):
    index = len(notes)
    notes["case.%d" % index] = " ".join([task, str(columns)] + ["%s=%.17g" % item for item in figures.items()])
    tensors["%d.p" % index], tensors["%d.t" % index] = p.astype(np.float32), t
    if w is not None:
        tensors["%d.w" % index] = w.astype(np.float32)


def coarse(x, steps):
    """Rounded, so that there are ties; exact in fp32."""
    return np.round(np.asarray(x, np.float64) * steps) / steps


def weights(n, kind):
    return None if kind == 0 else coarse(random.uniform(0.0, 3.0, n), 8 if kind == 1 else 1)  # the latter has zeros


def by_mean(figures, t, said, w, kinds):
    functions = {"precision": metrics.precision_score, "recall": metrics.recall_score, "f1": metrics.f1_score,
                 "iou": metrics.jaccard_score, "dice": metrics.f1_score}
    for name, function in functions.items():
        for kind in kinds:
            key = name if kind == "binary" else "%s_%s" % (name, kind)
            figures[key] = function(t, said, average=kind, sample_weight=w, zero_division=0)


def calibration(confidence, right, w):
    """Guo et al. 2017 with 15 bins of equal width."""
    at = np.minimum((confidence * 15).astype(int), 14)
    w = np.ones(len(right)) if w is None else w
    off = [abs(np.sum(w[at == b] * confidence[at == b]) - np.sum(w[at == b] * right[at == b])) for b in range(15)]
    return np.sum(off) / np.sum(w)


def normal_rows(n, classes, steps):
    """Multiples of 1/steps that sum to 1."""
    cuts = np.sort(random.integers(0, steps + 1, (n, classes - 1)), axis=1)
    return np.diff(np.concatenate([np.zeros((n, 1)), cuts, np.full((n, 1), steps)], axis=1), axis=1) / steps


def classes_case(n, classes, steps, kind, absent=0):
    t = random.integers(0, classes - absent, n).astype(np.int32)
    p, w = normal_rows(n, classes, steps), weights(n, kind)
    if kind and w.sum() == 0:
        w[0] = 1.0
    said, every = p.argmax(axis=1), np.arange(classes)
    figures = {"accuracy": metrics.accuracy_score(t, said, sample_weight=w),
               "balanced_accuracy": metrics.balanced_accuracy_score(t, said, sample_weight=w),
               "log_loss": metrics.log_loss(t, p, sample_weight=w, labels=every),
               "calibration_error": calibration(p.max(axis=1), said == t, w)}
    by_mean(figures, t, said, w, ("macro", "micro", "weighted"))
    for k in {1, min(2, classes - 1), classes - 1}:  # by our own rule of ties: the first of equals counts
        order = np.argsort(-p, axis=1, kind="stable")[:, :k]
        figures["top_%d" % k] = np.average((order == t[:, None]).any(axis=1), weights=w)
    present = t if w is None else t[w > 0]
    if len(set(present.tolist())) == classes:
        if classes == 2:
            figures["auc"] = metrics.roc_auc_score(t, p[:, 1], sample_weight=w)
            figures["average_precision"] = metrics.average_precision_score(t, p[:, 1], sample_weight=w)
        else:
            hot = (t[:, None] == every).astype(int)
            figures["auc"] = metrics.roc_auc_score(hot, p, average="macro", sample_weight=w)
            figures["average_precision"] = metrics.average_precision_score(hot, p, average="macro", sample_weight=w)
    else:
        figures["auc"] = float("nan")
    record("classes", classes, p, t, w, figures)


def labels_case(n, columns, steps, kind):
    t, w = random.integers(0, 2, (n, columns)).astype(np.int32), weights(n, kind)
    p = coarse(random.uniform(0.0, 1.0, (n, columns)), steps)
    if kind and w.sum() == 0:
        w[0] = 1.0
    said = (p >= 0.5).astype(int)
    flat = (lambda x: x[:, 0]) if columns == 1 else (lambda x: x)
    figures = {"accuracy": metrics.accuracy_score(flat(t), flat(said), sample_weight=w),
               "log_loss": np.mean([metrics.log_loss(t[:, c], p[:, c], sample_weight=w, labels=[0, 1])
                                    for c in range(columns)]),
               "calibration_error": calibration(np.maximum(p, 1.0 - p).ravel(), (said == t).ravel(),
                                                None if w is None else np.repeat(w, columns))}
    if columns == 1:
        by_mean(figures, t[:, 0], said[:, 0], w, ("binary",))
    else:
        by_mean(figures, t, said, w, ("macro", "micro", "weighted"))
    kept = t if w is None else t[w > 0]
    if all(0 < kept[:, c].sum() < len(kept) for c in range(columns)):
        figures["auc"] = metrics.roc_auc_score(flat(t), flat(p), average="macro", sample_weight=w)
        figures["average_precision"] = metrics.average_precision_score(flat(t), flat(p), average="macro", sample_weight=w)
    record("labels", columns, p, t, w, figures)


def values_case(n, columns, kind, offset=0.0, constant=False):
    w = weights(n, kind)
    if kind and w.sum() == 0:
        w[:] = 1.0
    t = coarse(offset + 10.0 * random.normal(size=(n, columns)), 64)
    if constant:
        t[:] = t[0]
    p = coarse(t + random.normal(size=(n, columns)), 64)
    mean = {"sample_weight": w}
    figures = {"mae": metrics.mean_absolute_error(t, p, **mean), "mse": metrics.mean_squared_error(t, p, **mean),
               "rmse": np.mean(np.sqrt(metrics.mean_squared_error(t, p, multioutput="raw_values", **mean))),
               "mape": metrics.mean_absolute_percentage_error(t, p, **mean), "r2": metrics.r2_score(t, p, **mean)}
    record("values", columns, p, t.astype(np.float32), w, figures)


for kind in (0, 1, 2):
    for n, classes, steps in ((1, 2, 16), (5, 2, 8), (60, 2, 16), (60, 2, 4), (40, 3, 16), (80, 5, 64), (7, 10, 32)):
        classes_case(n, classes, steps, kind)
        classes_case(n, classes, steps, kind)
    classes_case(30, 4, 16, kind, absent=1)
    for n, columns, steps in ((1, 1, 16), (50, 1, 16), (50, 1, 4), (30, 4, 16), (9, 3, 4)):
        labels_case(n, columns, steps, kind)
    for n, columns in ((2, 1), (50, 1), (30, 3), (400, 1)):
        values_case(n, columns, kind)
    values_case(60, 2, kind, offset=4096.0)
    values_case(8, 1, kind, constant=True)

names = {np.dtype(np.float32): "F32", np.dtype(np.int32): "I32"}
header, body = {"__metadata__": notes}, b""
for name, data in tensors.items():
    raw = np.ascontiguousarray(data).tobytes()
    header[name] = {"dtype": names[data.dtype], "shape": list(data.shape), "data_offsets": [len(body), len(body) + len(raw)]}
    body += raw
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).with_name("scores.safetensors")
path.write_bytes(struct.pack("<Q", len(text)) + text + body)
print("%s: %d cases, %d bytes" % (path.name, len(notes), path.stat().st_size))
