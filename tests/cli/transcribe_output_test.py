"""What `sotto transcribe` writes: lines, documents, their names, and what becomes of them when something fails."""

import csv
import io
import json
import os
import re
import stat
import unittest

from transcribe_case import JFK, LINE, ModelTest, seconds


class Lines(ModelTest):
    def test_lines_can_be_parsed_like_those_of_whisper_cli(self):
        result = self.transcribe("-f", self.jfk)
        self.check(result, 0)
        lines = result.stdout.splitlines()
        self.assertTrue(lines)
        times = []
        for line in lines:
            match = LINE.match(line)
            self.assertIsNotNone(match, line)
            self.assertTrue(match.group(3).startswith(" "))
            times += [seconds(match.group(1)), seconds(match.group(2))]
        self.assertEqual(times, sorted(times))
        self.assertLessEqual(times[-1], 11.0)
        self.check_jfk(result.stdout)

    def test_bare_text(self):
        result = self.transcribe("-np", "-nt", "-f", self.jfk)
        self.check(result, 0)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout.count("\n"), 1)
        self.assertFalse(result.stdout.startswith(" "))
        self.check_jfk(result.stdout)

    def test_flags_without_effect_are_noted_once_and_change_nothing(self):
        plain = self.transcribe(self.jfk)
        noted = self.transcribe(self.jfk, "-ng", "-fa", "--fp16", "False", "-p", "4")
        self.assertEqual(noted.stdout, plain.stdout)
        self.assertEqual(noted.stderr.count("has no effect"), 4)

    def test_progress(self):
        result = self.transcribe(self.jfk, "-pp")
        self.assertIn("progress = 100%", result.stderr)

    def test_colours_and_confidence_keep_the_text(self):
        for flag in ("-pc", "--print-confidence"):
            result = self.transcribe(self.jfk, flag)
            self.assertIn("\033[", result.stdout)

    def test_statistics(self):
        result = self.transcribe(self.jfk, "--stats")
        self.check(result, 0)
        for stage in ("load", "decode audio", "mel", "encode", "generate", "total"):
            self.assertRegex(result.stderr, rf"{stage} time = +\d+\.\d\d ms")
        self.assertIn("linear", result.stderr)
        self.assertNotIn("time =", result.stdout)


class Documents(ModelTest):
    def check_documents(self, folder, stem):
        """Six valid files that all hold the sentence."""
        text = (folder / f"{stem}.txt").read_text()
        self.check_jfk(text)
        document = json.loads((folder / f"{stem}.json").read_text())
        self.check_jfk(document["text"])
        self.assertEqual(document["language"], "en")
        count = len(document["segments"])
        self.assertEqual(len(text.splitlines()), count)

        cues = (folder / f"{stem}.srt").read_text().strip().split("\n\n")
        self.assertEqual(len(cues), count)
        for number, cue in enumerate(cues, start=1):
            index, times, *lines = cue.split("\n")
            self.assertEqual(index, str(number))
            self.assertRegex(times, r"^\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}$")
            self.assertTrue(lines)
        head, *blocks = (folder / f"{stem}.vtt").read_text().strip().split("\n\n")
        self.assertEqual(head, "WEBVTT")
        self.assertEqual(len(blocks), count)

        rows = [line.split("\t") for line in (folder / f"{stem}.tsv").read_text().splitlines()]
        self.assertEqual(rows[0], ["start", "end", "text"])
        self.assertEqual(len(rows), count + 1)
        table = list(csv.reader(io.StringIO((folder / f"{stem}.csv").read_text())))
        self.assertEqual(table[0], ["start", "end", "text"])
        self.assertEqual([row[:2] for row in table[1:]], [row[:2] for row in rows[1:]])
        for row in rows[1:]:
            self.assertLess(int(row[0]), int(row[1]))

    def test_all_six_formats_into_a_new_folder(self):
        self.check(self.transcribe(self.jfk, "-f", "all", "-o", "new/out"), 0)
        self.check_documents(self.folder / "new/out", "jfk")
        self.assertEqual(len(list((self.folder / "new/out").iterdir())), 6)

    def test_openai_family(self):
        result = self.transcribe(self.jfk, "--output_dir", "out", "--verbose", "False", "--language", "English",
                                 "--beam_size", "1", "--temperature_increment_on_fallback", "None",
                                 "--condition_on_previous_text", "False")
        self.check(result, 0)
        self.assertEqual(result.stdout, "")
        self.check_documents(self.folder / "out", "jfk")

    def test_whisper_cli_family_writes_beside_the_input(self):
        clip = self.folder / "talk.wav"
        clip.write_bytes(self.jfk.read_bytes())
        self.check(self.transcribe("-otxt", "-ojf", "-olrc", "-f", clip, cwd="/"), 0)
        self.check_jfk((self.folder / "talk.wav.txt").read_text())
        self.assertRegex((self.folder / "talk.wav.lrc").read_text(), r"\[00:00\.\d\d\]And so")
        document = json.loads((self.folder / "talk.wav.json").read_text())
        self.assertEqual(document["result"]["language"], "en")
        self.check_jfk("".join(part["text"] for part in document["transcription"]))
        self.assertTrue(document["transcription"][0]["tokens"])

    def test_given_names(self):
        self.check(self.transcribe(self.jfk, "-osrt", "-of", "sub title", "-on", "4"), 0)
        self.assertTrue((self.folder / "sub title.srt").read_text().startswith("5\n"))

    def test_standard_output_holds_only_the_document(self):
        result = self.transcribe(self.jfk, "-f", "vtt", "-o", "-")
        self.check(result, 0)
        self.assertTrue(result.stdout.startswith("WEBVTT\n\n"))
        self.assertEqual(list(self.folder.glob("*.vtt")), [])
        result = self.transcribe(self.jfk, "-osrt", "-of", "-")
        self.assertTrue(result.stdout.startswith("1\n00:00:00,"))

    def test_simulated_npu(self):
        result = self.transcribe(self.jfk, "--device", "sim", "--stats", "-nt", "-np")
        self.check(result, 0)
        self.check_jfk(result.stdout)
        # Two convolutions; four layers of four products and two for each of six heads.
        self.assertRegex(result.stderr, r"array products +sim +66 ")
        for line in re.findall(r"^ +\S+ +sim .*$", result.stderr, re.MULTILINE):
            self.assertRegex(line, r" 0$", "a fallback")

    def test_npu_accuracy(self):
        result = self.run_sotto("npu", "accuracy", "-m", self.model, self.jfk)
        self.check(result, 0)
        rows = re.findall(r"^\| (\w[\w ]*) \| (\S+) \| \S+ \| (\S+) \|", result.stdout, re.MULTILINE)
        self.assertEqual([row[0] for row in rows], ["stem", *(f"layer {i}" for i in range(1, 5)), "output"])
        for stage, floor, cut in rows:
            self.assertTrue(0 < float(floor) < 2e-4 and 0 < float(cut) < 2e-4, stage)

    def test_word_times(self):
        result = self.transcribe(self.jfk, "--word_timestamps", "True", "-f", "json", "-o", "-")
        self.check(result, 0)
        for segment in json.loads(result.stdout)["segments"]:
            self.assertEqual("".join(word["word"] for word in segment["words"]), segment["text"])
            times = [time for word in segment["words"] for time in (word["start"], word["end"])]
            self.assertEqual(times, sorted(times))

    def test_one_word_a_segment(self):
        result = self.transcribe(self.jfk, "-ml", "1", "-sow")
        self.check(result, 0)
        texts = [LINE.match(line).group(3) for line in result.stdout.splitlines()]
        self.assertEqual(len(texts), len(JFK.split()))
        self.check_jfk("".join(texts))

    def test_json_lines_for_several_inputs(self):
        result = self.transcribe(self.jfk, self.jfk, "--json")
        self.check(result, 0)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.check_jfk(json.loads(line)["text"])


class Failures(ModelTest):
    def test_an_old_document_is_replaced_as_a_whole(self):
        old = self.folder / "jfk.txt"
        old.write_text("old " * 1000)
        self.check(self.transcribe(self.jfk, "-f", "txt"), 0)
        self.check_jfk(old.read_text())
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["jfk.txt"])

    def test_documents_are_readable_by_others(self):
        os.umask(0o022)
        self.check(self.transcribe(self.jfk, "-f", "txt"), 0)
        self.assertEqual(stat.S_IMODE((self.folder / "jfk.txt").stat().st_mode), 0o644)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_without_write_permission(self):
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        self.check(self.transcribe(self.jfk, "-f", "txt", "-o", locked), 10, "locked.*Permission denied")

    def test_a_full_standard_output(self):
        with open("/dev/full", "wb") as full:
            result = self.transcribe(self.jfk, stdout=full)
        self.check(result, 10, "standard output")


if __name__ == "__main__":
    unittest.main()
