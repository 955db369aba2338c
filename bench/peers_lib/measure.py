"""Runs programs in turns and measures them from outside: wall time, CPU time and peak memory from /proc."""

import dataclasses
import json
import os
import pathlib
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Sample:
    """One run."""
    ms: float
    cpu_s: float  # None: not known
    text: str = ""


@dataclasses.dataclass
class Series:
    """All runs of one engine in one case, round by round."""
    engine: str
    case: str
    samples: list = dataclasses.field(default_factory=list)
    load_ms: float = None
    peak_mb: float = None


def cpu_seconds(pid):
    """User and system time of a process and its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_megabytes(pid):
    """The most memory that was resident at once."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    return None


class Worker:
    """A loaded program that waits for its turn."""

    def __init__(self, engine, case, command, environment):
        self.series = Series(engine.name, case)
        self.encodes = case == "encode"
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)
        # sotto tells about the loading with each run.
        if engine.kind != "sotto":
            self.series.load_ms = self._read()["load_ms"]

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            raise RuntimeError(f"{self.series.engine} ended in case {self.series.case} with code {code}")
        return json.loads(line)

    def run(self, keep):
        """One run; a run to warm up is not kept."""
        before = cpu_seconds(self.process.pid)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self._read()
        cpu = cpu_seconds(self.process.pid) - before
        if "ms" in answer:
            milliseconds = answer["ms"]
        else:  # sotto, which also does work after the run: it measures the machine's peak
            milliseconds = answer["encode_ms" if self.encodes else "total_ms"]
            cpu = None if self.encodes else answer["cpu_s"]
            self.series.load_ms = answer["load_ms"]
        if keep:
            self.series.samples.append(Sample(milliseconds, cpu, answer["text"]))

    def finish(self):
        self.series.peak_mb = peak_megabytes(self.process.pid)
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        return self.series


def run_warm(jobs, rounds, environment, say, warm_up=True):
    """`jobs`: (engine, case, command). Every round runs each once, so that what slows the machine slows all. Encoder
    runs of sotto are part of a whole transcription, so no CPU time is given for them."""
    workers = [Worker(engine, case, command, environment) for engine, case, command in jobs]
    for index in range(0 if warm_up else 1, rounds + 1):
        for worker in workers:
            worker.run(keep=index > 0)
        say(f"round {index} of {rounds}")
    return [worker.finish() for worker in workers]


def run_cold(jobs, rounds, environment, say):
    """The same for processes that end by themselves; the first round only warms the file cache."""
    all_series = [Series(engine.name, case) for engine, case, _ in jobs]
    for index in range(rounds + 1):
        for series, (engine, _, command) in zip(all_series, jobs):
            sample, peak = _run_once(command, environment)
            if index > 0:
                series.samples.append(sample)
                series.peak_mb = max(series.peak_mb or 0, peak)
        say(f"round {index} of {rounds}")
    return all_series


def _run_once(command, environment):
    begin = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, env=environment)
    with process.stdout:
        output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    milliseconds = (time.perf_counter() - begin) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with code {process.returncode}")
    return Sample(milliseconds, usage.ru_utime + usage.ru_stime, text_of_output(output)), usage.ru_maxrss * 1024 / 1e6


def text_of_output(output):
    """The transcript in what a cold command printed: JSON objects, or lines with times."""
    lines = []
    for line in output.splitlines():
        if line.startswith("{"):
            lines.append(json.loads(line).get("text", ""))
        else:
            lines.append(line.rpartition("]")[2] if line.startswith("[") else line)
    return " ".join(line.strip() for line in lines if line.strip())
