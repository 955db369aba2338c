"""What the black-box tests of `sotto serve` share: a running server, requests to it, recordings of known length."""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import wave

from transcribe_case import JFK, models, program, words  # noqa: F401 (the tests use JFK and words)


def clients():
    """Makes the client libraries that scripts/test-clients installs importable."""
    path = os.environ.get("SOTTO_TEST_CLIENTS")
    if not path or not pathlib.Path(path, "openai").exists():
        sys.exit("SOTTO_TEST_CLIENTS must name the folder that scripts/test-clients fills")
    sys.path.insert(0, path)


def repeated_clip(path, seconds):
    """A WAV file of the JFK clip again and again, 16 kHz, 16 bits, mono."""
    clip = path.with_suffix(".clip.wav")
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", models() / "jfk.wav", "-ar", "16000", "-ac", "1",
                    "-c:a", "pcm_s16le", clip], check=True, stdin=subprocess.DEVNULL)
    with wave.open(str(clip)) as source:
        samples = source.readframes(source.getnframes())
    wanted = int(seconds * 16000) * 2
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, 16000, 0, "NONE", ""))
        out.writeframes((samples * (wanted // len(samples) + 1))[:wanted])
    return path


def form(fields=(), file=None, boundary="----b0undary"):
    """Body and headers of a multipart form. `fields`: pairs; `file`: bytes, or (name, type, bytes)."""
    body = b""
    for name, value in fields:
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()
        body += (value if isinstance(value, bytes) else str(value).encode()) + b"\r\n"
    if file is not None:
        name, kind, data = file if isinstance(file, tuple) else ("clip.wav", "audio/wav", file)
        body += (f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
                 f"Content-Type: {kind}\r\n\r\n").encode() + data + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json["error"]["code"]


class Server:
    """`sotto serve` with tiny.en on a free port."""

    def __init__(self, *arguments, env=(), model="tiny.en"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sotto-serve-"))
        (self.folder / "models").mkdir()
        (self.folder / "models/tiny.en").symlink_to(models() / "tiny.en")
        variables = dict(os.environ, SOTTO_HOME=str(self.folder), LC_ALL="C.UTF-8", **dict(env))
        for name in ("SOTTO_DEVICE", "SOTTO_LOG_LEVEL", "SOTTO_API_KEY", "FLM_SERVE_PORT"):
            if name not in dict(env):
                variables.pop(name, None)
        self.log_path = self.folder / "log"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [program(), "serve", "--port", "0", "-m", model, *map(os.fspath, arguments)], env=variables,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
        try:
            self.port = int(self._await(r"listening at http://[^ ]*:(\d+)"))
        except BaseException:
            self.stop()
            raise

    @property
    def log(self):
        return self.log_path.read_text(errors="replace")

    def _await(self, pattern):
        for _ in range(1200):
            found = re.search(pattern, self.log)
            if found:
                return found.group(1) if found.groups() else found.group(0)
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"the log never said {pattern!r}:\n{self.log}")

    def await_log(self, pattern):
        return self._await(pattern)

    def await_ready(self):
        self._await(r"model tiny.en loaded")

    def connect(self, timeout=300):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def raw(self, data, timeout=60):
        """A socket on which `data` was sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        connection.sendall(data)
        return connection

    def request(self, method, path, body=None, headers=None):
        connection = self.connect()
        try:
            connection.request(method, path, body, headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def transcribe(self, fields=(), file=None, path="/v1/audio/transcriptions", headers=None):
        body, kind = form(fields, file)
        return self.request("POST", path, body, {**kind, **(headers or {})})

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Asks it to stop and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


class ServeTest(unittest.TestCase):
    """One server for all tests of the class."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.arguments)
        cls.addClassCleanup(cls.server.stop)
        cls.jfk = (models() / "jfk.wav").read_bytes()
        cls.server.await_ready()

    def check_error(self, answer, status, code, param=None):
        self.assertEqual(answer.status, status, answer.text)
        error = answer.json["error"]
        self.assertEqual(set(error), {"message", "type", "param", "code"})
        self.assertEqual(error["code"], code, error)
        if param is not None:
            self.assertEqual(error["param"], param)
        self.assertTrue(error["message"])
