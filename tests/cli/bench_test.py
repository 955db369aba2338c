"""`sotto bench`: the figures that other programs read, and how it refuses."""

import json
import unittest

from transcribe_case import ModelTest

FIGURES = ("load_ms", "mel_ms", "encode_ms", "decode_ms", "total_ms", "rtf", "peak_rss_mb", "cpu_s", "audio_s")


class BenchTest(ModelTest):
    def bench(self, *arguments, **options):
        return self.run_sotto("bench", "-m", self.model, "--runs", "1", "--warmup", "0", *arguments, **options)

    def test_json(self):
        result = self.bench(self.jfk, "--json", "--threads", "2", "--compute", "f32", "--beam-size", "1")
        self.check(result, 0)
        (line,) = result.stdout.splitlines()
        report = json.loads(line)
        for name in FIGURES:
            self.assertGreater(report[name], 0, name)
        self.assertEqual((report["device"], report["compute"], report["threads"]), ("cpu", "f32", 2))
        self.assertEqual(report["model"], str(self.model))
        self.assertLess(report["encode_ms"] + report["decode_ms"], report["total_ms"])
        self.assertAlmostEqual(report["rtf"], report["total_ms"] / 1000 / report["audio_s"])
        self.check_jfk(report["text"])
        operations = {operation["op"]: operation for operation in report["ops"]}
        self.assertEqual(operations["self_attention"]["calls"], 4)
        self.assertGreater(operations["linear"]["peak_share"], 0)

    def test_text_and_one_run_a_line(self):
        result = self.bench(self.jfk, "--paced", input=b"\n\n")
        self.check(result, 0)
        self.assertEqual(result.stdout.count("real-time factor"), 2)
        self.assertRegex(result.stdout, r"measured peak: .*f32 \d+")

    def test_refusals(self):
        for code, message, arguments in (
                (1, "FILE", ()),
                (1, "--runs", (self.jfk, "--runs", "0")),
                (1, "not one of auto, f32", (self.jfk, "--compute", "f64")),
                (1, "toaster", (self.jfk, "--device", "cpu,toaster")),
                (2, "absent.wav", ("absent.wav",))):
            with self.subTest(arguments):
                self.check(self.bench(*arguments), code, message)
        self.check(self.run_sotto("bench", "-m", "./absent", self.jfk), 3, "absent")


if __name__ == "__main__":
    unittest.main()
