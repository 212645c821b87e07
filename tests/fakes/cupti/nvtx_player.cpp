#include "nvtx_player.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace llmprof {

using tape::Nvtx;
using tape::NvtxForm;
using tape::NvtxOp;

namespace {

std::wstring widened(const std::string& text) { return {text.begin(), text.end()}; }

template <class Handle>
uint64_t as_number(Handle handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

template <class Handle>
Handle as_handle(uint64_t number) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): handles are numbers to their users
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(number));
}

// Handles that this thread has looked up need no lock: threads of a real program share none either.
thread_local std::unordered_map<unsigned, std::unordered_map<uint32_t, uint64_t>> seen;

}  // namespace

void NvtxPlayer::keep(uint32_t number, uint64_t handle) {
  const std::scoped_lock lock(mutex_);
  handles_[number] = handle;
}

uint64_t NvtxPlayer::kept(uint32_t number) {
  auto& mine = seen[serial_];
  const auto place = mine.find(number);
  if (place != mine.end()) return place->second;
  const std::scoped_lock lock(mutex_);
  return mine[number] = handles_[number];
}

nvtxDomainHandle_t NvtxPlayer::domain(const Nvtx& call) {
  return call.domain == 0 ? nullptr : as_handle<nvtxDomainHandle_t>(kept(call.domain));
}

nvtxEventAttributes_t NvtxPlayer::attributes(const Nvtx& call, const std::string& text,
                                             const std::wstring& wide) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  if (call.form == NvtxForm::registered) {
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = as_handle<nvtxStringHandle_t>(kept(call.handle));
  } else if (call.form == NvtxForm::wide) {
    event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    event.message.unicode = wide.c_str();
  } else {
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = text.c_str();
  }
  return event;
}

void NvtxPlayer::push(const Nvtx& call, const std::string& text) {
  const std::wstring wide = widened(text);
  if (call.domain == 0 && call.form == NvtxForm::plain) {
    nvtxRangePushA(text.c_str());
  } else if (call.domain == 0 && call.form == NvtxForm::wide) {
    nvtxRangePushW(wide.c_str());
  } else {
    const auto event = attributes(call, text, wide);
    call.domain == 0 ? nvtxRangePushEx(&event) : nvtxDomainRangePushEx(domain(call), &event);
  }
}

void NvtxPlayer::mark(const Nvtx& call, const std::string& text) {
  const std::wstring wide = widened(text);
  if (call.domain == 0 && call.form == NvtxForm::plain) {
    nvtxMarkA(text.c_str());
  } else if (call.domain == 0 && call.form == NvtxForm::wide) {
    nvtxMarkW(wide.c_str());
  } else {
    const auto event = attributes(call, text, wide);
    call.domain == 0 ? nvtxMarkEx(&event) : nvtxDomainMarkEx(domain(call), &event);
  }
}

void NvtxPlayer::start(const Nvtx& call) {
  const char* name = tape_.text(call.text);
  const std::string text = name != nullptr ? name : "";
  const std::wstring wide = widened(text);
  nvtxRangeId_t id = 0;
  if (call.domain == 0 && call.form == NvtxForm::plain) {
    id = nvtxRangeStartA(text.c_str());
  } else if (call.domain == 0 && call.form == NvtxForm::wide) {
    id = nvtxRangeStartW(wide.c_str());
  } else {
    const auto event = attributes(call, text, wide);
    id = call.domain == 0 ? nvtxRangeStartEx(&event) : nvtxDomainRangeStartEx(domain(call), &event);
  }
  keep(call.handle, id);
}

void initialize_nvtx() { nvtxInitialize(nullptr); }

void NvtxPlayer::play(const Nvtx& call) {
  const char* name = tape_.text(call.text);
  const std::string text = name != nullptr ? name : "";
  switch (call.op) {
    case NvtxOp::push:
      return push(call, text);
    case NvtxOp::pop:
      call.domain == 0 ? nvtxRangePop() : nvtxDomainRangePop(domain(call));
      return;
    case NvtxOp::start:
      return start(call);
    case NvtxOp::end:
      return call.domain == 0 ? nvtxRangeEnd(kept(call.handle))
                              : nvtxDomainRangeEnd(domain(call), kept(call.handle));
    case NvtxOp::mark:
      return mark(call, text);
    case NvtxOp::domain_create:
      return keep(call.handle, as_number(nvtxDomainCreateA(text.c_str())));
    case NvtxOp::domain_destroy:
      return nvtxDomainDestroy(domain(call));
    case NvtxOp::register_string:
      return keep(call.handle, as_number(nvtxDomainRegisterStringA(domain(call), text.c_str())));
    case NvtxOp::name_thread:
      return nvtxNameOsThreadA(static_cast<uint32_t>(syscall(SYS_gettid)), text.c_str());
  }
}

}  // namespace llmprof
