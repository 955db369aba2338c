"""Runs sotto on one recording after the other."""

import json
import resource
import subprocess
import time
from dataclasses import dataclass, field


@dataclass
class Run:
    exit_code: int
    wall_s: float
    cpu_s: float
    document: dict = field(default_factory=dict)  # verbose_json; empty when it failed
    message: str = ""  # standard error

    @property
    def text(self):
        return self.document.get("text", "")

    @property
    def words(self):
        return self.document.get("words", [])

    @property
    def temperatures(self):
        return sorted({segment["temperature"] for segment in self.document.get("segments", [])})

    @property
    def repeats_itself(self):
        """The same segment text five times in a row: a loop that got through."""
        texts = [segment["text"] for segment in self.document.get("segments", [])]
        return any(len(set(texts[i:i + 5])) == 1 for i in range(len(texts) - 4))


def _children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _call(command, timeout):
    cpu, start = _children_cpu(), time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
        code, out, message = done.returncode, done.stdout, done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        code, out, message = 124, b"", f"no result after {timeout} s"
    return code, out, message, time.monotonic() - start, _children_cpu() - cpu


def transcribe(binary, model, recording, extra, words, timeout):
    command = [binary, "transcribe", "-m", model, "--output-format", "verbose_json", "-o", "-", "-np"]
    if recording.language:
        command += ["--language", recording.language]
    if words:
        command += ["--word_timestamps", "True"]
    code, out, message, wall, cpu = _call([*command, *extra, "--", str(recording.path)], timeout)
    document = {}
    if code == 0:
        try:
            document = json.loads(out)
        except ValueError as error:
            code, message = 125, f"standard output is not JSON: {error}"
    return Run(code, wall, cpu, document, message.strip())


def detect_language(binary, model, recording, timeout):
    """(code, probability), or (None, 0) when sotto gave none."""
    command = [binary, "transcribe", "-m", model, "-dl", "-np", "--", str(recording.path)]
    code, out, _, _, _ = _call(command, timeout)
    fields = out.decode(errors="replace").split("\t")
    try:
        return (fields[0].strip(), float(fields[1])) if code == 0 else (None, 0.0)
    except (IndexError, ValueError):
        return None, 0.0
