"""Tests of bench/quality: the normalisers, the error counts, and a run with a stand-in for sotto."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from quality_lib import measure, report, runner  # noqa: E402
from quality_lib.basic_text import normalise_basic  # noqa: E402
from quality_lib.chinese import simplified  # noqa: E402
from quality_lib.english_text import normalise_english  # noqa: E402
from quality_lib.errors import align, count_errors, distance  # noqa: E402
from quality_lib.manifest import read_manifest  # noqa: E402
from quality_lib.numbers import spoken_numbers_to_digits  # noqa: E402
from quality_lib.spelling import american_word  # noqa: E402
from quality_lib.word_times import word_time_errors  # noqa: E402


class Numbers(unittest.TestCase):
    def test_spoken_forms(self):
        for spoken, written in [
            ("twenty one", "21"), ("one hundred and five", "105"), ("two thousand and ten", "2010"),
            ("nineteen eighty four", "1984"), ("one oh one", "101"), ("nine one one", "911"),
            ("three hundred and fifty two thousand four hundred and one", "352401"),
            ("two and a half million", "2500000"), ("three point one four", "3.14"), ("point five", ".5"),
            ("double oh seven", "007"), ("triple three", "333"), ("one million", "1000000"),
            ("twenty five dollars", "$25"), ("five percent", "5%"), ("five per cent", "5%"), ("ten pounds", "£10"),
            ("two dollars and five cents", "$2.05"), ("minus forty", "-40"), ("plus or minus", "plus or minus"),
            ("the first", "the 1st"), ("twenty third", "23rd"), ("the twenties", "the 20s"), ("sixes", "6s"),
            ("thousand and first", "1001st"), ("3 million", "3000000"), ("1.5 thousand", "1500"),
            ("one", "one"), ("the ones", "the ones"), ("a half", "a half"), ("and a half", "and a half"),
            ("1st 2nd", "1st 2nd"), ("b2b", "b 2 b"), ("percent of", "percent of"), ("point taken", "point taken"),
            ("salt and pepper", "salt and pepper"), ("double trouble", "double trouble"),
        ]:
            self.assertEqual(spoken_numbers_to_digits(spoken), written, spoken)


class Spelling(unittest.TestCase):
    def test_british_to_american(self):
        for british, american in [
            ("colour", "color"), ("favourite", "favorite"), ("neighbourhoods", "neighborhoods"), ("centre", "center"),
            ("kilometres", "kilometers"), ("centred", "centered"), ("manoeuvring", "maneuvering"),
            ("travelled", "traveled"), ("modelling", "modeling"), ("analyse", "analyze"), ("organise", "organize"),
            ("realisation", "realization"), ("catalogues", "catalogs"), ("defence", "defense"), ("grey", "gray"),
            ("encyclopaedia", "encyclopedia"), ("ploughing", "plowing"), ("programmes", "programs"),
            ("practised", "practiced"),
        ]:
            self.assertEqual(american_word(british), american)

    def test_words_that_only_look_british(self):
        for word in ["promise", "advised", "raising", "surprise", "our", "hour", "four", "pour", "improvisation",
                     "compelled", "wise", "programmed", "dialog", "genre", "acre", "this", "analysis", "is"]:
            self.assertEqual(american_word(word), word)


class English(unittest.TestCase):
    def test_rules(self):
        for text, normal in [
            ("Uh, hmm... The colour [laughs] of (sighs) it <unk>", "the color of it"),
            ("I won't, can't; she'd been, he's gone, they've", "i will not can not she had been he has gone they have"),
            ("Mr. Neil isn't Dr. Smith", "mister neil is not doctor smith"),
            ("O'Neil", "0 neil"),  # a lone "o" is a zero, in Whisper's normaliser, too
            ("It costs $1,234.50, i.e. 50%!", "it costs $1234.50 i e 50%"),
            ("Café déjà vu, Straße œuvre", "cafe deja vu strasse oeuvre"),
            ("let's go; y'all gonna see", "let us go you all going to see"),
            ("it ’s fine", "it is fine"),
            ("ten thousand dollars", "$10000"),
            ("twenty-one", "21"),
            ("", ""), ("[Music]", ""), ("…", ""),
        ]:
            self.assertEqual(normalise_english(text), normal, text)

    def test_normalising_twice_changes_nothing(self):
        for text in ["I'll pay you $5.50 on the 3rd of May, nineteen ninety-nine", "one two three, twenty one percent"]:
            once = normalise_english(text)
            self.assertEqual(normalise_english(once), once)


class OtherLanguages(unittest.TestCase):
    def test_basic(self):
        self.assertEqual(normalise_basic("¿Qué   tal, Señor? [ríe] (toca)"), "qué tal señor")
        self.assertEqual(normalise_basic("ＡＢＣ—½"), "abc 1 2")

    def test_simplified(self):
        self.assertEqual(simplified("廣州市房地產中介協會分析"), "广州市房地产中介协会分析")

    def test_units(self):
        self.assertEqual(measure.items_of("你好，世界", "zh", measure.unit_of("zh")), list("你好世界"))
        self.assertEqual(measure.items_of("1-0 Oh two, seven!", "en", measure.unit_of("en", "digits only")), list("10027"))
        self.assertEqual(measure.character_errors("日本 語", "日 本吾", "ja"), (1, 3))
        self.assertEqual(measure.character_errors("a b", "ab", "en"), (1, 3))


class EditDistance(unittest.TestCase):
    def test_counts(self):
        errors = count_errors("a b c d".split(), "a x c e d".split())
        self.assertEqual((errors.length, errors.substitutions, errors.deletions, errors.insertions), (4, 1, 0, 1))
        self.assertEqual(errors.rate, 0.5)
        self.assertIsNone(count_errors([], ["a"]).rate)
        self.assertEqual(count_errors([], ["a"]).insertions, 1)
        self.assertEqual(count_errors(["a"], []).deletions, 1)
        self.assertEqual(align([], []), [])

    def test_both_ways_agree(self):
        texts = ["", "a", "kitten", "sitting", "abcabcabc" * 9, "cabbac" * 14, "日本語のテキスト"]
        for a in texts:
            for b in texts:
                self.assertEqual(distance(a, b), count_errors(a, b).total, (a, b))


class WordTimes(unittest.TestCase):
    def test_differences_of_matching_words(self):
        reference = [{"word": " Hello,", "start": 0.0, "end": 0.5}, {"word": " big", "start": 0.5, "end": 0.7},
                     {"word": " world", "start": 1.0, "end": 1.5}, {"word": ".", "start": 1.5, "end": 1.5}]
        words = [{"word": "hello", "start": 0.1, "end": 0.5}, {"word": "world!", "start": 1.3, "end": 1.4}]
        found = word_time_errors(reference, words, "en")
        self.assertEqual((found["words"], found["matched"]), (3, 2))
        self.assertAlmostEqual(found["start"]["mean"], 0.2)
        self.assertAlmostEqual(found["end"]["p95"], 0.1)
        self.assertIsNone(word_time_errors(reference, [], "en")["start"]["mean"])


STAND_IN = '''#!/usr/bin/env python3
import json, sys
name = sys.argv[-1].rsplit("/", 1)[-1]
if "-dl" in sys.argv:
    print("en\\t0.9\\t" + name); sys.exit(0)
texts = {"good.wav": "the color is 5", "bad.wav": None, "silent.wav": "Thank you.", "loop.wav": "loop"}
if texts[name] is None:
    print("sotto: error: cannot read it", file=sys.stderr); sys.exit(2)
times = 5 if name == "loop.wav" else 1
segments = [{"text": texts[name], "start": 0.0, "end": 1.0, "temperature": 0.0}] * times
print(json.dumps({"text": texts[name], "segments": segments}))
'''


class EndToEnd(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.program = self.root / "sotto"
        self.program.write_text(STAND_IN)
        self.program.chmod(0o755)
        reference = {"fw_base": {"text": "The colour is six.", "temperatures": [0.0], "auto_language": "en"}}
        fallen = {"fw_base": {"text": "Loop.", "temperatures": [0.0, 0.4], "auto_language": "de"}}
        self.write([
            {"file": "good.wav", "kind": "audio", "language": "en", "text": "The colour is five.", "duration_s": 2,
             "references": reference, "wer": {"text_vs_fw_base": 0.25}},
            {"file": "silent.wav", "kind": "edge", "language": None, "text": "", "duration_s": 1,
             "references": {"fw_base": {"text": ""}}},
            {"file": "loop.wav", "kind": "edge", "language": "en", "duration_s": 1, "references": fallen},
            {"file": "bad.wav", "kind": "bad", "language": None, "references": {"fw_base": {"error": "refused"}}},
        ])

    def tearDown(self):
        self.folder.cleanup()

    def write(self, rows):
        (self.root / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def quality(self, *arguments):
        return subprocess.run([sys.executable, HERE / "quality", self.root / "manifest.jsonl", "--sotto", self.program,
                               *arguments], capture_output=True, text=True, check=False)

    def test_table_and_json(self):
        out = self.root / "out.json"
        done = self.quality("--json", out, "--languages")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("words: error rate 0.0 % (fw_base: 25.0 %, 4 words)", done.stdout)
        self.assertIn("no speech: 2 words inserted in 1 recordings (fw_base: 0)", done.stdout)
        self.assertIn("language: 1 of 2 detected as fw_base does", done.stdout)
        self.assertIn("repeats itself", done.stdout)
        rows = {row["id"]: row for row in json.loads(out.read_text())["recordings"]}
        self.assertEqual(rows["good.wav"]["reference"]["substitutions"], 1)
        self.assertFalse(rows["loop.wav"]["stable_reference"])

    def test_a_failure_is_shown_and_counted(self):
        done = self.quality("--kinds", "bad")
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit code 2: sotto: error: cannot read it", done.stdout)

    def test_check_references(self):
        self.assertEqual(self.quality("--check-references").returncode, 0)
        self.write([{"file": "x", "language": "en", "text": "a b", "references": {"r": {"text": "a"}},
                     "wer": {"text_vs_r": 0.1}}])
        done = self.quality("--check-references")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0.500 here, 0.100 in the manifest", done.stdout)

    def test_faulty_manifest(self):
        (self.root / "manifest.jsonl").write_text('{"file": "a"}\n{"id": "b"}\n')
        done = self.quality()
        self.assertIn("manifest.jsonl:2: not a recording", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_deletions_of_a_run_without_text(self):
        recording = read_manifest(self.root / "manifest.jsonl")[0]
        result = report.judge(recording, runner.Run(0, 1.0, 1.0), "fw_base")
        self.assertEqual(result.truth.deletions, 4)


if __name__ == "__main__":
    unittest.main()
