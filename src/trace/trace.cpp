#include "trace/trace.h"

namespace llmprof::trace {

Trace::Trace() = default;
Trace::Trace(const Trace& other) = default;
Trace::Trace(Trace&& other) noexcept = default;
Trace& Trace::operator=(const Trace& other) = default;
Trace& Trace::operator=(Trace&& other) noexcept = default;
Trace::~Trace() = default;

}  // namespace llmprof::trace
