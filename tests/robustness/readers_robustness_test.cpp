// Every reader meets every truncation of its fixtures and many damaged copies of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>
#include <random>
#include <vector>

#include "base/streams/byte_stream.h"
#include "readers/detect.h"
#include "testing/reader_outcome.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof {
namespace {

namespace fs = std::filesystem;

#ifdef LLMPROF_EXHAUSTIVE
constexpr bool kExhaustive = true;
#else
constexpr bool kExhaustive = false;
#endif

// Each byte at the beginning and at the end. Between them records repeat: steps of a prime meet
// every place in one. Beyond, a sample. The captures in h200-decoder are the same formats at a size
// that would take minutes each: they are sampled throughout.
constexpr size_t kEveryByteUpTo = 12UL << 10U;
constexpr size_t kStepsUpTo = 64UL << 10U;
constexpr size_t kEveryByteAtTheEnd = 1UL << 10U;
constexpr size_t kPrime = kExhaustive ? 13 : 1;
constexpr size_t kSamples = kExhaustive ? 300 : 20;
constexpr size_t kDamagedCopies = kExhaustive ? 1000 : 50;
constexpr size_t kStep = kExhaustive ? 1 : 211;

struct Fixture {
  std::string path;  // under tests/data
  bool small = true;
  bool keep_compressed = false;

  friend void PrintTo(const Fixture& fixture, std::ostream* out) {
    *out << fixture.path << (fixture.keep_compressed ? " as it is" : "");
  }
};

std::vector<Fixture> fixtures() {
  std::vector<Fixture> all;
  const fs::path root = testing::test_data("");
  for (const char* folder : {"collector_log", "nsys_sqlite", "nsys_csv", "ncu", "kineto",
                             "stage1_metrics", "h200-decoder"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || extension == ".md" || extension == ".py") continue;
      const bool small = std::string_view(folder) != "h200-decoder";
      const std::string name = fs::relative(entry.path(), root).string();
      all.push_back({name, small, false});
      if (extension == ".gz") all.push_back({name, small, true});
    }
  }
  std::sort(all.begin(), all.end(), [](const Fixture& a, const Fixture& b) {
    return std::pair(a.path, a.keep_compressed) < std::pair(b.path, b.keep_compressed);
  });
  return all;
}

class Robustness : public ::testing::TestWithParam<Fixture> {
 protected:
  void SetUp() override {
    const fs::path path = testing::test_data(GetParam().path);
    bytes_ = testing::file_bytes(path);
    if (!GetParam().keep_compressed) {
      auto stream = open_byte_stream(path);
      ASSERT_TRUE(stream);
      auto content = read_all(**stream, 256UL << 20U);
      ASSERT_TRUE(content);
      bytes_ = std::move(*content);
    }
    auto head = read_head(path, readers::kHeadBytes);
    ASSERT_TRUE(head);
    reader_ = readers::find_reader(*head);
  }

  // What any file may be: refused by everybody, or read by the reader that recognizes it.
  [[nodiscard]] std::string judge(const fs::path& path) const {
    return reader_ == nullptr ? std::string() : testing::judge_reading(*reader_, path);
  }

  std::string bytes_;
  const readers::Reader* reader_ = nullptr;
};

void add_lengths(size_t from, size_t end, size_t step, std::vector<size_t>& lengths) {
  for (size_t n = from; n < end; n += step) lengths.push_back(n);
}

// The lengths to which a file of `size` bytes is cut.
std::vector<size_t> truncations(size_t size, bool small) {
  std::vector<size_t> lengths;
  const size_t tail = small ? size - std::min(size, kEveryByteAtTheEnd) : size;
  const size_t head = small ? std::min(tail, kEveryByteUpTo) : 0;
  const size_t steps_end = small ? std::min(tail, kStepsUpTo) : 0;
  add_lengths(0, head, kStep, lengths);
  add_lengths(head, steps_end, kPrime * kStep, lengths);
  std::mt19937_64 random(1);
  for (size_t i = 0; steps_end < tail && i < kSamples; ++i) {
    lengths.push_back(steps_end + random() % (tail - steps_end));
  }
  add_lengths(tail, size, kStep, lengths);
  return lengths;
}

// From the end: cutting a file shorter costs nothing.
TEST_P(Robustness, SurvivesEveryTruncation) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.write("truncated", bytes_);
  std::vector<size_t> lengths = truncations(bytes_.size(), GetParam().small);
  std::sort(lengths.rbegin(), lengths.rend());
  for (const size_t length : lengths) {
    fs::resize_file(path, length);
    const std::string fault = judge(path);
    ASSERT_EQ(fault, "") << GetParam().path << " cut to " << length << " bytes";
  }
}

TEST_P(Robustness, SurvivesDamagedBytes) {
  const testing::TemporaryFolder folder;
  std::mt19937_64 random(2);
  const size_t copies = GetParam().small ? kDamagedCopies : kDamagedCopies / 10;
  for (size_t copy = 0; copy < copies; ++copy) {
    std::string damaged = bytes_;
    for (size_t flips = 1 + random() % 8; flips > 0 && !damaged.empty(); --flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const std::string fault = judge(folder.write("damaged", damaged));
    ASSERT_EQ(fault, "") << GetParam().path << ", damaged copy " << copy;
  }
}

std::string test_name(const ::testing::TestParamInfo<Fixture>& info) {
  std::string name = info.param.path + (info.param.keep_compressed ? "_compressed" : "");
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Readers, Robustness, ::testing::ValuesIn(fixtures()), test_name);

}  // namespace
}  // namespace llmprof
