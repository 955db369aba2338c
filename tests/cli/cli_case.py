"""What the black-box tests of the models commands share: a store of their own, a hub, a catalogue, a fake pip."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

from fake_hub import FakeHub

SOTTO = os.environ["SOTTO_BIN"]

# Only the beginning of weights is looked at when they are installed.
GGUF_MAGIC = b"GGUF\x03\0\0\0"


def weights(size, seed=1):
    """Bytes that look like a GGUF file and do not compress."""
    content = hashlib.shake_256(str(seed).encode()).digest(max(0, size - len(GGUF_MAGIC)))
    return (GGUF_MAGIC + content)[:size]


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def ctranslate2_head():
    name = b"WhisperSpec\0"
    return (6).to_bytes(4, "little") + len(name).to_bytes(2, "little") + name


class CliCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sotto-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.store = self.folder / "store"
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        self.hub = FakeHub()
        self.addCleanup(self.hub.close)
        # Nothing of this machine's own settings: no proxies, tokens, pip, certificates.
        self.environment = {
            "HOME": str(self.folder / "home"), "PATH": str(self.programs), "SOTTO_HOME": str(self.store),
            "HF_ENDPOINT": self.hub.url, "SOTTO_CATALOGUE": str(self.folder / "catalogue.json"),
            # A test that forgets a source must not reach the world outside.
            "https_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1", "LC_ALL": "C.UTF-8",
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""), "UBSAN_OPTIONS": os.environ.get("UBSAN_OPTIONS", ""),
        }
        self.entries = {}
        self.write_catalogue()

    # The catalogue.

    def write_catalogue(self):
        # Something that no test pulls keeps the list from being empty.
        entries = list(self.entries.values()) or [self.entry("unused", "llm", [self.hub_source("o/unused", [])])]
        (self.folder / "catalogue.json").write_text(json.dumps({"models": entries}))

    @staticmethod
    def entry(name, kind, sources, **more):
        for source in sources:
            source["files"] = source["files"] or [{"name": "x.gguf"}]
        return {"name": name, "kind": kind, "sources": sources, "licence": "MIT", **more}

    @staticmethod
    def hub_source(repository, files, **more):
        return {"hub": repository, "files": files, **more}

    def add_model(self, name, kind, sources, **more):
        self.entries[name] = self.entry(name, kind, sources, **more)
        self.write_catalogue()

    def add_hub_model(self, name="tiny-llm", size=100_000, lfs=True, with_sum=True, kind="llm", seed=1):
        """A model of one file on the hub and in the catalogue; its bytes."""
        content = weights(size, seed)
        self.hub.add(f"owner/{name}/{name}.gguf", content, lfs)
        file = {"name": f"{name}.gguf"}
        if with_sum:
            file.update(bytes=size, sha256=sha256(content))
        self.add_model(name, kind, [self.hub_source(f"owner/{name}", [file])])
        return content

    # Running.

    def start(self, *arguments, **more):
        environment = {**self.environment, **more.pop("env", {})}
        return subprocess.Popen([SOTTO, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def run_sotto(self, *arguments, **more):
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def sotto(self, *arguments, code=0, **more):
        """Runs a command that must end with `code`."""
        result = self.run_sotto(*arguments, **more)
        self.assertEqual(result.returncode, code, f"{arguments}\nout: {result.stdout}\nerr: {result.stderr}")
        return result

    def wait_until(self, condition, process=None):
        """Waits for something that surely comes; a minute is for machines that stand still."""
        for _ in range(6000):
            if condition():
                return
            if process is not None and process.poll() is not None:
                self.fail(f"ended early: {process.communicate()}")
            time.sleep(0.01)
        self.fail("waited a minute in vain")

    def installed_file(self, model, file):
        return self.store / "models" / model / file

    def part(self, model, file):
        return self.store / "partial" / model / (file + ".part")

    def assert_installed(self, model, file, content):
        self.assertEqual(sha256(self.installed_file(model, file).read_bytes()), sha256(content))
        self.assertFalse((self.store / "partial" / model).exists())
        self.sotto("show", model, "--verify")

    def assert_not_installed(self, model):
        self.assertFalse((self.store / "models" / model).exists())

    # A pip that serves wheels of a folder.

    def write_pip(self, body, name="pip"):
        path = self.programs / name
        path.write_text(f"#!{sys.executable}\nimport os, pathlib, shutil, sys\n{body}\n")
        path.chmod(0o755)

    def serve_wheels(self, name="pip"):
        """`pip download --dest D P==V` copies P-V-*.whl; arguments go to pip.log, a line a call."""
        (self.folder / "wheels").mkdir(exist_ok=True)
        self.write_pip(f"""
folder = pathlib.Path({str(self.folder)!r})
with open(folder / "pip.log", "a") as log:
    log.write(repr(sys.argv[1:]) + chr(10))
package, version = sys.argv[-1].split("==")
wheels = list((folder / "wheels").glob(package.replace("-", "_") + "-" + version + "-*.whl"))
if not wheels:
    print("ERROR: No matching distribution found for", sys.argv[-1], file=sys.stderr)
    sys.exit(1)
shutil.copy(wheels[0], sys.argv[sys.argv.index("--dest") + 1])
""", name)

    def add_wheel(self, package, version, members):
        (self.folder / "wheels").mkdir(exist_ok=True)
        stem = package.replace("-", "_")
        path = self.folder / "wheels" / f"{stem}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
            for name, content in members.items():
                wheel.writestr(name, content)
        return path

    def pip_calls(self):
        log = self.folder / "pip.log"
        return log.read_text().splitlines() if log.exists() else []


def kill(process, number=signal.SIGKILL):
    process.send_signal(number)
    return process.communicate(timeout=60)
