"""What stands around the HTTP routes of `sotto serve`: worker processes, Wyoming, the CPU server, status and stop."""

import asyncio
import http.server
import json
import os
import signal
import subprocess
import threading
import time
import unittest
import urllib.request
import wave

from running_server import JFK, SOTTO, RunningServer, ServerCase, multipart, repeated_clip

from wyoming.asr import Transcribe, Transcript  # noqa: E402
from wyoming.audio import AudioChunk, AudioStart, AudioStop  # noqa: E402
from wyoming.client import AsyncClient  # noqa: E402
from wyoming.event import async_read_event  # noqa: E402
from wyoming.info import Describe, Info  # noqa: E402

WORDS = "ask not what your country can do for you"


def plain(text):
    return "".join(c for c in text.lower() if c.isalnum() or c == " ")


class WorkerTest(ServerCase):
    def test_a_killed_worker_costs_no_text(self):
        body, content_type = multipart(
            [("stream", "true"), ("timestamp_granularities[]", "word")], repeated_clip(4))
        request = urllib.request.Request(self.server.url + "/v1/audio/transcriptions", data=body,
                                         headers={"Content-Type": content_type})
        before = self.server.health()["worker"]
        text, done, segments = "", None, []
        with urllib.request.urlopen(request, timeout=300) as response:
            for line in response:
                if not line.startswith(b"data: "):
                    continue
                event = json.loads(line[6:])
                self.assertNotIn("error", event)
                if event["type"] == "transcript.text.done":
                    done = event
                    continue
                if not text:
                    os.kill(before["pid"], signal.SIGKILL)
                text += event["delta"]
                segments.append(event["segment"])
        self.assertEqual(done["text"], text)
        self.assertEqual(plain(text).count(WORDS), 4)
        self.assertEqual([segment["id"] for segment in segments], list(range(len(segments))))
        self.assertTrue(all(segment["words"] for segment in segments))
        after = self.server.health()["worker"]
        self.assertEqual((after["crashes"], after["retried_jobs"]), (before["crashes"] + 1, before["retried_jobs"] + 1))
        self.assertNotEqual(after["pid"], before["pid"])
        self.assertEqual(self.server.transcribe(JFK.read_bytes())[0], 200)

    def test_status_and_stop_find_the_server(self):
        server = RunningServer().ready()
        self.addCleanup(server.close)
        status = subprocess.run([SOTTO, "status", "--json"], env=server.environment, capture_output=True, text=True)
        self.assertEqual(status.returncode, 0, status.stderr)
        self.assertEqual(json.loads(status.stdout)["servers"][0]["url"], server.url)
        text = subprocess.run([SOTTO, "transcribe", str(JFK), "-nt", "-np"], env=server.environment,
                              capture_output=True, text=True)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn(WORDS, plain(text.stdout))  # no model is installed in that home: the server's did it
        local = subprocess.run([SOTTO, "transcribe", str(JFK), "--local"], env=server.environment,
                               capture_output=True, text=True)
        self.assertEqual(local.returncode, 3, local.stderr)
        stop = subprocess.run([SOTTO, "stop"], env=server.environment, capture_output=True, text=True)
        self.assertEqual(stop.returncode, 0, stop.stderr)
        self.assertEqual(server.process.wait(60), 0)
        again = subprocess.run([SOTTO, "status"], env=server.environment, capture_output=True, text=True)
        self.assertEqual(again.returncode, 1)


class WyomingTest(ServerCase):
    arguments = ("--wyoming", "tcp://127.0.0.1:0")

    def say(self, *, language=None, utterances=1):
        async def talk():
            texts = []
            async with AsyncClient.from_uri(self.server.wyoming) as client:
                for _ in range(utterances):
                    with wave.open(str(JFK)) as clip:
                        form = {"rate": clip.getframerate(), "width": clip.getsampwidth(),
                                "channels": clip.getnchannels()}
                        await client.write_event(Transcribe(language=language).event())
                        await client.write_event(AudioStart(**form).event())
                        while frames := clip.readframes(4096):
                            await client.write_event(AudioChunk(audio=frames, **form).event())
                        await client.write_event(AudioStop().event())
                    while not Transcript.is_type((event := await client.read_event()).type):
                        pass
                    texts.append(Transcript.from_event(event).text)
            return texts
        return asyncio.run(asyncio.wait_for(talk(), 300))

    def test_home_assistants_sequence(self):
        async def describe():
            async with AsyncClient.from_uri(self.server.wyoming) as client:
                await client.write_event(Describe().event())
                return Info.from_event(await client.read_event())
        info = asyncio.run(asyncio.wait_for(describe(), 60))
        self.assertEqual(info.asr[0].models[0].languages, ["en"])
        self.assertTrue(info.asr[0].models[0].installed)
        for text in self.say(language="en", utterances=2):
            self.assertIn(WORDS, plain(text))

    def test_bad_frames_get_an_error_and_the_end(self):
        async def talk():
            host, port = self.server.wyoming.removeprefix("tcp://").rsplit(":", 1)
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"no json\n")
            event = await async_read_event(reader)
            rest = await reader.read()
            writer.close()
            return event, rest
        event, rest = asyncio.run(asyncio.wait_for(talk(), 60))
        self.assertEqual(event.type, "error")
        self.assertEqual(rest, b"")


class CpuServer(http.server.BaseHTTPRequestHandler):
    """Stands for whisper.cpp's server: says what it got."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)
        answer = json.dumps({"text": "from the cpu"}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class CpuProxyTest(unittest.TestCase):
    def setUp(self):
        self.cpu = http.server.ThreadingHTTPServer(("127.0.0.1", 0), CpuServer)
        self.cpu.bodies, self.cpu.status = [], 200
        threading.Thread(target=self.cpu.serve_forever, daemon=True).start()
        self.addCleanup(self.cpu.server_close)
        self.addCleanup(self.cpu.shutdown)
        url = f"http://127.0.0.1:{self.cpu.server_address[1]}/inference"
        self.server = RunningServer(environment={"NPU_STT_CPU_URL": url, "STT_BUSY_WAIT_MS": "0"}).ready()
        self.addCleanup(self.server.close)

    def test_who_cannot_be_served_is_passed_on(self):
        junk = b"this is no recording" * 10
        status, headers, body = self.server.transcribe(junk, ("temperature", "0.5"), path="/inference")
        self.assertEqual((status, json.loads(body)["text"]), (200, "from the cpu"))
        self.assertEqual((headers["X-STT-Path"], headers["X-STT-Fallback"]), ("cpu", "decode"))
        self.assertIn(junk, self.cpu.bodies[0])
        self.assertIn(b'name="temperature"\r\n\r\n0.5', self.cpu.bodies[0])

        long = threading.Thread(target=self.server.transcribe, args=(repeated_clip(5),))
        long.start()
        while not self.server.health()["running"]:
            time.sleep(0.02)
        status, headers, _ = self.server.transcribe(JFK.read_bytes())
        self.assertEqual((status, headers["X-STT-Fallback"]), (200, "busy"))
        long.join()

        self.cpu.status = 500
        status, _, body = self.server.transcribe(junk)
        self.assertEqual((status, json.loads(body)["error"]["code"]), (415, "unsupported_audio"))
        counters = self.server.health()["counters"]
        self.assertEqual((counters["decode"], counters["busy"], counters["proxy_failed"]), (2, 1, 1))
        self.assertEqual(counters["served_npu"], 1)


if __name__ == "__main__":
    unittest.main()
