#pragma once

#include <cstddef>
#include <cstring>

// The version of NVIDIA's kernel driver, such as 580.95.05.
namespace llmprof::collector {

inline constexpr size_t kDriverVersionBytes = 80;  // NVML's, with the terminating 0

// From the kernel's files; if they are missing (WSL) and NVML may be asked, from NVML. False if it
// is unknown.
bool read_driver_version(bool may_ask_nvml, char (&version)[kDriverVersionBytes]);

// The first word of `text` that is numbers with dots between them, as in the line "NVRM version:
// NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build". False if there is none.
inline bool find_version(const char* text, char (&version)[kDriverVersionBytes]) {
  constexpr const char* kSpace = " \t\r\n";
  constexpr const char* kDigits = "0123456789";
  constexpr const char* kVersion = "0123456789.";
  for (text += std::strspn(text, kSpace); *text != '\0'; text += std::strspn(text, kSpace)) {
    const size_t length = std::strcspn(text, kSpace);
    const size_t first = std::strspn(text, kDigits);
    if (first > 0 && text[first] == '.' && std::strspn(text, kVersion) == length &&
        length < kDriverVersionBytes) {
      std::memcpy(version, text, length);
      version[length] = '\0';
      return true;
    }
    text += length;
  }
  return false;
}

}  // namespace llmprof::collector
