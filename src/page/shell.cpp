#include "page/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <thread>

#include "base/streams/deflate.h"
#include "base/text.h"
#include "report/html/html.h"

namespace llmprof::page {
namespace {

// libdeflate's: level 6 takes 1.8 times as long for 3 % fewer bytes of a real capture
// (bench/RESULTS.md).
constexpr int kCompression = 1;

std::string bytes_of(std::string_view hexadecimal) {
  constexpr int kBase = 16;
  std::string bytes;
  for (size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hexadecimal.data() + i, hexadecimal.data() + i + 2, value, kBase);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::string content_security_policy(const Bundle& bundle) {
  std::string hash;
  append_base64(hash, bytes_of(bundle.script_sha256));
  return fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:; "
      "base-uri 'none'; form-action 'none'",
      hash);
}

// Each block as an element. Blocks are compressed side by side, the longest first.
std::vector<std::string> block_elements(const std::vector<NamedBytes>& blocks) {
  std::vector<size_t> order(blocks.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return blocks[a].bytes.size() > blocks[b].bytes.size(); });
  std::vector<std::string> elements(blocks.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < order.size(); i = next++) {
      const NamedBytes& block = blocks[order[i]];
      std::string& out = elements[order[i]];
      out = fmt::format("<script type=\"application/octet-stream\" id=\"block-{}\">",
                        report::html_text(block.name));
      append_base64(out, zlib_compressed(block.bytes, kCompression));
      out += "</script>\n";
    }
  };
  const size_t cores = std::max<size_t>(1, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (size_t i = 1; i < std::min(cores, blocks.size()); ++i) others.emplace_back(work);
  work();
  others.clear();
  return elements;
}

}  // namespace

std::string make_shell(const Bundle& bundle, std::string_view title, std::string_view overview,
                       const std::vector<NamedBytes>& blocks) {
  const std::vector<std::string> elements = block_elements(blocks);
  std::string page;
  size_t size = overview.size() + bundle.script.size() + bundle.style.size() + 4096;
  for (const std::string& element : elements) size += element.size();
  page.reserve(size);
  page += fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{}</title>\n<style>\n",
      content_security_policy(bundle), report::html_text(title));
  page += bundle.style;
  page += "</style>\n</head>\n<body>\n<main id=\"overview\">\n";
  page += overview;
  page += "</main>\n<div id=\"app\"></div>\n";
  for (const std::string& element : elements) page += element;
  page += "<script>";
  page += bundle.script;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace llmprof::page
