"""`sotto transcribe` among other processes: pipes, fifos, signals, readers that go away."""

import os
import signal
import subprocess
import threading
import time
import unittest

from transcribe_case import ModelTest, program


class Streams(ModelTest):
    def test_standard_input(self):
        result = self.transcribe("-", "-np", "-nt", input=self.jfk.read_bytes())
        self.check(result, 0)
        self.check_jfk(result.stdout)

    def test_compressed_standard_input(self):
        for name in ("clip.mp3", "clip.flac", "clip.webm"):
            self.ffmpeg("-i", "{jfk}", name)
            result = self.transcribe("-f", "-", input=(self.folder / name).read_bytes())
            self.check(result, 0)
            self.check_jfk(result.stdout)

    def test_standard_input_gives_its_document_a_name(self):
        self.check(self.transcribe("-", "-f", "txt", input=self.jfk.read_bytes()), 0)
        self.check_jfk((self.folder / "stdin.txt").read_text())

    def test_empty_standard_input(self):
        self.check(self.transcribe("-", input=b""), 2, "standard input")

    def test_raw_samples(self):
        self.ffmpeg("-i", "{jfk}", "-f", "f32le", "-ar", "22050", "-ac", "2", "clip.raw")
        result = self.transcribe("clip.raw", "--raw-format", "f32le", "--raw-rate", "22050", "--raw-channels", "2")
        self.check(result, 0)
        self.check_jfk(result.stdout)
        self.check(self.transcribe("clip.raw", "--raw-format", "f33le"), 2, "f33le")

    def test_fifo(self):
        fifo = self.folder / "fifo.wav"
        os.mkfifo(fifo)
        writer = threading.Thread(target=lambda: fifo.write_bytes(self.jfk.read_bytes()))
        writer.start()
        result = self.transcribe(fifo)
        writer.join()
        self.check(result, 0)
        self.check_jfk(result.stdout)


class Signals(ModelTest):
    def start(self, *arguments, **options):
        options = {"stdin": subprocess.DEVNULL, **options}
        process = subprocess.Popen([program(), "transcribe", "-m", self.model, *map(os.fspath, arguments)],
                                   cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def make_long_clip(self):
        self.ffmpeg("-stream_loop", "59", "-i", "{jfk}", "long.flac")  # 11 minutes

    def test_interrupt_keeps_what_is_final(self):
        self.make_long_clip()
        process = self.start("long.flac", "-f", "txt,json")
        first = process.stdout.readline()
        self.assertIn(b"-->", first)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn(b"interrupted", errors)
        self.assertFalse((self.folder / "long.txt").exists())
        self.assertIn("fellow", (self.folder / "long.partial.txt").read_text())
        self.assertTrue((self.folder / "long.partial.json").exists())

    def test_interrupt_stops_the_rest_of_a_batch(self):
        self.make_long_clip()
        process = self.start("long.flac", self.jfk)
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertNotIn(b"2 of 2", errors)

    def test_interrupt_while_waiting_for_input(self):
        process = self.start("-", stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        process.stdin.write(self.jfk.read_bytes()[:1000])
        process.stdin.flush()
        time.sleep(1)  # it has the beginning and waits for more
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 130)

    def test_a_reader_that_goes_away_is_no_fault(self):
        self.make_long_clip()
        process = self.start("long.flac")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 141)
        self.assertNotIn(b"error", process.stderr.read())

    def test_documents_are_written_though_the_reader_goes_away(self):
        self.ffmpeg("-stream_loop", "5", "-i", "{jfk}", "minute.flac")
        process = self.start("minute.flac", "-f", "txt")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=120), 0)
        self.assertEqual((self.folder / "minute.txt").read_text().lower().count("fellow americans"), 6)


if __name__ == "__main__":
    unittest.main()
