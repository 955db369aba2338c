"""What the black-box tests of the `sotto` program share: running it, and files to run it on."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

LINE = re.compile(r"^\[(\d\d:\d\d:\d\d\.\d{3}) --> (\d\d:\d\d:\d\d\.\d{3})\]  (.*)$")
JFK = ("and so my fellow americans ask not what your country can do for you "
       "ask what you can do for your country")


def program():
    """Path of the program under test."""
    path = os.environ.get("SOTTO_BIN")
    if not path:
        sys.exit("SOTTO_BIN is not set: run these tests with ctest, or set it to the sotto program")
    return path


def models():
    """Folder with tiny.en/, base/ and jfk.wav."""
    path = os.environ.get("SOTTO_TEST_MODELS")
    if not path or not pathlib.Path(path, "tiny.en").exists():
        sys.exit("SOTTO_TEST_MODELS must name the folder that scripts/test-models fills")
    return pathlib.Path(path)


def words(text):
    """Lower-case words of a transcript, without times and punctuation."""
    text = re.sub(r"\[[^\]]*\]", " ", text)
    return " ".join(re.findall(r"[a-z']+", text.lower()))


def seconds(time):
    """"00:01:02.345" or "00:01:02,345" or "01:02.345" as seconds."""
    total = 0.0
    for part in time.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return total


class ProgramTest(unittest.TestCase):
    """Each test has a folder of its own, which is also the current one of the program."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sotto-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.home = self.folder / "home"

    def environment(self, **changes):
        variables = dict(os.environ, SOTTO_HOME=str(self.home), LC_ALL="C.UTF-8")
        for name in ("SOTTO_DEVICE", "SOTTO_CPU", "SOTTO_LOG_LEVEL"):
            variables.pop(name, None)
        variables.update(changes)
        return variables

    def run_sotto(self, *arguments, input=None, env=None, timeout=120, cwd=None, stdout=None):
        """Runs `sotto ARGUMENTS`; output is text, kept even where it is not UTF-8."""
        streams = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
        result = subprocess.run(
            [program(), *map(os.fspath, arguments)], env=env or self.environment(),
            cwd=cwd or self.folder, timeout=timeout, stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE, check=False, **streams)
        result.stdout = (result.stdout or b"").decode("utf-8", "surrogateescape")
        result.stderr = result.stderr.decode("utf-8", "surrogateescape")
        self.assertGreaterEqual(result.returncode, 0, f"ended by a signal: {result.stderr}")
        return result

    def transcribe(self, *arguments, **options):
        return self.run_sotto("transcribe", *arguments, **options)

    def check(self, result, code, message=None):
        """The exit code, and that standard error says `message` (a regular expression)."""
        said = f"stdout: {result.stdout}\nstderr: {result.stderr}"
        self.assertEqual(result.returncode, code, said)
        if message is not None:
            self.assertRegex(result.stderr, message)
        if code != 0:
            self.assertIn("error", result.stderr)


class ModelTest(ProgramTest):
    """Tests that run tiny.en, with the voice activity detector installed, on the JFK clip."""

    @classmethod
    def setUpClass(cls):
        cls.model = models() / "tiny.en"
        cls.jfk = models() / "jfk.wav"

    def setUp(self):
        super().setUp()
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sotto-home-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        installed = self.home / "models"
        installed.mkdir()
        (installed / "silero-vad").symlink_to(models() / "silero-vad")

    def transcribe(self, *arguments, **options):
        return super().transcribe("-m", self.model, *arguments, **options)

    def check_jfk(self, text):
        self.assertEqual(words(text), JFK)

    def ffmpeg(self, *arguments):
        """Runs ffmpeg in the test's folder; `{jfk}` stands for the clip."""
        filled = [str(argument).replace("{jfk}", str(self.jfk)) for argument in arguments]
        subprocess.run(["ffmpeg", "-v", "error", "-y", *filled], cwd=self.folder, check=True,
                       stdin=subprocess.DEVNULL)
