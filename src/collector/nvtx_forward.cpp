#include "collector/nvtx_forward.h"

#ifdef LLMPROF_HAS_NVTX

#include <nvtx3/nvToolsExt.h>

#include <cstdlib>

#include "collector/environment.h"

namespace llmprof::collector {
namespace {

constinit nvtxDomainHandle_t domain = nullptr;

nvtxEventAttributes_t event(void* handle, const char* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  if (handle != nullptr) {
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = static_cast<nvtxStringHandle_t>(handle);
  } else {
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
  }
  return attributes;
}

}  // namespace

void begin_nvtx() {
  // If this library is itself the tool that NVTX loads, ranges would come back to it.
  if (names_this_library(secure_getenv("NVTX_INJECTION64_PATH"))) return;
  domain = nvtxDomainCreateA("LLM");
}
bool nvtx_is_active() { return domain != nullptr; }

void* nvtx_register(const char* name) {
  return domain == nullptr ? nullptr : nvtxDomainRegisterStringA(domain, name);
}

void nvtx_push(void* handle, const char* name) {
  const nvtxEventAttributes_t attributes = event(handle, name);
  nvtxDomainRangePushEx(domain, &attributes);
}

void nvtx_pop() { nvtxDomainRangePop(domain); }

uint64_t nvtx_start(void* handle, const char* name) {
  const nvtxEventAttributes_t attributes = event(handle, name);
  return nvtxDomainRangeStartEx(domain, &attributes);
}

void nvtx_end(uint64_t range) { nvtxDomainRangeEnd(domain, range); }

void nvtx_mark(void* handle, const char* name) {
  const nvtxEventAttributes_t attributes = event(handle, name);
  nvtxDomainMarkEx(domain, &attributes);
}

}  // namespace llmprof::collector

#else

namespace llmprof::collector {

void begin_nvtx() {}
bool nvtx_is_active() { return false; }
void* nvtx_register(const char* /*name*/) { return nullptr; }
void nvtx_push(void* /*handle*/, const char* /*name*/) {}
void nvtx_pop() {}
uint64_t nvtx_start(void* /*handle*/, const char* /*name*/) { return 0; }
void nvtx_end(uint64_t /*range*/) {}
void nvtx_mark(void* /*handle*/, const char* /*name*/) {}

}  // namespace llmprof::collector

#endif
