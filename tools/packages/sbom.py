#!/usr/bin/env python3
"""Prints an SBOM in SPDX 2.3 (JSON): Millwright, its files with their SHA-1 and SHA-256, and what the libraries need, from
the table of docs/dependencies.md. usage: sbom.py VERSION"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def identity(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-")


def needed():
    """The rows of "In the library": what is taken, and its packages."""
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    part = text.split("## In the library")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (?!what|---)([^|]+) \| ([^|]+) \|", part, re.M)
    return [(name.strip(), packages.strip().replace("`", "")) for name, packages in rows]


def package(name, version=None, comment=None):
    found = {"SPDXID": identity("Package-" + name), "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
             "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION"}
    found.update({"versionInfo": version} if version else {})
    found.update({"comment": comment} if comment else {})
    return found


def files():
    for path in git("ls-files").split("\n"):
        if path and (ROOT / path).is_file():
            data = (ROOT / path).read_bytes()
            yield {"SPDXID": identity("File-" + path), "fileName": "./" + path, "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
                   "checksums": [{"algorithm": kind.upper(), "checksumValue": hashlib.new(kind, data).hexdigest()} for kind in ("sha1", "sha256")]}


def document(version):
    own = package("millwright", version)
    sums = sorted(entry["checksums"][0]["checksumValue"] for entry in (entries := list(files())))
    own.update({"filesAnalyzed": True, "licenseDeclared": "MIT", "licenseConcluded": "MIT", "copyrightText": "2026 Millwright contributors",
                "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()},
                "hasFiles": [entry["SPDXID"] for entry in entries]})
    others = [package(name, comment="packages: " + names) for name, names in needed()]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct"))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}]
    relations += [{"spdxElementId": own["SPDXID"], "relationshipType": "DEPENDS_ON", "relatedSpdxElement": other["SPDXID"]} for other in others]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"millwright-{version}",
            "documentNamespace": f"urn:millwright:{version}:{git('rev-parse', 'HEAD').strip()}",
            "creationInfo": {"created": created, "creators": ["Organization: Millwright contributors"]},
            "packages": [own, *others], "files": entries, "relationships": relations}


if __name__ == "__main__":
    json.dump(document(sys.argv[1]), sys.stdout, indent=1)
    print()
