"""The queue of `sotto serve`: clips during long files, a full queue, clients that leave, the end of the server."""

import collections
import json
import pathlib
import signal
import tempfile
import threading
import time
import unittest

from serve_case import JFK, ServeTest, Server, form, models, repeated_clip, words

# Cheap to decode: greedy, no second try. The encoder still runs on whole windows.
QUICK = [("beam_size", "1"), ("temperature_inc", "0"), ("language", "en")]


class Queue(ServeTest):
    arguments = ("--max-queue", "2", "--compute", "f32")  # A long file shall take a while

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="sotto-long-")
        cls.addClassCleanup(folder.cleanup)
        cls.long = repeated_clip(pathlib.Path(folder.name, "long.wav"), 1200).read_bytes()

    def start_long(self, name):
        """A connection on which a long file was sent under the id `name`."""
        body, headers = form(QUICK, self.long)
        connection = self.server.connect()
        connection.request("POST", "/inference", body, {**headers, "X-Request-Id": name})
        self.addCleanup(connection.close)
        return connection

    def progress(self, name):
        answer = self.server.get("/v1/audio/progress/" + name)
        return answer.json if answer.status == 200 else {"state": "unknown", "progress": 0}

    def await_state(self, name, *states):
        while (state := self.progress(name))["state"] not in states:
            self.assertNotIn(state["state"], ("done", "error"), f"{name} never was {' or '.join(states)}")
            time.sleep(0.005)
        return state

    def cancel(self, name):
        return self.server.request("POST", "/api/cancel", json.dumps({"request_id": name}))

    def test_a_clip_gets_in_during_a_long_file(self):
        connection = self.start_long("long-a")
        self.await_state("long-a", "running")
        clip = self.server.transcribe(QUICK, self.jfk, "/inference")
        self.assertEqual(words(clip.json["text"]), JFK)
        self.assertEqual(self.progress("long-a")["state"], "running")
        self.assertEqual(self.server.get("/health").json["status"], "ok")
        self.cancel("long-a")
        self.assertEqual(connection.getresponse().status, 499)

    def test_a_full_queue(self):
        running = self.start_long("long-b")
        self.await_state("long-b", "running")
        waiting = [self.start_long("long-c"), self.start_long("long-d")]
        self.await_state("long-c", "queued")
        self.assertEqual(self.await_state("long-d", "queued")["state"], "queued")
        refused = self.server.transcribe(QUICK, self.long, "/inference")
        self.check_error(refused, 503, "queue_full")
        self.assertIn("2 jobs are waiting (limit 2)", refused.text)
        self.assertGreaterEqual(int(refused.headers["retry-after"]), 1)
        for name in ("long-d", "long-c", "long-b"):
            self.assertEqual(self.cancel(name).json, {"status": "cancelled"})
        for connection in (running, *waiting):
            self.assertEqual(connection.getresponse().status, 499)
        self.assertEqual(self.cancel("nobody").status, 404)

    def test_a_client_that_leaves(self):
        connection = self.start_long("long-e")
        self.await_state("long-e", "running")
        connection.close()
        self.await_state("long-e", "error")
        self.server.await_log(r"POST /inference 499 \d+ ms, id long-e")
        body, headers = form([("stream", "1")] + QUICK, self.long)
        connection = self.server.connect()
        connection.request("POST", "/v1/audio/transcriptions", body, {**headers, "X-Request-Id": "long-f"})
        response = connection.getresponse()  # The headers come before the first segment
        self.assertEqual(response.status, 200)
        self.assertIn(b"transcript.text.delta", response.readline())
        connection.close()
        response.close()
        self.await_state("long-f", "error")
        self.assertEqual(words(self.server.transcribe(QUICK, self.jfk, "/inference").json["text"]), JFK)


class Crowd(unittest.TestCase):
    def test_fifty_at_once_and_the_end(self):
        server = Server()
        self.addCleanup(server.stop)
        server.await_ready()
        folder = tempfile.TemporaryDirectory(prefix="sotto-crowd-")
        self.addCleanup(folder.cleanup)
        clip = repeated_clip(pathlib.Path(folder.name, "clip.wav"), 2).read_bytes()
        answers = []
        gate = threading.Barrier(50)

        def ask():
            body, headers = form(QUICK + [("audio_ctx", "128")], clip)
            gate.wait()
            answers.append(server.request("POST", "/inference", body, headers))

        threads = [threading.Thread(target=ask) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counts = collections.Counter(answer.status for answer in answers)
        self.assertEqual(counts[200] + counts[503], 50, counts)
        self.assertGreaterEqual(counts[200], 11)
        for answer in answers:
            if answer.status == 503:
                self.assertEqual(answer.code, "queue_full")
                self.assertIn("retry-after", answer.headers)
        # What runs when the server is told to stop still gets its answer.
        results = []
        body, headers = form(QUICK, (models() / "jfk.wav").read_bytes())
        last = threading.Thread(target=lambda: results.append(
            server.request("POST", "/inference", body, {**headers, "X-Request-Id": "last"})))
        last.start()
        server.await_log("device taken by job last")
        server.signal(signal.SIGTERM)
        last.join()
        self.assertEqual(words(results[0].json["text"]), JFK)
        self.assertEqual(server.process.wait(60), 0)


if __name__ == "__main__":
    unittest.main()
