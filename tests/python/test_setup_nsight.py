"""scripts/setup_nsight.sh on other kinds of machines: a folder in place of /etc, and tools that fail."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "setup_nsight.sh"
TOOLS = ("awk", "bash", "cat", "chmod", "df", "env", "grep", "id", "mkdir", "mktemp", "rm", "tail")
DEBIAN = "ID=debian\nVERSION_CODENAME=bookworm\n"
STANZA = """# comment
Types: deb deb-src
URIs: https://mirror.invalid/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: https://packages.invalid/other
Suites: bookworm
Components: stable

Types: deb
URIs: https://off.invalid/debian
Suites: bookworm
Components: main
Enabled: no
"""
ONE_LINE = """deb [arch=amd64 signed-by=/k.gpg] https://mirror.invalid/debian bookworm main # trailing words are no suite
deb-src https://mirror.invalid/debian bookworm main
deb https://mirror.invalid/debian-security bookworm-security main contrib
deb https://packages.invalid/db bookworm-pgdg main
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        (self.root / "etc/apt/sources.list.d").mkdir(parents=True)
        self.write("etc/os-release", DEBIAN)

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def tool(self, name, body):
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def run_script(self, *arguments):
        environment = {"PATH": str(self.bin), "LLMPROF_ETC": str(self.root / "etc"), "TMPDIR": str(self.root)}
        return subprocess.run([SCRIPT, *arguments], env=environment, capture_output=True, text=True,
                              timeout=60, check=False)

    def gives_up(self, why):
        done = self.run_script()
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(why, done.stderr)
        self.assertIn("will skip", done.stderr)
        self.assertEqual(sorted(item.name for item in self.root.iterdir()), ["bin", "etc"])

    def test_sources_of_the_new_form(self):
        self.write("etc/apt/sources.list.d/debian.sources", STANZA)
        signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
        self.assertEqual(self.run_script("--sources").stdout.splitlines(), [
            f"deb {signed} https://mirror.invalid/debian bookworm main contrib non-free",
            f"deb {signed} https://mirror.invalid/debian bookworm-updates main contrib non-free"])

    def test_sources_of_the_old_form(self):
        self.write("etc/apt/sources.list", ONE_LINE)
        self.assertEqual(self.run_script("--sources").stdout.splitlines(), [
            "deb [arch=amd64 signed-by=/k.gpg] https://mirror.invalid/debian bookworm main contrib non-free",
            "deb https://mirror.invalid/debian-security bookworm-security main contrib non-free"])

    def test_nothing_to_do_if_they_are_installed(self):
        self.tool("nsys", "exit 0")
        self.tool("ncu", "exit 0")
        self.tool("apt-get", "echo called >&2; exit 1")
        done = self.run_script()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_no_apt(self):
        self.gives_up("apt is not available")

    def test_another_distribution(self):
        self.tool("apt-get", "exit 1")
        self.write("etc/os-release", "ID=ubuntu\nVERSION_CODENAME=noble\n")
        self.gives_up("this is another system")

    def test_another_debian(self):
        self.tool("apt-get", "exit 1")
        self.write("etc/os-release", "ID=debian\nVERSION_CODENAME=trixie\n")
        self.gives_up("this is trixie")

    def test_no_root(self):
        self.tool("apt-get", "exit 1")
        self.tool("id", "echo 1000")
        self.gives_up("not root")

    def prepared(self):
        """A machine with root access and a mirror."""
        self.tool("id", "echo 0")
        self.tool("df", "echo Filesystem; echo /dev/x 9999 0 9999 1% /")
        self.write("etc/apt/sources.list", ONE_LINE)

    def test_no_mirror(self):
        self.prepared()
        self.write("etc/apt/sources.list", "deb https://packages.invalid/db bookworm-pgdg main\n")
        self.tool("apt-get", "exit 1")
        self.gives_up("no Debian mirror is configured")

    def test_no_space(self):
        self.prepared()
        self.tool("apt-get", "exit 1")
        self.tool("df", "echo Filesystem; echo /dev/x 9999 9000 999 90% /usr")
        self.gives_up("1200 MB in /usr")

    def test_no_network(self):
        self.prepared()
        self.tool("apt-get", "echo 'E: Failed to fetch: no route'; exit 100")
        self.gives_up("apt-get update failed (E: Failed to fetch: no route)")

    def test_a_mirror_without_the_section(self):
        self.prepared()
        self.tool("apt-get", "[[ $* == *' update' ]] || { echo 'E: Unable to locate package nsight-systems'; exit 100; }")
        self.gives_up("the mirror has no nsight-systems nsight-compute (E: Unable to locate")

    def test_a_failing_installation(self):
        self.prepared()
        self.tool("apt-get", "[[ $* != *' install -y '* ]] || { echo 'E: dpkg was interrupted'; exit 100; }")
        done = self.run_script()
        self.assertEqual(done.returncode, 0)
        self.assertIn("the installation failed (E: dpkg was interrupted)", done.stderr)

    def test_an_installation(self):
        self.prepared()
        log = self.root / "bin" / "calls"
        self.tool("apt-get", f'echo "$*" >>{log}')
        done = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = log.read_text(encoding="utf-8").splitlines()
        self.assertEqual([call.split()[-1] for call in calls], ["update", "nsight-compute", "nsight-compute"])
        self.assertIn("install -y --no-install-recommends nsight-systems nsight-compute", calls[2])
        for call in calls:  # only the temporary folder is written
            for option in ("Dir::Etc::sourceparts=", "Dir::State::lists=", "Dir::Cache::archives="):
                self.assertIn(f"{option}{self.root}{os.sep}", call)

    def test_usage(self):
        self.assertEqual(self.run_script("--all").returncode, 2)


if __name__ == "__main__":
    unittest.main()
