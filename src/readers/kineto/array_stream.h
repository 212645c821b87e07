#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_string.h"
#include "base/streams/byte_stream.h"
#include "base/streams/ordered_windows.h"
#include "readers/kineto/window_cut.h"

namespace llmprof::readers {

// The text around the event array of a trace: the top-level keys before and after it. Takes the
// content piece by piece, keeps the values of a few keys and drops the rest (a trace may hold
// environments, paths and logs). Lenient: anything that is not JSON is skipped.
class KinetoEnvelope {
 public:
  // Looks at the next bytes; returns how many it took: all, or those up to and including the
  // opening bracket of an event array (`in_array`).
  size_t take(std::string_view bytes);

  [[nodiscard]] bool in_array() const { return in_array_; }
  // The closing bracket has been passed; `take` continues after it.
  void leave_array() { in_array_ = false; }

  // The content is one array with nothing around it.
  [[nodiscard]] bool bare_array() const { return bare_array_; }
  // The outermost object or array was closed.
  [[nodiscard]] bool complete() const { return started_ && depth_ == 0; }
  // There was text where only an object, an array or nothing is allowed.
  [[nodiscard]] bool has_stray_text() const { return stray_text_; }
  // Values of kept keys that were dropped because they were too long.
  [[nodiscard]] uint64_t oversized_values() const { return oversized_; }

  // Names of the top-level keys met so far (a limited number).
  [[nodiscard]] bool has_key(std::string_view key) const { return keys_.contains(key); }
  // The JSON text of a kept key's value, empty if there is none; of several values, the last.
  [[nodiscard]] std::string_view value(std::string_view key) const;

 private:
  void take_structure(char c);
  void finish_key();
  void finish_value();

  uint64_t depth_ = 0;
  bool started_ = false;
  JsonString string_;
  bool in_value_ = false;
  bool in_array_ = false;
  bool bare_array_ = false;
  bool stray_text_ = false;
  bool keeping_ = false;
  uint64_t oversized_ = 0;
  std::string key_;
  std::string text_;
  std::set<std::string, std::less<>> keys_;
  std::map<std::string, std::string, std::less<>> values_;
};

// The inside of a trace's event array as its own stream, which ends where the array does.
class KinetoArrayStream final : public ByteStream {
 public:
  explicit KinetoArrayStream(ByteStream& content) : content_(content) {}

  // Continues with the next event array; false at the end of the content.
  Result<bool> next_array();

  Result<size_t> read(std::span<char> buffer) override;

  // Where to cut the bytes read last: after their last complete event.
  [[nodiscard]] size_t cut(std::string_view buffer) const;

  // The text around the array, as far as the content has been read.
  [[nodiscard]] const KinetoEnvelope& envelope() const { return envelope_; }
  // The array's closing bracket was found.
  [[nodiscard]] bool closed() const { return scan_.closed(); }

 private:
  ByteStream& content_;
  KinetoEnvelope envelope_;
  KinetoEventScan scan_;
  std::vector<char> pending_;  // read from the content, not yet processed
};

}  // namespace llmprof::readers
