"""Data sets made here, like public ones: what beside_others.py learns by `mw train` and by scikit-learn or PyTorch.
Each generator takes numpy's generator and a number of examples."""
import math
import struct
import zlib

import numpy as np


def yes(random, score):
    return "yes" if random.random() < 1 / (1 + math.exp(-score)) else "no"


# ---- tables: header, rows (the target is last), fields of numbers, fields of words


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
    effects = np.random.default_rng(77).normal(0, 2, 60)
    rows = []
    for _ in range(n):
        shop, size = int(random.integers(0, 60)), random.normal(0, 1)
        rows.append(["s%d" % shop, "%.3f" % size, yes(random, effects[shop] + size)])
    return ["shop", "size", "open"], rows, ["size"], ["shop"]


def songs(random, n):
    """Four labels that are true or no each, of eight numbers of which some are missing."""
    weights = np.random.default_rng(5).normal(0, 1.2, (8, 4))
    rows = []
    for _ in range(n):
        x = random.normal(0, 1, 8)
        score = x @ weights + np.array([x[0] * x[1], x[2] ** 2 - 1, 0, -0.5])
        rows.append([("" if random.random() < 0.05 else "%.3f" % v) for v in x] + [yes(random, 2 * s) for s in score])
    return ["f%d" % i for i in range(8)] + ["happy", "quiet", "sad", "fast"], rows, ["f%d" % i for i in range(8)], []


def load(random, n):
    """Hours of a load with a day, a week, and what the weather was."""
    rows, noise, past = [], 0.0, [12.0] * 3
    for i in range(n):
        warm = 12 + 9 * math.sin(2 * math.pi * i / 8766) + 4 * math.sin(2 * math.pi * (i - 6) / 24) + random.normal(0, 1.5)
        noise = 0.9 * noise + random.normal(0, 300)
        work = i // 24 % 7 < 5
        rows.append(["%.1f" % warm, "%.0f" % (52000 + work * 6000 * max(0.0, math.sin(2 * math.pi * (i % 24 - 6) / 24))
                                              - 350 * past[-3] + noise)])
        past = past[1:] + [warm]
    return ["temperature", "load"], rows


def ratings(random, n):
    """Stars that 120 people gave 80 films, by tastes of three numbers."""
    fixed = np.random.default_rng(9)
    people, films = fixed.normal(0, 0.8, (120, 3)), fixed.normal(0, 0.8, (80, 3))
    kind, fame = fixed.normal(0, 0.5, 120), fixed.normal(0, 0.6, 80)
    rows = []
    for _ in range(n):
        u, f = int(random.integers(0, 120)), int(random.integers(0, 80))
        stars = 3.2 + kind[u] + fame[f] + people[u] @ films[f] + random.normal(0, 0.4)
        rows.append([1000 + u, 37 * f, "%.1f" % min(5, max(0.5, stars))])
    return ["user_id", "film_id", "stars"], rows


# ---- lists of any length: (numbers of words, class)


def visits(random, n):
    """What is bought shows in the last of three pages that is visited, and in how often a fourth one is."""
    out = []
    for _ in range(n):
        pages = random.integers(0, 60, random.integers(2, 40))
        pages[random.integers(0, len(pages))] = random.integers(1, 4)
        last = [p for p in pages if 1 <= p <= 3][-1]
        out.append((pages.tolist(), "often" if (pages % 15 == 9).sum() > 2 else "abc"[last - 1]))
    return out


# ---- pictures: [H, W] or [H, W, 3] bytes, and a class


def png(array):
    height, width = array.shape[:2]
    rows = b"".join(b"\0" + array[y].tobytes() for y in range(height))
    pieces = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2 if array.ndim == 3 else 0, 0, 0, 0)),
              (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in pieces)


def shapes(random, n):
    """Colored disks, squares and crosses of any size on noise, in pictures of any size."""
    out = []
    for i in range(n):
        kind = i % 3
        height, width = int(random.integers(40, 90)), int(random.integers(40, 90))
        side = min(height, width)
        y, x = np.mgrid[:height, :width]
        dy = y - height / 2 - random.uniform(-0.1, 0.1) * side
        dx = x - width / 2 - random.uniform(-0.1, 0.1) * side
        r = random.uniform(0.18, 0.32) * side
        inside = [dy ** 2 + dx ** 2 < r * r, np.maximum(abs(dy), abs(dx)) < 0.9 * r,
                  (np.minimum(abs(dy), abs(dx)) < 0.3 * r) & (np.maximum(abs(dy), abs(dx)) < 1.1 * r)][kind]
        back, front = random.uniform(0, 255, 3), random.uniform(0, 255, 3)
        while abs(back - front).sum() < 150:
            front = random.uniform(0, 255, 3)
        picture = np.where(inside[..., None], front, back) + random.normal(0, 20, (height, width, 3))
        out.append((np.clip(picture, 0, 255).astype(np.uint8), ["disk", "square", "cross"][kind]))
    return out


def strokes(random, n):
    """Gray pictures of 28 x 28: four kinds of strokes, moved and turned."""
    out = []
    y, x = np.mgrid[:28, :28] - 13.5
    for i in range(n):
        kind, angle = i % 4, random.uniform(-0.4, 0.4)
        u = (x - random.uniform(-3, 3)) * math.cos(angle) + (y - random.uniform(-3, 3)) * math.sin(angle)
        v = (y - random.uniform(-3, 3)) * math.cos(angle) - (x - random.uniform(-3, 3)) * math.sin(angle)
        far = [abs(u) + np.maximum(abs(v) - 8, 0), abs(v) + np.maximum(abs(u) - 8, 0), abs(np.hypot(u, v) - 7),
               np.minimum(abs(u) + np.maximum(abs(v) - 8, 0), abs(v) + np.maximum(abs(u) - 8, 0))][kind]
        picture = 230 * np.exp(-(far / random.uniform(1, 2)) ** 2) + random.normal(0, 40, (28, 28))
        out.append((np.clip(picture, 0, 255).astype(np.uint8), "abcd"[kind]))
    return out


# ---- sounds: samples in [-1, 1] at 8,000 a second, and a class


def wav(samples, rate=8000):
    data = np.clip(samples * 32767, -32768, 32767).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, 1, rate, 2 * rate, 2, 16)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" +
            struct.pack("<I", len(data)) + data)


def tones(random, n):
    """Half a second and more in noise: a tone that stays, rises, falls, or is two."""
    out = []
    for i in range(n):
        kind, length = i % 4, int(random.integers(4000, 6000))
        at, low = np.arange(length) / 8000, random.uniform(300, 900)
        slope = [0, 1, -1, 0][kind] * low * random.uniform(0.4, 0.9) / at[-1]
        start = low * (2 if kind == 2 else 1)
        sound = np.sin(2 * np.pi * (start * at + slope * at * at / 2) + random.uniform(0, 6))
        if kind == 3:
            sound = (sound + np.sin(2 * np.pi * random.uniform(2.1, 2.9) * low * at)) / 2
        sound = random.uniform(0.1, 0.6) * sound + random.normal(0, 0.08, length)
        out.append((sound, ["stays", "rises", "falls", "two"][kind]))
    return out
