#!/usr/bin/env python3
"""Every warning and error that llmprof can report is either listed in src/profile/lost_data.cpp as a loss of the
program's work, or here as none: `llmprof diff` can tell nothing of a side that lost some. Information is never a loss.

  check_lost_data.py [FOLDER]          the sources; default: src
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Nothing that the program did is missing because of these.
NOTHING_LOST = {
    "captures_record_unreadable", "collector_counters_lost", "collector_counters_off", "collector_log_damaged_header",
    "collector_never_armed", "folders_too_deep", "gpu_contradicts_capture", "graph_built_before_attach",
    "graph_kernels_missing", "heads_not_divisible", "kernels_without_launch", "kineto_ambiguous_process",
    "kineto_bad_memory", "kineto_bad_products",
    "kineto_invalid_utf8", "kineto_stray_text", "memory_snapshot_bad_blocks", "memory_snapshot_bad_events",
    "memory_snapshot_bad_segments", "memory_snapshot_blocks_differ", "memory_snapshot_contradicts",
    "memory_snapshot_empty", "memory_trace_contradicts", "model_of_run_unusable", "model_of_workload_unusable",
    "ncu_kernel_not_seen", "ncu_live_csv", "ncu_metrics_left_out", "ncu_mixed_decimals", "ncu_no_section_list",
    "ncu_no_such_section", "ncu_no_unit", "ncu_not_gated", "ncu_reported_errors", "ncu_workload_failed",
    "new_tokens_contradict_steps", "nsys_attempt_failed", "nsys_csv_processes_unknown", "nsys_csv_report_skipped",
    "nsys_no_statistics", "nsys_statistics_failed", "nsys_traced_less", "only_first_recorded",
    "profiled_launches_unjoined", "ranks_record_unreadable", "recorded_flops_differ",
    "requests_chunks_out_of_order", "requests_contradicted", "requests_contradicting_times", "requests_cut_off",
    "requests_end_before_last_chunk", "requests_malformed", "requests_malformed_runs", "requests_not_covered",
    "requests_miscounted", "requests_more_tokens", "requests_not_finite", "requests_of_other_boot",
    "requests_outside_of_capture", "requests_repeated", "requests_same_id", "requests_sent_before_scheduled",
    "requests_stated_differ", "requests_without_root_span", "run_inputs_unreadable",
    "runs_mixed", "several_models", "spread_over_more_gpus",
    "stage1_metrics_bad_value", "stage1_metrics_not_finite", "stage1_metrics_second_file", "stage_cut_off",
    "stage_ranges_empty", "timeline_twice",
}

CODE = r'"([a-z][a-z0-9]*(?:_[a-z0-9]+)+)"'
REPORTED = (
    re.compile(r"\b(?:warn|error)\(\s*" + CODE),
    re.compile(r"\{\s*Severity::(?:warning|error),\s*" + CODE),
    re.compile(r"warnings\.push_back\(\s*\{\s*" + CODE),
)
LISTED = re.compile(r"kLostWork = \{(.*?)\};.*?kLostLaunches = \{(.*?)\};.*?kHarmlessErrors = \{(.*?)\};", re.DOTALL)


def reported_codes(folder):
    codes = {}
    for path in sorted(folder.rglob("*.cpp")) + sorted(folder.rglob("*.h")):
        if "test" in path.stem.split("_") or path.stem == "lost_data":
            continue
        text = path.read_text(encoding="utf-8")
        for pattern in REPORTED:
            for code in pattern.findall(text):
                codes.setdefault(code, path)
    return codes


def check(folder):
    """Sentences about what is wrong."""
    lists = LISTED.search((folder / "profile" / "lost_data.cpp").read_text(encoding="utf-8"))
    lost = {code for part in lists.groups() for code in re.findall(CODE, part)}
    reported = reported_codes(folder)
    faults = [f"{path}: {code}: does it say that work of the program is missing? List it in "
              "src/profile/lost_data.cpp if so, else in NOTHING_LOST of tests/structure/check_lost_data.py"
              for code, path in sorted(reported.items()) if code not in lost | NOTHING_LOST]
    faults += [f"{code}: is listed twice" for code in sorted(lost & NOTHING_LOST)]
    return faults, len(reported)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src"
    faults, count = check(folder)
    for fault in faults:
        print(fault)
    print(f"{count} warnings and errors checked, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
