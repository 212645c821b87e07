"""Files named by a user: replaced completely, through links, never in place of a pipe or a device."""
import os
import pathlib
import stat
import subprocess
import tempfile
import threading
import unittest

from program import DATA, LLMPROF, run

CAPTURE = DATA / "nsys_sqlite" / "eager.sqlite"
NOBODY = 65534


class NamedFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        done = run("analyze", CAPTURE, "--out", cls.folder / "bundle")
        assert done.returncode == 0, done.stderr
        cls.profile = cls.folder / "bundle" / "profile.json"

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def diff(self, *options, **more):
        return run("diff", self.profile, self.profile, *options, cwd=self.place, **more)

    def diff_as_nobody(self, *options):
        """Used if a file in /dev is named: as root, a faulty program would replace it and break the test machine."""
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        if who:
            self.place.chmod(0o777)
            self.folder.chmod(0o755)
        done = self.diff_into(*options, **who, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for device in ("/dev/null", "/dev/full"):
            assert pathlib.Path(device).is_char_device()
        return done

    def diff_into(self, *options, **streams):
        return subprocess.run([LLMPROF, "diff", self.profile, self.profile, *options], cwd=self.place,
                              timeout=60, check=False, **streams)

    def test_a_file_is_replaced_and_keeps_its_permissions(self):
        file = self.place / "diff.xml"
        file.write_text("old")
        file.chmod(0o640)
        before = file.stat().st_ino
        self.assertEqual(self.diff("--junit", file).returncode, 0)
        self.assertIn("<testsuite", file.read_text())
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o640)
        self.assertNotEqual(file.stat().st_ino, before)  # readers of the old file keep it
        self.assertEqual([path.name for path in self.place.glob("*.tmp")], [])

    def test_a_link_is_followed(self):
        (self.place / "real").mkdir()
        (self.place / "real" / "summary.md").write_text("old")
        for name, target in (("link", "real/summary.md"), ("dangling", "real/new.md")):
            (self.place / name).symlink_to(target)
            self.assertEqual(self.diff("--summary", name).returncode, 0)
            self.assertTrue((self.place / name).is_symlink())
            self.assertIn("Verdict", (self.place / target).read_text())

    def test_a_pipe_is_written_into(self):
        pipe = self.place / "pipe"
        os.mkfifo(pipe)
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
        reader.start()
        done = self.diff("--summary", pipe)
        reader.join(30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Verdict", read[0])
        self.assertTrue(pipe.is_fifo())

    def test_a_pipe_without_a_reader_is_an_error(self):
        pipe = self.place / "pipe"
        os.mkfifo(pipe)
        done = self.diff("--summary", pipe)
        self.assertEqual(done.returncode, 4)
        self.assertIn(f"{pipe}: is a pipe that no process reads", done.stderr)

    def test_devices(self):
        for option in ("--summary", "--junit"):
            done = self.diff_as_nobody(option, "/dev/null")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.diff_as_nobody(option, "/dev/full")
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn("/dev/full", done.stderr)

    @unittest.skipUnless(os.getuid() == 0, "needs root, to make a device of its own")
    def test_devices_stay_devices(self):
        null = self.place / "null"
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        for option in ("--summary", "--junit"):
            self.assertEqual(self.diff(option, null).returncode, 0)
            self.assertTrue(null.is_char_device())

    def test_standard_output(self):
        for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            done = self.diff_as_nobody("--junit", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith("<?xml"), done.stdout[:80])
            self.assertIn("Written:", done.stdout)
            self.assertFalse((self.place / "-").exists())

    def test_standard_output_that_is_a_file_is_appended_to(self):
        log = self.place / "log"
        log.write_text("before\n")
        with open(log, "a", encoding="utf-8") as stream:
            done = self.diff_into("--summary", "/dev/fd/1", stdout=stream)
        self.assertEqual(done.returncode, 0)
        text = log.read_text()
        self.assertTrue(text.startswith("before\n"))
        self.assertIn("Written:", text)

    def test_standard_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = self.diff_into("--summary", "-", stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("standard output", done.stderr)
        script = '"$@" >&-'
        done = subprocess.run(["sh", "-c", script, "sh", LLMPROF, "diff", self.profile, self.profile,
                               "--summary", "-"], cwd=self.place, timeout=60, check=False,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("standard output", done.stderr)

    def test_a_reader_that_closed_the_pipe(self):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = self.diff_into(stdout=writing, stderr=subprocess.PIPE, text=True)
        finally:
            os.close(writing)
        self.assertEqual(done.returncode, 4)
        self.assertIn("standard output", done.stderr)

    def test_neither_a_side_nor_each_other_is_replaced(self):
        copy = self.place / "base.json"
        copy.write_bytes(self.profile.read_bytes())
        done = run("diff", copy, self.profile, "--summary", copy, cwd=self.place)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(copy.read_bytes(), self.profile.read_bytes())
        done = self.diff("--summary", "both", "--junit", "both")
        self.assertEqual(done.returncode, 2)
        self.assertFalse((self.place / "both").exists())


class LinksInABundle(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.bundle = self.place / "bundle"
        self.bundle.mkdir()
        self.victim = self.place / "victim"
        self.victim.write_text("mine")

    def refused(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("symbolic link", done.stderr)
        self.assertEqual(self.victim.read_text(), "mine")

    def test_a_file_of_a_bundle(self):
        for name in ("report.md", "profile.json", "report.html"):
            link = self.bundle / name
            link.symlink_to(self.victim)
            self.refused("analyze", CAPTURE, "--out", self.bundle, "--force")
            self.assertTrue(link.is_symlink())
            link.unlink()

    def test_a_folder_of_a_bundle(self):
        elsewhere = self.place / "elsewhere"
        elsewhere.mkdir()
        (self.bundle / "plots").symlink_to(elsewhere)
        self.refused("analyze", CAPTURE, "--out", self.bundle, "--force")
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_reports_that_are_rewritten(self):
        run("analyze", CAPTURE, "--out", self.bundle)
        (self.bundle / "kernels.md").unlink()
        (self.bundle / "kernels.md").symlink_to(self.victim)
        self.refused("report", self.bundle)

    def test_a_comparison(self):
        run("analyze", CAPTURE, "--out", self.place / "run")
        (self.bundle / "diff.json").symlink_to(self.victim)
        self.refused("diff", self.place / "run", self.place / "run", "--out", self.bundle, "--force")

    def test_the_folder_itself_may_be_named_by_a_link(self):
        (self.place / "link").symlink_to(self.bundle)
        self.assertEqual(run("analyze", CAPTURE, "--out", self.place / "link").returncode, 0)
        self.assertTrue((self.bundle / "profile.json").exists())


if __name__ == "__main__":
    unittest.main()
