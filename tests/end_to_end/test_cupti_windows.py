"""When the collector traces: armed by a range, by command or after a delay, for some steps of every period, within an
overhead budget, and on all ranks of a job at the same steps."""
import collections
import unittest

from played_tapes import COPY, KERNEL, InteractiveProgram, PlayedCase, kernel_rows


class Arming(PlayedCase):
    def kernels_of(self, fate, copy, tape):
        return [
            k for k in self.records_with(fate, KERNEL) if k.correlation // tape.correlations == copy
        ]

    def test_never_armed_means_not_attached(self):
        self.play(self.tape("eager"), LLMPROF_ARM="command")
        log = self.log()
        self.assertEqual(len(self.records_with("off", KERNEL)), 92)
        self.assertEqual(log.of("launch", "api_call", "kernels", "tracing_change"), [])
        self.assertEqual([s["cupti_version"] for s in log.of("cuda_session") if s["cupti_version"]], [])
        self.assertEqual(len(log.ranges()), 65)
        self.assertEqual(log.only("waiting")["what"], 1)

    def test_a_start_that_never_came_is_named(self):
        for words, environment in (
            ("`llmprof arm PID`", {"LLMPROF_ARM": "command"}),
            ("'LLM@decode_al'", {"LLMPROF_ARM": "LLM@decode_al"}),
            ("3600000 ms", {"LLMPROF_DELAY_MS": "3600000"}),
        ):
            with self.part(words):
                done = self.analyze(self.tape("eager"), **environment)
                self.assertEqual(done.returncode, 3)
                self.assertIn("never armed", done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)

    def test_by_a_range(self):
        tape = self.tape("eager")
        program = InteractiveProgram(self, tape, LLMPROF_ARM="LLM@decode_all")
        program.next_round()
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        ranges = tape.ranges_of_launches()
        for kernel in kernel_rows(log):
            if (stack := ranges[kernel.correlation % tape.correlations]) != ["sampling"]:
                self.assertEqual(stack[0], "decode_all")
        # Not attached before: CUPTI was not asked for prefill's records.
        self.assertGreaterEqual(len(self.kernels_of("off", 0, tape)), 10)
        for copy in (0, 1):
            missing = [
                k
                for k in self.kernels_of("off", copy, tape)
                if ranges[k.correlation % tape.correlations][0] == "decode_all"
            ]
            self.assertEqual(missing, [])
        self.assertEqual(len(self.records_with("lost", KERNEL, COPY)), 0)
        self.assertEqual(len(self.records_with("unfinished", KERNEL, COPY)), 0)
        states = log.collections()
        self.assertEqual(states[0], ("tracing", "arm_range"))
        self.assertEqual(states[1], ("paused", "arm_range"))
        self.assertEqual(states.count(("tracing", "arm_range")), 2)

    def test_by_command(self):
        for every_call in ("0", "1"):
            with self.part(every_call=every_call):
                self.arm_by_command(LLMPROF_API=every_call)

    def arm_by_command(self, **environment):
        tape = self.tape("eager")
        program = InteractiveProgram(self, tape, LLMPROF_ARM="command", **environment)
        self.assertEqual(program.say("status"), "ok: not attached\n")
        self.assertTrue(program.say("dance").startswith("error: "))
        for copy in (1, 3):
            self.assertTrue(program.say("arm").startswith("ok: "))
            self.assertEqual(program.say("status"), "ok: tracing\n")
            program.next_round()
            self.assertTrue(program.say("disarm").startswith("ok: "))
            program.wait_until(lambda: program.say("status") == "ok: not attached\n", "still attached")
            program.next_round()
            self.assertEqual(len(self.kernels_of("delivered", copy, tape)), 92)
            self.assertEqual(len(self.kernels_of("off", copy + 1, tape)), 92)
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        self.assert_calls_are_in_their_ranges(log, tape)
        self.assert_every_record_has_its_call(log, kernel_rows(log))
        self.assertEqual(len(log.calls()), 2 * 111)
        detached = [("tracing", "command"), ("paused", "command"), ("detached", "command")]
        self.assertEqual(log.collections(), 2 * detached)

    def is_in_the_long_launch(self):
        """The tape's fifth call is a launch that takes 30 ms; calls are in the log when they return. The names of
        their functions, which another thread writes, may follow."""
        threads = self.log().threads.values()
        return sum(record["type"] in ("launch", "api_call") for records in threads for record in records) >= 4

    def test_disarmed_while_a_call_waits(self):
        tape = self.tape("edges")
        for every_call in ("0", "1"):
            with self.part(every_call=every_call):
                program = InteractiveProgram(
                    self, tape, LLMPROF_ARM="command", LLMPROF_API=every_call
                )
                program.say("arm")
                program.start_round()
                program.wait_until(self.is_in_the_long_launch, "its previous calls are not in the log")
                program.say("disarm")
                program.wait_for_round()
                program.wait_until(lambda: program.say("status") == "ok: not attached\n", "attached")
                program.say("arm")
                program.next_round()
                program.end()
                log = self.log()
                kernels = [k for k in kernel_rows(log) if k.correlation // tape.correlations == 2]
                self.assertEqual(len(kernels), 5)
                second = [c for c in log.calls() if c["correlation"] // tape.correlations == 2]
                self.assertEqual(len(second), 8)

    def test_after_a_delay(self):
        tape = self.tape("eager")
        program = InteractiveProgram(self, tape, LLMPROF_DELAY_MS="300")
        program.wait_until(lambda: program.say("status") == "ok: tracing\n", "never armed")
        program.next_round()
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(len(self.kernels_of("delivered", 1, tape)), 92)
        self.assertEqual(log.collections()[0], ("tracing", "delay"))

    def test_by_a_range_that_is_started_and_ended(self):
        self.play(self.tape("edges"), LLMPROF_ARM="plain start")
        log = self.log()
        self.assertEqual(log.collections()[:2], [("tracing", "arm_range"), ("paused", "arm_range")])
        # All of the tape's work is launched after its end.
        self.assertEqual(kernel_rows(log), [])

    def test_detached_where_correlations_start_over(self):
        largest = 2**32 - 1
        tape = self.tape("eager")
        after = largest - 50  # of 111 calls
        program = InteractiveProgram(
            self, tape, LLMPROF_ARM="command", FAKE_CUPTI_CORRELATIONS_AFTER=str(after - tape.correlations)
        )
        program.say("arm")
        program.next_round()
        program.say("disarm")
        program.wait_until(lambda: program.say("status") == "ok: not attached\n", "still attached")
        program.next_round()
        program.end()
        log = self.log()
        self.assertEqual(len(kernel_rows(log)), 92)
        self.assert_every_record_has_its_call(log, kernel_rows(log))
        self.assertEqual(len(self.records_with("lost", KERNEL, COPY)), 0)

    def test_for_a_number_of_steps(self):
        tape = self.tape("graph", steps=12)
        program = InteractiveProgram(self, tape, LLMPROF_STEPS="3")
        program.wait_until(lambda: program.say("status") == "ok: not attached\n", "still attached")
        program.next_round()
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        steps = tape.steps_of_launches()
        traced = collections.Counter(steps[k.correlation] for k in kernel_rows(log))
        self.assertEqual(traced, {1: 10, 2: 10, 3: 10})
        self.assertEqual(len(self.records_with("lost", KERNEL)), 0)
        self.assertEqual(len(self.records_with("unfinished", KERNEL)), 0)
        self.assertEqual(
            log.collections(),
            [("tracing", "program_start"), ("paused", "step_limit"), ("detached", "step_limit")],
        )


class DutyCycle(PlayedCase):
    def test_some_steps_of_every_period(self):
        for kind in ("eager", "graph"):
            with self.part(kind):
                tape = self.tape(kind, steps=32)
                self.play(tape, LLMPROF_DUTY="2/8")
                log = self.log()
                self.assert_holds_what_was_delivered(log)
                steps = tape.steps_of_launches()
                traced = collections.Counter(
                    steps[k.correlation] for k in kernel_rows(log) if k.correlation in steps
                )
                wanted = [1, 2, 9, 10, 17, 18, 25, 26]
                self.assertEqual(traced, {step: 10 for step in wanted})
                if kind == "eager":  # prefill is traced completely
                    ranges = tape.ranges_of_launches()
                    prefill = [k for k in kernel_rows(log) if ranges[k.correlation][:1] == ["prefill"]]
                    self.assertEqual(len(prefill), 10)
                else:  # graphs are tracked, whatever is traced
                    nodes = log.nodes()
                    self.assertTrue(all(k.node in nodes for k in kernel_rows(log)))
                changes = [(s, r) for s, r in log.collections() if r == "duty"]
                self.assertEqual(changes[:2], [("paused", "duty"), ("tracing", "duty")])
                rows = sorted(log.of("tracing_change"), key=lambda row: row["time"])
                at = [row["step"] for row in rows if row["reason"] == 2]
                self.assertEqual(at, [3, 9, 11, 17, 19, 25, 27])

    def test_detached_for_good_after_graphs_ran_untraced(self):
        tape = self.tape("graph", steps=12)
        program = InteractiveProgram(self, tape, LLMPROF_DUTY="2/8", LLMPROF_STEPS="9")
        program.wait_until(lambda: program.say("status") == "ok: not attached\n", "still attached")
        program.next_round()
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        steps = tape.steps_of_launches()
        traced = collections.Counter(steps[k.correlation] for k in kernel_rows(log))
        self.assertEqual(traced, {1: 10, 2: 10, 9: 10})
        # None of them is recorded, or fails, in the second round.
        off = [k for k in self.records_with("off", KERNEL) if k.correlation >= tape.correlations]
        self.assertEqual(len(off), 120)

    def test_calls_of_untraced_steps_are_not_recorded(self):
        tape = self.tape("eager", steps=32)
        self.play(tape, LLMPROF_DUTY="2/8")
        log = self.log()
        self.assert_calls_are_in_their_ranges(log, tape)
        steps = tape.steps_of_launches()
        launches = [c for c in log.calls() if c["function"] == "cuLaunchKernel"]
        traced = {steps[c["correlation"]] for c in launches if c["correlation"] in steps}
        self.assertEqual(traced, {1, 2, 9, 10, 17, 18, 25, 26})

    def test_correlations_that_start_over(self):
        """After 4,294,967,295 calls, which a server makes in half a day."""
        largest = 2**32 - 1
        for kind in ("eager", "graph"):
            tape = self.tape(kind, steps=32)
            steps = tape.steps_of_launches()
            # In the first window, between windows, in the second.
            for step in (1, 5, 9):
                with self.part(kind, step=step):
                    last = max(correlation for correlation, of in steps.items() if of == step)
                    after = largest - last
                    self.play(tape, LLMPROF_DUTY="2/8", FAKE_CUPTI_CORRELATIONS_AFTER=str(after))
                    log = self.log()
                    self.assert_holds_what_was_delivered(log)
                    traced = collections.Counter(
                        steps.get((k.correlation - after) % largest) for k in kernel_rows(log)
                    )
                    del traced[None]
                    wanted = [1, 2, 9, 10, 17, 18, 25, 26]
                    self.assertEqual(traced, {number: 10 for number in wanted})
                    correlations = {k.correlation for k in kernel_rows(log)}
                    self.assertLess(min(correlations), 10_000)
                    self.assertGreater(max(correlations), largest - 10_000)

    def test_an_overhead_budget_is_kept(self):
        tape = self.tape("graph", steps=200)
        budget = 0.9
        self.play(tape, "--rounds=10", LLMPROF_OVERHEAD_BUDGET="90")
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        rows = sorted(log.of("tracing_change"), key=lambda row: row["time"])
        # Anything before the first step does not count.
        first = min(
            r["time"] for r in log.of("range_push") if log.strings[r["name"]] == "decode_step"
        )
        kernels = sorted(k.end for k in kernel_rows(log))
        begun = [row for row in rows if row["state"] == 3 and row["reason"] == 3]
        self.assertNotEqual(begun, [], "no second window in a program of seconds")
        cost_of_kernel = 500  # ns in a graph, as the collector estimates
        for row in begun:
            changes = sum(r["cost_ns"] for r in rows if first < r["time"] < row["time"])
            traced = sum(1 for end in kernels if end < row["time"])
            self.assertLessEqual(
                changes + traced * cost_of_kernel, budget * (row["time"] - first)
            )


class RanksOfAJob(PlayedCase):
    """Windows open on all ranks at the same step, whatever else differs."""

    def windows(self, log):
        """The steps at which tracing resumed, and those at which it stopped."""
        rows = sorted(log.of("tracing_change"), key=lambda row: row["time"])
        begun = [row["step"] for row in rows if row["state"] == 3][1:]
        ended = [row["step"] for row in rows if row["state"] == 2]
        return begun, ended

    def begun_when_armed_late(self, rounds, size):
        """Steps at which windows of 2/8 open in a rank that is armed after that many rounds of 7 steps."""
        self.take_fresh_folder()
        program = InteractiveProgram(
            self, self.tape("graph", steps=7), LLMPROF_ARM="command", LLMPROF_DUTY="2/8", RANK="1", WORLD_SIZE=size
        )
        for _ in range(rounds - 1):
            program.next_round()
        program.say("arm")
        for _ in range(6 - rounds):
            program.next_round()
        program.end()
        # The stage of each round also opens one, after its last step.
        return [step for step in self.windows(self.log())[0] if step % 7 != 0]

    def test_a_duty_cycle_counts_from_the_first_step(self):
        self.assertEqual(self.begun_when_armed_late(1, "2"), [9, 17, 25, 33, 41])
        self.assertEqual(self.begun_when_armed_late(3, "2"), [25, 33, 41])
        self.assertEqual(self.begun_when_armed_late(1, "1"), [16, 24, 32, 40], "no job: from where it was armed")

    def test_windows_of_a_budget_open_with_shared_steps(self):
        tape = self.tape("graph", steps=200)
        self.play(tape, "--rounds=10", LLMPROF_OVERHEAD_BUDGET="90", RANK="1", WORLD_SIZE="2")
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        begun, ended = self.windows(log)
        self.assertNotEqual(begun, [], "no second window in a program of seconds")
        # The stage of a round may open one, after its last step.
        self.assertEqual([step for step in begun if step % 16 != 1 and step % 200 != 0], [], begun)
        self.assertEqual([step for step in ended if step % 8 != 1], [], ended)


if __name__ == "__main__":
    unittest.main()
