"""A `sotto serve` of a test's own, with tiny.en, on a free port."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
import wave

SOTTO = os.environ["SOTTO_BIN"]
MODELS = pathlib.Path(os.environ["SOTTO_TEST_MODELS"])
JFK = MODELS / "jfk.wav"
CLIENTS = pathlib.Path(os.environ["SOTTO_TEST_CLIENTS"])  # filled by scripts/test-clients
sys.path.append(str(CLIENTS))


def multipart(fields, content, filename="clip.wav"):
    """Body and content type of a form with a file."""
    boundary = "sotto-test-boundary"
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
             for name, value in fields]
    parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n\r\n'.encode()
                 + content + f"\r\n--{boundary}--\r\n".encode())
    return b"".join(parts), f"multipart/form-data; boundary={boundary}"


def repeated_clip(times):
    """The sample clip several times over, as one wav file."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sotto-test-"))
    try:
        with wave.open(str(JFK)) as clip:
            parameters, frames = clip.getparams(), clip.readframes(clip.getnframes())
        with wave.open(str(folder / "long.wav"), "wb") as long:
            long.setparams(parameters)
            long.writeframes(frames * times)
        return (folder / "long.wav").read_bytes()
    finally:
        shutil.rmtree(folder)


class RunningServer:
    def __init__(self, *arguments, environment=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sotto-test-"))
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder),
                            "SOTTO_HOME": str(self.folder / "store"), "LC_ALL": "C.UTF-8", **(environment or {})}
        self.process = subprocess.Popen(
            [SOTTO, "serve", "-m", str(MODELS / "tiny.en"), "--port", "0", *arguments], env=self.environment,
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.url = self.wyoming = None
        self.listening = threading.Event()
        self.log = threading.Thread(target=self.read_log, daemon=True)
        self.log.start()
        if not self.listening.wait(120):
            self.close()
            raise RuntimeError("the server did not start:\n" + "".join(self.lines))

    def read_log(self):
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r"Wyoming at (\S+)", line):
                self.wyoming = found.group(1)
            if found := re.search(r"listening at (http\S+?),", line):
                self.url = found.group(1)
                self.listening.set()

    def request(self, path, body=None, content_type=None, headers=None):
        """Status, headers, body."""
        request = urllib.request.Request(self.url + path, data=body, headers=headers or {})
        if content_type:
            request.add_header("Content-Type", content_type)
        try:
            with urllib.request.urlopen(request, timeout=300) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def health(self):
        return json.loads(self.request("/health")[2])

    def ready(self):
        while self.health()["status"] != "ok" or self.health().get("worker", {"state": "ready"})["state"] != "ready":
            time.sleep(0.1)
        return self

    def transcribe(self, content, *fields, path="/v1/audio/transcriptions"):
        return self.request(path, *multipart(fields, content))

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.join()
        self.process.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class ServerCase(unittest.TestCase):
    arguments = ()
    environment = {}

    @classmethod
    def setUpClass(cls):
        cls.server = RunningServer(*cls.arguments, environment=cls.environment).ready()
        cls.addClassCleanup(cls.server.close)
