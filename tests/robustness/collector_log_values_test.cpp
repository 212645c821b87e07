// The collector's log has checksums, so plain damage never reaches the content of its records. Here
// payloads are damaged and get a new checksum, as from a faulty writer.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "readers/shared/reader.h"
#include "testing/reader_outcome.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"
#include "wire/log_format.h"

namespace llmprof {
namespace {

constexpr int kCopies = 3000;

struct Place {
  size_t at;          // of the record's header in the file
  uint64_t sequence;  // of its chunk
};

template <class Header>
Header header_at(const std::string& bytes, size_t at) {
  Header header{};
  std::memcpy(&header, bytes.data() + at, sizeof header);
  return header;
}

std::vector<Place> records_of(const std::string& bytes) {
  const auto file = header_at<wire::FileHeader>(bytes, 0);
  std::vector<Place> places;
  for (uint64_t sequence = 0; sequence < bytes.size() / file.chunk_bytes; ++sequence) {
    const size_t chunk = sequence * file.chunk_bytes;
    size_t at = chunk + (sequence == 0 ? sizeof file : 0) + sizeof(wire::ChunkHeader);
    while (at + sizeof(wire::RecordHeader) <= chunk + file.chunk_bytes) {
      const auto record = header_at<wire::RecordHeader>(bytes, at);
      if (record.type == wire::RecordType::none) break;
      places.push_back({at, sequence});
      at += record.size;
    }
  }
  return places;
}

void seal(std::string& bytes, const Place& place) {
  auto record = header_at<wire::RecordHeader>(bytes, place.at);
  record.checksum = wire::record_checksum(place.sequence, record.type, record.size,
                                          bytes.data() + place.at + sizeof record);
  std::memcpy(bytes.data() + place.at, &record, sizeof record);
}

// Values that break readers: nothing, everything, signs, sizes just too large.
void damage(std::string& bytes, const Place& place, std::mt19937_64& random) {
  constexpr unsigned char kBytes[] = {0, 0xFF, 0x80, 0x7F, 1};
  const auto record = header_at<wire::RecordHeader>(bytes, place.at);
  const size_t payload = record.size - sizeof record;
  if (payload == 0) return;
  const size_t first = random() % payload;
  const size_t length = std::min<size_t>(payload - first, 1 + random() % 8);
  const bool any = random() % 2 == 0;
  for (size_t i = 0; i < length; ++i) {
    bytes[place.at + sizeof record + first + i] =
        static_cast<char>(any ? random() : kBytes[random() % sizeof kBytes]);
  }
}

class ImpossibleValues : public ::testing::TestWithParam<const char*> {};

TEST_P(ImpossibleValues, AreSurvived) {
  const std::string whole = testing::file_bytes(testing::test_data(GetParam()));
  const std::vector<Place> places = records_of(whole);
  ASSERT_GT(places.size(), 10U);
  const testing::TemporaryFolder folder;
  std::mt19937_64 random(3);
  for (int copy = 0; copy < kCopies; ++copy) {
    std::string damaged = whole;
    for (size_t hits = 1 + random() % 6; hits > 0; --hits) {
      const Place& place = places[random() % places.size()];
      damage(damaged, place, random);
      seal(damaged, place);
    }
    const std::string fault =
        testing::judge_reading(readers::kCollectorLogReader, folder.write("damaged", damaged));
    ASSERT_EQ(fault, "") << "copy " << copy;
  }
}

INSTANTIATE_TEST_SUITE_P(CollectorLog, ImpossibleValues,
                         ::testing::Values("collector_log/cuda.llmtrace",
                                           "collector_log/small_chunks.llmtrace"),
                         [](const auto& parameter) {
                           return parameter.index == 0 ? "Cuda" : "Annotations";
                         });

}  // namespace
}  // namespace llmprof
