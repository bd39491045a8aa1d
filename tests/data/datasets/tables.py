#!/usr/bin/env python3
"""Writes small tables with Python's csv and json, and records in tables.txt what Python reads back from them: lines of
file, column and values, floats as the hexadecimal digits of their bits. usage: tables.py"""
import csv
import json
import struct
import sys

HEADER = ["id", "petal, length", 'the "width"', "kind", "count", "note"]
KINDS = ["setosa", "versi\ncolor", 'say "virginica"', "naïve, indeed", "Zebra"]
NUMBERS = ["5.1", "-0.25", "1e-3", "0.1", "16777217", "3.4028235e38", "1e-45", "-0.0", "7.", ".5", "123456789.123456789"]


def rows():
    for i in range(11):
        yield [str(i), NUMBERS[i], NUMBERS[(i * 3 + 1) % 11], KINDS[i * 7 % 5], str((i * 7919 - 20000) * 100003), "a,b\r\nc" * (i % 3)]


def write():
    with open("quoted.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)  # CRLF, quotes where they are needed
        writer.writerow(HEADER)
        writer.writerows(rows())
    with open("all_quoted.csv", "w", newline="", encoding="utf-8-sig") as out:  # with a byte order mark
        writer = csv.writer(out, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows())
    with open("rows.jsonl", "w", encoding="utf-8") as out:
        for i, row in enumerate(rows()):
            item = dict(zip(HEADER, row))
            item.update({"id": i, "petal, length": float(row[1]), 'the "width"': float(row[2]), "count": int(row[4]),
                         "nested": [[float(row[1]), i], [-i, 1e-3 * i]], "flag": i % 2 == 0, "other": {"deep": [None, {}]}})
            out.write(json.dumps(item, ensure_ascii=i % 2 == 0) + "\n")


def bits(values):
    return ["%08x" % struct.unpack("<I", struct.pack("<f", float(v)))[0] for v in values]


def record(out, name, read):
    kinds = sorted({row["kind"] for row in read}, key=lambda k: k.encode())
    print(name, "x", *bits(v for row in read for v in (row['the "width"'], row["petal, length"])), file=out)
    print(name, "y", *[kinds.index(row["kind"]) for row in read], file=out)
    print(name, "count", *[int(row["count"]) for row in read], file=out)
    if "nested" in read[0]:
        print(name, "nested", *bits(v for row in read for pair in row["nested"] for v in pair), file=out)
        print(name, "flag", *[int(row["flag"]) for row in read], file=out)


def main():
    write()
    with open("tables.txt", "w") as out:
        print("# tables.py, Python", sys.version.split()[0], file=out)
        for name, separator, encoding in ("quoted.csv", ",", "utf-8"), ("all_quoted.csv", ";", "utf-8-sig"):
            with open(name, newline="", encoding=encoding) as file:
                record(out, name, list(csv.DictReader(file, delimiter=separator)))
        with open("rows.jsonl", encoding="utf-8") as file:
            record(out, "rows.jsonl", [json.loads(line) for line in file])


main()
