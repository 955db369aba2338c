"""Tests of bench/peers without the peers: ratios and tables, the long recording, turns of two stand-in programs."""

import array
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from peers_lib import measure, recordings, tables  # noqa: E402
from peers_lib.engines import CASES, DEFAULT_ENGINES, Engine, parse_engines  # noqa: E402

# Answers each line with a run of NUMBER milliseconds, and notes in a file when it was asked.
STAND_IN = """
import json, sys
name, log, milliseconds = sys.argv[1:]
print(json.dumps({"load_ms": 5}), flush=True)
for _ in sys.stdin:
    open(log, "a").write(name)
    print(json.dumps({"ms": float(milliseconds), "text": "hello"}), flush=True)
"""


def series(engine, times, case="beam5"):
    return measure.Series(engine, case, [measure.Sample(ms, 0.5, "hello") for ms in times], 12.0, 100.0)


def summaries():
    rows = [dict(tables.summarise(series("sotto auto", [10, 30, 20]), 0.0), model="base"),
            dict(tables.summarise(series("other int8", [40, 60, 100]), 2.5), model="base")]
    tables.add_ratios(rows, "sotto auto")
    return rows


class Tables(unittest.TestCase):
    def test_ratio_is_taken_round_by_round(self):
        # 0.25, 0.5, 0.2: their median, not the ratio of the medians 20 / 60.
        self.assertEqual(tables.ratio_of_rounds([10, 30, 20], [40, 60, 100]), 0.25)

    def test_summary(self):
        ours, other = summaries()
        self.assertEqual((ours["median_ms"], ours["min_ms"], ours["rounds"], ours["texts"]), (20, 10, 3, 1))
        self.assertEqual((other["cpu_s"], other["load_ms"], other["peak_mb"]), (0.5, 12.0, 100.0))
        self.assertNotIn("ratio", ours)
        self.assertEqual(other["ratio"], 0.25)

    def test_unknown_processor_time_stays_unknown(self):
        unknown = measure.Series("sotto auto", "encode", [measure.Sample(5, None), measure.Sample(7, None)])
        self.assertIsNone(tables.summarise(unknown, None)["cpu_s"])
        self.assertEqual(tables.median_or_none([None, 3, 5]), 4)

    def test_markdown(self):
        report = {"machine": "a machine", "date": "2026-01-02", "command": "bench/peers --quick", "threads": 2,
                  "load_average_before": 0.25, "load_average_after": 2,
                  "versions": {"sotto": "1"}, "cases": CASES, "results": summaries()}
        text = tables.markdown(report)
        self.assertIn("2026-01-02, a machine, 2 threads each; sotto 1.", text)
        self.assertIn("`bench/peers --quick`; load average 0.2 before, 2.0 after.", text)
        self.assertIn("## base: short clip, warm, beam 5 (3 rounds)", text)
        self.assertIn("| other int8 | 60.0 ms | 40.0 ms | 0.25 | 0.50 | 12.0 ms | 100 MB | 2.5 % |", text)
        self.assertEqual({line.count("|") for line in text.splitlines() if line.startswith("|")}, {9})

    def test_times_keep_three_digits(self):
        for value, text in ((None, ""), (1.234, "1.23 ms"), (61.23, "61.2 ms"), (270.4, "270 ms"), (1234, "1.23 s"),
                            (61234, "61.2 s")):
            self.assertEqual(tables.milliseconds(value), text)


class Engines(unittest.TestCase):
    def test_names(self):
        self.assertEqual([engine.name for engine in parse_engines("sotto:auto,faster-whisper:int8:batched")],
                         ["sotto auto", "faster-whisper int8 batched"])
        self.assertEqual(len(parse_engines(DEFAULT_ENGINES)), 6)
        for wrong in ("sotto", "llama:f16", "sotto:auto:fast"):
            self.assertRaises(ValueError, parse_engines, wrong)

    def test_batches_are_for_long_recordings(self):
        self.assertEqual(Engine("faster-whisper", "int8", True).cases(), ["long"])


class LongRecording(unittest.TestCase):
    def test_whole_clips_until_it_is_full(self):
        second = array.array("h", [1] * recordings.RATE)
        # 4 + 2 + 4 + 2 + 4 s with pauses; of the 2 s left the clip of 3 s does not fit, that of 1 s does.
        samples, text = recordings.join_clips([(second * 3, "three"), (second, "one")], 18)
        self.assertEqual(text, "three one three one three one")
        self.assertEqual(len(samples), 18 * recordings.RATE)

    def test_one_clip_longer_than_asked_for(self):
        clip = array.array("h", [1] * recordings.RATE * 30)
        samples, text = recordings.join_clips([(clip, "long")], 5)
        self.assertEqual((len(samples) // recordings.RATE, text), (31, "long"))


class Turns(unittest.TestCase):
    def test_programs_take_turns(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")
            jobs = [(Engine("faster-whisper", name), "beam5", [sys.executable, "-c", STAND_IN, name, log, ms])
                    for name, ms in (("a", 10), ("b", 40))]
            a, b = measure.run_warm(jobs, 3, dict(os.environ), lambda _: None)
            self.assertEqual(log.read_text(), "abababab")  # the first round warms up
        self.assertEqual([sample.ms for sample in a.samples], [10, 10, 10])
        self.assertEqual((b.engine, b.load_ms, len(b.samples)), ("faster-whisper b", 5, 3))
        self.assertGreater(b.peak_mb, 1)

    def test_a_program_that_ends_is_named(self):
        engine = Engine("faster-whisper", "int8")
        with self.assertRaisesRegex(RuntimeError, "faster-whisper int8 ended in case long with code 4"):
            measure.Worker(engine, "long", [sys.executable, "-c", "raise SystemExit(4)"], dict(os.environ))

    def test_cold_commands(self):
        command = [sys.executable, "-c", "print('[00:00.000 --> 00:02.000]  Hello'); print('{\"text\": \"there\"}')"]
        (found,) = measure.run_cold([(Engine("sotto", "auto"), "cold", command)], 2, dict(os.environ), lambda _: None)
        self.assertEqual([sample.text for sample in found.samples], ["Hello there", "Hello there"])
        self.assertGreater(found.samples[0].ms, 0)
        self.assertGreater(found.peak_mb, 1)


if __name__ == "__main__":
    unittest.main()
