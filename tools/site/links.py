"""Finds links of built pages that lead nowhere, and whatever a page would fetch from another host."""
import html.parser
import pathlib
import urllib.parse

FETCHED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}
# Of <link>, what names a page and fetches nothing.
NAMES = {"canonical", "index", "search", "next", "prev", "author", "copyright"}


class Page(html.parser.HTMLParser):
    """The anchors of a page, its links, and what it fetches."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.fetched = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        for name, value in attrs:
            if value and (tag, name) in FETCHED and values.get("rel") not in NAMES:
                self.fetched.append(value)
            elif value and (tag, name) == ("a", "href"):
                self.links.append(value)


def outside(address):
    return urllib.parse.urlsplit(address).netloc != "" or address.startswith("//")


def faults_of(path, page, pages):
    for address in page.fetched:
        if outside(address):
            yield f"{path}: fetches {address} from another host"
    for address in page.links + page.fetched:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file():
            yield f"{path}: {address} is not there"
        elif parts.fragment and target in pages and parts.fragment not in pages[target].anchors:
            yield f"{path}: {address} has no such part"


def faults(folder):
    """A sentence for each fault in the pages of a folder."""
    paths = sorted(pathlib.Path(folder).resolve().glob("**/*.html"))
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    return [fault for path in paths for fault in faults_of(path, pages[path], pages)]
