#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <cwchar>

#include "collector/ranges.h"

// The text of an NVTX call in its variants. name() is for a thread that is inside a Call.
namespace llmprof::collector {

class NarrowMessage {
 public:
  explicit NarrowMessage(const char* text) : text_(text) {}
  [[nodiscard]] KnownName name() const { return KnownName(text_); }

 private:
  const char* text_;
};

// Truncated to 1 KiB of UTF-8, which is plenty for a name.
class WideMessage {
 public:
  explicit WideMessage(const wchar_t* text) : text_(text) {}
  [[nodiscard]] KnownName name() const {
    constexpr size_t kRoom = 1024;
    char bytes[kRoom];
    size_t used = 0;
    for (const wchar_t* c = text_; c != nullptr && *c != L'\0' && used + 4 < kRoom; ++c) {
      used += put_utf8(static_cast<char32_t>(*c), bytes + used);
    }
    bytes[used] = '\0';
    const KnownName known(bytes);
    return known.entry == nullptr ? KnownName("") : KnownName(known.entry);
  }

 private:
  static size_t put_utf8(char32_t c, char* to) {
    constexpr char32_t kOneByte = 0x80;
    constexpr char32_t kTwoBytes = 0x800;
    constexpr char32_t kThreeBytes = 0x10000;
    const auto tail = [](char32_t bits) { return static_cast<char>(0x80 | (bits & 0x3F)); };
    if (c < kOneByte) {
      to[0] = static_cast<char>(c);
      return 1;
    }
    if (c < kTwoBytes) {
      to[0] = static_cast<char>(0xC0 | (c >> 6));
      to[1] = tail(c);
      return 2;
    }
    if (c < kThreeBytes) {
      to[0] = static_cast<char>(0xE0 | (c >> 12));
      to[1] = tail(c >> 6);
      to[2] = tail(c);
      return 3;
    }
    to[0] = static_cast<char>(0xF0 | ((c >> 18) & 0x07));
    to[1] = tail(c >> 12);
    to[2] = tail(c >> 6);
    to[3] = tail(c);
    return 4;
  }

  const wchar_t* text_;
};

class EventMessage {
 public:
  explicit EventMessage(const nvtxEventAttributes_t* event) : event_(event) {}
  [[nodiscard]] KnownName name() const {
    if (event_ == nullptr) return KnownName("");
    switch (event_->messageType) {
      case NVTX_MESSAGE_TYPE_ASCII:
        return KnownName(event_->message.ascii);
      case NVTX_MESSAGE_TYPE_UNICODE:
        return WideMessage(event_->message.unicode).name();
      case NVTX_MESSAGE_TYPE_REGISTERED:
        return of_handle(event_->message.registered);
      default:
        return KnownName("");
    }
  }

 private:
  static KnownName of_handle(nvtxStringHandle_t handle) {
    auto* entry = reinterpret_cast<Name*>(handle);
    return entry == nullptr ? KnownName("") : KnownName(entry);
  }

  const nvtxEventAttributes_t* event_;
};

}  // namespace llmprof::collector
