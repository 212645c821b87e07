// Receives NVTX calls: if NVTX_INJECTION64_PATH names this library, NVTX loads it in every program
// and library that uses NVTX, and calls these functions.
#ifdef LLMPROF_HAS_NVTX

#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstdint>

#include "collector/domains.h"
#include "collector/nvtx/message.h"
#include "collector/ranges.h"
#include "collector/recorder.h"
#include "wire/log_format.h"

namespace llmprof::collector {
namespace {

// A handle is the domain's number plus one, so that none is null.
nvtxDomainHandle_t handle_of(size_t domain) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<nvtxDomainHandle_t>(domain + 1);
}
size_t domain_of(nvtxDomainHandle_t handle) {
  return handle == nullptr ? kDefaultDomain : reinterpret_cast<uintptr_t>(handle) - 1;
}

// NVTX counts levels from 0 and returns a negative number on failure.
constexpr int kNoLevel = -1;

int push(size_t domain, const KnownName& name, const Call& call) {
  if (domain >= kDomains || !recording()) return kNoLevel;
  const uint16_t depth = call.thread().depth[domain]++;
  record_push(call.thread(), domain, name, depth);
  return depth;
}

int pop(size_t domain) {
  const Call call;
  if (!call || domain >= kDomains || !recording()) return kNoLevel;
  if (call.thread().depth[domain] == 0) return kNoLevel;
  const uint16_t depth = --call.thread().depth[domain];
  record_pop(call.thread(), domain, depth);
  return depth;
}

template <class Text>
int push_text(size_t domain, const Text& text) {
  const Call call;
  return call ? push(domain, text.name(), call) : kNoLevel;
}

template <class Text>
nvtxRangeId_t start_text(size_t domain, const Text& text) {
  const Call call;
  if (!call || domain >= kDomains || !recording()) return 0;
  return record_start(call.thread(), domain, text.name());
}

template <class Text>
void mark_text(size_t domain, const Text& text) {
  const Call call;
  if (call && domain < kDomains && recording()) record_mark(call.thread(), domain, text.name());
}

void end_range(nvtxRangeId_t range) {
  const Call call;
  if (call && range != 0 && recording()) record_end(call.thread(), range);
}

template <class Text>
void name_thread(uint32_t thread_id, const Text& text) {
  const Call call;
  if (!call || !recording()) return;
  const wire::StringKey name = text.name().key();
  if (name != 0) {
    record(call.thread(), wire::RecordType::thread_name, wire::ThreadName{thread_id, name});
  }
}

template <class Text>
nvtxDomainHandle_t create_domain(const Text& text) {
  const Call call;
  if (!call || !recording()) return nullptr;
  const KnownName name = text.name();
  return name.entry == nullptr ? nullptr : handle_of(domain_number(name.entry->text));
}

template <class Text>
nvtxStringHandle_t register_string(const Text& text) {
  const Call call;
  if (!call || !recording()) return nullptr;
  return reinterpret_cast<nvtxStringHandle_t>(text.name().entry);
}

// The functions of NVTX.
void NVTX_API mark_ex(const nvtxEventAttributes_t* event) {
  mark_text(kDefaultDomain, EventMessage(event));
}
void NVTX_API mark_a(const char* text) { mark_text(kDefaultDomain, NarrowMessage(text)); }
void NVTX_API mark_w(const wchar_t* text) { mark_text(kDefaultDomain, WideMessage(text)); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* event) {
  return start_text(kDefaultDomain, EventMessage(event));
}
nvtxRangeId_t NVTX_API start_a(const char* text) {
  return start_text(kDefaultDomain, NarrowMessage(text));
}
nvtxRangeId_t NVTX_API start_w(const wchar_t* text) {
  return start_text(kDefaultDomain, WideMessage(text));
}
void NVTX_API end_id(nvtxRangeId_t range) { end_range(range); }
int NVTX_API push_ex(const nvtxEventAttributes_t* event) {
  return push_text(kDefaultDomain, EventMessage(event));
}
int NVTX_API push_a(const char* text) { return push_text(kDefaultDomain, NarrowMessage(text)); }
int NVTX_API push_w(const wchar_t* text) { return push_text(kDefaultDomain, WideMessage(text)); }
int NVTX_API pop_default() { return pop(kDefaultDomain); }
void NVTX_API name_thread_a(uint32_t thread_id, const char* name) {
  name_thread(thread_id, NarrowMessage(name));
}
void NVTX_API name_thread_w(uint32_t thread_id, const wchar_t* name) {
  name_thread(thread_id, WideMessage(name));
}

void NVTX_API domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  mark_text(domain_of(domain), EventMessage(event));
}
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return start_text(domain_of(domain), EventMessage(event));
}
void NVTX_API domain_end(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t range) { end_range(range); }
int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return push_text(domain_of(domain), EventMessage(event));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop(domain_of(domain)); }
nvtxStringHandle_t NVTX_API domain_register_a(nvtxDomainHandle_t /*domain*/, const char* text) {
  return register_string(NarrowMessage(text));
}
nvtxStringHandle_t NVTX_API domain_register_w(nvtxDomainHandle_t /*domain*/, const wchar_t* text) {
  return register_string(WideMessage(text));
}
nvtxDomainHandle_t NVTX_API domain_create_a(const char* name) {
  return create_domain(NarrowMessage(name));
}
nvtxDomainHandle_t NVTX_API domain_create_w(const wchar_t* name) {
  return create_domain(WideMessage(name));
}

struct Entry {
  unsigned callback;
  NvtxFunctionPointer function;
};

template <class Function>
Entry entry(unsigned callback, Function* function) {
  return {callback, reinterpret_cast<NvtxFunctionPointer>(function)};
}

template <size_t Count>
bool fill(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
          const Entry (&entries)[Count]) {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr)
    return false;
  for (const Entry& one : entries) {
    if (one.callback < size && table[one.callback] != nullptr) *table[one.callback] = one.function;
  }
  return true;
}

bool fill_tables(const NvtxExportTableCallbacks& callbacks) {
  const Entry core[] = {
      entry(NVTX_CBID_CORE_MarkEx, mark_ex),
      entry(NVTX_CBID_CORE_MarkA, mark_a),
      entry(NVTX_CBID_CORE_MarkW, mark_w),
      entry(NVTX_CBID_CORE_RangeStartEx, start_ex),
      entry(NVTX_CBID_CORE_RangeStartA, start_a),
      entry(NVTX_CBID_CORE_RangeStartW, start_w),
      entry(NVTX_CBID_CORE_RangeEnd, end_id),
      entry(NVTX_CBID_CORE_RangePushEx, push_ex),
      entry(NVTX_CBID_CORE_RangePushA, push_a),
      entry(NVTX_CBID_CORE_RangePushW, push_w),
      entry(NVTX_CBID_CORE_RangePop, pop_default),
      entry(NVTX_CBID_CORE_NameOsThreadA, name_thread_a),
      entry(NVTX_CBID_CORE_NameOsThreadW, name_thread_w),
  };
  const Entry core2[] = {
      entry(NVTX_CBID_CORE2_DomainMarkEx, domain_mark),
      entry(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
      entry(NVTX_CBID_CORE2_DomainRangeEnd, domain_end),
      entry(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
      entry(NVTX_CBID_CORE2_DomainRangePop, domain_pop),
      entry(NVTX_CBID_CORE2_DomainRegisterStringA, domain_register_a),
      entry(NVTX_CBID_CORE2_DomainRegisterStringW, domain_register_w),
      entry(NVTX_CBID_CORE2_DomainCreateA, domain_create_a),
      entry(NVTX_CBID_CORE2_DomainCreateW, domain_create_w),
  };
  return fill(callbacks, NVTX_CB_MODULE_CORE, core) && fill(callbacks, NVTX_CB_MODULE_CORE2, core2);
}

}  // namespace
}  // namespace llmprof::collector

// NVTX calls it once for each program and library that contains NVTX. 0: NVTX continues without us.
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  if (!llmprof::collector::recording()) return 0;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return 0;
  return llmprof::collector::fill_tables(*callbacks) ? 1 : 0;
}

#endif
