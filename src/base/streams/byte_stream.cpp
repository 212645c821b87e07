#include "base/streams/byte_stream.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <vector>

#include "base/files.h"
#include "base/streams/deflate.h"

namespace llmprof {
namespace {

class FileStream final : public ByteStream {
 public:
  FileStream(FileDescriptor file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}

  Result<size_t> read(std::span<char> buffer) override {
    size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t got = ::read(file_.get(), buffer.data() + filled, buffer.size() - filled);
      if (got == 0) break;
      if (got < 0) {
        if (errno == EINTR) continue;
        return fail_with(system_error(ErrorKind::input, path_, errno));
      }
      filled += static_cast<size_t>(got);
    }
    count_bytes_read(filled);
    return filled;
  }

 private:
  FileDescriptor file_;
  std::filesystem::path path_;
};

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::span<const char> bytes) : rest_(bytes) {}
  explicit MemoryStream(std::string owned) : owned_(std::move(owned)), rest_(owned_) {}

  Result<size_t> read(std::span<char> buffer) override {
    const size_t count = std::min(buffer.size(), rest_.size());
    std::copy_n(rest_.data(), count, buffer.data());
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  std::string owned_;
  std::span<const char> rest_;
};

// For content too large to hold at once: zlib can stream, libdeflate cannot.
class GzipStream final : public ByteStream {
 public:
  explicit GzipStream(std::unique_ptr<ByteStream> compressed) : compressed_(std::move(compressed)) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    usable_ = inflateInit2(&state_, kGzipOnly) == Z_OK;
  }
  ~GzipStream() override { inflateEnd(&state_); }

  Result<size_t> read(std::span<char> buffer) override {
    if (!usable_) return fail(ErrorKind::internal, "zlib could not be initialized");
    size_t filled = 0;
    while (filled < buffer.size() && !ended_) {
      if (state_.avail_in == 0) {
        auto got = compressed_->read(input_);
        if (!got) return got;
        if (*got == 0) {
          end(between_members_ ? "" : "the gzip stream is truncated");
          break;
        }
        state_.next_in = reinterpret_cast<Bytef*>(input_.data());
        state_.avail_in = static_cast<uInt>(*got);
      }
      if (between_members_) {
        if (inflateReset(&state_) != Z_OK) return fail(ErrorKind::internal, "zlib reset failed");
        between_members_ = false;
      }
      const size_t room = std::min<size_t>(buffer.size() - filled, 1U << 30U);
      state_.next_out = reinterpret_cast<Bytef*>(buffer.data() + filled);
      state_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&state_, Z_NO_FLUSH);
      filled += room - state_.avail_out;
      if (status == Z_STREAM_END) {
        between_members_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        end("the gzip stream is damaged");
      }
    }
    return filled;
  }

  [[nodiscard]] std::string damage() const override { return damage_; }

 private:
  void end(std::string why) {
    ended_ = true;
    damage_ = std::move(why);
  }

  std::unique_ptr<ByteStream> compressed_;
  z_stream state_{};
  std::vector<char> input_ = std::vector<char>(256UL << 10U);
  bool usable_ = false;
  bool between_members_ = false;
  bool ended_ = false;
  std::string damage_;
};

bool is_gzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

Result<std::unique_ptr<ByteStream>> open_stream(const std::filesystem::path& path,
                                                bool whole_content_wanted) {
  auto file = open_for_reading(path);
  if (!file) return fail_with(file.error());
  struct stat status{};
  if (::fstat(file->get(), &status) != 0) {
    return fail_with(system_error(ErrorKind::input, path, errno));
  }
  std::array<char, 2> magic{};
  const ssize_t got = ::pread(file->get(), magic.data(), magic.size(), 0);
  auto plain = std::make_unique<FileStream>(std::move(*file), path);
  if (got != 2 || !is_gzip({magic.data(), magic.size()})) return plain;
  const auto compressed_size = static_cast<uint64_t>(status.st_size);
  if (whole_content_wanted && compressed_size <= kSmallGzipBytes) {
    auto compressed = read_all(*plain, kSmallGzipBytes);
    if (!compressed) return fail_with(compressed.error().within(path.string()));
    if (auto content = gunzip_small(*compressed)) {
      return std::make_unique<MemoryStream>(std::move(*content));
    }
    auto again = open_for_reading(path);
    if (!again) return fail_with(again.error());
    plain = std::make_unique<FileStream>(std::move(*again), path);
  }
  return std::make_unique<GzipStream>(std::move(plain));
}

std::atomic<uint64_t> total = 0;

}  // namespace

Result<std::unique_ptr<ByteStream>> open_byte_stream(const std::filesystem::path& path) {
  return open_stream(path, true);
}

std::unique_ptr<ByteStream> stream_over(std::span<const char> bytes) {
  auto plain = std::make_unique<MemoryStream>(bytes);
  if (!is_gzip({bytes.data(), bytes.size()})) return plain;
  return std::make_unique<GzipStream>(std::move(plain));
}

Result<std::string> read_head(const std::filesystem::path& path, size_t limit) {
  auto stream = open_stream(path, false);
  if (!stream) return fail_with(stream.error());
  std::string head(limit, '\0');
  auto got = (*stream)->read(head);
  if (!got) return fail_with(got.error());
  head.resize(*got);
  return head;
}

Result<std::string> read_all(ByteStream& stream, size_t limit, size_t expected) {
  std::string content;
  constexpr size_t kStep = 1UL << 20U;
  content.reserve(std::min(expected, limit) + kStep);
  while (true) {
    const size_t before = content.size();
    content.resize(before + kStep);
    auto got = stream.read(std::span(content).subspan(before));
    if (!got) return fail_with(got.error());
    content.resize(before + *got);
    if (content.size() > limit) {
      return fail_input(fmt::format("the content is larger than {} MiB", limit >> 20U));
    }
    if (*got < kStep) return content;
  }
}

Result<std::string> read_all(const std::filesystem::path& path, size_t limit) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  auto content = read_all(**stream, limit);
  return content ? content : fail_with(content.error().within(path.string()));
}

void count_bytes_read(uint64_t bytes) { total.fetch_add(bytes, std::memory_order_relaxed); }

uint64_t bytes_read() { return total.load(std::memory_order_relaxed); }

}  // namespace llmprof
