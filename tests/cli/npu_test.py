"""sotto npu from outside: names, files, exit codes, what stands on which stream."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SOTTO = os.environ["SOTTO_BIN"]
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "data/npu"


def sotto(*arguments):
    return subprocess.run([SOTTO, "npu", *map(str, arguments)], capture_output=True, text=True, timeout=120)


class Npu(unittest.TestCase):
    def test_every_listed_example_verifies_for_both_generations(self):
        designs = json.loads(sotto("designs", "--json").stdout)["designs"]
        self.assertGreaterEqual(len(designs), 8)
        for design in designs:
            for target in ("npu1", "npu2"):
                with self.subTest(design=design["example"], target=target):
                    result = sotto("verify", design["example"], "--target", target)
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_plan_predicts_and_refuses_what_it_does_not_know(self):
        plan = json.loads(sotto("plan", "-m", "tiny.en", "--json").stdout)
        self.assertEqual((plan["contexts"], plan["launches"], plan["switches"]), (1, 18, 0))
        self.assertAlmostEqual(plan["ms"], sum(stage["ms"] for stage in plan["stages"]))
        classic = sotto("plan", "--plan", "classic", "--audio-ctx", "512")
        self.assertRegex(classic.stdout, r"9 context\(s\).*\n.*stage")
        for wrong in (("-m", "huge"), ("--plan", "best"), ("--target", "npu9"), ("--audio-ctx", "0")):
            self.assertEqual(sotto("plan", *wrong).returncode, 1, wrong)

    def test_gelu_fit_makes_the_kernels_header(self):
        folder = pathlib.Path(__file__).resolve().parents[2] / "src/npu/aie"
        result = sotto("gelu-fit", "--from-histogram", folder / "testdata/gelu_histogram.txt")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, (folder / "gelu_coefficients.h").read_text())
        self.assertRegex(sotto("gelu-fit").stderr, "needs activations")
        self.assertEqual(sotto("accuracy", "-m", "no-such-model", "a.wav").returncode, 2)

    def test_run_is_exact_and_tells_its_figures(self):
        for design in ("gemm-256x64x128", "gelu-300x100x200", "mlp-256x64x256x128", "softmax-128x32"):
            for target in ("npu1", "npu2"):
                with self.subTest(design=design, target=target):
                    result = sotto("run", design, "--target", target, "--runs", 3, "--json")
                    self.assertEqual(result.returncode, 0, result.stderr)
                    body = json.loads(result.stdout)
                    self.assertTrue(body["exact"])
                    self.assertGreater(body["cycles"], 0)
                    self.assertGreater(body["ddr_bytes_read"], 0)

    def test_wrong_design_names_the_rule(self):
        result = sotto("verify", GOLDEN / "negative/n24_buffer_overrun.mlir", "--json")
        self.assertEqual(result.returncode, 10)
        body = json.loads(result.stdout)
        self.assertFalse(body["ok"])
        self.assertEqual(body["violations"][0]["rule"], "host_bounds")

    def test_emitted_text_verifies_and_is_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = pathlib.Path(folder, "a.mlir"), pathlib.Path(folder, "b.mlir")
            for file in (first, second):
                self.assertEqual(sotto("emit", "universal-512x128x256", "-o", file).returncode, 0)
            self.assertEqual(first.read_bytes(), second.read_bytes())
            self.assertEqual(sotto("verify", first).returncode, 0)

    def test_stream_is_written_and_listed(self):
        with tempfile.TemporaryDirectory() as folder:
            insts = pathlib.Path(folder, "insts.bin")
            self.assertEqual(sotto("emit", "softmax-30720x1536", "--insts", "-o", insts).returncode, 0)
            listing = sotto("disasm", insts)
            self.assertEqual(listing.returncode, 0, listing.stderr)
            self.assertIn("wait for a token", listing.stdout)
        golden = GOLDEN / "insts/a1_gemm_512x128x128.sequence.txt"
        with tempfile.TemporaryDirectory() as folder:
            insts = pathlib.Path(folder, "insts.bin")
            self.assertEqual(sotto("emit", GOLDEN / "designs/a1_gemm_512x128x128.mlir", "--insts", "-o", insts).returncode, 0)
            words = [int(line, 16) for line in golden.read_text().split()]
            self.assertEqual(insts.read_bytes(), b"".join(word.to_bytes(4, "little") for word in words))

    def test_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = pathlib.Path(folder, "x.svg")
            self.assertEqual(sotto("draw", "universal-512x64x128", "-o", svg).returncode, 0)
            self.assertTrue(svg.read_text().startswith("<svg"))
        self.assertIn("core(0,2)", sotto("draw", "universal-512x64x128").stdout)

    def test_bad_input_is_told_on_stderr_with_an_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            cut = pathlib.Path(folder, "cut.bin")
            cut.write_bytes(b"\x00\x01\x03\x06\x04")
            text = pathlib.Path(folder, "bad.mlir")
            text.write_text("module { aie.device(npu9) @main {}}")
            cases = [
                (("emit", "nothing-1x2x3"), 1, "forms are"),
                (("emit", "gemm-1x2"), 1, "forms are"),
                (("emit", "gemm-0x2x3"), 1, "forms are"),
                (("run", "gemm-64x64x64", "--target", "npu7"), 1, "npu1"),
                (("verify", pathlib.Path(folder, "missing.mlir")), 2, "missing.mlir"),
                (("verify", text), 1, "npu9"),
                (("disasm", cut), 2, "whole number of words"),
                (("verify",), 1, "designs"),
            ]
            for arguments, code, words in cases:
                with self.subTest(arguments=arguments):
                    result = sotto(*arguments)
                    self.assertEqual(result.returncode, code, result.stderr)
                    self.assertIn(words, result.stderr)
                    self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main()
