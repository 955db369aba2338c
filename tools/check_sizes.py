#!/usr/bin/env python3
"""Fails on source files over 600 lines that tools/size_exceptions.txt does not list with a reason."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 600
ENDINGS = {".cc", ".h", ".py", ".sh", ".js", ".html", ".cmake"}


def main():
    exceptions = {}
    for line in (ROOT / "tools/size_exceptions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            path, _, reason = line.partition(" ")
            exceptions[path] = reason.strip()
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.splitlines()
    bad = 0
    for name in names:
        path = ROOT / name
        if path.suffix not in ENDINGS or not path.is_file():
            continue
        lines = path.read_text(errors="replace").count("\n")
        if lines > LIMIT and not exceptions.get(name):
            print(f"{name}: {lines} lines (limit {LIMIT}); split it by meaning or list it with a reason")
            bad += 1
    print(f"check_sizes: {bad} problem(s)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
