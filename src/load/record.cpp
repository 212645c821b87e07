#include "load/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace llmprof::load {
namespace {

// The load does not wake the writer for every request.
constexpr std::chrono::milliseconds kBetweenWrites(50);

void append_optional(std::string& out, std::string_view key, std::optional<uint64_t> value) {
  if (value) fmt::format_to(std::back_inserter(out), ",\"{}\":{}", key, *value);
}

}  // namespace

std::string_view word_of(RequestStatus status) {
  constexpr std::array<std::string_view, 4> kWords = {"completed", "failed", "cut", "cancelled"};
  return kWords.at(static_cast<size_t>(status));
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_of(const RequestRecord& request) {
  std::string out;
  const auto into = std::back_inserter(out);
  fmt::format_to(into, "{{\"id\":{},\"scheduled_ns\":{}", request.id, request.scheduled_ns);
  if (request.sent_ns) fmt::format_to(into, ",\"sent_ns\":{}", *request.sent_ns);
  if (request.connect_ns > 0) fmt::format_to(into, ",\"connect_ns\":{}", request.connect_ns);
  out += ",\"chunks\":[";
  for (const auto& chunk : request.chunks) {
    if (&chunk != &request.chunks.front()) out += ',';
    fmt::format_to(into, "[{},{}]", chunk.arrival_ns, chunk.tokens);
  }
  out += ']';
  if (request.end_ns) fmt::format_to(into, ",\"end_ns\":{}", *request.end_ns);
  append_optional(out, "prompt_tokens", request.prompt_tokens);
  fmt::format_to(into, ",\"max_tokens\":{}", request.max_tokens);
  append_optional(out, "output_tokens", request.output_tokens);
  append_optional(out, "cached_tokens", request.cached_tokens);
  fmt::format_to(into, ",\"status\":\"{}\"", word_of(request.status));
  if (!request.error.empty()) fmt::format_to(into, ",\"error\":{}", json_text(request.error));
  if (!request.timings.empty()) fmt::format_to(into, ",\"timings\":{}", request.timings);
  if (request.resent) out += ",\"resent\":true";
  out += '}';
  return out;
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::open(const std::filesystem::path& path,
                                                         const RecordFields& head, OnWritten seen) {
  constexpr mode_t kMode = 0644;
  std::filesystem::path partial = path;
  partial += ".partial";
  remove_file(partial);
  const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (descriptor < 0) return fail_with(system_error(ErrorKind::tool, partial, errno));
  std::string text = "{";
  for (const auto& [name, value] : head) {
    fmt::format_to(std::back_inserter(text), "{}:{},\n", json_text(name), value);
  }
  text += "\"requests\":[";
  // Not make_unique: the constructor is private.
  std::unique_ptr<RecordWriter> writer(
      new RecordWriter(path, std::move(partial), descriptor, std::move(seen)));
  writer->put(text);
  writer->thread_ = std::thread([raw = writer.get()] { raw->write_until_done(); });
  return writer;
}

RecordWriter::RecordWriter(std::filesystem::path path, std::filesystem::path partial,
                           int descriptor, OnWritten seen)
    : path_(std::move(path)),
      partial_(std::move(partial)),
      descriptor_(descriptor),
      seen_(std::move(seen)) {}

RecordWriter::~RecordWriter() {
  if (thread_.joinable()) {
    {
      const std::lock_guard guard(lock_);
      is_done_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RecordWriter::add(RequestRecord request) {
  const std::lock_guard guard(lock_);
  added_.push_back(std::move(request));
}

void RecordWriter::put(std::string_view text) {
  if (error_number_ == 0) error_number_ = write_all(descriptor_, text);
}

void RecordWriter::write_until_done() {
  std::unique_lock guard(lock_);
  while (!is_done_ || !added_.empty()) {
    changed_.wait_for(guard, kBetweenWrites, [this] { return is_done_; });
    std::deque<RequestRecord> added;
    added.swap(added_);
    guard.unlock();
    for (RequestRecord& request : added) {
      const uint64_t id = request.id;
      seen_(request);
      waiting_.emplace(id, std::move(request));
    }
    std::string text;
    while (!waiting_.empty() && waiting_.begin()->first == next_id_) {
      text += std::exchange(is_first_, false) ? "\n" : ",\n";
      text += json_of(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++next_id_;
    }
    if (!text.empty()) put(text);
    guard.lock();
  }
}

Result<void> RecordWriter::finish(const RecordFields& tail) {
  {
    const std::lock_guard guard(lock_);
    is_done_ = true;
  }
  changed_.notify_one();
  thread_.join();
  // Where a request was never sent, those behind it still wait.
  std::string text;
  for (const auto& [id, request] : waiting_) {
    text += std::exchange(is_first_, false) ? "\n" : ",\n";
    text += json_of(request);
  }
  text += "\n]";
  for (const auto& [name, value] : tail) {
    fmt::format_to(std::back_inserter(text), ",\n{}:{}", json_text(name), value);
  }
  put(text + "}\n");
  if (error_number_ == 0 && ::close(std::exchange(descriptor_, -1)) != 0) error_number_ = errno;
  if (error_number_ == 0 && ::rename(partial_.c_str(), path_.c_str()) != 0) error_number_ = errno;
  if (error_number_ != 0) return fail_with(system_error(ErrorKind::tool, path_, error_number_));
  return {};
}

}  // namespace llmprof::load
