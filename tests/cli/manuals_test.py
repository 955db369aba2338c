"""Man pages and completions that tools/make_manuals.py makes of the program's help, and the packaging files."""

import configparser
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOTTO = os.environ["SOTTO_BIN"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


class ManualsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="sotto-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([sys.executable, "-B", ROOT / "tools/make_manuals.py", SOTTO, cls.folder], check=True)
        help_text = subprocess.run([SOTTO, "help"], capture_output=True, text=True, check=True).stdout
        listed = help_text.split("commands:")[1].split("\n\n")[0].split("\n")
        cls.commands = [line.split()[0] for line in listed if line.strip()]

    def read(self, name):
        return (self.folder / name).read_text()

    def test_every_command_has_a_page_and_completions(self):
        self.assertIn("transcribe", self.commands)
        for command in self.commands:
            self.assertIn(f".SH NAME\nsotto\\-{command} ", self.read(f"man/sotto-{command}.1"))
            for shell in ("sotto.bash", "_sotto", "sotto.fish"):
                self.assertIn(command, self.read(f"completions/{shell}"))
        self.assertNotIn("sotto-worker.1", os.listdir(self.folder / "man"))

    def test_flags_reach_the_page_and_the_shells(self):
        self.assertIn(".B \\-\\-raw\\-rate HZ\n", self.read("man/sotto-transcribe.1"))
        self.assertIn("--raw-rate", self.read("completions/sotto.bash"))
        self.assertIn("-l raw-rate -r", self.read("completions/sotto.fish"))

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_pages_format_without_warnings(self):
        for page in sorted((self.folder / "man").iterdir()):
            result = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", page], capture_output=True, text=True)
            self.assertEqual(result.stderr, "", page.name)

    def test_bash_completes(self):
        script = f"""source {self.folder}/completions/sotto.bash
            COMP_WORDS=(sotto tran); COMP_CWORD=1; _sotto; echo "${{COMPREPLY[*]}}"
            COMP_WORDS=(sotto transcribe --raw-r); COMP_CWORD=2; _sotto; echo "${{COMPREPLY[*]}}" """
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(result.stdout.split(), ["transcribe", "--raw-rate"])


class UnitsTest(unittest.TestCase):
    def test_units_start_what_the_program_has(self):
        for path in (ROOT / "packaging/systemd").rglob("*.service"):
            unit = configparser.RawConfigParser(strict=False)
            unit.optionxform = str
            unit.read(path)
            self.assertEqual(unit["Service"]["ExecStart"], "/usr/bin/sotto serve", path)
            self.assertEqual(unit["Service"]["KillMode"], "mixed", path)
            self.assertTrue((path.parent / "sotto.socket").exists())


if __name__ == "__main__":
    unittest.main()
