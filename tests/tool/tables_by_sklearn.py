#!/usr/bin/python3
"""Tables made here (passengers with holes, house prices with dates, rare frauds, ids), learned by `mw train FILE` with its
defaults and by scikit-learn (1.2.1 and later) with its usual ones: SimpleImputer, StandardScaler, OneHotEncoder, then the
better of a linear model and a net of one layer. Fails if mw is below by more than a point on the same rows that nobody
learned from, the mean over a few tables of each kind. usage: tables_by_sklearn.py MW FOLDER"""
import csv
import json
import math
import pathlib
import subprocess
import sys
import warnings

import numpy as np
from sklearn import metrics
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

warnings.filterwarnings("ignore")
ROUNDS = 6


def yes(random, score):
    return "yes" if random.random() < 1 / (1 + math.exp(-score)) else "no"


def passengers(random, n):
    rows = []
    for i in range(n):
        woman, kind, age = random.random() < 0.4, int(random.integers(1, 4)), random.normal(30, 14)
        port = random.choice(["S", "C", "Q"], p=[0.7, 0.2, 0.1])
        lives = yes(random, 3 * woman - 1.1 * (kind - 2) - 0.04 * (age - 30) + (port == "C") - 1.2)
        rows.append([i, "" if random.random() < 0.2 else "%.1f" % age, kind, "female" if woman else "male",
                     "" if random.random() < 0.05 else port, "%.2f" % math.exp(random.normal(4 - kind, 0.5)), lives])
    return ["PassengerId", "age", "class", "sex", "port", "fare", "survived"], rows, ["age", "class", "fare"], ["sex", "port"]


def houses(random, n):
    rows = []
    for _ in range(n):
        area, rooms, built = random.uniform(40, 250), int(random.integers(1, 8)), int(random.integers(1900, 2021))
        town, year = random.choice(["Ulm", "Bonn", "Trier", "Hof"]), int(random.integers(2010, 2024))
        price = (area * 2500 + 8000 * rooms + {"Ulm": 0, "Bonn": 6e4, "Trier": 2e4, "Hof": -4e4}[town] - 600 * (2020 - built)
                 + 9000 * (year - 2010)) * math.exp(random.normal(0, 0.05))
        rows.append(["" if random.random() < 0.1 else "%.1f" % area, rooms, built, town,
                     "%d-%02d-%02d" % (year, random.integers(1, 13), random.integers(1, 29)), "%.0f" % price])
    return ["area", "rooms", "built", "town", "sold", "price"], rows, ["area", "rooms", "built", "sold"], ["town"]


def frauds(random, n):
    rows = []
    for _ in range(n):
        amount, hour, country = math.exp(random.normal(3, 1)), int(random.integers(0, 24)), random.choice(list("ABCDE"))
        rows.append(["%.2f" % amount, hour, country,
                     yes(random, 2.5 * math.log(amount) + 2 * (hour < 6) + 2 * (country == "E") - 14)])
    return ["amount", "hour", "country", "fraud"], rows, ["amount", "hour"], ["country"]


def shops(random, n):
    effects = random.normal(0, 2, 60)
    rows = []
    for _ in range(n):
        shop, size = int(random.integers(0, 60)), random.normal(0, 1)
        rows.append(["s%d" % shop, "%.3f" % size, yes(random, effects[shop] + size)])
    return ["shop", "size", "open"], rows, ["size"], ["shop"]


KINDS = {"passengers": (passengers, 900, "auc"), "houses": (houses, 1200, "r2"), "frauds": (frauds, 3000, "auc"),
         "shops": (shops, 2000, "auc")}


def write(path, header, rows):
    with open(path, "w", newline="") as out:
        csv.writer(out).writerows([header] + rows)


def by_mw(tool, folder, name):
    recipe = folder / "recipe.json"
    recipe.write_text(json.dumps({"threads": 1, "data": {"path": str(folder / (name + ".csv")),
                                                         "test": str(folder / (name + "_test.csv"))}}))
    said = subprocess.run([tool, "train", str(recipe), "--json", "-q"], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)["test"]


def number(text):
    if "-" in text[1:]:
        year, month, day = text.split("-")
        return int(year) + int(month) / 12 + int(day) / 365
    return math.nan if text == "" else float(text)


def features(header, rows, numbers, words):
    """Numbers, then words: the columns that scikit-learn's transformers take by place."""
    at = {name: i for i, name in enumerate(header)}
    x = np.array([[number(str(r[at[c]])) for c in numbers] for r in rows], object)
    w = np.array([[str(r[at[c]]) for c in words] for r in rows], object)
    return np.hstack([x, w])


def by_sklearn(header, train, test, numbers, words, figure):
    transform = ColumnTransformer([
        ("n", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), list(range(len(numbers)))),
        ("w", OneHotEncoder(handle_unknown="ignore"), list(range(len(numbers), len(numbers) + len(words))))])
    x, z = features(header, train, numbers, words), features(header, test, numbers, words)
    found = []
    if figure == "r2":
        y, t = (np.array([float(r[-1]) for r in rows]) for rows in (train, test))
        mean, deviation = y.mean(), y.std()
        for model in (LinearRegression(), MLPRegressor(random_state=1)):
            pipe = make_pipeline(transform, model).fit(x, (y - mean) / deviation)
            found.append(metrics.r2_score(t, pipe.predict(z) * deviation + mean))
    else:
        y, t = (np.array([r[-1] == "yes" for r in rows]) for rows in (train, test))
        for model in (LogisticRegression(), MLPClassifier(random_state=1)):
            pipe = make_pipeline(transform, model).fit(x, y)
            found.append(metrics.roc_auc_score(t, pipe.predict_proba(z)[:, 1]))
    return max(found)


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    below = 0
    for name, (make, count, figure) in KINDS.items():
        ours, theirs = [], []
        for seed in range(ROUNDS):
            header, rows, numbers, words = make(np.random.default_rng(seed), 2 * count)
            train, test = rows[:count], rows[count:]
            write(folder / (name + ".csv"), header, train)
            write(folder / (name + "_test.csv"), header, test)
            ours.append(by_mw(tool, folder, name)[figure])
            theirs.append(by_sklearn(header, train, test, numbers, words, figure))
        print("%s: %s %.4f, scikit-learn %.4f" % (name, figure, np.mean(ours), np.mean(theirs)))
        below += np.mean(ours) < np.mean(theirs) - 0.01
    return 1 if below > 0 else 0


sys.exit(main())
