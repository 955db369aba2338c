"""sotto pull against a hub with faults."""

import json
import signal
import socket
import threading
import unittest

from cli_case import CliCase, ctranslate2_head, kill, sha256, weights
from fake_hub import Fault


class PullFromHub(CliCase):
    def test_installs_a_model_and_says_where(self):
        content = self.add_hub_model()
        result = self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)
        self.assertIn(str(self.store / "models" / "tiny-llm"), result.stdout)
        self.assertIn("tiny-llm.gguf (100.0 kB)", result.stderr)
        manifest = json.loads((self.store / "models/tiny-llm/sotto-manifest.json").read_text())
        self.assertEqual(manifest["source"], "hub owner/tiny-llm")
        self.assertEqual(manifest["files"][0]["sha256"], sha256(content))
        self.assertEqual(manifest["files"][0]["hash_from"], "catalogue")

    def test_asks_for_the_revision_of_the_catalogue(self):
        content = weights(1000)
        self.hub.add("o/m/m.gguf", content)
        self.add_model("m", "llm", [self.hub_source("o/m", [{"name": "m.gguf"}], revision="abc123")])
        self.sotto("pull", "m")
        self.assertEqual(self.hub.requests[0].path, "/o/m/resolve/abc123/m.gguf")

    def test_nothing_is_asked_of_the_network_when_all_is_there(self):
        self.add_hub_model()
        self.sotto("pull", "tiny-llm")
        count = len(self.hub.requests)
        result = self.sotto("pull", "tiny-llm", "-q")
        self.assertEqual(len(self.hub.requests), count)
        self.assertIn("installed already", self.sotto("pull", "tiny-llm").stdout)
        self.assertEqual(result.stdout + result.stderr, "")

    def test_optional_files_may_be_absent_and_others_not(self):
        content = weights(1000)
        self.hub.add("o/m/m.gguf", content)
        files = [{"name": "m.gguf"}, {"name": "more.json", "optional": True}]
        self.add_model("m", "llm", [self.hub_source("o/m", files)])
        self.sotto("pull", "m")
        self.assert_installed("m", "m.gguf", content)
        self.add_model("n", "llm", [self.hub_source("o/m", [{"name": "m.gguf"}, {"name": "more.json"}])])
        result = self.sotto("pull", "n", code=3)
        self.assertIn("404: there is no such file", result.stderr)
        self.assert_not_installed("n")

    def test_an_empty_file_is_a_file(self):
        self.hub.add("o/m/m.gguf", weights(100))
        self.hub.add("o/m/empty.txt", b"")
        self.add_model("m", "llm", [self.hub_source("o/m", [{"name": "m.gguf"}, {"name": "empty.txt"}])])
        self.sotto("pull", "m")
        self.assertEqual(self.installed_file("m", "empty.txt").read_bytes(), b"")

    def test_sums_that_the_hub_promises_are_recorded(self):
        content = self.add_hub_model(with_sum=False)
        self.sotto("pull", "tiny-llm")
        model = json.loads(self.sotto("show", "tiny-llm", "--json").stdout)
        self.assertEqual(model["files"][0]["sha256"], sha256(content))
        self.assertEqual(model["files"][0]["hash_from"], "hub")

    def test_sums_that_nobody_promises_are_learnt(self):
        content = self.add_hub_model(with_sum=False, lfs=False)
        self.sotto("pull", "tiny-llm")
        model = json.loads(self.sotto("show", "tiny-llm", "--json").stdout)
        self.assertEqual(model["files"][0]["hash_from"], "first pull")
        self.assertEqual(model["files"][0]["sha256"], sha256(content))

    def test_several_models_the_worst_end_counts(self):
        content = self.add_hub_model()
        result = self.sotto("pull", "no-such-model", "tiny-llm", code=3)
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)
        self.assertIn("no model is called 'no-such-model'", result.stderr)

    def test_json_lines_have_the_shape_of_ollama(self):
        content = self.add_hub_model(size=3_000_000)
        result = self.sotto("pull", "tiny-llm", "--json")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(lines[0], {"status": "pulling manifest"})
        self.assertEqual(lines[-1], {"status": "success"})
        pulling = [line for line in lines if "digest" in line]
        self.assertEqual({line["digest"] for line in pulling}, {"sha256:" + sha256(content)})
        self.assertEqual({line["total"] for line in pulling}, {len(content)})
        self.assertEqual(pulling[-1]["completed"], len(content))
        completed = [line["completed"] for line in pulling]
        self.assertEqual(completed, sorted(completed))
        self.assertEqual(result.stderr, "")

    def test_json_errors_are_lines_too(self):
        result = self.sotto("pull", "nothing-like-it", "--json", code=3)
        self.assertIn("no model is called", json.loads(result.stdout)["error"])

    def test_the_first_whisper_model_brings_the_vad_along(self):
        self.hub.add("o/w/model.bin", ctranslate2_head() + b"x" * 100)
        self.hub.add("o/v/v.safetensors", b"v" * 100)
        self.add_model("w", "whisper", [self.hub_source("o/w", [{"name": "model.bin"}])])
        self.add_model("silero-vad", "vad", [self.hub_source("o/v", [{"name": "v.safetensors"}])])
        result = self.sotto("pull", "w", "--json")
        self.assertEqual(result.stdout.count('"success"'), 1)
        self.assertTrue(self.installed_file("silero-vad", "v.safetensors").exists())
        self.sotto("remove", "w", "silero-vad")
        self.sotto("pull", "w", "--no-vad")
        self.assert_not_installed("silero-vad")

    def test_without_the_vad_the_pull_still_counts(self):
        self.hub.add("o/w/model.bin", ctranslate2_head() + b"x" * 100)
        self.add_model("w", "whisper", [self.hub_source("o/w", [{"name": "model.bin"}])])
        self.add_model("silero-vad", "vad", [self.hub_source("o/v", [{"name": "v.safetensors"}])])
        result = self.sotto("pull", "w")
        self.assertIn("warning: cannot pull silero-vad", result.stderr)
        self.assertTrue(self.installed_file("w", "model.bin").exists())


class Faults(CliCase):
    def test_a_cut_connection_goes_on_where_it_was_cut(self):
        content = self.add_hub_model(size=300_000)
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", Fault(cut_after=100_000), Fault(cut_after=50_000))
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)
        ranges = [request.headers.get("range") for request in self.hub.requests_for("/stored/")]
        self.assertEqual(ranges, [None, "bytes=100000-", "bytes=150000-"])

    def test_a_cut_file_without_a_sum_begins_again(self):
        content = self.add_hub_model(size=300_000, with_sum=False, lfs=False)
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", Fault(cut_after=100_000))
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)
        self.assertEqual([request.headers.get("range") for request in self.hub.requests], [None, None])

    def test_a_server_that_ignores_ranges_sends_all_again(self):
        content = self.add_hub_model(size=300_000)
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", Fault(cut_after=100_000), Fault(ignore_range=True))
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)

    def test_a_server_that_sends_another_range_is_not_believed(self):
        content = self.add_hub_model(size=300_000)
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", Fault(cut_after=100_000), Fault(shift_range=-5))
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)

    def test_wrong_bytes_are_an_error_and_leave_nothing(self):
        self.add_hub_model(size=1000)
        path = "owner/tiny-llm/tiny-llm.gguf"
        self.hub.sums[path] = sha256(self.hub.files[path])
        self.hub.files[path] = weights(1000, seed=2)
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn("sha256", result.stderr)
        self.assert_not_installed("tiny-llm")
        self.assertFalse(self.part("tiny-llm", "tiny-llm.gguf").exists())

    def test_wrong_bytes_against_the_sum_of_the_hub(self):
        self.add_hub_model(size=1000, with_sum=False)
        self.hub.sums["owner/tiny-llm/tiny-llm.gguf"] = "0" * 64
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn("instead of " + "0" * 64, result.stderr)
        self.assert_not_installed("tiny-llm")

    def test_a_hub_with_another_file_is_found_out_before_its_bytes(self):
        self.add_hub_model(size=1000)
        self.hub.files["owner/tiny-llm/tiny-llm.gguf"] = weights(1000, seed=2)
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn("the server offers a file with sha256", result.stderr)

    def test_a_wrong_length_is_an_error(self):
        self.add_hub_model(size=1000)
        path = "owner/tiny-llm/tiny-llm.gguf"
        self.hub.sums[path] = sha256(self.hub.files[path])
        self.hub.files[path] = self.hub.files[path][:900]
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn("900 bytes instead of 1000", result.stderr)

    def test_a_length_that_never_comes_is_an_error(self):
        self.add_hub_model(size=1000, with_sum=False, lfs=False)
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", *[Fault(announce=2000) for _ in range(10)])
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn("broke", result.stderr)
        self.assert_not_installed("tiny-llm")

    def test_faults_that_pass(self):
        content = self.add_hub_model()
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", Fault(status=503), Fault(status=429), Fault(status=500))
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)

    def test_faults_that_stay_are_explained(self):
        for status, words in ((401, "HF_TOKEN"), (403, "accept the model's terms"), (404, "no such file"),
                              (429, "too many requests"), (502, "fault of its own")):
            with self.subTest(status=status):
                self.add_hub_model()
                path = "owner/tiny-llm/tiny-llm.gguf"
                self.hub.faults[path] = []
                self.hub.fail(path, *[Fault(status=status) for _ in range(10)])
                result = self.sotto("pull", "tiny-llm", code=3)
                self.assertIn(str(status), result.stderr)
                self.assertIn(words, result.stderr)
                self.assert_not_installed("tiny-llm")

    def test_a_long_wish_to_wait_is_not_granted(self):
        self.add_hub_model()
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", Fault(status=429, headers={"Retry-After": "3000"}))
        self.sotto("pull", "tiny-llm", code=3)
        self.assertEqual(len(self.hub.requests_for("/stored/")), 1)

    def test_a_circle_of_redirects_ends(self):
        self.add_hub_model()
        path = "owner/tiny-llm/tiny-llm.gguf"
        self.hub.fail(path, *[Fault(redirect=f"{self.hub.store_url}/stored/{path}") for _ in range(50)])
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn("on and on to other addresses", result.stderr)

    def test_a_redirect_to_a_file_of_this_machine_is_not_followed(self):
        self.add_hub_model(with_sum=False)
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", *[Fault(redirect="file:///etc/hostname") for _ in range(10)])
        self.sotto("pull", "tiny-llm", code=3)
        self.assert_not_installed("tiny-llm")

    def test_the_token_goes_to_the_hub_and_nowhere_else(self):
        self.add_hub_model()
        self.sotto("pull", "tiny-llm", env={"HF_TOKEN": "hf_secret"})
        self.assertEqual(self.hub.requests_for("/resolve/")[0].headers["authorization"], "Bearer hf_secret")
        self.assertNotIn("authorization", self.hub.requests_for("/stored/")[0].headers)

    def test_a_proxy_is_used(self):
        content = self.add_hub_model(lfs=False)
        self.sotto("pull", "tiny-llm", env={"HF_ENDPOINT": "http://hub.invalid", "http_proxy": self.hub.url})
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)

    def test_no_connection_says_what_to_do(self):
        self.add_hub_model()
        result = self.sotto("pull", "tiny-llm", code=3, env={"HF_ENDPOINT": "http://127.0.0.1:1"})
        self.assertIn("cannot connect to http://127.0.0.1:1", result.stderr)
        self.assertIn("HF_ENDPOINT", result.stderr)
        result = self.sotto("pull", "tiny-llm", code=3, env={"HF_ENDPOINT": "http://hub.invalid"})
        self.assertIn("cannot find the host", result.stderr)

    def test_a_hub_that_does_not_answer_gives_way_to_the_next_source(self):
        # A full backlog: the kernel answers no further connection.
        deaf = socket.socket()
        self.addCleanup(deaf.close)
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        waiting = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(deaf.getsockname())
            waiting.append(client)
            self.addCleanup(client.close)
        content = weights(5000)
        self.hub.add("mirror/m.gguf", content)
        file = {"name": "m.gguf", "sha256": sha256(content)}
        self.add_model("m", "llm", [self.hub_source("o/m", [file]),
                                    {"url": self.hub.url + "/mirror", "files": [file]}])
        self.sotto("pull", "m", env={"HF_ENDPOINT": "http://127.0.0.1:%d" % deaf.getsockname()[1]})
        self.assert_installed("m", "m.gguf", content)

    def test_sources_are_tried_in_order(self):
        content = weights(5000)
        self.hub.add("o/second/m.gguf", content)
        file = {"name": "m.gguf", "sha256": sha256(content)}
        self.add_model("m", "llm", [self.hub_source("o/first", [file]), self.hub_source("o/second", [file])])
        self.sotto("pull", "m")
        self.assert_installed("m", "m.gguf", content)
        self.assertEqual([request.path.split("/")[2] for request in self.hub.requests], ["first", "second"])

    def test_files_of_a_source_that_failed_are_not_installed(self):
        content = weights(5000)
        self.hub.add("o/first/model.bin", b"a" * 100)
        self.hub.add("o/second/m.gguf", content)
        self.add_model("m", "llm", [self.hub_source("o/first", [{"name": "model.bin"}, {"name": "absent.json"}]),
                                    self.hub_source("o/second", [{"name": "m.gguf"}])])
        self.sotto("pull", "m")
        names = sorted(path.name for path in (self.store / "models/m").iterdir())
        self.assertEqual(names, ["m.gguf", "sotto-manifest.json"])


class Interruption(CliCase):
    FILE = "owner/tiny-llm/tiny-llm.gguf"

    def begin(self, size=400_000, stop_at=150_000, **more):
        """A pull that stands still in the middle."""
        content = self.add_hub_model(size=size, **more)
        release = threading.Event()
        self.addCleanup(release.set)
        self.hub.fail(self.FILE, Fault(pause_after=(stop_at, release)))
        process = self.start("pull", "tiny-llm")
        part = self.part("tiny-llm", "tiny-llm.gguf")
        self.wait_until(lambda: part.exists() and part.stat().st_size >= stop_at, process)
        return content, process, release

    def assert_resumes(self, content):
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)
        self.assertEqual(self.hub.requests_for("/stored/")[-1].headers.get("range"), "bytes=150000-")

    def test_kill_9_then_pull_again(self):
        content, process, _ = self.begin()
        kill(process)
        self.assert_not_installed("tiny-llm")
        self.assert_resumes(content)

    def test_kill_9_with_the_sum_known_only_from_the_hub(self):
        content, process, _ = self.begin(with_sum=False)
        kill(process)
        self.assert_resumes(content)

    def test_ctrl_c_ends_with_130_and_can_be_resumed(self):
        content, process, _ = self.begin()
        _, err = kill(process, signal.SIGINT)
        self.assertEqual(process.returncode, 130)
        self.assertIn("interrupted", err)
        self.assert_resumes(content)

    def test_what_was_left_is_not_used_for_another_file(self):
        _, process, _ = self.begin(with_sum=False)
        kill(process)
        changed = weights(400_000, seed=9)
        self.hub.files[self.FILE] = changed
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", changed)

    def test_what_was_left_and_damaged_is_thrown_away(self):
        content, process, _ = self.begin()
        kill(process)
        part = self.part("tiny-llm", "tiny-llm.gguf")
        part.write_bytes(b"?" * part.stat().st_size)
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)

    def test_killed_between_the_last_byte_and_the_installation(self):
        content = self.add_hub_model()
        staging = self.store / "partial/tiny-llm"
        staging.mkdir(parents=True)
        (staging / "tiny-llm.gguf.part").write_bytes(content)
        (staging / "tiny-llm.gguf.part.sha256").write_text(sha256(content))
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)
        self.assertEqual(self.hub.requests, [])

    def test_more_than_the_file_was_left(self):
        content = self.add_hub_model(with_sum=False)
        staging = self.store / "partial/tiny-llm"
        staging.mkdir(parents=True)
        (staging / "tiny-llm.gguf.part").write_bytes(content + b"more")
        (staging / "tiny-llm.gguf.part.sha256").write_text(sha256(content))
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)

    def test_remove_deletes_what_an_interrupted_pull_left(self):
        _, process, _ = self.begin()
        kill(process)
        self.sotto("remove", "tiny-llm")
        self.assertFalse((self.store / "partial/tiny-llm").exists())

    def test_of_two_pulls_the_second_waits(self):
        content, first, release = self.begin()
        second = self.start("pull", "tiny-llm", "--json")
        line = json.loads(second.stdout.readline())
        self.assertEqual(line["status"], "waiting for another process that pulls tiny-llm")
        release.set()
        out, err = second.communicate(timeout=120)
        self.assertEqual((second.returncode, err), (0, ""))
        self.assertEqual(out.splitlines()[-1], '{"status":"success"}')
        first.communicate(timeout=120)
        self.assertEqual(first.returncode, 0)
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)
        self.assertEqual(len(self.hub.requests_for("/stored/")), 1)

    def test_one_that_waits_can_be_interrupted(self):
        _, first, release = self.begin()
        second = self.start("pull", "tiny-llm", "--json")
        second.stdout.readline()
        second.send_signal(signal.SIGINT)
        second.communicate(timeout=120)
        self.assertEqual(second.returncode, 130)
        release.set()
        first.communicate(timeout=120)
        self.assertEqual(first.returncode, 0)

    def test_a_model_that_is_being_pulled_is_not_removed(self):
        _, first, release = self.begin()
        result = self.sotto("remove", "tiny-llm", code=3)
        self.assertIn("is being pulled by another process", result.stderr)
        release.set()
        first.communicate(timeout=120)
        self.assertEqual(first.returncode, 0)


if __name__ == "__main__":
    unittest.main()
