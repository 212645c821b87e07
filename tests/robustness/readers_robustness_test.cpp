// Every reader reads its fixtures with every kind of truncation, and many damaged copies.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <random>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/streams/byte_stream.h"
#include "readers/shared/reader.h"
#include "testing/reader_outcome.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof {
namespace {

namespace fs = std::filesystem;

// Records repeat: a cut is of a new kind if the bytes before it, with all digits equal, have not
// occurred before. Every kind is cut once; in binary files, which hardly repeat, every kind at the
// start and an even selection of the others. Steps of a prime also cut at known kinds, and every
// byte at the end is a kind. Beyond 64 KiB, cuts are sampled. The captures in h200-decoder have the
// same formats in a size that would take minutes each, so all their cuts are sampled. Cutting a
// compressed file is like cutting its content, which is cut uncompressed: only its first and last
// bytes (the header and the checksum of the compression) are new kinds.
constexpr size_t kPrecedingBytes = 16;
constexpr size_t kEveryKindUpTo = 4UL << 10U;
constexpr size_t kMostKinds = 1000;  // approximately, after those
constexpr size_t kPrime = 397;
constexpr size_t kCutsUpTo = 64UL << 10U;
constexpr size_t kEveryByteAtTheEnd = 256;
constexpr size_t kCompressedHeader = 64;
constexpr size_t kCompressedTrailer = 32;
constexpr size_t kSamples = 75;
constexpr size_t kSamplesOfLarge = 15;
constexpr size_t kDamagedCopies = 250;
constexpr size_t kDamagedCopiesOfLarge = 8;

// `make fuzz` (LLMPROF_THOROUGH=1) tries four times as many cuts and copies as `make test`, where
// they took a fifth of all processor time.
size_t effort() {
  static const size_t times = std::getenv("LLMPROF_THOROUGH") != nullptr ? 4 : 1;
  return times;
}

struct Fixture {
  std::string path;  // under tests/data
  bool small = true;
  bool keep_compressed = false;

  friend void PrintTo(const Fixture& fixture, std::ostream* out) {
    *out << fixture.path << (fixture.keep_compressed ? " compressed" : "");
  }
};

std::vector<Fixture> fixtures() {
  std::vector<Fixture> all;
  const fs::path root = testing::test_data("");
  for (const char* folder : {"collector_log", "nsys_sqlite", "nsys_csv", "ncu", "kineto",
                             "requests", "stage1_metrics", "torch_memory", "h200-decoder"}) {
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

  // Any file may be refused by all readers, or read by the one that recognizes it.
  [[nodiscard]] std::string judge(const fs::path& path) const {
    return reader_ == nullptr ? std::string() : testing::judge_reading(*reader_, path);
  }

  std::string bytes_;
  const readers::Reader* reader_ = nullptr;
};

// The lengths below `end` at which a cut has a new kind.
std::vector<size_t> kinds_of_cuts(std::string_view bytes, size_t end) {
  std::string alike(bytes.substr(0, end));
  for (char& c : alike) {
    if (c >= '0' && c <= '9') c = '0';
  }
  std::unordered_set<std::string_view> seen;
  std::vector<size_t> lengths;
  for (size_t length = 0; length < end; ++length) {
    const size_t from = length - std::min(length, kPrecedingBytes);
    if (seen.insert(std::string_view(alike).substr(from, length - from)).second) {
      lengths.push_back(length);
    }
  }
  const auto after = std::lower_bound(lengths.begin(), lengths.end(), kEveryKindUpTo);
  const auto first = static_cast<size_t>(after - lengths.begin());
  const size_t step = 1 + (lengths.size() - first) / (effort() * kMostKinds);
  size_t kept = first;
  for (size_t i = first; i < lengths.size(); i += step) lengths[kept++] = lengths[i];
  lengths.resize(kept);
  return lengths;
}

// The lengths to which a file is cut, longest first.
std::vector<size_t> truncations(std::string_view bytes, const Fixture& fixture) {
  const size_t every_byte =
      fixture.keep_compressed ? kCompressedTrailer : effort() * kEveryByteAtTheEnd;
  const size_t tail =
      fixture.small ? bytes.size() - std::min(bytes.size(), every_byte) : bytes.size();
  const size_t kinds_up_to = fixture.keep_compressed ? kCompressedHeader : kCutsUpTo;
  const size_t cuts_end = fixture.small ? std::min(tail, kinds_up_to) : 0;
  std::vector<size_t> lengths = kinds_of_cuts(bytes, cuts_end);
  for (size_t length = 0; length < cuts_end; length += kPrime / effort()) lengths.push_back(length);
  for (size_t length = tail; length < bytes.size(); ++length) lengths.push_back(length);
  std::sort(lengths.rbegin(), lengths.rend());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  std::mt19937_64 random(1);
  const size_t samples = effort() * (fixture.small ? kSamples : kSamplesOfLarge);
  for (size_t i = 0; cuts_end < tail && i < samples; ++i) {
    lengths.push_back(cuts_end + random() % (tail - cuts_end));
  }
  std::sort(lengths.rbegin(), lengths.rend());
  return lengths;
}

// Starts at the end, because shortening a file is cheap.
TEST_P(Robustness, SurvivesEveryKindOfTruncation) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.write("truncated", bytes_);
  for (const size_t length : truncations(bytes_, GetParam())) {
    fs::resize_file(path, length);
    const std::string fault = judge(path);
    ASSERT_EQ(fault, "") << GetParam().path << " cut to " << length << " bytes";
  }
}

TEST_P(Robustness, SurvivesDamagedBytes) {
  const testing::TemporaryFolder folder;
  std::mt19937_64 random(2);
  const size_t copies = effort() * (GetParam().small ? kDamagedCopies : kDamagedCopiesOfLarge);
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
