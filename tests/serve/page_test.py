"""The web page in headless Chromium: upload and microphone, with a real model."""

import os
import pathlib
import shutil
import subprocess
import unittest

from running_server import CLIENTS, JFK, ServerCase

HERE = pathlib.Path(__file__).resolve().parent


class PageTest(ServerCase):
    def test_files_of_the_page(self):
        status, headers, body = self.server.request("/")
        self.assertEqual(status, 200)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertNotIn(b"https://", body)
        status, _, _ = self.server.request("/", headers={"If-None-Match": headers["ETag"]})
        self.assertEqual(status, 304)
        self.assertIn("javascript", self.server.request("/app.js")[1]["Content-Type"])

    def test_in_a_browser(self):
        # The Python package of Playwright brings node and the driver that page.mjs uses.
        driver = CLIENTS / "playwright" / "driver"
        environment = {**os.environ, "CHROMIUM": shutil.which("chromium") or "chromium",
                       "PLAYWRIGHT": driver / "package"}
        result = subprocess.run([driver / "node", HERE / "page.mjs", self.server.url, JFK], env=environment,
                                capture_output=True, text=True, timeout=500)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
