#include "llm/gpu_spec.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "testing/temporary_folder.h"

namespace llmprof::llm {
namespace {

const GpuSpecs& shipped() {
  static const GpuSpecs specs = [] {
    auto loaded = GpuSpecs::load(*config::ConfFiles::open(std::nullopt));
    EXPECT_TRUE(loaded) << loaded.error().message;
    return std::move(*loaded);
  }();
  return specs;
}

std::string found(std::string_view name, uint32_t sm_count = 0, uint64_t memory = 0) {
  const auto spec = shipped().find(name, sm_count, memory);
  return spec ? spec->name : "none";
}

TEST(GpuSpecs, TellsVariantsApart) {
  EXPECT_EQ(found("NVIDIA H200", 132, 150109880320), "H200 SXM");  // as nsys reports it
  EXPECT_EQ(found("h200"), "H200 SXM");
  EXPECT_EQ(found("h200 sxm"), "H200 SXM");
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "H100 SXM");
  EXPECT_EQ(found("NVIDIA H100 PCIe"), "H100 PCIe");
  EXPECT_EQ(found("NVIDIA H100 NVL"), "H100 NVL");
  EXPECT_EQ(found("NVIDIA A100-SXM4-40GB"), "A100 40GB SXM");
  EXPECT_EQ(found("NVIDIA A100-SXM4-80GB"), "A100 80GB SXM");
  EXPECT_EQ(found("NVIDIA A100 80GB PCIe"), "A100 80GB PCIe");
  EXPECT_EQ(found("NVIDIA A100-PCIE-40GB"), "A100 40GB PCIe");
  EXPECT_EQ(found("Tesla T4"), "T4");
  EXPECT_EQ(found("Tesla V100-SXM2-16GB"), "V100 SXM2");
  EXPECT_EQ(found("NVIDIA GeForce RTX 4090"), "RTX 4090");
}

TEST(GpuSpecs, NeverGuesses) {
  for (const char* name : {"", "NVIDIA", "H100", "A100", "A100-80GB", "NVIDIA H100", "Radeon",
                           "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 D",
                           "NVIDIA A10G", "NVIDIA H200 MIG 1g.18gb", "RTX 40"}) {
    EXPECT_EQ(found(name), "none") << name;
  }
  // The capture may decide what the name leaves open.
  EXPECT_EQ(found("H100", 114), "H100 PCIe");
  EXPECT_EQ(found("H100", 132, 84'929'000'000), "H100 SXM");
  EXPECT_EQ(found("H100", 132, 100'000'000'000), "H100 NVL");
  EXPECT_EQ(found("A100 SXM", 0, 42'300'000'000), "A100 40GB SXM");
  // A slice of a GPU does not have the full GPU's peaks.
  EXPECT_EQ(found("NVIDIA H200", 16), "none");
}

TEST(GpuSpecs, DensePeaks) {
  struct Peaks {
    const char* name;
    double tflops;
    double gb_per_s;
  };
  for (const Peaks& peaks :
       {Peaks{"A100-SXM4-80GB", 312, 2039}, Peaks{"H100 SXM", 989, 3350},
        Peaks{"H100 PCIe", 756, 2000}, Peaks{"H200", 989, 4800}, Peaks{"B200", 2250, 8000},
        Peaks{"L40S", 362, 864}, Peaks{"RTX 4090", 165, 1008}, Peaks{"RTX 5090", 209, 1792}}) {
    const auto spec = shipped().find(peaks.name);
    ASSERT_TRUE(spec) << peaks.name;
    EXPECT_NEAR(spec->tensor_bf16 / 1e12, peaks.tflops, 1) << peaks.name;
    EXPECT_DOUBLE_EQ(spec->memory_bandwidth / 1e9, peaks.gb_per_s) << peaks.name;
    // Twice bf16 if it exists: a figure with sparsity would be four times as high.
    if (spec->tensor_fp8) {
      EXPECT_NEAR(*spec->tensor_fp8, 2 * spec->tensor_bf16, 0.03 * *spec->tensor_fp8) << peaks.name;
    }
  }
}

TEST(GpuSpecs, PeakByNumberFormat) {
  const GpuSpec h200 = *shipped().find("H200");
  EXPECT_EQ(h200.peak_for("bf16"), 989e12);
  EXPECT_EQ(h200.peak_for("f16"), 989e12);
  EXPECT_EQ(h200.peak_for("fp8"), 1979e12);
  EXPECT_EQ(h200.peak_for("fp8 weight-only"), 989e12);
  EXPECT_EQ(h200.peak_for("int4"), 989e12);
  EXPECT_EQ(h200.peak_for("mxfp4"), 989e12);
  EXPECT_EQ(h200.peak_for("f32"), 67e12);
  EXPECT_EQ(shipped().find("A100-SXM4-80GB")->peak_for("fp8"), 312e12);
  EXPECT_FALSE(shipped().find("T4")->peak_for("bf16"));
  EXPECT_EQ(shipped().find("T4")->peak_for("f16"), 65e12);
}

TEST(GpuSpecs, TheUsersComeFirst) {
  const testing::TemporaryFolder folder;
  folder.write("gpus.yaml",
               "gpus:\n- {name: H200 SXM, matches: [H200], bandwidth_gb_per_s: 4000, "
               "dense_tflops: {bf16: 900}}\n- {name: Ours, bandwidth_gb_per_s: 1, "
               "dense_tflops: {bf16: 2}}\n");
  const auto specs = GpuSpecs::load(*config::ConfFiles::open(folder.path()));
  ASSERT_TRUE(specs) << specs.error().message;
  EXPECT_EQ(specs->find("NVIDIA H200")->memory_bandwidth, 4e12);
  EXPECT_TRUE(specs->find("ours"));
  EXPECT_TRUE(specs->find("L4"));
  EXPECT_EQ(specs->names().size(), shipped().names().size() + 1);
}

TEST(GpuSpecs, MistakesNameFileAndLine) {
  const testing::TemporaryFolder folder;
  const auto error_of = [&](std::string_view text) {
    folder.write("gpus.yaml", text);
    const auto specs = GpuSpecs::load(*config::ConfFiles::open(folder.path()));
    EXPECT_FALSE(specs) << text;
    return specs ? std::string() : specs.error().message;
  };
  EXPECT_TRUE(contains(error_of("gpus: 3"), "gpus.yaml:"));
  EXPECT_TRUE(contains(error_of("gpus:\n- {bandwidth_gb_per_s: 1}"), "gpus.yaml:2: a GPU needs"));
  EXPECT_TRUE(contains(error_of("gpus:\n- {name: a, bandwith_gb_per_s: 1}"),
                       "did you mean 'bandwidth_gb_per_s'?"));
  EXPECT_TRUE(contains(error_of("gpus:\n- {name: a, bandwidth_gb_per_s: -1}"),
                       "must be a positive number"));
  EXPECT_TRUE(contains(error_of("gpus:\n- {name: a, bandwidth_gb_per_s: nan}"),
                       "must be a positive number"));
  EXPECT_TRUE(contains(error_of("gpus:\n- {name: a, bandwidth_gb_per_s: 1}"), "'dense_tflops'"));
  EXPECT_TRUE(
      contains(error_of("gpus:\n- {name: a, bandwidth_gb_per_s: 1, dense_tflops: {fp8: 1}}"),
               "neither 'bf16' nor 'fp16'"));
}

}  // namespace
}  // namespace llmprof::llm
