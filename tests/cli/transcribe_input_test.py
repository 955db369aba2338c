"""Every kind of input that tools/make_test_audio.py writes, sound and broken, through `sotto transcribe`."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from transcribe_case import ROOT, ModelTest, words

RECORDINGS = pathlib.Path(tempfile.mkdtemp(prefix="sotto-recordings-"))
EXPECTED = {}

# The texts of tones do not matter here, only that the recordings are read: greedy, one attempt, a short encoder.
QUICK = ("-bs", "1", "-nf", "-ac", "192", "-l", "en")


def setUpModule():
    subprocess.run([sys.executable, ROOT / "tools/make_test_audio.py", RECORDINGS], check=True,
                   stdout=subprocess.DEVNULL)
    for entry in json.loads((RECORDINGS / "expected.json").read_text()):
        EXPECTED[entry["file"]] = entry


def tearDownModule():
    shutil.rmtree(RECORDINGS, ignore_errors=True)


def safe(name):
    """The name as messages print it."""
    return "".join("?" if ord(c) < 32 or ord(c) == 127 else c for c in name)


class Sound(ModelTest):
    def test_lengths_and_warnings(self):
        entries = [entry for entry in EXPECTED.values() if "seconds" in entry]
        self.assertGreater(len(entries), 40)
        result = self.transcribe(*QUICK, "-f", "verbose_json", "-o", "-", "--", *[e["file"] for e in entries],
                                 cwd=RECORDINGS, timeout=600)
        self.check(result, 0)
        documents = result.stdout.splitlines()
        self.assertEqual(len(documents), len(entries))
        for entry, document in zip(entries, documents):
            with self.subTest(file=entry["file"]):
                duration = json.loads(document)["duration"]
                self.assertAlmostEqual(duration, entry["seconds"], delta=entry.get("tolerance", 0.001) + 0.001)
                warnings = [line for line in result.stderr.splitlines()
                            if line.startswith(f"sotto: warning: {safe(entry['file'])}: ")]
                if "warning" in entry:
                    self.assertIn(entry["warning"], " ".join(warnings))
                else:
                    self.assertEqual(warnings, [])

    def test_speech(self):
        entry = EXPECTED.get("speech.wav")
        self.assertIsNotNone(entry, "espeak-ng is missing")
        result = self.transcribe(RECORDINGS / "speech.wav")
        self.check(result, 0)
        self.assertGreater(len(set(words(result.stdout).split()) & set(words(entry["text"]).split())), 4)

    def test_documents_carry_awkward_names(self):
        names = [name for name in EXPECTED if "seconds" in EXPECTED[name]
                 and any(c in name for c in " -'\"\n:|%")]
        self.assertGreater(len(names), 5)
        out = self.folder / "out"
        result = self.transcribe(*QUICK, "-otxt", "-o", out, "--", *names, cwd=RECORDINGS)
        self.check(result, 0)
        self.assertEqual(sorted(path.name for path in out.iterdir()), sorted(name + ".txt" for name in names))
        self.assertFalse((RECORDINGS / "x").exists(), "a file name was run by a shell")

    def test_a_leading_dash_needs_a_path_or_two_dashes(self):
        self.check(self.transcribe("-dash.wav", cwd=RECORDINGS), 1, r"unknown flag '-dash.wav'.*\n.*\./-dash\.wav")
        self.check(self.transcribe(*QUICK, "./-dash.wav", cwd=RECORDINGS), 0)
        self.check(self.transcribe(*QUICK, "-f", "-dash.wav", cwd=RECORDINGS), 0)

    def test_containers_of_video(self):
        for name in ("clip.mp4", "clip.mkv", "clip.webm"):
            picture = ("-f", "lavfi", "-i", "testsrc=duration=11:size=64x64:rate=5")
            codec = () if name == "clip.webm" else ("-c:v", "mpeg4")
            self.ffmpeg(*picture, "-i", "{jfk}", *codec, name)
            result = self.transcribe(name)
            self.check(result, 0)
            self.check_jfk(result.stdout)

    def test_rates_channels_and_depths(self):
        variants = {"mulaw.wav": ("-ar", "8000", "-c:a", "pcm_mulaw"), "deep.wav": ("-c:a", "pcm_f64le", "-ar", "96000"),
                    "five.flac": ("-ac", "6", "-ar", "48000"), "stereo.ogg": ("-ac", "2", "-ar", "44100")}
        for name, flags in variants.items():
            self.ffmpeg("-i", "{jfk}", *flags, name)
            result = self.transcribe(name, "-nt", "-np", "--compute", "f32")  # 8 kHz is a near thing otherwise
            self.check(result, 0)
            self.assertIn("fellow americans", words(result.stdout))


class Broken(ModelTest):
    def test_each_fault_is_named(self):
        entries = [entry for entry in EXPECTED.values() if "error" in entry]
        self.assertGreater(len(entries), 20)
        for entry in entries:
            with self.subTest(file=entry["file"]):
                result = self.transcribe("./" + entry["file"], cwd=RECORDINGS)
                self.check(result, 2)
                self.assertEqual(result.stdout, "")
                self.assertIn(entry["file"], result.stderr)
                self.assertIn(entry.get("message", ""), result.stderr)

    def test_a_fault_does_not_stop_the_others(self):
        result = self.transcribe(self.jfk, RECORDINGS / "empty.wav", "absent.wav", RECORDINGS / "text.wav", self.jfk,
                                 "-nt", "-np")
        self.check(result, 2)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.check_jfk(line)
        self.assertEqual(result.stderr.count("error:"), 3)

    def test_documents_of_faulty_inputs_are_not_made(self):
        result = self.transcribe(RECORDINGS / "empty.wav", self.jfk, "-f", "txt")
        self.check(result, 2)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["jfk.txt"])


if __name__ == "__main__":
    unittest.main()
