"""One real pull over the network: the catalogue's entry of tiny.en is right and the bytes are the known ones."""

import filecmp
import os
import pathlib
import subprocess
import tempfile
import unittest

SOTTO = os.environ["SOTTO_BIN"]


class RealPull(unittest.TestCase):
    def test_tiny_en(self):
        known = pathlib.Path(os.environ["SOTTO_TEST_MODELS"])
        with tempfile.TemporaryDirectory(prefix="sotto-test-") as store:
            environment = {**os.environ, "SOTTO_HOME": store}
            subprocess.run([SOTTO, "pull", "tiny.en"], env=environment, check=True)
            subprocess.run([SOTTO, "show", "tiny.en", "--verify"], env=environment, check=True)
            installed = pathlib.Path(store, "models")
            for file in ("tiny.en/model.bin", "tiny.en/tokenizer.json", "silero-vad/silero_vad_16k.safetensors"):
                self.assertTrue(filecmp.cmp(installed / file, known / file, shallow=False), file)
            # All is there: no hub, no pip, no network is needed any more.
            offline = {"SOTTO_HOME": store, "HF_ENDPOINT": "http://127.0.0.1:1", "PATH": "", "HOME": store}
            subprocess.run([SOTTO, "pull", "tiny.en"], env=offline, check=True)


if __name__ == "__main__":
    unittest.main()
