#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "analysis/naming/classes.h"
#include "base/text.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::analysis {
namespace {

const KernelRules& shipped() {
  static const KernelRules rules = [] {
    auto loaded = KernelRules::load(*config::ConfFiles::open(std::nullopt));
    EXPECT_TRUE(loaded) << loaded.error().message;
    return std::move(*loaded);
  }();
  return rules;
}

std::vector<std::vector<std::string>> tab_separated(std::string_view file) {
  std::ifstream input(testing::test_data("kernel_names") / file);
  EXPECT_TRUE(input) << file;
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(input, line);) {
    if (line.starts_with('#')) continue;
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == '\t') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    rows.push_back(std::move(fields));
  }
  return rows;
}

size_t characters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return count;
}

Result<KernelRules> rules_of(std::string text) {
  const std::vector<config::ConfText> texts = {{"mine.yaml", std::move(text)}};
  return KernelRules::parse(texts);
}

std::string error_of(std::string text) {
  const auto rules = rules_of(std::move(text));
  EXPECT_FALSE(rules);
  EXPECT_EQ(rules.error().kind, ErrorKind::usage);
  return rules ? std::string() : rules.error().message;
}

TEST(KernelRules, ExpectedNames) {
  const auto rows = tab_separated("expected.tsv");
  EXPECT_GE(rows.size(), 80U);
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 4U);
    const KernelDescription description = shipped().describe(row[3]);
    EXPECT_EQ(to_string(description.kernel_class), row[0]) << row[3];
    EXPECT_EQ(description.library, row[1]) << row[3];
    EXPECT_EQ(description.short_name, row[2]) << row[3];
  }
}

// h200.tsv has names and sums that Python's sqlite3 and json computed from our captures.
TEST(KernelRules, LessThanTwoPercentOfKernelTimeHasNoClass) {
  const auto rows = tab_separated("h200.tsv");
  ASSERT_GT(rows.size(), 100U);
  const auto& header = rows.front();
  for (size_t file = 0; file + 2 < header.size(); ++file) {
    int64_t total = 0;
    int64_t other = 0;
    for (size_t i = 1; i < rows.size(); ++i) {
      const int64_t time = parse_int(rows[i][file]).value();
      total += time;
      if (shipped().describe(rows[i].back()).kernel_class == KernelClass::other) other += time;
    }
    EXPECT_GT(total, 0) << header[file];
    EXPECT_LT(other * 50, total) << header[file];
  }
}

TEST(KernelRules, MangledAndDemangledAreOneKernel) {
  size_t compared = 0;
  for (const auto& row : tab_separated("h200.tsv")) {
    const std::string& mangled = row[row.size() - 2];
    if (!mangled.starts_with("_Z")) continue;
    ++compared;
    const KernelDescription a = shipped().describe(mangled);
    const KernelDescription b = shipped().describe(row.back());
    EXPECT_EQ(a.short_name, b.short_name) << mangled;
    EXPECT_EQ(a.library, b.library) << mangled;
    EXPECT_EQ(a.kernel_class, b.kernel_class) << mangled;
  }
  EXPECT_GT(compared, 80U);
}

TEST(KernelRules, ShortNamesArePrintableAndShort) {
  for (const char* file : {"h200.tsv", "expected.tsv"}) {
    for (const auto& row : tab_separated(file)) {
      const std::string name = shipped().describe(row.back()).short_name;
      EXPECT_FALSE(name.empty()) << row.back();
      EXPECT_LE(characters(name), 60U) << name;
      EXPECT_TRUE(is_printable_utf8(name)) << row.back();
    }
  }
}

TEST(KernelRules, OddNamesGetSomeName) {
  for (const std::string& name :
       {std::string(), std::string(" "), std::string("()"), std::string("<>"), std::string("::"),
        std::string("\xFF\xFE"), std::string("a\nb"), std::string(1, '\0'), std::string("_Z"),
        std::string("void (*)(int)"), std::string(100, 'x'), std::string("\xE4\xBD\xA0")}) {
    const std::string given = shipped().describe(name).short_name;
    EXPECT_FALSE(given.empty());
    EXPECT_LE(characters(given), 60U);
    EXPECT_TRUE(is_printable_utf8(given));
  }
}

// Anything slower than linear time would take hours.
TEST(KernelRules, DescribesNamesOfAMegabyte) {
  const size_t megabyte = 1UL << 20U;
  std::string nested = "void at::native::vectorized_elementwise_kernel<4, ";
  while (nested.size() < megabyte) nested += "at::native::BinaryFunctor<float, ";
  EXPECT_EQ(shipped().describe(nested).kernel_class, KernelClass::elementwise);
  std::string mangled = "_ZN2at6native29vectorized_elementwise_kernelILi4E";
  while (mangled.size() < megabyte) mangled += "NS0_15CUDAFunctor_addIfEE";
  const KernelDescription description = shipped().describe(mangled);
  EXPECT_EQ(description.kernel_class, KernelClass::elementwise);
  EXPECT_EQ(description.library, "ATen");
  for (const char* unit : {"a", "softmax_", "<", "(", "x::", "gemm ", "1x1_"}) {
    std::string name;
    while (name.size() < megabyte) name += unit;
    EXPECT_FALSE(shipped().describe(name).short_name.empty());
  }
  std::string fused = "triton_poi_fused";
  while (fused.size() < 60000) fused += "_a";
  EXPECT_EQ(shipped().describe(fused + "_1").short_name, "Triton: a (fused, #1)");
}

TEST(KernelRules, UserRulesGoFirst) {
  const testing::TemporaryFolder folder;
  folder.write("kernels.yaml", R"(
rules:
  - function: [silu_and_scale]
    library: ours
    class: elementwise
    name: 'our SiLU ({dtype})'
  - prefix: [nvjet_]
    library: ours
    class: gemv
)");
  const auto rules = KernelRules::load(*config::ConfFiles::open(folder.path()));
  ASSERT_TRUE(rules) << rules.error().message;
  const KernelDescription ours = rules->describe("void a::silu_and_scale<__half, 4>(int)");
  EXPECT_EQ(ours.short_name, "our SiLU (f16)");
  EXPECT_EQ(ours.library, "ours");
  EXPECT_EQ(rules->describe("nvjet_sm90_tst_1x1").kernel_class, KernelClass::gemv);
  EXPECT_EQ(rules->describe("nvjet_sm90_tst_1x1").short_name, "nvjet_sm90_tst_1x1");
  EXPECT_EQ(rules->describe("ncclDevKernel_SendRecv").library, "NCCL");
}

// Names of operators in programs that record themselves.
TEST(KernelRules, PlainOperatorNames) {
  const std::map<std::string, KernelClass> expected = {
      {"q_proj", KernelClass::gemm},
      {"down_proj", KernelClass::gemm},
      {"lm_head", KernelClass::gemm},
      {"mlp", KernelClass::gemm},
      {"cpu::gemm_qkv", KernelClass::gemm},
      {"cpu::gemv_o_proj", KernelClass::gemv},
      {"final_norm", KernelClass::norm},
      {"cpu::rms_norm", KernelClass::norm},
      {"token_embedding", KernelClass::gather},
      {"rope", KernelClass::rope},
      {"residual", KernelClass::elementwise},
      {"cpu::silu_mul", KernelClass::elementwise},
      {"attention", KernelClass::attention},
      {"sample", KernelClass::sampling},
      {"tokenize", KernelClass::other},
      {"cpu::kv_cache_append", KernelClass::copy_cast},
      {"cpu::all_reduce", KernelClass::communication},
      {"cpu::all_gather", KernelClass::communication}};
  for (const auto& [name, kernel_class] : expected) {
    EXPECT_EQ(to_string(shipped().describe(name).kernel_class), to_string(kernel_class)) << name;
  }
}

TEST(KernelRules, LibraryByPrefixWhereTheRuleLeavesItOut) {
  const auto rules =
      rules_of("rules:\n- {contains: [gemm], class: gemm}\nlibraries: {Ours: [our_]}");
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->describe("our_gemm").library, "Ours");
  EXPECT_EQ(rules->describe("our_thing").library, "Ours");
  EXPECT_EQ(rules->describe("a_gemm").library, "");
}

// An analysis does not check the shipped rules; with one byte added, they count as a user's.
TEST(KernelRules, ShippedRulesPassTheChecksOfAUsersRules) {
  const auto shipped_text = config::built_in_conf("kernels.yaml");
  ASSERT_TRUE(shipped_text);
  const auto rules = rules_of(shipped_text->text + "\n");
  EXPECT_TRUE(rules) << rules.error().message;
}

TEST(KernelRules, MistakesNameFileLineAndRule) {
  EXPECT_EQ(error_of("rules:\n- {prefix: [a], class: gemm}\n- prefix: [b]\n  class: gemn\n"),
            "mine.yaml:4: rule 2: unknown class 'gemn'; did you mean 'gemm'?");
  EXPECT_EQ(error_of("rules:\n- {prefix: [a], clas: gemm}\n"),
            "mine.yaml:2: rule 1: unknown key 'clas'; did you mean 'class'?");
  EXPECT_TRUE(contains(error_of("rules:\n- {class: gemm}\n"), "exactly one of function, prefix"));
  EXPECT_TRUE(contains(error_of("rules:\n- {prefix: [a], regex: b, class: gemm}\n"),
                       "mine.yaml:2: rule 1"));
  EXPECT_TRUE(contains(error_of("rules:\n- {prefix: [a]}\n"), "has no 'class'"));
  EXPECT_TRUE(contains(error_of("rules:\n- {prefix: a, class: gemm}\n"), "list of strings"));
  EXPECT_TRUE(contains(error_of("rules:\n- {regex: '(', class: gemm}\n"),
                       "mine.yaml:2: rule 1: not a valid RE2 expression"));
  EXPECT_TRUE(contains(error_of("rules:\n- {regex: '(a)', class: gemm, name: '{2}'}\n"),
                       "mine.yaml:2: rule 1: {2} in name"));
  EXPECT_TRUE(contains(error_of("rules:\n- [\n"), "mine.yaml:"));
  EXPECT_TRUE(contains(error_of("rulez: []\n"), "did you mean 'rules'?"));
  EXPECT_TRUE(contains(error_of("just text"), "mine.yaml:1"));
  EXPECT_TRUE(contains(error_of("rules: 3"), "must be a list"));
  EXPECT_TRUE(contains(error_of("operations: [a]"), "must be a map"));
  EXPECT_TRUE(contains(error_of("libraries: {a: b}"), "name: [prefix, prefix]"));
}

TEST(KernelClass, SpellingsGoBothWays) {
  EXPECT_EQ(profile::kNames<KernelClass>.size(), 16U);
  for (const std::string_view spelling : profile::kNames<KernelClass>) {
    const auto parsed = profile::find_word<KernelClass>(spelling);
    ASSERT_TRUE(parsed) << spelling;
    EXPECT_EQ(to_string(*parsed), spelling);
  }
  EXPECT_FALSE(profile::find_word<KernelClass>("gemms"));
}

// Kernels of a C++ engine, named like its functions.
TEST(KernelRules, WordsCountHoweverTheyAreWritten) {
  const auto rules = KernelRules::load({});
  ASSERT_TRUE(rules);
  const auto class_of = [&](std::string_view name) {
    return std::string(to_string(rules->describe(name).kernel_class));
  };
  EXPECT_EQ(class_of("void (anonymous namespace)::PagedFlashKernel<128, 64>(Params)"), "attention");
  EXPECT_EQ(class_of("void engine::PagedFlashBuildTiles(int const*, int*)"), "attention");
  EXPECT_EQ(class_of("void engine::RopeFromCacheKernel<__nv_bfloat16>(Args)"), "rope");
  EXPECT_EQ(class_of("CastBf16Kernel(float const*, __nv_bfloat16*, int)"), "copy/cast");
  EXPECT_EQ(class_of("engine::SiluMulKernel<4>(float*)"), "elementwise");
  EXPECT_EQ(class_of("engine::ArgMaxKernel(float const*, int*)"), "sampling/top-k");
  EXPECT_EQ(rules->describe("engine::RopeFromCacheKernel<4>(float*)").short_name,
            "RopeFromCacheKernel");
}

TEST(KernelRules, TraitsAreWhatNamesSayBesideTheClass) {
  const auto rules = KernelRules::load({});
  ASSERT_TRUE(rules);
  const auto has = [&](std::string_view name, KernelTrait trait) {
    return rules->describe(name).has(trait);
  };
  EXPECT_TRUE(has("engine::PagedFlashKernel<128>(P)", KernelTrait::kv_cache));
  EXPECT_TRUE(
      has("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(P)", KernelTrait::kv_cache));
  EXPECT_TRUE(has("loop_dynamic_update_slice_fusion_16", KernelTrait::kv_cache));
  EXPECT_FALSE(has("void flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(P)", KernelTrait::kv_cache));
  EXPECT_TRUE(
      has("sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
          "tilesize128x128x32_stage4_warpsize2x2x1_g1_tensor16x8x16_execute_kernel_trt",
          KernelTrait::convolution));
  EXPECT_FALSE(has("nvjet_tst_128x64_64x8_2x1_v_bz_TNT", KernelTrait::convolution));
  EXPECT_TRUE(has("at::native::argmax_kernel(float*)", KernelTrait::token_choice));
}

TEST(KernelRules, AbbreviatedFormatsAndCollectives) {
  const auto collective = [](std::string_view name) {
    const auto kind = shipped().describe(name).collective;
    return kind ? profile::to_string(*kind) : "none";
  };
  EXPECT_EQ(shipped().describe("nvjet_sm90_tst_64x8").number_format, "bf16");
  EXPECT_EQ(shipped().describe("nvjet_sss_64x8").number_format, "tf32");
  EXPECT_EQ(shipped().describe("nvjet_sm90").number_format, "");
  EXPECT_EQ(collective("void vllm::cross_device_reduce_1stage<__half, 4>(vllm::RankData*)"),
            "all_reduce");
  EXPECT_EQ(collective("void deep_ep::intranode::dispatch<8, 768>(int4*)"), "all_to_all");
  EXPECT_EQ(collective("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"), "none");
  EXPECT_EQ(collective("void copy<deep_ep::Buffer>(int4*)"), "none");
}

TEST(KernelRules, UsersExtendWhatNamesAbbreviate) {
  const testing::TemporaryFolder folder;
  folder.write("kernels.yaml", R"(
traits: {generated: ['^ours_'], reduces_rows: ['^ours_red_']}
number_formats: {int8: ['^nvjet_sm90_t'], nvfp4: ['^ours_n']}
collectives: {all_gather: ['^ours_']}
fused_operators: {product: [our_product]}
rules:
  - {prefix: [ours_], class: by fused operations}
)");
  const auto rules = KernelRules::load(*config::ConfFiles::open(folder.path()));
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_EQ(rules->describe("nvjet_sm90_tst_1x1").number_format, "int8");
  EXPECT_EQ(rules->describe("nvjet_sm90_hsh_1x1").number_format, "f16");
  const KernelDescription ours = rules->describe("ours_red_fused_our_product_t_1");
  EXPECT_TRUE(ours.has(KernelTrait::generated));
  EXPECT_EQ(ours.kernel_class, KernelClass::gemv);
  EXPECT_EQ(ours.collective, CollectiveKind::all_gather);
  EXPECT_EQ(ours.number_format, "");
  EXPECT_TRUE(rules->describe("triton_poi_fused_add_1").has(KernelTrait::generated));
}

TEST(KernelRules, MistakesInTraitsNameTheLine) {
  const auto problem = [](std::string_view yaml) {
    const config::ConfText text{"mine.yaml", std::string(yaml)};
    const auto rules = KernelRules::parse(std::span(&text, 1));
    return rules ? std::string("(none)") : rules.error().message;
  };
  EXPECT_EQ(problem("traits:\n  kv_cash: [a]\n"),
            "mine.yaml:2: unknown key 'kv_cash'; did you mean 'kv_cache'?");
  EXPECT_NE(problem("traits:\n  kv_cache: ['(']\n").find("mine.yaml:2: not a valid RE2"),
            std::string::npos);
  EXPECT_NE(problem("traits:\n  kv_cache: yes\n").find("mine.yaml:2: a trait must be"),
            std::string::npos);
  EXPECT_EQ(problem("collectives:\n  allreduce: [a]\n"),
            "mine.yaml:2: unknown key 'allreduce'; did you mean 'all_reduce'?");
  EXPECT_EQ(problem("fused_operators:\n  products: [a]\n"),
            "mine.yaml:2: unknown key 'products'; did you mean 'product'?");
}

}  // namespace
}  // namespace llmprof::analysis
