"""The programs that are compared, as command lines. Each prints JSON objects: one for the loading, then one for each
run. A "paced" program does a run for each line of its standard input, so that programs can take turns while their
models stay loaded; "once" is a fresh process for a single run."""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent

# What each case asks for. "long" is the same as "beam5" over the long recording.
CASES = {
    "encode": "encoder, 30 s window",
    "beam5": "short clip, warm, beam 5",
    "greedy": "short clip, warm, greedy",
    "cold": "short clip, cold command, beam 5",
    "long": "long recording, warm, beam 5",
}


@dataclasses.dataclass
class Engine:
    """One program with one type of weights. `kind` is sotto, faster-whisper or whisper.cpp."""
    kind: str
    compute: str
    batched: bool = False

    @property
    def name(self):
        return f"{self.kind} {self.compute}" + (" batched" if self.batched else "")

    def cases(self):
        return ["long"] if self.batched else list(CASES)


def parse_engines(text):
    """"sotto:auto,faster-whisper:int8" as engines."""
    engines = []
    for part in text.split(","):
        kind, _, compute = part.strip().partition(":")
        compute, _, batched = compute.partition(":")
        if kind not in ("sotto", "faster-whisper", "whisper.cpp") or not compute or batched not in ("", "batched"):
            raise ValueError(f"'{part}' is no engine: KIND:TYPE with KIND sotto, faster-whisper or whisper.cpp")
        engines.append(Engine(kind, compute, bool(batched)))
    return engines


DEFAULT_ENGINES = ("sotto:auto,faster-whisper:int8,faster-whisper:float32,faster-whisper:int8:batched,"
                   "whisper.cpp:q8_0,whisper.cpp:f16")


@dataclasses.dataclass
class Recording:
    """The same sound for every program: a file, and its samples for the one that reads no files."""
    path: pathlib.Path
    samples: pathlib.Path
    seconds: float
    text: str


class Commands:
    """Command lines of an engine for one model."""

    def __init__(self, peers, engine, model, threads):
        self.engine = engine
        self.threads = str(threads)
        self.peers = peers
        source = peers.model_path(model)
        self.model = source
        name = pathlib.Path(model).name
        if engine.kind == "whisper.cpp":
            self.model = peers.model(name, source, "ggml", engine.compute)
        elif engine.kind == "faster-whisper":
            self.model = peers.model(name, source, "ct2", "f16")

    def paced(self, case, recording):
        return self._command(case, recording, "paced")

    def cold(self, recording):
        """What a user types: a process that loads, transcribes, prints and ends."""
        if self.engine.kind == "sotto":
            return [self.peers.sotto, "transcribe", "-m", self.model, "-t", self.threads, "--compute-type",
                    self.engine.compute, "-l", "en", "-np", recording.path]
        return self._command("beam5", recording, "once")

    def _command(self, case, recording, mode):
        kind = {"long": "beam5", "cold": "beam5"}.get(case, case)
        if self.engine.kind == "whisper.cpp":
            return [self.peers.whisper_cpp(), self.model, recording.samples, self.threads, kind, mode]
        if self.engine.kind == "faster-whisper":
            kind = "batched" if self.engine.batched else kind
            return [self.peers.python(), HERE / "faster_whisper_worker.py", self.model, recording.path, self.threads,
                    self.engine.compute, kind, mode]
        beam = "5" if kind == "beam5" else "1"
        return [self.peers.sotto, "bench", recording.path, "-m", self.model, "--threads", self.threads, "--compute",
                self.engine.compute, "--beam-size", beam, "-l", "en", "--json", "--paced"]
