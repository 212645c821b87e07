"""The build step for report.html's script: if it fails, the build succeeds without it."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from program import ROOT


class BuildWithoutPage(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def build(self, **settings):
        out = self.folder / "page"
        defined = {"NODE": shutil.which("node") or "", "NPM": shutil.which("npm") or "", "WANTED": "AUTO",
                   "SOURCE": ROOT / "ui", "OUT": out, **settings}
        done = subprocess.run(["cmake", *(f"-D{name}={value}" for name, value in defined.items()),
                               "-P", str(ROOT / "cmake" / "build_page.cmake")],
                              capture_output=True, text=True, timeout=600, check=False)
        return done, out

    def check_no_page(self, done, out, why):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(why, " ".join(done.stderr.split()))
        for name in ("page.js", "page.css", "page.sha256"):
            self.assertEqual((out / name).read_bytes(), b"")
        # What the program will report.
        reason = (out / "page.why").read_text(encoding="utf-8")
        self.assertIn(why, reason)
        self.assertNotIn("\n", reason)
        # No stamp: the next build tries again.
        self.assertFalse((out / "built").exists())

    def test_without_node(self):
        done, out = self.build(NODE="", NPM="")
        self.check_no_page(done, out, "Node.js and npm were not found")

    def test_an_old_node(self):
        node = self.folder / "node"
        node.write_text("#!/bin/sh\necho v16.20.0\n", encoding="utf-8")
        node.chmod(0o755)
        done, out = self.build(NODE=node, NPM="/bin/true")
        self.check_no_page(done, out, "Node.js 16.20.0; 18 or newer is needed")

    def test_npm_without_a_network(self):
        source = self.folder / "ui"
        source.mkdir()
        for name in ("package.json", "package-lock.json", "build.mjs"):
            shutil.copy(ROOT / "ui" / name, source)
        npm = self.folder / "npm"
        npm.write_text("#!/bin/sh\necho npm warn x\necho npm error code ENOTFOUND >&2\necho npm error more >&2\n"
                       "exit 1\n", encoding="utf-8")
        npm.chmod(0o755)
        done, out = self.build(NPM=npm, SOURCE=source)
        self.check_no_page(done, out, "`npm ci` failed (npm error code ENOTFOUND), perhaps because its registry is out of reach")
        self.assertNotIn("Node.js", (out / "page.why").read_text(encoding="utf-8"))

    def test_a_required_page_that_cannot_be_built_is_an_error(self):
        done, _ = self.build(NODE="", NPM="", WANTED="ON")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("report.html cannot be built", done.stderr)


if __name__ == "__main__":
    unittest.main()
