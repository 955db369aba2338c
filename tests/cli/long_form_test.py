"""Long recordings: nothing lost and nothing doubled where windows meet; the guards; speakers."""

import collections
import json
import subprocess
import unittest

from transcribe_case import ModelTest, words, JFK

SENTENCES = ["The weather in the mountains was cold and windy yesterday.",
             "Please bring seven green apples from the market.",
             "My brother plays the piano every Sunday morning.",
             "The library closes at nine in the evening."]


class LongForm(ModelTest):
    def speak(self, text, name):
        """Speech of espeak-ng as 16 kHz wav."""
        subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", self.folder / f"{name}.raw.wav", text],
                       check=True)
        self.ffmpeg("-i", f"{name}.raw.wav", "-ar", "16000", "-ac", "1", f"{name}.wav")
        return f"{name}.wav"

    def join(self, parts, name):
        inputs = [argument for part in parts for argument in ("-i", part)]
        self.ffmpeg(*inputs, "-filter_complex", f"concat=n={len(parts)}:v=0:a=1", name)
        return name

    def text(self, *arguments):
        # Where windows meet is what counts here, not how numbers are rounded.
        result = self.transcribe("--json", "--compute", "f32", *arguments)
        self.check(result, 0)
        return words(json.loads(result.stdout)["text"])

    def test_windows_lose_and_double_nothing(self):
        # About 100 s: borders of windows fall into sentences, and the clip is said four times.
        spoken = [self.speak(text, f"s{i}") for i, text in enumerate(SENTENCES)]
        parts = [self.jfk, spoken[0], spoken[1], self.jfk, spoken[2], self.jfk, spoken[3], spoken[0], self.jfk,
                 spoken[1], spoken[2], spoken[3]]
        whole = self.text(self.join(parts, "whole.wav"))
        self.assertEqual(whole.count("my fellow americans ask not what your country can do for you"), 4, whole)
        self.assertEqual(whole.count("ask what you can do for your country"), 4, whole)
        alone = collections.Counter()
        for part, times in collections.Counter(parts).items():
            for word in self.text(part).split():
                alone[word] += times
        found = collections.Counter(whole.split())
        lost, doubled = alone - found, found - alone
        # A word may be heard otherwise beside another sentence; a sentence would be eight words.
        self.assertLessEqual(sum(lost.values()), 6, f"{lost} {doubled}\n{whole}")
        self.assertLessEqual(sum(doubled.values()), 6, f"{lost} {doubled}\n{whole}")

    def test_silence_without_a_detector_gives_no_text(self):
        self.ffmpeg("-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "20", "silence.wav")
        result = self.transcribe("--json", "--no-vad", "--prompt", "The assistant is called Jarvix.", "silence.wav")
        self.check(result, 0)
        found = json.loads(result.stdout)
        self.assertEqual(found["text"], "")
        self.assertTrue(found["dropped"], "what was decoded is reported")

    def test_speakers_by_channel(self):
        left, right = self.jfk, self.speak(SENTENCES[0], "right")
        self.ffmpeg("-i", left, "-i", right, "-filter_complex",
                    "[0:a]apad=whole_dur=16[l];[1:a]adelay=11500,apad=whole_dur=16[r];[l][r]join=inputs=2:channel_layout=stereo",
                    "-t", "16", "call.wav")
        result = self.transcribe("--json", "-di", "call.wav")
        self.check(result, 0)
        said = collections.defaultdict(str)
        for segment in json.loads(result.stdout)["segments"]:
            said[segment["speaker"]] += segment["text"]
        self.assertIn("fellow americans", words(said["Speaker 0"]))
        self.assertIn("mountains", words(said["Speaker 1"]))
        self.check(self.transcribe("-di", self.jfk), 0, "two channels")


if __name__ == "__main__":
    unittest.main()
