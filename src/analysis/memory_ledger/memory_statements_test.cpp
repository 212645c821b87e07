#include "analysis/memory_ledger/memory_statements.h"

#include <gtest/gtest.h>

namespace llmprof::analysis {
namespace {

using profile::Bytes;
using profile::MemoryLedger;
using profile::MemoryStatement;
using profile::StatedPart;

constexpr double kStatedGiB = 0x1p30;
constexpr double kStatedMiB = 0x1p20;

std::vector<MemoryStatement> stated_in(const std::string& text) {
  static const EngineRules engines = EngineRules::load(config::ConfFiles::open({}).value()).value();
  const std::vector<ProgramOutput> outputs = {{"record.log", text}};
  return find_memory_statements(outputs, engines);
}

// The peak of one GPU, with that much KV cache in an allocation of its own.
MemoryLedger ledger_with_cache(double bytes) {
  MemoryLedger ledger;
  profile::LedgerMoment& peak = ledger.moments.emplace_back();
  peak.device = "cuda:0";
  profile::LedgerRow& row = ledger.rows.emplace_back();
  row.part = profile::LedgerPart::kv_cache;
  row.bytes = {bytes};
  return ledger;
}

struct ComparedLines {
  std::vector<MemoryStatement> statements;
  std::optional<MemoryLedger> ledger;
  bool reported = false;
};
ComparedLines compared_lines(const std::string& text, double cache) {
  ComparedLines result = {stated_in(text), ledger_with_cache(cache), false};
  Diagnostics diagnostics;
  compare_statements(nullptr, {}, result.ledger, result.statements, diagnostics);
  result.reported = diagnostics.has("memory_statement_differs");
  return result;
}

TEST(MemoryStatements, OfVllm) {
  const auto found = stated_in(
      "(EngineCore_0 pid=9) INFO 10-06 12:00:00 [gpu_model_runner.py:2653] Model loading took "
      "14.9889 GiB memory and 2.316312 seconds\n"
      "INFO 10-06 12:00:30 [gpu_worker.py:298] Available KV cache memory: 41.04 GiB\n"
      "INFO 10-06 12:00:30 [kv_cache_utils.py:1087] GPU KV cache size: 336,192 tokens\n"
      "INFO 10-06 12:00:40 [gpu_model_runner.py:3480] Graph capturing finished in 8 secs, took "
      "0.31 GiB\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].part, StatedPart::weights);
  EXPECT_EQ(found[0].engine, "vLLM");
  EXPECT_DOUBLE_EQ(found[0].stated->value, 14.9889 * kStatedGiB);
  EXPECT_DOUBLE_EQ(found[0].resolution->value, 0.0001 * kStatedGiB);
  EXPECT_FALSE(found[0].device || found[0].tokens);
  EXPECT_EQ(found[1].part, StatedPart::kv_cache);
  EXPECT_DOUBLE_EQ(found[1].stated->value, 41.04 * kStatedGiB);
  EXPECT_EQ(found[1].tokens, 336'192U);
  EXPECT_EQ(found[1].lines, 2U);
  EXPECT_EQ(found[2].part, StatedPart::graphs);
}

TEST(MemoryStatements, OfSglangWhoseGigabytesAreBinary) {
  const auto found = stated_in(
      "[2026-03-11 13:53:21 TP0] Load weight end. elapsed=23.18 s, type=LlamaForCausalLM, "
      "dtype=torch.bfloat16, avail mem=63.02 GB, mem usage=14.98 GB.\n"
      "[2026-03-11 13:53:23 TP0] KV Cache is allocated. #tokens: 442377, K size: 27.00 GB, V size: "
      "27.01 GB\n"
      "[2026-03-11 13:53:32 TP0] Capture cuda graph end. Time elapsed: 8.04 s. mem usage=0.80 GB. "
      "avail mem=10.30 GB.\n"
      "[2026-03-11 13:53:40] Load weight end. elapsed=94.49 s, mem usage=-1.86 GB.\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_DOUBLE_EQ(found[0].stated->value, 14.98 * kStatedGiB);
  EXPECT_DOUBLE_EQ(found[1].stated->value, 54.01 * kStatedGiB);
  EXPECT_EQ(found[1].tokens, 442'377U);
  EXPECT_EQ(found[1].lines, 1U);
  EXPECT_DOUBLE_EQ(found[2].stated->value, 0.80 * kStatedGiB);
  const auto latent = stated_in(
      "[TP0] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 383872, KV size: 19.36 GB");
  ASSERT_EQ(latent.size(), 1U);
  EXPECT_DOUBLE_EQ(latent[0].stated->value, 19.36 * kStatedGiB);
}

TEST(MemoryStatements, OfLlamaCppByGpuWithoutTheHost) {
  const auto found = stated_in(
      "load_tensors:        CUDA0 model buffer size =  1981.26 MiB\r\n"
      "load_tensors:   CPU_Mapped model buffer size =   250.50 MiB\n"
      "llama_kv_cache:      CUDA0 KV buffer size =   512.00 MiB\n"
      "llama_kv_cache:      CUDA1 KV buffer size =   256.00 MiB\n"
      "sched_reserve:  CUDA_Host compute buffer size =    78.77 MiB\n"
      "this model buffer size = large\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].device, "cuda:0");
  EXPECT_DOUBLE_EQ(found[0].stated->value, 1981.26 * kStatedMiB);
  EXPECT_EQ(found[1].device, "cuda:0");
  EXPECT_EQ(found[2].device, "cuda:1");
}

TEST(MemoryStatements, DifferByMoreThanAHundredthAndAMebibyteAndTheirDigits) {
  const std::string line = "llama_kv_cache: CUDA0 KV buffer size =  512.00 MiB\n";
  const ComparedLines same = compared_lines(line, 512 * kStatedMiB);
  EXPECT_EQ(same.statements[0].difference, Bytes{0});
  EXPECT_EQ(same.ledger->rows[0].stated, Bytes{512 * kStatedMiB});
  EXPECT_FALSE(same.reported);
  EXPECT_FALSE(compared_lines(line, 508 * kStatedMiB).reported);
  EXPECT_TRUE(compared_lines(line, 500 * kStatedMiB).reported);
  // 0.1 GiB may be 0.149.
  const std::string coarse = "Available KV cache memory: 0.1 GiB\n";
  EXPECT_FALSE(compared_lines(coarse, 0.149 * kStatedGiB).reported);
  EXPECT_TRUE(compared_lines(coarse, 0.25 * kStatedGiB).reported);
}

TEST(MemoryStatements, OfSeveralWorkersAreOfNoKnownGpu) {
  const ComparedLines found = compared_lines(
      "Worker_TP0 Available KV cache memory: 2.00 GiB\n"
      "Worker_TP1 Available KV cache memory: 2.00 GiB\n",
      2 * kStatedGiB);
  ASSERT_EQ(found.statements.size(), 1U);
  EXPECT_EQ(found.statements[0].lines, 2U);
  EXPECT_FALSE(found.statements[0].recorded || found.statements[0].difference);
  EXPECT_FALSE(found.ledger->rows[0].stated);
}

TEST(MemoryStatements, OfImpossibleSizesAreNone) {
  EXPECT_TRUE(stated_in("CUDA0 KV buffer size = 1.2.3 MiB\nCUDA0 KV buffer size = . MiB\n"
                        "CUDA0 KV buffer size = 99999999999999999999 MiB\n"
                        "GPU KV cache size: 999999999999999999999999 tokens\n")
                  .empty());
  EXPECT_TRUE(stated_in(std::string(100'000, 'x')).empty());
}

}  // namespace
}  // namespace llmprof::analysis
