"""The HTTP face of `sotto serve`: shapes, errors, limits, keys, origins, broken and slow clients. One model, few jobs."""

import json
import pathlib
import signal
import socket
import struct
import subprocess
import tempfile
import unittest

from serve_case import JFK, ServeTest, Server, form, program, words


class Answers(ServeTest):
    def test_every_format_of_openai(self):
        text = self.server.transcribe([("response_format", "text")], self.jfk)
        self.assertEqual((text.status, text.headers["content-type"]), (200, "text/plain; charset=utf-8"))
        self.assertEqual(words(text.text), JFK)
        self.assertEqual(text.text, text.text.strip() + "\n")
        verbose = self.server.transcribe(
            [("response_format", "verbose_json"), ("timestamp_granularities[]", "word"),
             ("timestamp_granularities[]", "segment"), ("nonsense", "1")], self.jfk)
        body = verbose.json
        self.assertEqual(verbose.headers["x-ignored-fields"], "nonsense")
        self.assertEqual((body["language"], body["language_code"], body["duration"]), ("english", "en", 11.0))
        self.assertEqual(body["usage"], {"type": "duration", "seconds": 11})
        self.assertEqual(words("".join(segment["text"] for segment in body["segments"])), JFK)
        self.assertEqual(words(" ".join(word["word"] for word in body["words"])), JFK)
        self.assertEqual(body["x_stt"]["path"], "cpu")
        for name in ("id", "seek", "start", "end", "text", "tokens", "temperature", "avg_logprob",
                     "compression_ratio", "no_speech_prob"):
            self.assertIn(name, body["segments"][0])
        for name in ("x-stt-path", "x-stt-model", "x-stt-audio-s", "x-stt-queue-ms", "x-stt-process-ms",
                     "server-timing", "x-request-id"):
            self.assertIn(name, verbose.headers)

    def test_whisper_cpp(self):
        answer = self.server.transcribe([("response_format", "nonsense"), ("audio_ctx", "1500"), ("language", "en")],
                                        self.jfk, "/inference")
        self.assertEqual(answer.headers["content-type"], "application/json")
        self.assertEqual(set(answer.json), {"text"})
        self.assertTrue(answer.json["text"].startswith(" And") and answer.json["text"].endswith("\n"))
        self.assertTrue(answer.text.startswith('{"text":" And'))

    def test_stream(self):
        body, headers = form([("stream", "true"), ("include[]", "logprobs")], self.jfk)
        answer = self.server.request("POST", "/v1/audio/transcriptions", body, headers)
        self.assertEqual(answer.headers["content-type"], "text/event-stream")
        self.assertEqual(answer.headers["cache-control"], "no-cache")
        lines = [line for line in answer.text.split("\n\n") if line.startswith("data: ")]
        events = [json.loads(line[6:]) for line in lines]
        self.assertEqual(events[-1]["type"], "transcript.text.done")
        self.assertEqual("".join(event["delta"] for event in events[:-1]), events[-1]["text"])
        self.assertEqual(words(events[-1]["text"]), JFK)
        self.assertEqual(sum((event["logprobs"] for event in events[:-1]), []), events[-1]["logprobs"])

    def test_faults_of_fields(self):
        cases = [
            ([("language", "klingon")], 400, "invalid_value", "language"),
            ([("temperature", "2")], 400, "invalid_value", "temperature"),
            ([("response_format", "docx")], 400, "invalid_value", "response_format"),
            ([("response_format", "diarized_json")], 501, "not_supported", "response_format"),
            ([("stream", "perhaps")], 400, "invalid_value", "stream"),
            ([("stream", "1"), ("response_format", "verbose_json")], 400, "unsupported_combination", "response_format"),
            ([("timestamp_granularities", "letter")], 400, "invalid_value", "timestamp_granularities"),
            ([("include[]", "logprobs"), ("response_format", "srt")], 400, "unsupported_combination", "include"),
            ([("chunking_strategy", "{nonsense")], 400, "invalid_json", "chunking_strategy"),
            ([("prompt", b"\xff\xfe")], 400, "invalid_value", "prompt"),
            ([("model", "no-such-model")], 404, "model_not_found", "model"),
            ([("model", "large-v3")], 404, "model_not_found", "model"),
        ]
        for fields, status, code, param in cases:
            with self.subTest(fields):
                self.check_error(self.server.transcribe(fields, self.jfk), status, code, param)
        self.assertIn("sotto pull large-v3", self.server.transcribe([("model", "large-v3")], self.jfk).text)
        self.check_error(self.server.transcribe([("language", "en")]), 400, "missing_field", "file")
        self.check_error(self.server.transcribe(file=b""), 400, "missing_field", "file")
        self.check_error(self.server.transcribe(file=self.jfk, path="/v1/audio/translations"), 400,
                         "unsupported_combination", "model")

    def test_faults_of_recordings(self):
        self.check_error(self.server.transcribe(file=b"this is no sound at all" * 9), 415, "unsupported_audio", "file")
        large = self.server.transcribe(file=b"\0" * (9 << 20))  # Kept in a file, of which the client hears nothing
        self.check_error(large, 415, "unsupported_audio", "file")
        self.assertNotIn("sotto-upload", large.text)
        header_lies = self.jfk[:4] + struct.pack("<I", 0xFFFFFFF0) + self.jfk[8:2000]
        self.assertIn(self.server.transcribe(file=header_lies).status, (200, 415))
        raw = self.server.transcribe([("response_format", "json")], ("a", "audio/pcm", b"\0\0" * 1600))
        self.assertEqual((raw.status, raw.json["text"]), (200, ""))

    def test_routes(self):
        self.check_error(self.server.get("/nothing"), 404, "route_not_found")
        wrong = self.server.get("/v1/audio/transcriptions")
        self.check_error(wrong, 405, "method_not_allowed")
        self.assertEqual(wrong.headers["allow"], "POST")
        self.check_error(self.server.request("POST", "/v1/audio/speech", b"{}"), 501, "not_supported")
        self.assertEqual(self.server.get("/health").json["status"], "ok")
        self.assertEqual(self.server.get("/live").json["status"], "ok")
        listed = self.server.get("/v1/models").json
        self.assertEqual([model["id"] for model in listed["data"]], ["tiny.en"])
        for name in ("tiny.en", "Systran/faster-whisper-tiny.en", "Systran%2Ffaster-whisper-tiny.en", "whisper-1"):
            self.assertEqual(self.server.get("/v1/models/" + name).json["id"], "tiny.en", name)
        metrics = self.server.get("/metrics").text
        self.assertRegex(metrics, r'sotto_requests_total\{endpoint="/health",code="200"\} \d')
        document = self.server.get("/openapi.json").json
        self.assertEqual(document["openapi"], "3.1.0")
        self.assertIn("/v1/audio/transcriptions", document["paths"])

    def test_request_ids_and_progress(self):
        answer = self.server.transcribe(file=self.jfk, headers={"X-Request-Id": "my-id"})
        self.assertEqual(answer.headers["x-request-id"], "my-id")
        progress = self.server.get("/v1/audio/progress/my-id").json
        self.assertEqual((progress["state"], progress["progress"], progress["audio_s"]), ("done", 1.0, 11.0))
        self.check_error(self.server.get("/v1/audio/progress/other"), 404, "route_not_found")

    def test_load(self):
        loaded = self.server.request("POST", "/load", json.dumps({"model": "tiny.en"}),
                                     {"Content-Type": "application/json"})
        self.assertEqual((loaded.status, loaded.text), (200, "Load was successful!"))
        body, headers = form([("model", "/etc/passwd")])
        self.check_error(self.server.request("POST", "/load", body, headers), 403, "origin_not_allowed", "model")
        self.check_error(self.server.request("POST", "/load", b"", headers), 400, "invalid_value")
        self.assertEqual(self.server.get("/health").status, 200)

    def test_origins_and_hosts(self):
        page = self.server.get("/health", Origin="http://localhost:3000")
        self.assertEqual(page.headers["access-control-allow-origin"], "http://localhost:3000")
        self.check_error(self.server.get("/health", Origin="https://evil.example"), 403, "origin_not_allowed")
        self.check_error(self.server.get("/health", Host="evil.example"), 403, "origin_not_allowed")
        flight = self.server.request("OPTIONS", "/v1/models", headers={
            "Origin": "http://127.0.0.1:8", "Access-Control-Request-Headers": "x-stainless-os, authorization"})
        self.assertEqual(flight.status, 204)
        self.assertEqual(flight.headers["access-control-allow-headers"], "x-stainless-os, authorization")
        self.assertEqual(flight.headers["access-control-allow-methods"], "GET, POST, DELETE, OPTIONS")

    def test_broken_bodies(self):
        good, headers = form(file=self.jfk[:4000])
        for name, body in {"cut": good[:-30], "no boundary": b"hello", "empty": b"",
                           "no name": b"------b0undary\r\n\r\nx\r\n------b0undary--\r\n",
                           "endless header": b"------b0undary\r\n" + b"a" * 40000}.items():
            with self.subTest(name):
                self.check_error(self.server.request("POST", "/inference", body, headers), 400, "invalid_value")
        self.check_error(self.server.request("POST", "/inference", good, {"Content-Type": "text/plain"}),
                         400, "invalid_value")
        self.check_error(self.server.request("POST", "/inference", good, {"Content-Type": "multipart/form-data"}),
                         400, "invalid_value")

    def test_broken_http(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n", b"GET\r\n\r\n",
                     b"GET nowhere HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A: " + b"b" * 70000 + b"\r\n\r\n"):
            connection = self.server.raw(data)
            answer = connection.recv(4096)
            connection.close()
            self.assertRegex(answer, rb"^HTTP/1.1 4(00|31) ")
        self.assertEqual(self.server.get("/live").status, 200)

    def test_chunked_body_and_keep_alive(self):
        body, headers = form([("language", "en")], self.jfk)
        connection = self.server.connect()
        pieces = [body[i:i + 10000] for i in range(0, len(body), 10000)]
        for _ in range(2):
            connection.request("POST", "/inference", iter(pieces), headers, encode_chunked=True)
            response = connection.getresponse()
            self.assertEqual(response.status, 200)
            self.assertEqual(words(json.loads(response.read())["text"]), JFK)
        connection.close()

    def test_expect_continue(self):
        body, headers = form(file=self.jfk)
        head = (f"POST /inference HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                f"Content-Type: {headers['Content-Type']}\r\nContent-Length: {len(body)}\r\n\r\n").encode()
        connection = self.server.raw(head)
        self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 100 Continue\r\n\r\n"))
        connection.sendall(body)
        self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 200 OK\r\n"))
        connection.close()

    def test_slow_clients_do_not_hold_others_up(self):
        slow = [self.server.raw(b"POST /inference HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n")
                for _ in range(200)]
        self.assertEqual(self.server.get("/live").status, 200)
        self.assertEqual(words(self.server.transcribe(file=self.jfk).json["text"]), JFK)
        for connection in slow:
            connection.close()


class Limits(unittest.TestCase):
    def test_large_bodies(self):
        server = Server("--max-body", "1M", "--no-preload")
        self.addCleanup(server.stop)
        connection = server.raw(b"POST /inference HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n"
                                b"Content-Type: multipart/form-data; boundary=x\r\n\r\n")
        answer = connection.recv(4096)
        connection.close()
        self.assertTrue(answer.startswith(b"HTTP/1.1 413 "), answer)
        self.assertIn(b"1048576", answer)
        body, headers = form(file=b"\0" * (2 << 20))
        pieces = [body[i:i + 65536] for i in range(0, len(body), 65536)]
        connection = server.connect()
        try:
            connection.request("POST", "/inference", iter(pieces), headers, encode_chunked=True)
        except OSError:
            pass  # It has said enough
        self.assertEqual(connection.getresponse().status, 413)

    def test_keys(self):
        server = Server("--api-key", "alpha,beta", "--no-preload")
        self.addCleanup(server.stop)
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"X_API_Key": "alph"}):
            answer = server.get("/v1/models", **headers)
            self.assertEqual((answer.status, answer.code), (401, "invalid_api_key"))
            self.assertEqual(answer.headers["www-authenticate"], "Bearer")
        for headers in ({"Authorization": "Bearer alpha"}, {"X_API_Key": "beta"}):
            self.assertEqual(server.get("/v1/models", **headers).status, 200)
        self.assertEqual(server.get("/live").status, 200)
        self.assertEqual(server.get("/v1/models?api_key=alpha").status, 401)

    def test_reload(self):
        server = Server("--no-preload", "--api-key-file", self.key_file("one"))
        self.addCleanup(server.stop)
        self.assertEqual(server.get("/v1/models", Authorization="Bearer two").status, 401)
        self.key_file("two")
        server.signal(signal.SIGHUP)
        server.await_log("note: reloaded")
        self.assertEqual(server.get("/v1/models", Authorization="Bearer two").status, 200)
        self.keys.write_text("# no key\n")
        server.signal(signal.SIGHUP)
        server.await_log("the old settings stay")
        self.assertEqual(server.get("/v1/models", Authorization="Bearer two").status, 200)

    def key_file(self, key):
        if not hasattr(self, "keys"):
            folder = tempfile.TemporaryDirectory(prefix="sotto-keys-")
            self.addCleanup(folder.cleanup)
            self.keys = pathlib.Path(folder.name, "keys")
        self.keys.write_text(f"# keys\n{key}\n")
        return self.keys

    def test_unix_socket(self):
        folder = tempfile.TemporaryDirectory(prefix="sotto-socket-")
        self.addCleanup(folder.cleanup)
        path = folder.name + "/sock"
        server = Server("--no-preload", "--socket-path", path)
        self.addCleanup(server.stop)
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(60)
        connection.connect(path)
        connection.sendall(b"GET /live HTTP/1.1\r\nConnection: close\r\n\r\n")
        answer = b""
        while piece := connection.recv(4096):
            answer += piece
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK\r\n"))
        connection.close()

    def test_strangers_are_kept_out_by_default(self):
        result = subprocess.run([program(), "serve", "--host", "0.0.0.0"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("--api-key", result.stderr)


if __name__ == "__main__":
    unittest.main()
