#include "report/reasons/word_reasons.h"

#include <gtest/gtest.h>

#include "profile/finding_kinds.h"
#include "profile/stages.h"

namespace llmprof::report {
namespace {

using profile::Finding;
using profile::FindingKind;
using profile::FindingValues;
using profile::Milliseconds;
using profile::Share;

FindingValues kernels() {
  FindingValues values;
  values.add("kernel_time", Milliseconds{2.1}, "mul (bf16)")
      .add("kernel_calls", 1728, "mul (bf16)");
  values.add("kernel_time", Milliseconds{0.5}, "norm").add("kernel_calls", 36.5, "norm");
  return values;
}

FindingValues counts() {
  FindingValues values;
  values.add("kernels_per_pass", 72).add("pass", "step").add("mean_kernel", Milliseconds{0.001532});
  return values;
}

FindingValues pass_in_graphs(double share) {
  FindingValues values;
  values.add("kernels_per_pass", 72).add("pass", "step");
  values.add("share_in_graphs", Share{share});
  return values;
}

FindingValues gap() {
  FindingValues values;
  values.add("longest_gap", Milliseconds{0.5}).add("host", "aten::item in sample");
  return values;
}

FindingValues clocks() {
  FindingValues values;
  values.add("mean_clock", profile::Hertz{1500e6})
      .add("lowest_clock", profile::Hertz{1400e6})
      .add("highest_clock", profile::Hertz{1980e6})
      .add("samples", 8)
      .add("maximum_clock", profile::Hertz{2000e6})
      .add("slowed_by", Share{0.5}, "power cap")
      .add("slowed_by", Share{0.25}, "thermal slowdown (hardware)")
      .add("highest_temperature", profile::DegreesCelsius{81})
      .add("mean_power", profile::Watts{690});
  return values;
}

// Values for a finding of this kind.
FindingValues values_of(FindingKind kind) {
  FindingValues values;
  switch (kind) {
    case FindingKind::hidden_graphs:
      return std::move(values.add("replays", 24)
                           .add("hidden_time", Milliseconds{6})
                           .add("hidden_share_of_gpu_time", Share{0.75})
                           .add("hidden_time_per_instance", Milliseconds{3}));
    case FindingKind::host_stall_repeated:
      return std::move(values.add("gaps", 2)
                           .add("mean_gap", Milliseconds{0.4})
                           .add("work_before", "gemm")
                           .add("work_after", "attention")
                           .add_all(gap())
                           .add("decodes", true));
    case FindingKind::host_stall_single:
      return std::move(values.add("stalls", 1)
                           .add("stalled", Milliseconds{0.5})
                           .add("instances_with_stall", 1)
                           .add("instances", 2)
                           .add_all(gap())
                           .add("work_after", "attention"));
    case FindingKind::launch_bound:
      return std::move(values.add("gaps_per_instance", 366)
                           .add("share_in_cuda_calls", Share{0.6})
                           .add("share_in_host_code", Share{0.4})
                           .add_all(pass_in_graphs(0))
                           .add("graphs_used", false)
                           .add("decodes", true)
                           .add("compiled", false)
                           .add("framework", "PyTorch"));
    case FindingKind::gap_between_steps:
      return std::move(values.add("gap_per_step", Milliseconds{0.0123})
                           .add("steps_per_instance", 24)
                           .add_all(gap()));
    case FindingKind::synchronization:
      return std::move(values.add("gaps_per_instance", 24)
                           .add_all(gap())
                           .add("work_before", "copy Device-to-Host"));
    case FindingKind::queue_gaps:
      return std::move(values.add("gaps_per_instance", 1000)
                           .add("mean_gap", Milliseconds{0.0012})
                           .add_all(pass_in_graphs(0.5)));
    case FindingKind::first_work_queued:
      return values;
    case FindingKind::idle_before_first_work:
    case FindingKind::idle_after_last_work:
      return gap();
    case FindingKind::gemm_above_floor:
      return std::move(values.add("time", Milliseconds{5})
                           .add("floor", Milliseconds{3})
                           .add("floor_rule", "14 GB of weights at 4.80 TB/s")
                           .add("time_over_floor", 5 / 3.0)
                           .add_all(counts())
                           .add_all(kernels())
                           .add("bound_by", "memory"));
    case FindingKind::gemv_above_floor:
      return std::move(values.add("bound_by", "compute").add_all(kernels()));
    case FindingKind::attention_above_floor:
      return std::move(values.add_all(kernels()).add("decodes", true));
    case FindingKind::small_kernels:
      return std::move(values.add_all(counts()).add_all(kernels()).add("compiled", false));
    case FindingKind::fusible_norm:
    case FindingKind::fusible_rope:
    case FindingKind::fusible_elementwise:
    case FindingKind::copies_and_casts:
    case FindingKind::token_selection:
      return kernels();
    case FindingKind::expert_routing:
      return std::move(values.add_all(counts()).add_all(kernels()));
    case FindingKind::exposed_communication:
      return std::move(
          values.add("communication_time", Milliseconds{7}).add_all(counts()).add_all(kernels()));
    case FindingKind::exposed_copies:
      return std::move(values.add("copies_per_instance", 2, "Host-to-Device")
                           .add("bytes_per_instance", profile::Bytes{1.2e6}, "Host-to-Device")
                           .add("copies_per_instance", 1, "fill")
                           .add("bytes_per_instance", profile::Bytes{0}, "fill"));
    case FindingKind::low_clocks:
      return clocks();
    case FindingKind::slow_steps:
      return std::move(values.add("slow_steps", 2)
                           .add("steps", 24)
                           .add("median_step", Milliseconds{1.5})
                           .add("slowest_above_median", Milliseconds{0.75})
                           .add("only_first_steps", false)
                           .add("slower_by", Milliseconds{0.8}, "gap before norm")
                           .add("slower_by", Milliseconds{-0.05}, "the rest"));
    case FindingKind::latency_bound_kernels:
      return std::move(values.add("kernel_names", 1)
                           .add("launches_measured", 3)
                           .add("launches", 4)
                           .add("kernel_share_of_roof", Share{0.3}, "gemm2")
                           .add("kernel_occupancy", Share{0.2}, "gemm2"));
    case FindingKind::time_outside_operators:
      return std::move(values.add("gaps_per_instance", 12.5).add_all(gap()));
    case FindingKind::straggler:
      return std::move(values.add("rank", 1)
                           .add("cause", "longer_kernels")
                           .add("wait_per_step", Milliseconds{0.8})
                           .add("wait_total", Milliseconds{14.4})
                           .add("last_share", Share{0.98})
                           .add("why", "its kernels take longer"));
    case FindingKind::pipeline_bubble:
      return std::move(values.add("bubble_share", Share{0.25}).add("pipeline_stages", 4));
    case FindingKind::expert_imbalance:
      return std::move(values.add("imbalance", 1.4).add("rank", 3));
    case FindingKind::slow_link:
      return std::move(values.add("group", "tp")
                           .add("collective", "all_reduce")
                           .add("message", profile::Bytes{16e6})
                           .add("link", "nvlink")
                           .add("bandwidth", profile::BytesPerSecond{100e9})
                           .add("peak_bandwidth", profile::BytesPerSecond{450e9})
                           .add("share_of_peak", Share{0.222}));
    case FindingKind::requests_preempted:
      values.add("preemptions", 3);
      [[fallthrough]];
    case FindingKind::requests_delayed_by_prompts:
    case FindingKind::requests_queued:
    case FindingKind::requests_delayed_by_host:
    case FindingKind::requests_without_graph:
    case FindingKind::requests_delivered_late:
    case FindingKind::requests_at_low_clocks:
    case FindingKind::requests_in_communication:
      return std::move(values.add("requests", 14).add("completed", 64));
    case FindingKind::memory_allocation_failed:
      return std::move(values.add("cause", "fragmentation")
                           .add("failures", 2)
                           .add("requested", profile::Bytes{1e9})
                           .add("device_free", profile::Bytes{2e8})
                           .add("free_same", profile::Bytes{15e8})
                           .add("largest_free_same", profile::Bytes{6e8})
                           .add("free_other", profile::Bytes{0})
                           .add("expandable", false)
                           .add("place", "make_cache (cache.py:7)"));
    case FindingKind::memory_reserved_unused:
      return std::move(values.add("unused", profile::Bytes{2e9})
                           .add("reserved", profile::Bytes{8e9})
                           .add("share_of_reserved", Share{0.25})
                           .add("expandable", true)
                           .add("share_of_gpu", Share{0.025}));
    case FindingKind::memory_graph_pools:
      return std::move(values.add("pools", 2)
                           .add("reserved", profile::Bytes{4e9})
                           .add("unused", profile::Bytes{2e9})
                           .add("share_of_reserved", Share{0.5}));
    case FindingKind::memory_pool_unused:
      return std::move(
          values.add("unused", profile::Bytes{2e9}).add("in_use", profile::Bytes{1e9}));
    case FindingKind::memory_duplicated_weights:
      return std::move(values.add("sets", uint64_t{2})
                           .add("weights", profile::Bytes{2e9})
                           .add("extra", profile::Bytes{2e9})
                           .add("extra_tokens", uint64_t{61'035}));
    case FindingKind::memory_cache_unused:
      return std::move(values.add("reserved", profile::Bytes{10e9})
                           .add("unused", profile::Bytes{8e9})
                           .add("tokens", uint64_t{100'000})
                           .add("used_tokens", uint64_t{20'000})
                           .add("share_used", Share{0.2}));
    case FindingKind::memory_leak:
      return std::move(values.add("owner", "PyTorch")
                           .add("per_request", profile::Bytes{1e6})
                           .add("lower", profile::Bytes{0.9e6})
                           .add("upper", profile::Bytes{1.1e6})
                           .add("grown", profile::Bytes{48e6})
                           .add("requests", uint64_t{48})
                           .add("requests_left", uint64_t{149'186}));
  }
  return values;
}

Finding example(FindingKind kind, FindingValues more = {}) {
  Finding finding;
  finding.kind = kind;
  finding.stage = "decode";
  finding.unit = "request";
  finding.saving = Milliseconds{3.5};
  finding.share_of_wall = {0.389};
  finding.values = std::move(more.add_all(values_of(kind))).take();
  return finding;
}

Finding worded(Finding finding, bool on_cpu = false) {
  profile::Profile profile;
  if (on_cpu) profile.context.device_kind = profile::DeviceKind::cpu;
  profile.findings = {std::move(finding)};
  word_findings(profile);
  return profile.findings.front();
}

// Analysis fills in the advice of conf/engines.
bool advised_by_engine(std::string_view kind) {
  if (profile::is_of_requests(profile::find_word<FindingKind>(kind).value())) return true;
  for (const FindingKind each :
       {FindingKind::launch_bound, FindingKind::gap_between_steps, FindingKind::synchronization,
        FindingKind::gemm_above_floor, FindingKind::gemv_above_floor,
        FindingKind::attention_above_floor, FindingKind::small_kernels}) {
    if (kind == to_string(each)) return true;
  }
  return false;
}

TEST(FindingWords, EveryKindHasThem) {
  for (const auto& kind : profile::kWords<FindingKind>) {
    for (const bool on_cpu : {false, true}) {
      Finding given = example(kind.value);
      if (!on_cpu && advised_by_engine(kind.name)) given.advice = "As conf/engines says.";
      const Finding finding = worded(std::move(given), on_cpu);
      EXPECT_FALSE(finding.title.empty()) << kind.name;
      EXPECT_NE(finding.evidence.find_first_of("0123456789"), std::string::npos) << kind.name;
      EXPECT_TRUE(finding.advice.ends_with('.') || (on_cpu && advised_by_engine(kind.name)))
          << kind.name << ": " << finding.advice;
      const std::string all = finding.title + " " + finding.evidence + " " + finding.advice + " ";
      EXPECT_EQ(all.find(" - "), std::string::npos) << kind.name << " misses a value: " << all;
    }
  }
}

// Each value that the list of kinds promises is needed; without it, nothing is invented.
TEST(FindingWords, StayAsTheyAreWhereAValueIsMissing) {
  for (const auto& kind : profile::kWords<FindingKind>) {
    for (const std::string_view name : kind.values) {
      Finding finding = example(kind.value);
      const size_t before = finding.values.size();
      std::erase_if(finding.values, [&](const auto& value) { return value.name == name; });
      ASSERT_LT(finding.values.size(), before) << kind.name << ": " << name;
      finding.title = "as read";
      EXPECT_EQ(worded(finding).title, "as read") << kind.name << ": " << name;
    }
  }
}

TEST(FindingWords, OfMemoryNameTheGpuAndItsBytes) {
  const auto on_gpu = [](FindingKind kind) {
    Finding finding = example(kind);
    finding.stage.reset();
    finding.unit.reset();
    finding.saving.reset();
    finding.subject = "cuda:0";
    return worded(std::move(finding));
  };
  const Finding failed = on_gpu(FindingKind::memory_allocation_failed);
  EXPECT_EQ(failed.title, "An allocation failed because free memory was in pieces");
  EXPECT_EQ(failed.evidence,
            "2 allocations failed on cuda:0; the largest asked for 1.00 GB in make_cache "
            "(cache.py:7): the GPU had 200.00 MB free, PyTorch 1.50 GB for such a request, at most "
            "600.00 MB in one piece, and 0 B in other pools, streams and size classes");
  EXPECT_EQ(failed.advice,
            "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: free memory then joins to "
            "larger pieces.");
  const Finding unused = on_gpu(FindingKind::memory_reserved_unused);
  EXPECT_EQ(unused.evidence,
            "when PyTorch's allocations were highest on cuda:0, 2.00 GB of 8.00 GB that it held "
            "were unused (25.0 %); 2.5 % of the GPU's memory");
  const Finding pools = on_gpu(FindingKind::memory_graph_pools);
  EXPECT_EQ(pools.evidence,
            "2 private pools on cuda:0 hold 4.00 GB (50.0 % of PyTorch's memory), 2.00 GB of it "
            "free at the snapshot");
  const Finding twice = on_gpu(FindingKind::memory_duplicated_weights);
  EXPECT_EQ(twice.evidence,
            "2 sets of the model's weights (2.00 GB each) are on cuda:0: 2.00 GB more than one "
            "set, the KV cache of 61,035 tokens");
  const Finding cache = on_gpu(FindingKind::memory_cache_unused);
  EXPECT_EQ(cache.evidence,
            "the KV cache on cuda:0 takes 10.00 GB and holds 100,000 tokens; requests had at most "
            "20,000 tokens in it at a time (20.0 %), so 8.00 GB were not used");
}

TEST(FindingWords, OfAnUnknownKindStayAsTheyAre) {
  Finding finding = example(FindingKind::launch_bound);
  finding.kind = *profile::read_word<FindingKind>("of_another_version");
  finding.evidence = "as read";
  EXPECT_EQ(worded(finding).evidence, "as read");
}

TEST(FindingWords, StartWithNumbersAndTheirDenominators) {
  const Finding launch = worded(example(FindingKind::launch_bound));
  EXPECT_EQ(launch.title, "The GPU waits for the host");
  EXPECT_EQ(launch.evidence,
            "up to 3.500 ms per request (38.9 % of the stage's wall time): late launches cause 366 "
            "gaps per request; 60.0 % of the gap time is in CUDA calls and 40.0 % in host code "
            "between them; 72 kernels per step, none in CUDA graphs");
  EXPECT_EQ(
      worded(example(FindingKind::gemm_above_floor)).evidence,
      "up to 3.500 ms per request (38.9 % of the stage's wall time) above the floor: 5.000 "
      "ms per request against a floor of 3.000 ms (14 GB of weights at 4.80 TB/s), 1.667 "
      "times as long; 72 kernels per step of 0.001532 ms on average; the longest per request: mul "
      "(bf16) 2.100 ms in 1,728 calls, norm 0.500 ms in 36.5 calls");
  EXPECT_EQ(
      worded(example(FindingKind::host_stall_repeated)).evidence,
      "up to 3.500 ms per request (38.9 % of the stage's wall time): 2 gaps of 0.400 ms on "
      "average between \"gemm\" and \"attention\"; the longest gap is 0.500 ms, host activity: "
      "aten::item in sample");
  EXPECT_EQ(worded(example(FindingKind::exposed_copies)).evidence,
            "up to 3.500 ms per request (38.9 % of the stage's wall time): 2 Host-to-Device copies "
            "(1.20 MB), 1 fill (0 B) per request");
  EXPECT_EQ(worded(example(FindingKind::slow_steps)).evidence,
            "up to 3.500 ms per request (38.9 % of the stage's wall time): the 2 slowest of 24 "
            "steps together, compared with a median step of 1.500 ms; the slowest takes 0.750 ms "
            "longer: gap before norm (+0.800 ms), the rest (-0.050 ms); other findings may include "
            "the same time");
}

TEST(FindingWords, SayThatTracingAddedToTheLossOnlyIfItDid) {
  for (const FindingKind kind : {FindingKind::launch_bound, FindingKind::queue_gaps}) {
    Finding finding = example(kind);
    const std::string without = worded(finding).evidence;
    EXPECT_EQ(without.find("tracing"), std::string::npos) << without;
    FindingValues more;
    more.add(profile::kTracingIncluded, true);
    finding.values.push_back(std::move(more).take().front());
    const std::string with = worded(finding).evidence;
    EXPECT_NE(with.find("; tracing overhead included)"), std::string::npos) << with;
    EXPECT_TRUE(with.ends_with(", so the loss without tracing is smaller")) << with;
  }
}

TEST(FindingWords, NameTheRankThatOthersWaitFor) {
  const Finding straggler = worded(example(FindingKind::straggler));
  EXPECT_EQ(straggler.title, "Other ranks wait for rank 1");
  EXPECT_EQ(
      straggler.evidence,
      "up to 3.500 ms per request (38.9 % of the stage's wall time): others wait for rank 1 "
      "up to 0.8000 ms per step, 14.400 ms summed over these ranks; it arrives last in 98.0 % "
      "of the collectives; its kernels take longer");
  for (const std::string_view cause : {"late_launch", "more_tokens", "lower_clock", "unknown"}) {
    Finding other = example(FindingKind::straggler);
    other.values[1].text = cause;
    EXPECT_NE(worded(other).advice, straggler.advice) << cause;
    EXPECT_NE(worded(other).advice.find("rank 1"), std::string::npos) << cause;
  }
  Finding whole = example(FindingKind::straggler, FindingValues().add("lower_bound", true));
  whole.stage.reset();
  whole.unit.reset();
  EXPECT_EQ(worded(whole).evidence,
            "up to 3.500 ms in the whole timeline: others wait for rank 1, 14.400 ms summed over "
            "these ranks; it arrives last in 98.0 % of the collectives; its kernels take longer; "
            "not all ranks were recorded, so waits may be longer");
  EXPECT_EQ(worded(example(FindingKind::slow_link)).evidence,
            "up to 3.500 ms per request (38.9 % of the stage's wall time): all-reduce of 16.00 MB "
            "in group tp moves 100.00 GB/s over each rank's NVLink, 22.2 % of its peak of 450.00 "
            "GB/s");
}

TEST(FindingWords, SeparateWaitsFromTransfersOfAJob) {
  FindingValues more;
  more.add("wait_time", Milliseconds{2}).add("hidden_time", Milliseconds{1}).add("ranks", 2);
  const Finding finding = worded(example(FindingKind::exposed_communication, std::move(more)));
  EXPECT_NE(finding.evidence.find("mean of 2 ranks, 2.000 ms are waits and 1.000 ms are hidden"),
            std::string::npos)
      << finding.evidence;
}

TEST(FindingWords, ReportClocksWithTheirReasons) {
  EXPECT_EQ(worded(example(FindingKind::low_clocks)).evidence,
            "up to 3.500 ms per request (38.9 % of the stage's wall time) if all GPU time scaled "
            "with the clock: SM clock 1500 MHz on average (1400 MHz to 1980 MHz in 8 samples), "
            "maximum 2000 MHz; power cap in 50.0 % of the samples, thermal slowdown (hardware) in "
            "25.0 %; up to 81.0 °C; 690.0 W on average");
}

TEST(FindingWords, ReportASingleStallAsOne) {
  Finding stall = example(FindingKind::host_stall_single);
  EXPECT_EQ(worded(stall).title, "The host stalls once, before \"attention\"");
  EXPECT_NE(
      worded(stall).evidence.find("one stall in 1 of 2 decodes, 0.500 ms before \"attention\""),
      std::string::npos)
      << worded(stall).evidence;
  stall.unit = "engine step";
  EXPECT_NE(worded(stall).evidence.find("in 1 of 2 decode steps"), std::string::npos);
  for (profile::FindingValue& value : stall.values) {
    if (value.name == "instances") value.value = 1;
    if (value.name == "stalls") value.value = 3;
  }
  EXPECT_EQ(worded(stall).title, "The host stalls 3 times, longest before \"attention\"");
  EXPECT_NE(worded(stall).evidence.find("3 stalls of 0.500 ms in total in the only decode step, "
                                        "the longest 0.500 ms before \"attention\""),
            std::string::npos)
      << worded(stall).evidence;
}

TEST(FindingWords, SayWhatASavingIsPer) {
  Finding finding = example(FindingKind::first_work_queued);
  finding.unit = "8 steps";
  EXPECT_TRUE(worded(finding).evidence.starts_with("up to 3.500 ms per 8 steps ("));
  finding.unit = "traced part of a request";
  finding.traced_part = true;
  EXPECT_TRUE(
      worded(finding).evidence.starts_with("up to 3.500 ms in the traced part of a request ("));
}

Finding on_requests(FindingKind kind, FindingValues more) {
  Finding finding = example(kind, std::move(more));
  finding.stage.reset();
  return worded(std::move(finding));
}

TEST(FindingWords, OfRequestsNameThePartOfTheTail) {
  FindingValues values;
  values.add("tail_part", Milliseconds{34.1}, "itl")
      .add("tail_mean", Milliseconds{48.2}, "itl")
      .add("tail_from", Milliseconds{45.2}, "itl")
      .add("tail_median", Milliseconds{0.2}, "itl")
      .add("tail_share", Share{1 - 0.99}, "itl")
      .add("delayer", "32")
      .add("delayer_time", Milliseconds{478})
      .add("delayer_requests", 7);
  const Finding prompts = on_requests(FindingKind::requests_delayed_by_prompts, values);
  EXPECT_EQ(prompts.evidence,
            "up to 3.500 ms per request (38.9 % of the time from sent to end of all requests), in "
            "14 of 64 requests; of the slowest 1 % of gaps between tokens (from 45.200 ms on) it "
            "is 34.100 of 48.200 ms on average, and 0.200 ms around the median; request 32 delays "
            "others most: 478.000 ms, summed over 7 requests");
}

TEST(FindingWords, OfTheQueueNameItsLimits) {
  FindingValues values;
  values.add("largest_batch", 8).add("most_in_flight", 12).add("over_saturated", true);
  const Finding queue = on_requests(FindingKind::requests_queued, values);
  EXPECT_TRUE(queue.evidence.ends_with(
      "; the largest batch gives 8 sequences a token, and up to 12 requests were in flight; "
      "requests arrive faster than they are answered"))
      << queue.evidence;
  EXPECT_EQ(on_requests(FindingKind::requests_preempted, {}).evidence.find("3 preemptions") ==
                std::string::npos,
            false);
}

TEST(FindingWords, AdviceThatAnEngineHasStaysAndGetsItsGap) {
  Finding finding = example(FindingKind::launch_bound);
  finding.advice = "Look{longest_gap}.";
  EXPECT_EQ(worded(finding).advice, "Look.");
  for (profile::FindingValue& value : std::move(gap().add("work_after", "norm")).take()) {
    finding.values.push_back(std::move(value));
  }
  EXPECT_EQ(worded(finding).advice, "Look (the longest gap, 0.500 ms, is before \"norm\").");
}

TEST(FindingWords, AdviceFitsTheProgram) {
  FindingValues seen;
  seen.add("decodes", true);
  EXPECT_NE(
      worded(example(FindingKind::slow_steps, std::move(seen))).advice.find("sample the host"),
      std::string::npos);
  EXPECT_EQ(worded(example(FindingKind::fusible_elementwise), true).advice,
            "Fuse them into the preceding GEMM's epilogue.");
}

// Every kind, with each value that changes its advice.
std::vector<Finding> all_examples() {
  std::vector<Finding> examples;
  for (const auto& kind : profile::kWords<FindingKind>) {
    for (const char* name : {"decodes", "graphs_used", "splits_cache", "quantized"}) {
      for (const bool value : {false, true}) {
        FindingValues more;
        more.add(name, value);
        examples.push_back(example(kind.value, std::move(more)));
      }
    }
    for (const char* bound : {"memory", "compute"}) {
      FindingValues more;
      more.add("bound_by", bound);
      examples.push_back(example(kind.value, std::move(more)));
    }
  }
  return examples;
}

TEST(FindingWords, NeverNameAFramework) {
  for (const Finding& example : all_examples()) {
    // Found in PyTorch's own memory snapshots.
    if (profile::is_of_memory(example.kind)) continue;
    const std::string advice = worded(example).advice;
    for (const char* word : {"torch", "Torch", ".item()", "max-autotune", "is_causal"}) {
      EXPECT_EQ(advice.find(word), std::string::npos) << to_string(example.kind) << ": " << advice;
    }
  }
}

// Kinds that only LLM stages have do not occur in forward passes.
TEST(FindingWords, SpeakOfNoTokensToAModelThatHasNone) {
  for (Finding example : all_examples()) {
    if (example.kind == FindingKind::token_selection ||
        example.kind == FindingKind::expert_routing || example.kind == FindingKind::fusible_rope) {
      continue;
    }
    example.stage = std::string(profile::kForwardStage);
    const std::string advice = worded(example).advice;
    for (const char* word : {"KV cache", "token", "prompt", "RoPE", "sampling", "generate()",
                             "speculative", "causal", "decode"}) {
      EXPECT_EQ(advice.find(word), std::string::npos) << to_string(example.kind) << ": " << advice;
    }
  }
}

}  // namespace
}  // namespace llmprof::report
