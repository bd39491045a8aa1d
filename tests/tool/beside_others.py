#!/usr/bin/python3
"""Eleven data sets (made_data.py), each from the raw file to figures by one `mw train`, beside what scikit-learn (1.2.1 and
later) or PyTorch reach with their usual defaults on the same examples: SimpleImputer, StandardScaler, OneHotEncoder and
the better of a linear model and a net of one layer; a GRU, embeddings, two convolutions (of sounds over their spectrum), by Adam. Fails if mw is below by
more than a point on examples that nobody learned from, the mean over a few rounds.
usage: beside_others.py MW FOLDER [NAME ..]"""
import csv
import json
import math
import pathlib
import shutil
import subprocess
import sys
import warnings

import made_data as made
import numpy as np
import torch
from sklearn import metrics
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from torch import nn

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


def write(path, header, rows):
    with open(path, "w", newline="") as out:
        csv.writer(out).writerows([header] + rows)


def by_mw(folder, recipe):
    path = folder / "recipe.json"
    path.write_text(json.dumps({"threads": 1, **recipe}))
    said = subprocess.run([TOOL, "train", str(path), "--json", "-q"], capture_output=True, text=True)
    if said.returncode != 0:
        raise SystemExit(said.stderr)
    return json.loads(said.stdout)["test"]


# ---- tables, by scikit-learn


def number(text):
    if "-" in text[1:]:
        year, month, day = text.split("-")
        return int(year) + int(month) / 12 + int(day) / 365
    return math.nan if text == "" else float(text)


def features(header, rows, numbers, words):
    """Numbers, then words: the columns that scikit-learn's transformers take by place."""
    at = {name: i for i, name in enumerate(header)}
    x = np.array([[number(str(r[at[c]])) for c in numbers] for r in rows], object)
    w = np.array([[str(r[at[c]]) for c in words] for r in rows], object).reshape(len(rows), len(words))
    return np.hstack([x, w])


def transform(numbers, words):
    return ColumnTransformer([
        ("n", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), list(range(len(numbers)))),
        ("w", OneHotEncoder(handle_unknown="ignore"), list(range(len(numbers), len(numbers) + len(words))))])


def values_by_sklearn(prepare, x, y, z, t):
    mean, deviation = y.mean(axis=0), y.std(axis=0)
    found = []
    for model in (LinearRegression(), MLPRegressor(random_state=1)):
        pipe = make_pipeline(prepare, model).fit(x, (y - mean) / deviation)
        found.append(metrics.r2_score(t, pipe.predict(z) * deviation + mean))
    return max(found)


def labels_by_sklearn(prepare, x, y, z, t):
    found = []
    linear = LogisticRegression() if y.ndim == 1 else OneVsRestClassifier(LogisticRegression())
    for model in (linear, MLPClassifier(random_state=1)):
        p = make_pipeline(prepare, model).fit(x, y).predict_proba(z)
        found.append(metrics.roc_auc_score(t, p[:, 1] if y.ndim == 1 else p))
    return max(found)


def table(make, count, figure, targets=1):
    def compare(random, folder):
        header, rows, numbers, words = make(random, 2 * count)
        train, test = rows[:count], rows[count:]
        write(folder / "train.csv", header, train)
        write(folder / "test.csv", header, test)
        data = {"path": str(folder / "train.csv"), "test": str(folder / "test.csv")}
        if targets > 1:
            data["target"] = header[-targets:]
        ours = by_mw(folder, {"data": data})[figure]
        prepare = transform(numbers, words)
        x, z = features(header, train, numbers, words), features(header, test, numbers, words)
        if figure == "r2":
            y, t = (np.array([float(r[-1]) for r in part]) for part in (train, test))
            return ours, values_by_sklearn(prepare, x, y, z, t)
        y, t = (np.array([[c == "yes" for c in r[-targets:]] for r in part]) for part in (train, test))
        y, t = (y, t) if targets > 1 else (y[:, 0], t[:, 0])
        return ours, labels_by_sklearn(prepare, x, y, z, t)

    return compare


def series(random, folder):
    length, horizon, split = 48, 6, 2400
    header, rows = made.load(random, 4000)
    write(folder / "train.csv", header, rows[:split])
    write(folder / "test.csv", header, rows[split:])
    ours = by_mw(folder, {"data": {"path": str(folder / "train.csv"), "test": str(folder / "test.csv"),
                                   "window": {"length": length, "horizon": horizon}}})["r2"]
    all_rows = np.array(rows, float)

    def lags(part):
        count = len(part) - length - horizon + 1
        return (np.stack([part[i:i + length].ravel() for i in range(count)]),
                np.stack([part[i + length:i + length + horizon, 1] for i in range(count)]))

    (x, y), (z, t) = lags(all_rows[:split]), lags(all_rows[split:])
    return ours, values_by_sklearn(StandardScaler(), x, y, z, t)


# ---- by PyTorch


def fit(model, loss, batches, epochs):
    """Adam with its defaults."""
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(epochs):
        model.train()
        for x, y in batches():
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
    model.eval()
    return model


def shuffled(x, y, size=64):
    def batches():
        order = torch.randperm(len(y))
        for i in range(0, len(y), size):
            yield x[order[i:i + size]], y[order[i:i + size]]

    return batches


class Lists(nn.Module):
    """Embeddings and a GRU; 0 fills, and the last step that is there counts."""

    def __init__(self, words, classes):
        super().__init__()
        self.words = nn.Embedding(words + 1, 32, padding_idx=0)
        self.gru = nn.GRU(32, 64, batch_first=True)
        self.out = nn.Linear(64, classes)

    def forward(self, x):
        lengths = (x > 0).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.words(x), lengths, batch_first=True, enforce_sorted=False)
        return self.out(self.gru(packed)[1][0])


def lists(random, folder):
    parts, files = [made.visits(random, 2000) for _ in range(2)], []
    for name, part in zip(("train", "test"), parts):
        files.append(folder / (name + ".jsonl"))
        files[-1].write_text("".join(json.dumps({"pages": p, "buys": c}) + "\n" for p, c in part))
    ours = by_mw(folder, {"data": {"path": str(files[0]), "test": str(files[1])}})["accuracy"]
    names = sorted({c for _, c in parts[0]})

    def tensors(part):
        x = torch.zeros(len(part), max(len(p) for p, _ in part), dtype=torch.long)
        for i, (pages, _) in enumerate(part):
            x[i, :len(pages)] = torch.tensor(pages) + 1
        return x, torch.tensor([names.index(c) for _, c in part])

    (x, y), (z, t) = tensors(parts[0]), tensors(parts[1])
    model = fit(Lists(60, len(names)), nn.CrossEntropyLoss(), shuffled(x, y), 20)
    with torch.no_grad():
        return ours, (model(z).argmax(1) == t).float().mean().item()


class Tastes(nn.Module):
    """Embeddings of both ids, through a layer, or their product beside a number of each."""

    def __init__(self, people, films, mean, product):
        super().__init__()
        self.people, self.films = nn.Embedding(people, 16), nn.Embedding(films, 16)
        self.of_people, self.of_films = nn.Embedding(people, 1), nn.Embedding(films, 1)
        self.layers = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
        self.mean, self.product = mean, product

    def forward(self, x):
        u, f = self.people(x[:, 0]), self.films(x[:, 1])
        own = self.of_people(x[:, 0])[:, 0] + self.of_films(x[:, 1])[:, 0]
        return self.mean + (own + (u * f).sum(1) if self.product else self.layers(torch.cat([u, f], 1))[:, 0])


def ids(random, folder):
    header, rows = made.ratings(random, 8000)
    train, test = rows[:6000], rows[6000:]
    write(folder / "train.csv", header, train)
    write(folder / "test.csv", header, test)
    ours = by_mw(folder, {"data": {"path": str(folder / "train.csv"), "test": str(folder / "test.csv")}})["r2"]

    def tensors(part):
        return (torch.tensor([[r[0] - 1000, r[1] // 37] for r in part]),
                torch.tensor([float(r[2]) for r in part]))

    (x, y), (z, t) = tensors(train), tensors(test)
    found = []
    for product in (False, True):
        model = fit(Tastes(120, 80, y.mean(), product), nn.MSELoss(), shuffled(x, y), 20)
        with torch.no_grad():
            found.append(metrics.r2_score(t.numpy(), model(z).numpy()))
    return ours, max(found)


def conv_net(channels, classes, size):
    side = size // 4
    return nn.Sequential(nn.Conv2d(channels, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(32 * side * side, 64), nn.ReLU(), nn.Linear(64, classes))


def resized(picture, size):
    """The largest square in the middle, resized, 0 to 1: [C, size, size]."""
    array = torch.tensor(np.atleast_3d(picture).astype(np.float32) / 255).permute(2, 0, 1)
    side = min(array.shape[1:])
    top, left = (array.shape[1] - side) // 2, (array.shape[2] - side) // 2
    part = array[None, :, top:top + side, left:left + side]
    return nn.functional.interpolate(part, (size, size), mode="bilinear", antialias=True)[0]


def pictures(make, size, channels, epochs):
    def compare(random, folder):
        parts = [make(random, 600), make(random, 600)]
        for name, part in zip(("train", "test"), parts):
            for i, (picture, kind) in enumerate(part):
                place = folder / "pictures" / name / kind
                place.mkdir(parents=True, exist_ok=True)
                (place / ("%04d.png" % i)).write_bytes(made.png(picture))
        ours = by_mw(folder, {"data": {
            "path": str(folder / "pictures"), "size": size, "channels": channels}})["accuracy"]
        names = sorted({kind for _, kind in parts[0]})
        (x, y), (z, t) = ((torch.stack([resized(p, size) for p, _ in part]),
                           torch.tensor([names.index(kind) for _, kind in part])) for part in parts)
        model = fit(conv_net(channels, len(names), size), nn.CrossEntropyLoss(), shuffled(x, y), epochs)
        with torch.no_grad():
            return ours, (model(z).argmax(1) == t).float().mean().item()

    return compare


# ---- sounds: the logarithm of a spectrum, as a picture


def spectrum(sound):
    padded = torch.zeros(6000)
    padded[:len(sound)] = torch.tensor(sound[:6000], dtype=torch.float32)
    power = torch.stft(padded, 256, 128, window=torch.hann_window(256), return_complex=True).abs() ** 2
    return ((power[1:65, :44] + 1e-6).log() / 5)[None]


def sounds(random, folder):
    parts = [made.tones(random, 400), made.tones(random, 400)]
    for name, part in zip(("train", "test"), parts):
        for i, (sound, kind) in enumerate(part):
            place = folder / "sounds" / name / kind
            place.mkdir(parents=True, exist_ok=True)
            (place / ("%04d.wav" % i)).write_bytes(made.wav(sound))
    ours = by_mw(folder, {"data": {"path": str(folder / "sounds")}})["accuracy"]
    names = sorted({kind for _, kind in parts[0]})
    (x, y), (z, t) = ((torch.stack([spectrum(s) for s, _ in part]),
                       torch.tensor([names.index(kind) for _, kind in part])) for part in parts)
    model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(32 * 16 * 11, 64), nn.ReLU(), nn.Linear(64, len(names)))
    model = fit(model, nn.CrossEntropyLoss(), shuffled(x, y), 20)
    with torch.no_grad():
        return ours, (model(z).argmax(1) == t).float().mean().item()


# ---- all of them: how one is compared, the figure, and the rounds

SETS = {
    "passengers": (table(made.passengers, 900, "auc"), "auc", 6),
    "houses": (table(made.houses, 1200, "r2"), "r2", 6),
    "frauds": (table(made.frauds, 3000, "auc"), "auc", 6),
    "shops": (table(made.shops, 2000, "auc"), "auc", 6),
    "songs": (table(made.songs, 1500, "auc", targets=4), "auc", 4),
    "load": (series, "r2", 4),
    "visits": (lists, "accuracy", 3),
    "ratings": (ids, "r2", 3),
    "shapes": (pictures(made.shapes, 32, 3, 40), "accuracy", 3),
    "strokes": (pictures(made.strokes, 28, 1, 8), "accuracy", 3),
    "tones": (sounds, "accuracy", 3),
}


def main():
    folder, names = pathlib.Path(sys.argv[2]), sys.argv[3:] or SETS
    below = 0
    for name in names:
        compare, figure, rounds = SETS[name]
        ours, theirs = [], []
        for seed in range(rounds):
            place = folder / name
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            torch.manual_seed(seed)
            one, other = compare(np.random.default_rng(seed), place)
            ours.append(one)
            theirs.append(other)
            shutil.rmtree(place)
        print("%s: %s %.4f, others %.4f" % (name, figure, np.mean(ours), np.mean(theirs)), flush=True)
        below += np.mean(ours) < np.mean(theirs) - 0.01
    return 1 if below > 0 else 0


TOOL = sys.argv[1]
sys.exit(main())
