"""Programs of a distributed job that use our annotation API: their collectives, and the place of each process in the
job."""
import collections
import os
import pathlib
import unittest

from collector_case import BUILD, CollectorCase, codes, dump, names, python
from collector_log import Log

OLD_COLLECTOR = os.environ.get("OLD_COLLECTOR", str(BUILD / "lib" / "old_collector.so"))

LAUNCHER_VARIABLES = ("RANK", "LOCAL_", "WORLD_SIZE", "GROUP_RANK", "TORCHELASTIC_", "OMPI_", "PMI", "MPI_", "MV2_",
                      "SLURM_", "VLLM_")


class Collectives(CollectorCase):
    def test_of_c(self):
        self.run_program("collectives")
        log = self.only_log()
        self.assertEqual(codes(log), {})
        rows = log["collectives"]
        self.assertEqual(len(rows), 1001)
        for row in rows[:1000]:
            self.assertEqual((row["kind"], row["bytes"], row["group_size"]), (1, 3072, 2))
            self.assertEqual((row["group"], row["members"]), ("tp", "0,1"))
            self.assertEqual(row["end"] - row["start"], 50)
        barrier = rows[1000]
        self.assertEqual((barrier["kind"], barrier["group"], barrier["members"]), (11, None, None))
        self.assertEqual(collections.Counter(row["name"] for row in log["operators"]),
                         {"all_reduce": 1000, "barrier": 1})
        self.assertEqual(len({row["correlation"] for row in rows}), 1001)

    def test_take_56_bytes_each_and_no_separate_chunk(self):
        self.run_program("collectives")
        (path,) = self.folder.glob("*.llmtrace")
        log = Log(path)
        self.assertEqual(len(log.of("collective")), 1001)
        self.assertEqual(sorted(log.strings.values()), ["0,1", "all_reduce", "barrier", "tp"])
        # The process, its strings, and 1001 x 56 bytes of its thread.
        self.assertEqual(path.stat().st_size, 3 * 65536)

    PYTHON = """
        import llmprof_annotate as annotate
        start = annotate.now_ns()
        annotate.collective("all_gather", "gather", start, start + 9, 512, "ep", range(4))
        annotate.collective("send", "to the next", start + 10, start + 12, group_size=2)
        try:
            annotate.collective("all_reducing", "", 0, 0)
        except ValueError as error:
            print(str(error)[:43])
    """

    def test_of_python(self):
        done = python(self.environment(), self.PYTHON)
        self.assertEqual(done.stdout, "unknown kind of collective 'all_reducing'; \n")
        gather, send = self.only_log()["collectives"]
        self.assertEqual((gather["kind"], gather["bytes"], gather["end"] - gather["start"]), (3, 512, 9))
        self.assertEqual((gather["group"], gather["members"], gather["group_size"]), ("ep", "0,1,2,3", 4))
        self.assertEqual((send["kind"], send["group"], send["members"], send["group_size"]), (9, None, None, 2))

    def test_an_older_collector_gets_operators(self):
        done = self.run_program("collectives", LLMPROF_COLLECTOR=OLD_COLLECTOR)
        self.assertEqual(done.stderr, "")
        self.assertEqual(collections.Counter(done.stdout.splitlines()), {
            "operator all_reduce 50 ns 0 FLOPs 3072 bytes": 1000,
            "operator barrier 5 ns 0 FLOPs 0 bytes": 1,
        })
        # And everything it knew before.
        done = self.run_program("request", LLMPROF_COLLECTOR=OLD_COLLECTOR)
        self.assertIn("operator gemm 1000 ns 2000000 FLOPs 4096 bytes", done.stdout.splitlines())
        self.assertEqual(done.stdout.count("decode_step"), 4)
        done = python(self.environment(LLMPROF_COLLECTOR=OLD_COLLECTOR), self.PYTHON)
        self.assertIn("operator gather 9 ns 0 FLOPs 512 bytes\n", done.stdout)

    def test_an_older_program_finds_its_functions(self):
        """The header's function table before collectives were added, with its own check."""
        python(self.environment(), """
            import ctypes, os
            class Range(ctypes.Structure):
                _fields_ = [("log", ctypes.c_uint64), ("nvtx", ctypes.c_uint64)]
            named = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
            class OldTable(ctypes.Structure):
                _fields_ = [("size", ctypes.c_uint64), ("range_push", named), ("range_pop", ctypes.CFUNCTYPE(None)),
                            ("range_start", ctypes.CFUNCTYPE(Range, ctypes.c_char_p)),
                            ("range_end", ctypes.CFUNCTYPE(None, Range)), ("mark", named),
                            ("step", ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64)),
                            ("cpu_operator", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64,
                                                              ctypes.c_uint64, ctypes.c_uint64))]
            source = ctypes.CDLL(os.environ["LLMPROF_COLLECTOR"]).llmprof_annotation_functions
            source.restype = ctypes.POINTER(OldTable)
            table = source().contents
            assert table.size >= ctypes.sizeof(OldTable)
            table.range_push(b"prefill")
            table.cpu_operator(b"gemm", 5, 9, 1, 2)
            table.range_pop()
        """)
        log = self.only_log()
        self.assertEqual(names(log), {"prefill": 1})
        self.assertEqual([(o["name"], o["flops"], o["bytes"]) for o in log["operators"]], [("gemm", 1, 2)])


class Ranks(CollectorCase):
    def environment(self, **more):
        base = super().environment()
        kept = {k: v for k, v in base.items() if not k.startswith(LAUNCHER_VARIABLES)}
        return {**kept, **more}

    def place(self, way="request", **variables):
        self.run_program(way, **variables)
        (path,) = self.folder.glob("*.llmtrace")
        log = dump(path)
        path.unlink()
        self.assertEqual(codes(log), {})
        self.named = path.name.rpartition("-")[0]
        return tuple(log[key] for key in ("rank", "local_rank", "world_size", "job"))

    def test_of_launchers(self):
        self.assertEqual(self.place(), (None, None, None, ""))
        self.assertEqual(
            self.place(RANK="3", LOCAL_RANK="1", WORLD_SIZE="4", TORCHELASTIC_RUN_ID="night-7"), (3, 1, 4, "night-7"))
        self.assertEqual(self.named, "rank3")
        self.assertEqual(
            self.place(OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_LOCAL_RANK="0", OMPI_COMM_WORLD_SIZE="2",
                       PMIX_RANK="1", PMIX_NAMESPACE="prterun-host-12@1"), (1, 0, 2, "prterun-host-12@1"))
        self.assertEqual(self.place(PMI_RANK="1", PMI_SIZE="2", MPI_LOCALRANKID="1"), (1, 1, 2, ""))
        slurm = {"SLURM_PROCID": "1", "SLURM_LOCALID": "0", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "40"}
        self.assertEqual(self.place(**slurm, SLURM_STEP_ID="0"), (1, 0, 2, "40.0"))
        self.assertEqual(self.named, "rank1")

    def test_a_batch_script_is_not_a_rank(self):
        script = {"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_JOB_ID": "40"}
        self.assertEqual(self.place(**script), (None, None, None, ""))
        self.assertEqual(self.named, "")
        self.assertEqual(self.place(**script, SLURM_STEP_ID="4294967290"), (None, None, None, ""))

    def test_other_values_are_not_recorded(self):
        self.assertEqual(self.place(RANK="secret", TORCHELASTIC_RUN_ID="a b"), (None, None, None, ""))
        self.assertEqual(self.place(RANK="1234567890", TORCHELASTIC_RUN_ID="x" * 128), (None, None, None, ""))

    def test_records_take_no_chunk(self):
        self.run_program("request")
        self.run_program("request", RANK="3", LOCAL_RANK="1", WORLD_SIZE="4", TORCHELASTIC_RUN_ID="night-7")
        plain, rank = sorted(self.folder.glob("*.llmtrace"), key=lambda path: path.name.startswith("rank"))
        self.assertEqual(plain.stat().st_size, rank.stat().st_size)
        log = Log(rank)
        self.assertEqual([log.strings[r["name"]] for r in log.control if r["type"] == "variable"],
                         ["RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"])

    def test_variables_of_engines(self):
        """Those of conf/engines if nobody says otherwise; `llmprof run` hands over those of the user's engines."""
        values = {"VLLM_DP_RANK": "1", "VLLM_DP_SIZE": "secret", "ACME_RANK": "7", "ACME_SIZE": "8"}
        too_many = ",".join(f"V{i}_{'x' * 30}" for i in range(40))
        for listed, recorded in (({}, {"VLLM_DP_RANK": "1"}),
                                 ({"LLMPROF_RANK_VARIABLES": "ACME_RANK,,ACME_SIZE,"},
                                  {"ACME_RANK": "7", "ACME_SIZE": "8"}),
                                 ({"LLMPROF_RANK_VARIABLES": ""}, {}),
                                 ({"LLMPROF_RANK_VARIABLES": too_many}, {"VLLM_DP_RANK": "1"})):
            with self.subTest(listed):
                self.run_program("request", **values, **listed)
                (path,) = self.folder.glob("*.llmtrace")
                log = Log(path)
                self.assertEqual({log.strings[r["name"]]: log.strings[r["value"]] for r in log.control
                                  if r["type"] == "variable"}, recorded)
                path.unlink()

    def test_a_forked_worker_has_the_rank_that_it_is_given(self):
        """Like engines, which fork and set the rank in the child."""
        python(self.environment(), """
            import os
            import llmprof_annotate as annotate
            annotate.mark("engine")
            for rank in range(2):
                if os.fork() == 0:
                    os.environ["RANK"] = str(rank)
                    os.environ["WORLD_SIZE"] = "2"
                    annotate.mark("worker")
                    os._exit(0)
                os.wait()
        """)
        logs = {path.name.rpartition("-")[0]: dump(path) for path in self.folder.glob("*.llmtrace")}
        self.assertEqual({name: (log["rank"], log["world_size"]) for name, log in logs.items()},
                         {"": (None, None), "rank0": (0, 2), "rank1": (1, 2)})
        self.assertEqual(names(logs["rank1"]), {"worker": 1})

    def test_a_worker_that_renames_itself(self):
        """setproctitle overwrites the arguments, as SGLang's schedulers do once they run."""
        acme = {"LLMPROF_RANK_TITLES": "x::,,acme::"}
        for title, variables, rank in (("sglang::scheduler_TP1", {}, 1), ("VLLM::Worker_TP3", {}, 3),
                                       ("acme::worker_TP2", acme, 2), ("acme::worker_TP2", {}, None),
                                       ("VLLM::Worker_TP3", acme, None), ("python --key secret", acme, None)):
            with self.subTest(title):
                python(self.environment(**variables), f"""
                    import ctypes, os
                    import llmprof_annotate as annotate
                    annotate.mark("begun")
                    stat = open("/proc/self/stat").read().rpartition(") ")[2].split()
                    start, end = int(stat[45]), int(stat[46])  # arg_start, arg_end
                    ctypes.memset(start, 0, end - start)
                    ctypes.memmove(start, {title.encode()!r}, {len(title)})
                """)
                (path,) = self.folder.glob("*.llmtrace")
                self.assertEqual(dump(path)["rank"], rank)
                self.assertNotIn(b"secret", path.read_bytes())
                path.unlink()

    def test_logs_of_one_machine_have_one_clock(self):
        self.run_program("request", RANK="0")
        self.run_program("request", RANK="1")
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        domains = {log["clock_domain"] for log in self.logs()}
        self.assertEqual(len(domains), 1)
        self.assertTrue(domains.pop().startswith(boot))


if __name__ == "__main__":
    unittest.main()
