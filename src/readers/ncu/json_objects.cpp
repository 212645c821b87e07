#include "readers/ncu/json_objects.h"

#include <string>

#include "base/json_string.h"

namespace llmprof::readers {
namespace {

constexpr size_t kChunk = 1UL << 20U;
constexpr size_t kReadableBehindObject = 64;
constexpr size_t kLongestObject = 32UL << 20U;

// Follows strings and brackets only; whether an object is valid is for its reader to say.
class ObjectFinder {
 public:
  // Looks at one more character; true when it closes an outermost object.
  bool closes(char c) {
    if (string_.takes(c)) return false;
    if (c == '"') {
      if (depth_ > 0) string_.begin();
    } else if (c == '{' || (c == '[' && depth_ > 0)) {
      ++depth_;
    } else if ((c == '}' || c == ']') && depth_ > 0) {
      return --depth_ == 0;
    }
    return false;
  }
  [[nodiscard]] bool inside() const { return depth_ > 0; }
  void give_up() { *this = {}; }

 private:
  uint64_t depth_ = 0;
  JsonString string_;
};

}  // namespace

Result<uint64_t> each_json_object(ByteStream& stream,
                                  const std::function<void(std::string_view)>& use) {
  std::string buffer;
  ObjectFinder finder;
  uint64_t lost = 0;
  size_t begin = 0;  // of the object that is open
  size_t at = 0;
  bool ended = false;
  while (!ended) {
    buffer.erase(0, begin);
    at -= begin;
    begin = 0;
    buffer.resize(at + kChunk + kReadableBehindObject);
    auto got = stream.read(std::span(buffer).subspan(at, kChunk));
    if (!got) return fail_with(got.error());
    ended = *got < kChunk;
    const size_t filled = at + *got;
    for (; at < filled; ++at) {
      const bool was_inside = finder.inside();
      const bool closed = finder.closes(buffer[at]);
      if (!was_inside && finder.inside()) begin = at;
      if (closed) {
        use(std::string_view(buffer).substr(begin, at + 1 - begin));
        begin = at + 1;
      }
    }
    if (!finder.inside()) begin = filled;
    if (finder.inside() && filled - begin > kLongestObject) {
      finder.give_up();
      begin = filled;
      ++lost;
    }
  }
  return lost + (finder.inside() ? 1 : 0);
}

}  // namespace llmprof::readers
