#!/usr/bin/env python3
"""Fails on an #include between layers that cmake/layers.cmake does not list, and on what library code may not do."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^sotto_layer\(\s*(\S+)\s+(\S+)\s+ALLOWS([^)]*)\)")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
# Library code reports through Status and the log; only the command line prints or ends the process.
FORBIDDEN = re.compile(r"\b(?:std::)?(?:abort|exit|_exit|quick_exit|printf|puts)\s*\(|\bstd::c(?:out|err)\b|\bthrow\b")
PRINTING_LAYERS = {"cli"}
# A kernel compiled for a newer CPU must not instantiate std templates: the linker could keep its copy for all.
KERNEL_HEADERS = {"immintrin.h", "cstdint", "cstddef", "stdint.h", "stddef.h"}


def read_layers():
    layers = {}
    for line in (ROOT / "cmake/layers.cmake").read_text().splitlines():
        match = ROW.match(line)
        if match:
            name, folder, allows = match.groups()
            layers[name] = (folder, set(allows.split()))
    return layers


def layer_of(path, layers):
    """The layer with the longest folder that holds `path` (relative to src/)."""
    best = None
    for name, (folder, _) in layers.items():
        if path.startswith(folder + "/") and (best is None or len(folder) > len(layers[best][0])):
            best = name
    return best


def check_file(file, layers, problems):
    relative = file.relative_to(ROOT / "src").as_posix()
    layer = layer_of(relative, layers)
    if layer is None:
        problems.append(f"src/{relative}: belongs to no layer of cmake/layers.cmake")
        return
    is_test = bool(re.search(r"_(test|bench|fuzz)\.cc$", relative)) or "/testing/" in relative or "/cts/" in relative
    is_simd = "/x86_64/" in relative and re.search(r"_(avx2|avx512\w*)\.cc$", relative)
    in_comment = False
    for number, line in enumerate(file.read_text().splitlines(), 1):
        where = f"src/{relative}:{number}"
        match = INCLUDE.match(line)
        if match:
            kind, target = match.groups()
            if "xrt/" in target and layer != "npu_runtime_xrt":
                problems.append(f"{where}: only npu/runtime/xrt may include {target}")
            if kind == '"' and not target.startswith("sotto/"):
                other = layer_of(target, layers)
                if other is None:
                    if not (ROOT / "src" / target).exists() and not is_test:
                        problems.append(f'{where}: include "{target}" by its path under src/')
                elif other != layer and not is_test and other not in layers[layer][1]:
                    problems.append(f"{where}: layer {layer} may not include {target} (layer {other})")
            if is_simd and kind == "<" and target not in KERNEL_HEADERS:
                problems.append(f"{where}: a SIMD kernel file includes only intrinsics and plain headers, not <{target}>")
            continue
        code = line.split("//")[0]
        code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', code)
        if "/*" in code:
            in_comment = True
        if not in_comment and not is_test and layer not in PRINTING_LAYERS and FORBIDDEN.search(code):
            problems.append(f"{where}: library code returns a Status; it does not print, throw or exit: {line.strip()}")
        if "*/" in code:
            in_comment = False


def main():
    layers = read_layers()
    problems = []
    for pattern in ("*.cc", "*.h"):
        for file in sorted((ROOT / "src").rglob(pattern)):
            check_file(file, layers, problems)
    for file in sorted((ROOT / "include").rglob("*.h")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match.group(1) == '"' and not match.group(2).startswith("sotto/"):
                problems.append(f"{file.relative_to(ROOT)}:{number}: the installed API includes only itself and std")
    for problem in problems:
        print(problem)
    print(f"check_layers: {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
