"""The collector preloaded into a program, alone and when nsys or ncu has started it. The CUDA driver and CUPTI are
fakes; nsys and ncu are represented by the environment variables that they set."""
import os
import pathlib
import shutil
import unittest

from played_tapes import CUPTI, KERNEL, LIBRARY, PLAY, PlayedCase, kernel_rows

UNDER_NCU = {"NV_NSIGHT_INJECTION_PORT_BASE": "49152"}
NCU_LINE = "llmprof: ncu profiles this program: the collector stands down, kernels are not recorded\n"
NO_VARIABLES = {"CUDA_INJECTION64_PATH": None, "NVTX_INJECTION64_PATH": None}
KERNELS = 92  # on the tape


class PreloadedCollector(PlayedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if "san" in pathlib.Path(LIBRARY).stem:
            raise unittest.SkipTest("a sanitizer's library cannot be preloaded")

    def play_preloaded(self, *, inside=(), **environment):
        return self.play(self.tape("eager"), inside=inside, LD_PRELOAD=LIBRARY, **environment)

    def assert_left_alone(self):
        """All kernels ran, and none was requested from CUPTI."""
        self.assertEqual(len(self.records_with("off", KERNEL)), KERNELS)
        rows = [log.of("tracing_change", "kernels", "launch") for log in self.logs()]
        self.assertEqual(rows, [[]] * len(self.logs()))

    def test_preloading_is_enough(self):
        self.assertEqual(self.play_preloaded(**NO_VARIABLES), "")
        log = self.log()
        self.assertEqual(len(kernel_rows(log)), KERNELS)
        self.assertEqual(len(log.ranges()), 65)  # NVTX's

    def test_without_a_folder_nothing_is_loaded(self):
        for folder in (None, ""):
            with self.part(folder=folder):
                self.assertEqual(self.play_preloaded(LLMPROF_LOG_DIR=folder, **NO_VARIABLES), "")
                self.assert_left_alone()

    def test_ncu_gets_a_program_without_the_variable(self):
        """ncu refuses a process with this variable, so it must be removed before the program starts."""
        seen = self.folder / "seen"
        show = ["sh", "-c", f'echo "${{CUDA_INJECTION64_PATH-none}}" > {seen}; exec "$@"', "sh"]
        for variables in ({}, NO_VARIABLES):
            with self.part(variables=variables):
                seen.unlink(missing_ok=True)
                self.assertEqual(self.play_preloaded(inside=show, **UNDER_NCU, **variables), NCU_LINE)
                self.assertEqual(seen.read_text(), "none\n")
                self.assert_left_alone()

    def test_ncu_itself_removes_it(self):
        """Before ncu sets its variable, its own processes cannot be recognized by it."""
        ncu, seen = self.folder / "ncu", self.folder / "seen"
        ncu.symlink_to(shutil.which("sh"))
        variables = ["CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"]
        script = "; ".join(f'echo "${{{name}-none}}" >> {seen}' for name in variables)
        self.assertEqual(self.play_preloaded(inside=[str(ncu), "-c", f'{script}; exec "$@"', "ncu"]), NCU_LINE)
        self.assertEqual(seen.read_text(), "none\nnone\n")
        # The program that it starts is not recognized as ncu's: ncu would have set its own variable.
        self.assertEqual(len(kernel_rows(self.log())), KERNELS)

    def test_under_ncu_without_a_folder_there_is_no_message(self):
        self.assertEqual(self.play_preloaded(LLMPROF_LOG_DIR=None, **UNDER_NCU), "")
        self.assert_left_alone()

    def test_any_spelling_of_the_library(self):
        """Relative to a folder that the process leaves, without a folder, and next to an empty variable."""
        folder = pathlib.Path(LIBRARY).parent
        elsewhere = ["sh", "-c", 'cd / && exec "$@"', "sh"]
        for words in (
            {"LD_PRELOAD": os.path.relpath(LIBRARY), "inside": elsewhere},
            {"LD_PRELOAD": pathlib.Path(LIBRARY).name, "LD_LIBRARY_PATH": str(folder)},
            {"LD_PRELOAD": LIBRARY, "CUDA_INJECTION64_PATH": "", "NVTX_INJECTION64_PATH": ""},
        ):
            with self.part(**words):
                self.play(self.tape("eager"), **{**NO_VARIABLES, **words})
                self.assertEqual(len(kernel_rows(self.log())), KERNELS)

    def test_another_library_is_not_removed(self):
        """Other libraries in the variable are neither removed nor replaced."""
        other = self.folder / "libother.so"
        other.symlink_to(CUPTI)
        line = self.play_preloaded(CUDA_INJECTION64_PATH=str(other))
        self.assertRegex(line, r"^llmprof: CUDA_INJECTION64_PATH names another tool's library.* stands down, .*\n$")
        self.assert_left_alone()

    def test_a_link_to_our_library_is_ours(self):
        copy = self.folder / "libsame.so"
        copy.symlink_to(LIBRARY)
        self.assertEqual(self.play_preloaded(CUDA_INJECTION64_PATH=str(copy)), "")
        self.assertEqual(len(kernel_rows(self.log())), KERNELS)


class WithinATool(PlayedCase):
    def test_the_tools_themselves_are_not_recorded(self):
        in_nsys = "^llmprof: nsys replaces the collector .*: the collector stands down there\n$"
        for name, line in [("nsys", in_nsys), ("CudaGpuInfoDumper", "^$"), ("ncu", "^$")]:
            with self.part(name):
                program = self.folder / name
                program.symlink_to(PLAY)
                said = self.play(self.tape("eager"), inside=["sh", "-c", f'shift; exec {program} "$@"', "sh"])
                self.assertRegex(said, line)
                self.assertEqual(len(self.records_with("off", KERNEL)), KERNELS)
                self.assertEqual([log.of("tracing_change") for log in self.logs()], [[]] * len(self.logs()))


if __name__ == "__main__":
    unittest.main()
