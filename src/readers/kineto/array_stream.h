#pragma once

#include <span>
#include <vector>

#include "base/streams/byte_stream.h"
#include "base/streams/ordered_windows.h"
#include "readers/kineto/envelope.h"
#include "readers/kineto/window_cut.h"

namespace llmprof::readers {

// The inside of a trace's event array as a stream of its own, which ends where the array does.
class KinetoArrayStream final : public ByteStream {
 public:
  explicit KinetoArrayStream(ByteStream& content) : content_(content) {}

  // Goes on to the next event array; false at the end of the content.
  Result<bool> next_array();

  Result<size_t> read(std::span<char> buffer) override;

  // Cuts what was read last after its last whole event.
  [[nodiscard]] size_t cut(std::string_view buffer) const;

  // What stands around the array, as far as the content has been read.
  [[nodiscard]] const KinetoEnvelope& envelope() const { return envelope_; }
  // The array's closing bracket was found.
  [[nodiscard]] bool closed() const { return scan_.closed(); }

 private:
  ByteStream& content_;
  KinetoEnvelope envelope_;
  KinetoEventScan scan_;
  std::vector<char> pending_;  // read from the content, not yet looked at
};

}  // namespace llmprof::readers
