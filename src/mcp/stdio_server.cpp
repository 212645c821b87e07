#include "mcp/stdio_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "mcp/call_queue.h"

namespace llmprof::mcp {
namespace {

// Lines of a descriptor. Of a line that is too long only that is known.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  struct Line {
    std::string text;
    bool is_too_long = false;
  };

  // None at the end. The last line needs no line feed.
  std::optional<Line> next() {
    Line line;
    do {
      const size_t end = buffer_.find('\n', searched_);
      const size_t taken = (end == std::string::npos ? buffer_.size() : end) - begin_;
      line.is_too_long = line.is_too_long || taken > kLongestMessage;
      if (end != std::string::npos) {
        if (!line.is_too_long) line.text = buffer_.substr(begin_, taken);
        begin_ = searched_ = end + 1;
        return line;
      }
      // Of a line that is too long nothing is kept.
      buffer_.erase(0, line.is_too_long ? buffer_.size() : begin_);
      begin_ = 0;
      searched_ = buffer_.size();
    } while (read_more());
    if (buffer_.empty() && !line.is_too_long) return std::nullopt;
    line.text = std::exchange(buffer_, {});
    begin_ = searched_ = 0;
    return line;
  }

 private:
  bool read_more() {
    constexpr size_t kPiece = 64 << 10;
    std::array<char, kPiece> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
    for (;;) {
      const ssize_t size = ::read(descriptor_, piece.data(), piece.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return false;
      buffer_.append(piece.data(), static_cast<size_t>(size));
      return true;
    }
  }

  int descriptor_;
  std::string buffer_;
  size_t begin_ = 0;     // of the next line
  size_t searched_ = 0;  // no line feed of it before
};

// Writes messages, from any thread.
class LineWriter {
 public:
  explicit LineWriter(int descriptor) : descriptor_(descriptor) {}

  void write(const Json& message) {
    std::string line = to_line(message);
    line += '\n';
    const std::lock_guard lock(mutex_);
    for (size_t at = 0; at < line.size() && error_ == 0;) {
      const ssize_t size = ::write(descriptor_, line.data() + at, line.size() - at);
      if (size >= 0) {
        at += static_cast<size_t>(size);
      } else if (errno == EAGAIN) {
        pollfd waiting{descriptor_, POLLOUT, 0};
        ::poll(&waiting, 1, -1);
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
  }

  // Why nothing can be written any more; 0: it can.
  [[nodiscard]] int error() const { return error_; }

 private:
  int descriptor_;
  std::mutex mutex_;
  std::atomic<int> error_ = 0;
};

// The calls that have not been answered.
class OpenCalls {
 public:
  // False if the client uses the id of a call that has not been answered.
  bool begin(const Json& id) {
    const std::lock_guard lock(mutex_);
    return calls_.emplace(to_line(id), nullptr).second;
  }
  void keep(const Json& id, CallQueue::Handle handle) {
    const std::lock_guard lock(mutex_);
    // It may have been answered meanwhile.
    if (const auto found = calls_.find(to_line(id)); found != calls_.end()) {
      found->second = std::move(handle);
    }
  }
  void end(const Json& id) {
    const std::lock_guard lock(mutex_);
    calls_.erase(to_line(id));
  }
  void cancel(const Json& id) {
    CallQueue::Handle handle;
    {
      const std::lock_guard lock(mutex_);
      const auto found = calls_.find(to_line(id));
      if (found == calls_.end()) return;
      handle = std::move(found->second);
      calls_.erase(found);
    }
    if (handle) CallQueue::cancel(handle);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, CallQueue::Handle> calls_;
};

class StdioServer {
 public:
  StdioServer(const Protocol& protocol, int input, int output)
      : protocol_(protocol), reader_(input), writer_(output), queue_(protocol) {}

  Result<void> run() {
    while (const auto line = reader_.next()) {
      if (writer_.error() != 0) break;
      take(*line);
    }
    if (writer_.error() == 0) queue_.finish();
    // A client that has gone needs no answers; for it, that is no error.
    if (writer_.error() == 0 || writer_.error() == EPIPE) return {};
    return fail(ErrorKind::tool,
                fmt::format("answers cannot be written: {}", std::strerror(writer_.error())));
  }

 private:
  void take(const LineReader::Line& line) {
    if (line.is_too_long) {
      writer_.write(Protocol::error_without_id(
          kInvalidRequest, fmt::format("the message is longer than {} bytes", kLongestMessage)));
      return;
    }
    if (trim(line.text).empty()) return;
    Step step = protocol_.take(line.text);
    if (const auto* const answer = std::get_if<Answer>(&step)) writer_.write(answer->message);
    if (const auto* const cancelled = std::get_if<CancelCall>(&step)) calls_.cancel(cancelled->id);
    if (auto* const call = std::get_if<ToolCall>(&step)) add(std::move(*call), line.text.size());
  }

  void add(ToolCall call, size_t bytes) {
    const Json id = call.id;
    if (!calls_.begin(id)) {
      writer_.write(Protocol::error(id, kInvalidRequest, "a request with this id is not answered"));
      return;
    }
    auto handle = queue_.add(
        std::move(call), bytes, [this](const Json& message) { writer_.write(message); },
        [this, id](const Json& message) {
          calls_.end(id);
          writer_.write(message);
        });
    if (!handle) {
      calls_.end(id);
      writer_.write(Protocol::error(id, kInternalError, "too many calls are waiting"));
      return;
    }
    calls_.keep(id, std::move(handle));
  }

  const Protocol& protocol_;
  LineReader reader_;
  LineWriter writer_;
  OpenCalls calls_;
  CallQueue queue_;  // its threads use the members above
};

}  // namespace

Result<void> serve_stdio(const Protocol& protocol, int input, int output) {
  return StdioServer(protocol, input, output).run();
}

}  // namespace llmprof::mcp
