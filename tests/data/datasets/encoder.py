#!/usr/bin/python3
"""Writes passengers.csv, a table with holes as people bring it, later.csv with words and holes that it has not, and
encoder.npz: what scikit-learn (1.2.1 and later) makes of both, fitted on the first, in the order of the encoder's columns.
Dates are by Python's datetime. usage: encoder.py"""
import csv
import datetime
import math

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

random = np.random.default_rng(7)
HEADER = ["PassengerId", "age", "fare", "class", "sex", "port", "married", "booked", "stamp", "survived"]
PORTS = ["Southampton", "Cherbourg", "Queenstown, Cork", "Århus"]


def row(i, holes):
    sex = random.choice(["male", "female"])
    age, fare, kind = random.normal(30, 12), math.exp(random.normal(3, 1)), int(random.integers(1, 4))
    day = datetime.datetime(1912, 1, 1) + datetime.timedelta(days=int(random.integers(0, 400)), hours=int(random.integers(0, 24)))
    lives = random.random() < 1 / (1 + math.exp(-(2.5 * (sex == "female") - 0.04 * (age - 30) - (kind - 2))))
    port = PORTS[int(random.choice(4, p=[0.6, 0.2, 0.1, 0.1]))]
    cells = [str(i), "%.1f" % age, "%.4f" % fare, str(kind), sex, port, random.choice(["yes", "no"]),
             day.strftime("%Y-%m-%d %H:%M"), "%d" % (1700000000 + 37 * i * i % 181), "yes" if lives else "no"]
    for column, share in holes.items():
        if random.random() < share:
            cells[column] = random.choice(["", "NA", "nan"])
    return cells


def write(name, rows):
    with open(name, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows)


def missing(cell):
    return cell in ("", "NA", "nan")


def numbers(rows, column):
    return np.array([[math.nan if missing(r[column]) else float(r[column])] for r in rows])


def scaled(train, other, strategy):
    imputer = SimpleImputer(strategy=strategy).fit(train)
    scaler = StandardScaler().fit(imputer.transform(train))
    return [scaler.transform(imputer.transform(x)) for x in (train, other)]


def marks(train, other):
    return [np.isnan(x).astype(float) for x in (train, other)]


def words(rows, column):
    return np.array([["" if missing(r[column]) else r[column]] for r in rows], dtype=object)


def one_hot(train, other):
    # words by their bytes, as the encoder sorts them
    order = sorted(set(train[:, 0]), key=lambda w: w.encode())
    encoder = OneHotEncoder(categories=[order], sparse_output=False, handle_unknown="ignore").fit(train)
    return [encoder.transform(x) for x in (train, other)]


def days(rows, column):
    base = datetime.datetime(1970, 1, 1)
    at = [None if missing(r[column]) else datetime.datetime.strptime(r[column], "%Y-%m-%d %H:%M") for r in rows]
    return at, np.array([[math.nan if d is None else (d - base) / datetime.timedelta(days=1)] for d in at])


def circle(shares):
    return np.array([[0.0, 0.0] if s is None else [math.sin(2 * math.pi * s), math.cos(2 * math.pi * s)] for s in shares])


def dates(train, other, column):
    (at, number), (later, after) = days(train, column), days(other, column)
    newest = np.nanmax(number)
    year = [np.array([[math.nan if d is None else d.year] for d in x], float) for x in (at, later)]
    out = []
    years, ages = scaled(year[0], year[1], "mean"), scaled(newest - number, newest - after, "mean")
    for k, x in enumerate((at, later)):
        month = circle([None if d is None else (d.month - 1) / 12 for d in x])
        week = circle([None if d is None else d.weekday() / 7 for d in x])
        hour = circle([None if d is None else (d.hour * 60 + d.minute) / 1440 for d in x])
        out.append(np.hstack([years[k], ages[k], month, week, hour, marks(number, after)[k]]))
    return out


def booleans(train, other, column):
    def read(rows):
        return np.array([[math.nan if missing(r[column]) else float(r[column] == "yes")] for r in rows])
    return [np.hstack(pair) for pair in zip(scaled(read(train), read(other), "mean"), marks(read(train), read(other)))]


def main():
    holes = {1: 0.2, 2: 0.05, 5: 0.1, 6: 0.1, 7: 0.05}
    train = [row(i, holes) for i in range(240)]
    later = [row(i + 240, dict(holes) | {4: 0.2, 3: 0.1}) for i in range(60)]
    for i in range(0, 60, 7):
        later[i][5] = "Bergen"
    write("passengers.csv", train)
    write("later.csv", later)
    parts = [[np.hstack(p) for p in zip(scaled(numbers(train, 1), numbers(later, 1), "mean"),
                                        marks(numbers(train, 1), numbers(later, 1)))],
             [np.hstack(p) for p in zip(scaled(numbers(train, 2), numbers(later, 2), "median"),
                                        marks(numbers(train, 2), numbers(later, 2)))],
             scaled(numbers(train, 3), numbers(later, 3), "mean"),
             booleans(train, later, 6), dates(train, later, 7), scaled(numbers(train, 8), numbers(later, 8), "mean"),
             one_hot(words(train, 4), words(later, 4)), one_hot(words(train, 5), words(later, 5))]
    np.savez("encoder.npz", train=np.hstack([p[0] for p in parts]), later=np.hstack([p[1] for p in parts]),
             y=np.array([int(r[9] == "yes") for r in train]))


main()
