"""`sotto convert`: the same model in every format says the same; nothing is overwritten unasked."""

import json
import unittest

from transcribe_case import ModelTest

FORMATS = {"ggml": "model.bin", "ct2": "ct2", "safetensors": "hf"}


class ConvertTest(ModelTest):
    def convert(self, *arguments, **options):
        return self.run_sotto("convert", *arguments, **options)

    def transcript(self, model):
        result = self.run_sotto("transcribe", "-m", model, "-np", "-f", "srt", "-o", "-", self.jfk)
        self.check(result, 0)
        self.check_jfk(" ".join(line for line in result.stdout.splitlines() if "-->" not in line))
        return result.stdout

    def test_same_transcript_from_every_format(self):
        expected = self.transcript(self.model)
        for name, output in FORMATS.items():
            with self.subTest(name):
                result = self.convert(self.model, output, "--to", name, "--json")
                self.check(result, 0)
                summary = json.loads(result.stdout)
                self.assertGreater(summary["bytes"], 70_000_000)
                self.assertTrue(all((self.folder / file).is_file() for file in summary["files"]))
                self.assertEqual(self.transcript(output), expected)

    def test_refusals(self):
        (self.folder / "here.bin").write_text("precious")
        for code, message, arguments in (
                (1, "exists already.*\n.*--force", (self.model, "here.bin")),
                (1, "use ggml, ctranslate2", (self.model, "new", "--to", "onnx")),
                (1, "use one of f32, f16, q4_0", (self.model, "new", "--type", "int4")),
                (1, "is a folder", (self.model, ".")),
                (3, "absent", ("./absent", "new")),
                (3, "here.bin", ("./here.bin", "new")),
                (1, "OUTPUT", (self.model,))):
            with self.subTest(arguments):
                self.check(self.convert(*arguments), code, message)
        self.assertEqual((self.folder / "here.bin").read_text(), "precious")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["here.bin"])


if __name__ == "__main__":
    unittest.main()
