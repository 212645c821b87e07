#include "base/streams/byte_stream.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <vector>

#include "base/streams/deflate.h"
#include "testing/temporary_folder.h"

namespace llmprof {
namespace {

using testing::TemporaryFolder;

// One gzip member, made by zlib itself.
std::string gzip(std::string_view content) {
  z_stream state{};
  constexpr int kGzip = 16 + MAX_WBITS;
  EXPECT_EQ(deflateInit2(&state, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&state, content.size()) + 64, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  state.avail_in = static_cast<uInt>(content.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&state, Z_FINISH), Z_STREAM_END);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

// Text that compresses only partly, the same each time.
std::string text_of(size_t bytes) {
  std::string text;
  uint32_t seed = 1;
  while (text.size() < bytes) {
    seed = seed * 1664525U + 1013904223U;
    text += std::to_string(seed >> 8U) + ",";
  }
  text.resize(bytes);
  return text;
}

// The entire content, read in pieces of `piece` bytes until the stream ends.
std::string drain(ByteStream& stream, size_t piece) {
  std::string all;
  std::vector<char> buffer(piece);
  while (true) {
    const auto got = stream.read(buffer);
    EXPECT_TRUE(got) << got.error().message;
    if (!got) return all;
    all.append(buffer.data(), *got);
    if (*got < piece) return all;
  }
}

TEST(ByteStream, PlainFileInPieces) {
  const TemporaryFolder folder;
  const std::string content = text_of(100'001);
  const auto path = folder.write("plain", content);
  for (const size_t piece : {1UL, 7UL, 4096UL, 100'001UL, 200'000UL}) {
    auto stream = open_byte_stream(path);
    ASSERT_TRUE(stream);
    EXPECT_EQ(drain(**stream, piece), content) << piece;
    EXPECT_EQ((*stream)->damage(), "");
  }
}

TEST(ByteStream, EndStaysTheEnd) {
  const std::string content = "abc";
  const auto stream = stream_over(content);
  std::vector<char> buffer(8);
  EXPECT_EQ(stream->read(buffer).value(), 3U);
  EXPECT_EQ(stream->read(buffer).value(), 0U);
  EXPECT_EQ(stream->read(buffer).value(), 0U);
}

TEST(ByteStream, EmptyFile) {
  const TemporaryFolder folder;
  auto stream = open_byte_stream(folder.write("empty", ""));
  ASSERT_TRUE(stream);
  EXPECT_EQ(drain(**stream, 16), "");
}

TEST(ByteStream, GzipByContentNotByName) {
  const TemporaryFolder folder;
  const std::string content = text_of(300'000);
  auto stream = open_byte_stream(folder.write("no-suffix", gzip(content)));
  ASSERT_TRUE(stream);
  EXPECT_EQ(drain(**stream, 1000), content);
  EXPECT_EQ((*stream)->damage(), "");

  auto plain = open_byte_stream(folder.write("plain.gz", "not compressed"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(drain(**plain, 1000), "not compressed");
}

TEST(ByteStream, SeveralGzipMembersAreOneContent) {
  const TemporaryFolder folder;
  const std::string first = text_of(50'000);
  const std::string last = text_of(70'000);
  const std::string compressed = gzip(first) + gzip("") + gzip(last);
  auto stream = open_byte_stream(folder.write("members.gz", compressed));
  ASSERT_TRUE(stream);
  EXPECT_EQ(drain(**stream, 999), first + last);

  // Streamed as well.
  const auto streamed = stream_over(compressed);
  EXPECT_EQ(drain(*streamed, 999), first + last);
  EXPECT_EQ(streamed->damage(), "");
}

TEST(ByteStream, TruncatedGzipGivesWhatPrecedes) {
  const TemporaryFolder folder;
  const std::string content = text_of(400'000);
  const std::string whole = gzip(content);
  for (const size_t kept : {whole.size() / 2, whole.size() - 9, whole.size() - 1}) {
    auto stream = open_byte_stream(folder.write("cut.gz", whole.substr(0, kept)));
    ASSERT_TRUE(stream);
    const std::string got = drain(**stream, 10'000);
    EXPECT_GT(got.size(), content.size() / 3) << kept;
    EXPECT_TRUE(content.starts_with(got)) << kept;
    EXPECT_EQ((*stream)->damage(), "the gzip stream is truncated") << kept;
  }
}

TEST(ByteStream, EveryTruncationOfAGzipEnds) {
  const std::string content = text_of(300);
  const std::string whole = gzip(content);
  for (size_t kept = 2; kept < whole.size(); ++kept) {
    const std::string cut = whole.substr(0, kept);
    const auto stream = stream_over(cut);
    EXPECT_TRUE(content.starts_with(drain(*stream, 50)));
    EXPECT_NE(stream->damage(), "") << kept;
  }
}

TEST(ByteStream, DamagedGzipSaysSo) {
  const TemporaryFolder folder;
  const std::string content = text_of(400'000);
  std::string compressed = gzip(content);
  for (size_t i = 0; i < 64; ++i) compressed[compressed.size() / 2 + i] = '\xFF';
  auto stream = open_byte_stream(folder.write("damaged.gz", compressed));
  ASSERT_TRUE(stream);
  const std::string got = drain(**stream, 10'000);
  EXPECT_TRUE(content.starts_with(std::string_view(got).substr(0, content.size() / 3)));
  EXPECT_NE((*stream)->damage(), "");
}

TEST(ByteStream, BytesBehindAGzipAreDamage) {
  const std::string content = text_of(5000);
  const std::string compressed = gzip(content) + "trailing";
  const auto stream = stream_over(compressed);
  EXPECT_EQ(drain(*stream, 100), content);
  EXPECT_EQ(stream->damage(), "the gzip stream is damaged");
}

TEST(ByteStream, ContentLargerThanTheBlockLimitIsStreamed) {
  const TemporaryFolder folder;
  const size_t size = kLargestGzipBlock + 12'345;
  const auto path = folder.write("large.gz", gzip(std::string(size, 'x')));
  ASSERT_LT(std::filesystem::file_size(path), kSmallGzipBytes);
  auto stream = open_byte_stream(path);
  ASSERT_TRUE(stream);
  std::vector<char> buffer(1UL << 20U);
  const std::vector<char> expected(buffer.size(), 'x');
  size_t total = 0;
  while (true) {
    const auto got = (*stream)->read(buffer);
    ASSERT_TRUE(got);
    ASSERT_EQ(std::memcmp(buffer.data(), expected.data(), *got), 0);
    total += *got;
    if (*got < buffer.size()) break;
  }
  EXPECT_EQ(total, size);
  EXPECT_EQ((*stream)->damage(), "");
}

TEST(ByteStream, MissingFileAndFolderAreInputErrors) {
  const TemporaryFolder folder;
  const auto missing = open_byte_stream(folder.path() / "absent.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::input);
  EXPECT_NE(missing.error().message.find("absent.json"), std::string::npos);

  const auto directory = open_byte_stream(folder.path());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().kind, ErrorKind::input);
  EXPECT_NE(directory.error().message.find("is a folder, not a file"), std::string::npos);
}

TEST(ByteStream, ReadHead) {
  const TemporaryFolder folder;
  const std::string content = text_of(100'000);
  EXPECT_EQ(read_head(folder.write("plain", content), 1000).value(), content.substr(0, 1000));
  EXPECT_EQ(read_head(folder.write("packed", gzip(content)), 1000).value(),
            content.substr(0, 1000));
  EXPECT_EQ(read_head(folder.write("short", "ab"), 1000).value(), "ab");
  const std::string cut = gzip(content).substr(0, 20'000);
  EXPECT_EQ(read_head(folder.write("cut", cut), 1000).value(), content.substr(0, 1000));
  EXPECT_FALSE(read_head(folder.path() / "absent", 1000));
}

TEST(ByteStream, ReadAllHasALimit) {
  const std::string content = text_of(3UL << 20U);
  EXPECT_EQ(read_all(*stream_over(content), content.size()).value(), content);
  const auto too_long = read_all(*stream_over(content), 1UL << 20U);
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().kind, ErrorKind::input);
}

TEST(GzipBlock, WholeContentOrNothing) {
  const std::string content = text_of(20'000);
  const std::string packed = gzip(content);
  EXPECT_EQ(gunzip_small(packed), content);
  EXPECT_EQ(gunzip_small(packed + packed), content + content);
  EXPECT_EQ(gunzip_small(gzip("")), "");
  EXPECT_FALSE(gunzip_small(""));
  EXPECT_FALSE(gunzip_small("\x1f\x8b"));
  EXPECT_FALSE(gunzip_small(packed.substr(0, packed.size() - 1)));
  EXPECT_FALSE(gunzip_small(packed + "x"));
}

TEST(GzipBlock, StatedSizeMayLie) {
  std::string packed = gzip(text_of(1000));
  // The size in the last four bytes is far too large: refused before anything is allocated.
  for (size_t i = 1; i <= 4; ++i) packed[packed.size() - i] = '\xFF';
  EXPECT_FALSE(gunzip_small(packed));
}

}  // namespace
}  // namespace llmprof
