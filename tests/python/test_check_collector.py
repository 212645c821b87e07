"""scripts/check_collector.sh: a library that follows the rules passes, each violation is found."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_collector.sh"
ENTRIES = "int InitializeInjection(void) { return 1; } int InitializeInjectionNvtx2(void) { return 1; }\n"


@unittest.skipUnless(shutil.which("gcc") and shutil.which("readelf"), "needs gcc and readelf, which are not here")
class CheckCollector(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.library = pathlib.Path(holder.name) / "lib.so"

    def build(self, code, *flags, language="c"):
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-nostartfiles", "-x", language, "-", "-o", str(self.library), *flags],
            input=code, text=True, check=True, capture_output=True,
        )

    def check(self, *options):
        return subprocess.run([str(SCRIPT), *options, str(self.library)], capture_output=True, text=True, check=False)

    def assert_found(self, words):
        done = self.check()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(words, done.stderr)

    def test_a_good_one(self):
        self.build(ENTRIES + "#include <stdio.h>\nint llmprof_x(void) { return puts(\"\"); }")
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_without_cuda_tracing(self):
        self.build("int llmprof_x(void) { return 1; }")
        self.assert_found("has no CUDA tracing (InitializeInjection)")
        self.assertEqual(self.check("--without-cuda").returncode, 0)

    def test_another_library(self):
        self.build(ENTRIES + "double cos(double); double llmprof_x(double x) { return cos(x); }", "-lm")
        self.assert_found("needs libm.so.6")

    def test_a_name_from_elsewhere(self):
        self.build(ENTRIES + "int their_function(void); int llmprof_x(void) { return their_function(); }")
        self.assert_found("has undefined symbols: their_function")

    def test_calls_that_it_replaces(self):
        self.build(ENTRIES + "int cudaLaunchKernel_ptsz(void) { return 0; } int cudaMemcpy_ptds(void) { return 0; }"
                   "int __cudaLaunchKernel(void) { return 0; } int cudaDeviceSynchronize(void) { return 0; }"
                   "int cudaMalloc(void) { return 0; } int cuMemFree_v2(void) { return 0; }"
                   "int cuMemAllocAsync_ptsz(void) { return 0; } int cuGetProcAddress(void) { return 0; }")
        self.assertEqual(self.check().returncode, 0)

    def test_a_call_that_it_does_not_replace(self):
        self.build(ENTRIES + "int cudaMemset(void) { return 0; }")
        self.assert_found("exports names that are not its own: cudaMemset")

    def test_a_name_that_is_not_its_own(self):
        self.build(ENTRIES + "int helper(void) { return 1; }")
        self.assert_found("exports names that are not its own: helper")

    def test_a_newer_libc(self):
        self.build(ENTRIES + '__asm__(".symver wanted,wanted@GLIBC_2.38");'
                   "extern int wanted(void); int llmprof_x(void) { return wanted(); }",
                   "-x", "none", str(self.newer_libc()))
        self.assert_found("needs GLIBC_2.38")

    def newer_libc(self):
        """A stand-in for a later C library, under its name."""
        folder = self.library.parent
        (folder / "map").write_text("GLIBC_2.38 { global: wanted; };\n")
        library = folder / "libc.so.6"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o", str(library),
             "-Wl,-soname,libc.so.6", f"-Wl,--version-script,{folder / 'map'}"],
            input="int wanted(void) { return 1; }", text=True, check=True, capture_output=True,
        )
        return library

    def test_a_file_that_is_not_a_library(self):
        self.library.write_text("text")
        self.assertNotEqual(self.check().returncode, 0)


if __name__ == "__main__":
    unittest.main()
