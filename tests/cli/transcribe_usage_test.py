"""Command lines of `sotto transcribe` that end before a model is loaded: help, wrong usage, missing things."""

import unittest

from transcribe_case import ProgramTest


class Usage(ProgramTest):
    def test_help_lists_both_families(self):
        result = self.transcribe("--help")
        self.check(result, 0)
        for flag in ("-osrt", "--output-dir", "--beam-size", "--clip-timestamps", "-of", "--stats"):
            self.assertIn(flag, result.stdout)
        self.assertEqual(result.stderr, "")
        self.assertEqual(self.run_sotto("help", "transcribe").stdout, result.stdout)

    def test_version(self):
        self.assertRegex(self.transcribe("--version").stdout, r"^sotto \d+\.\d+\.\d+\n$")

    def test_unknown_flags_name_the_nearest(self):
        self.check(self.transcribe("a.wav", "-osr"), 1, "unknown flag '-osr'; did you mean -osrt")
        self.check(self.transcribe("a.wav", "--beam_sise", "3"), 1, "did you mean --beam-size")

    def test_wrong_values(self):
        for flags in (["-bs", "many"], ["-bs"], ["-tp", "nan"], ["--task", "sing"], ["--output_format", "docx"],
                      ["--clip_timestamps", "5,1"], ["--fp16=maybe"], ["--compute", "f64"], ["--device", "cuda"]):
            (self.folder / "a.wav").write_bytes(b"x")
            self.check(self.transcribe("a.wav", *flags), 1)

    def test_unknown_language_lists_the_known(self):
        for name in ("xx", "en; touch PWNED", "$(touch PWNED)"):
            self.check(self.transcribe("a.wav", "-l", name), 1, r"unknown language .*\n.*fr \(french\)")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_features_that_do_not_work_yet_are_refused_by_name(self):
        for flag in ("-tdrz", "-owts"):
            self.check(self.transcribe("a.wav", flag), 1, f"{flag}: .* not available")

    def test_response_file(self):
        (self.folder / "args").write_text("-l\nxx\n")
        self.check(self.transcribe("@args"), 1, "unknown language 'xx'")
        self.check(self.transcribe("@absent"), 1, "absent")


class Inputs(ProgramTest):
    def test_no_input(self):
        self.check(self.transcribe(), 2, "no input")
        self.check(self.transcribe("-osrt"), 2, "no input")

    def test_missing_inputs_are_named(self):
        result = self.transcribe("absent.wav", "-f", "other absent.wav")
        self.check(result, 2)
        self.assertIn("absent.wav: No such file", result.stderr)
        self.assertIn("other absent.wav: No such file", result.stderr)

    def test_a_folder_is_no_input(self):
        self.check(self.transcribe(self.folder), 2, "is a folder")

    def test_names_cannot_forge_messages(self):
        result = self.transcribe("a\nsotto: error: forged\033[2J.wav")
        self.check(result, 2)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertNotIn("\033", result.stderr)


class Models(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "a.wav").write_bytes(b"x")

    def test_no_model_installed_gives_the_pull_command(self):
        self.check(self.transcribe("a.wav"), 3, "sotto pull ")

    def test_unknown_and_uninstalled_models(self):
        self.check(self.transcribe("a.wav", "-m", "base"), 3, "sotto pull base")
        self.check(self.transcribe("a.wav", "-m", "no-such-model"), 3, "no-such-model")

    def test_a_file_that_is_no_model(self):
        (self.folder / "model.bin").write_bytes(b"not a model at all" * 100)
        self.check(self.transcribe("a.wav", "-m", "model.bin"), 3, "model.bin")

    def test_absent_devices(self):
        self.check(self.transcribe("a.wav", "--device", "npu"), 5, "npu")
        self.check(self.transcribe("a.wav", env=self.environment(SOTTO_DEVICE="npu")), 5, "SOTTO_DEVICE")
        self.check(self.transcribe("a.wav", env=self.environment(SOTTO_CPU="z80")), 1, "z80")


class Outputs(ProgramTest):
    """A model file is named that is never read: output faults come first."""

    def setUp(self):
        super().setUp()
        for name in ("a.wav", "a.mp3", "a.txt", "model.bin"):
            (self.folder / name).write_bytes(b"x")

    def test_unwritable_outputs_are_found_before_the_work(self):
        (self.folder / "a.wav.srt").mkdir()
        self.check(self.transcribe("a.wav", "-m", "model.bin", "-osrt"), 10, "a.wav.srt")
        self.check(self.transcribe("a.wav", "-m", "model.bin", "-f", "srt", "-o", "a.mp3/x"), 10, "a.mp3")
        self.check(self.transcribe("a.wav", "-m", "model.bin", "-f", "srt", "-o", "/proc/x"), 10, "/proc/x")

    def test_documents_never_share_a_name(self):
        self.check(self.transcribe("a.wav", "a.mp3", "-m", "model.bin", "-f", "srt"), 1, "would both be written")

    def test_an_input_is_never_overwritten(self):
        self.check(self.transcribe("a.wav", "a.txt", "-m", "model.bin", "-f", "txt"), 1, "overwrite an input")

    def test_standard_output_takes_one_document(self):
        self.check(self.transcribe("a.wav", "-f", "srt,vtt", "-o", "-"), 1, "one format")
        self.check(self.transcribe("a.wav", "a.mp3", "-f", "srt", "-o", "-"), 1, "one srt document")


if __name__ == "__main__":
    unittest.main()
