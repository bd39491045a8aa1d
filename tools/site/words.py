"""Finds words of the documents that neither the dictionary nor tools/site/words.txt has."""
import pathlib
import re
import subprocess

LIST = pathlib.Path(__file__).resolve().parent / "words.txt"
FENCE = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)
SPACED = re.compile(r"^(?: {4}|\t).*$", re.M)
SPANS = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^>\n]+>|https?://\S+")
WORD = re.compile(r"(?<![\w./_-])[A-Za-z][a-z]{2,}(?![\w_]|[./]\w)")


def prose(text):
    """What is neither code nor an address."""
    for what in (FENCE, SPACED, SPANS):
        text = what.sub(" ", text)
    return text


def words(paths):
    """{word: first file}. Names in capitals and with digits are left out."""
    found = {}
    for path in paths:
        for word in WORD.findall(prose(path.read_text(encoding="utf-8"))):
            found.setdefault(word, path)
    return found


def unknown(paths):
    found = words(paths)
    known = {line for line in LIST.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")}
    done = subprocess.run(["hunspell", "-d", "en_US", "-l"], input="\n".join(sorted(found)), capture_output=True, text=True,
                          check=True)
    return [(word, found[word]) for word in done.stdout.split() if word not in known and word.lower() not in known]


def faults(paths):
    return [f"{path}: \"{word}\" is in no dictionary: mend it, or add it to tools/site/words.txt" for word, path in unknown(paths)]
