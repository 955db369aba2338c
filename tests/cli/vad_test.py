"""Voice activity detection from outside: `sotto vad`, and what transcribe makes of silence."""

import json
import unittest

from transcribe_case import ModelTest, seconds, words, JFK, LINE

PAUSED = "[0]adelay=20000,apad=pad_dur=15,aloop=loop=1:size=736000"


class Vad(ModelTest):
    def vad(self, *arguments, **options):
        return self.run_sotto("vad", *arguments, **options)

    def silence(self):
        self.ffmpeg("-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "20", "silence.wav")
        return "silence.wav"

    def test_text_json_and_labels_agree(self):
        result = self.vad("--json", self.jfk)
        self.check(result, 0)
        found = json.loads(result.stdout)
        self.assertAlmostEqual(found["duration"], 11.0, places=2)
        self.assertGreater(found["speech"], 9)
        spans = [(span["start"], span["end"]) for span in found["spans"]]
        for format, columns in (("text", 2), ("audacity", 3)):
            lines = self.vad("-f", format, self.jfk).stdout.splitlines()
            rows = [line.split("\t") for line in lines]
            self.assertEqual({len(row) for row in rows}, {columns})
            self.assertEqual([(float(row[0]), float(row[1])) for row in rows], spans)

    def test_silence_holds_no_speech(self):
        result = self.vad(self.silence())
        self.check(result, 0)
        self.assertEqual(result.stdout, "")

    def test_wrong_use(self):
        self.check(self.vad(), 2, "no input")
        self.check(self.vad("absent.wav"), 2, "absent.wav")
        self.check(self.vad("-f", "xml", self.jfk), 1, "--format")
        self.check(self.vad("--vad-preset", "loud", self.jfk), 1, "whisper.cpp")
        self.check(self.vad("-vt", "2", self.jfk), 1, "-vt")
        home = self.environment(SOTTO_HOME=str(self.folder / "empty"))
        self.check(self.vad(self.jfk, env=home), 3, "sotto pull silero-vad")

    def test_silence_gives_an_empty_transcript(self):
        result = self.transcribe("--json", "--stats", self.silence())
        self.check(result, 0, r"dropped 00:00:00.000 --> 00:00:20.000 \(vad\)")
        self.assertEqual(json.loads(result.stdout)["text"], "")

    def test_times_are_those_of_the_recording(self):
        # Silence 20 s, speech 11 s, silence 15 s, twice.
        self.ffmpeg("-i", "{jfk}", "-filter_complex", PAUSED, "-t", "92", "paused.wav")
        result = self.transcribe("--word_timestamps", "True", "-f", "json", "-o", "-", "paused.wav")
        self.check(result, 0)
        found = json.loads(result.stdout)
        self.assertEqual(words(found["text"]), f"{JFK} {JFK}")
        spoken = [word for segment in found["segments"] for word in segment["words"]]
        for word in spoken:
            self.assertTrue(19.5 <= word["start"] <= word["end"] <= 31.5
                            or 65.5 <= word["start"] <= word["end"] <= 77.5, word)
        self.assertEqual([span["reason"] for span in found["dropped"]], ["vad"] * 3)

    def test_lines_appear_with_the_times_of_the_recording(self):
        self.ffmpeg("-i", "{jfk}", "-af", "adelay=30000", "late.wav")
        result = self.transcribe("late.wav")
        self.check(result, 0)
        times = [LINE.match(line) for line in result.stdout.splitlines() if line]
        self.assertTrue(all(29.5 <= seconds(line[1]) <= seconds(line[2]) <= 41.1 for line in times))

    def test_can_be_switched_off_and_insisted_on(self):
        for flags in (["--vad_filter", "False"], ["--no-vad"]):
            result = self.transcribe("--json", *flags, self.jfk)
            self.check(result, 0)
            self.assertNotIn('"vad"', result.stdout)
        home = self.environment(SOTTO_HOME=str(self.folder / "empty"))
        result = self.transcribe("--vad", self.jfk, env=home)
        self.check(result, 3, "sotto pull silero-vad")
        result = self.transcribe("--json", self.jfk, self.jfk, env=home)
        self.check(result, 0)
        self.assertEqual(result.stderr.count("sotto pull silero-vad"), 1)


if __name__ == "__main__":
    unittest.main()
