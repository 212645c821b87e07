// Receives NVTX calls: if NVTX_INJECTION64_PATH names this library, NVTX loads it in every program
// and library that uses NVTX, and calls these functions.
#ifdef LLMPROF_HAS_NVTX

#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cwchar>

#include "collector/names.h"
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

// The text of an NVTX call in its variants. For a thread inside a Call.
KnownName name_of(const char* text) { return KnownName(text); }

size_t put_utf8(char32_t c, char* to) {
  constexpr char32_t kOneByte = 0x80;
  constexpr char32_t kTwoBytes = 0x800;
  constexpr char32_t kThreeBytes = 0x10000;
  if (c < kOneByte) {
    to[0] = static_cast<char>(c);
    return 1;
  }
  const size_t more = c < kTwoBytes ? 1 : c < kThreeBytes ? 2 : 3;
  for (size_t i = more; i > 0; --i, c >>= 6U) to[i] = static_cast<char>(0x80U | (c & 0x3FU));
  // As many leading one bits as there are bytes.
  to[0] = static_cast<char>((0xFF00U >> (more + 1) & 0xFFU) | (c & (0x3FU >> more)));
  return more + 1;
}

// Truncated to 1 KiB of UTF-8, which is plenty for a name.
KnownName name_of(const wchar_t* text) {
  constexpr size_t kRoom = 1024;
  char bytes[kRoom];
  size_t used = 0;
  for (; text != nullptr && *text != L'\0' && used + 4 < kRoom; ++text) {
    used += put_utf8(static_cast<char32_t>(*text), bytes + used);
  }
  bytes[used] = '\0';
  const KnownName known(bytes);
  return known.entry == nullptr ? KnownName("") : KnownName(known.entry);
}

using Event = const nvtxEventAttributes_t*;
KnownName name_of(Event event) {
  if (event == nullptr) return KnownName("");
  switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return name_of(event->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return name_of(event->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      auto* entry = reinterpret_cast<Name*>(event->message.registered);
      return entry == nullptr ? KnownName("") : KnownName(entry);
    }
    default:
      return KnownName("");
  }
}

// NVTX counts levels from 0 and returns a negative number on failure.
constexpr int kNoLevel = -1;

// NVTX's functions, for each variant of text.
template <class Text>
int push_in(size_t domain, Text text) {
  const Call call;
  if (!call || domain >= kDomains || !recording()) return kNoLevel;
  const KnownName name = name_of(text);
  const uint16_t depth = call.thread().depth[domain]++;
  record_push(call.thread(), domain, name, depth);
  return depth;
}

int pop_in(size_t domain) {
  const Call call;
  if (!call || domain >= kDomains || !recording()) return kNoLevel;
  if (call.thread().depth[domain] == 0) return kNoLevel;
  const uint16_t depth = --call.thread().depth[domain];
  record_pop(call.thread(), domain, depth);
  return depth;
}

template <class Text>
nvtxRangeId_t start_in(size_t domain, Text text) {
  const Call call;
  if (!call || domain >= kDomains || !recording()) return 0;
  return record_start(call.thread(), domain, name_of(text));
}

template <class Text>
void mark_in(size_t domain, Text text) {
  const Call call;
  if (call && domain < kDomains && recording()) record_mark(call.thread(), domain, name_of(text));
}

template <class Text>
void NVTX_API mark_default(Text text) {
  mark_in(kDefaultDomain, text);
}
template <class Text>
nvtxRangeId_t NVTX_API start_default(Text text) {
  return start_in(kDefaultDomain, text);
}
template <class Text>
int NVTX_API push_default(Text text) {
  return push_in(kDefaultDomain, text);
}
int NVTX_API pop_default() { return pop_in(kDefaultDomain); }

void NVTX_API end_range(nvtxRangeId_t range) {
  const Call call;
  if (call && range != 0 && recording()) record_end(call.thread(), range);
}

template <class Text>
void NVTX_API name_thread(uint32_t thread_id, Text text) {
  const Call call;
  if (!call || !recording()) return;
  const wire::StringKey name = name_of(text).key();
  if (name != 0) {
    record(call.thread(), wire::RecordType::thread_name, wire::ThreadName{thread_id, name});
  }
}

void NVTX_API domain_mark(nvtxDomainHandle_t domain, Event event) {
  mark_in(domain_of(domain), event);
}
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, Event event) {
  return start_in(domain_of(domain), event);
}
void NVTX_API domain_end(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t range) { end_range(range); }
int NVTX_API domain_push(nvtxDomainHandle_t domain, Event event) {
  return push_in(domain_of(domain), event);
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop_in(domain_of(domain)); }

template <class Text>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t /*domain*/, Text text) {
  const Call call;
  if (!call || !recording()) return nullptr;
  return reinterpret_cast<nvtxStringHandle_t>(name_of(text).entry);
}

template <class Text>
nvtxDomainHandle_t NVTX_API create_domain(Text text) {
  const Call call;
  if (!call || !recording()) return nullptr;
  const KnownName name = name_of(text);
  return name.entry == nullptr ? nullptr : handle_of(domain_number(name.entry->text));
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
      entry(NVTX_CBID_CORE_MarkEx, mark_default<Event>),
      entry(NVTX_CBID_CORE_MarkA, mark_default<const char*>),
      entry(NVTX_CBID_CORE_MarkW, mark_default<const wchar_t*>),
      entry(NVTX_CBID_CORE_RangeStartEx, start_default<Event>),
      entry(NVTX_CBID_CORE_RangeStartA, start_default<const char*>),
      entry(NVTX_CBID_CORE_RangeStartW, start_default<const wchar_t*>),
      entry(NVTX_CBID_CORE_RangeEnd, end_range),
      entry(NVTX_CBID_CORE_RangePushEx, push_default<Event>),
      entry(NVTX_CBID_CORE_RangePushA, push_default<const char*>),
      entry(NVTX_CBID_CORE_RangePushW, push_default<const wchar_t*>),
      entry(NVTX_CBID_CORE_RangePop, pop_default),
      entry(NVTX_CBID_CORE_NameOsThreadA, name_thread<const char*>),
      entry(NVTX_CBID_CORE_NameOsThreadW, name_thread<const wchar_t*>),
  };
  const Entry core2[] = {
      entry(NVTX_CBID_CORE2_DomainMarkEx, domain_mark),
      entry(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
      entry(NVTX_CBID_CORE2_DomainRangeEnd, domain_end),
      entry(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
      entry(NVTX_CBID_CORE2_DomainRangePop, domain_pop),
      entry(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<const char*>),
      entry(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<const wchar_t*>),
      entry(NVTX_CBID_CORE2_DomainCreateA, create_domain<const char*>),
      entry(NVTX_CBID_CORE2_DomainCreateW, create_domain<const wchar_t*>),
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
