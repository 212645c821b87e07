#include "page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <numeric>
#include <thread>

#include "base/streams/deflate.h"
#include "base/text.h"
#include "report/diff/diff_report.h"
#include "report/documents/documents.h"
#include "report/writers/writers.h"

// ui/dist as embedded by cmake/page.cmake (embedded_bundle.cpp); empty if it could not be built.
// NOLINTBEGIN(readability-identifier-naming): names of assembler labels.
extern "C" {
extern const char llmprof_page_script_begin[];
extern const char llmprof_page_script_end[];
extern const char llmprof_page_style_begin[];
extern const char llmprof_page_style_end[];
extern const char llmprof_page_sha256_begin[];
extern const char llmprof_page_sha256_end[];
extern const char llmprof_page_why_begin[];
extern const char llmprof_page_why_end[];
}
// NOLINTEND(readability-identifier-naming)

namespace llmprof::page {
namespace {

// A block of data that the page decodes on demand.
struct NamedBytes {
  std::string_view name;
  std::string_view bytes;
};

// For libdeflate: level 6 takes 1.8 times as long and saves only 3 % on a real capture
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

// Each block as an element. Blocks are compressed in parallel, the longest first.
std::vector<std::string> block_elements(const std::vector<NamedBytes>& blocks) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, std::ranges::greater(),
                    [&](size_t block) { return blocks[block].bytes.size(); });
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

// One self-contained file that loads nothing: the overview as HTML, the data, the bundle.
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

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string make_page(const Bundle& bundle, const Content& content) {
  const std::string view = view_json(content);
  std::vector<NamedBytes> blocks = {{"profile", content.json}, {"view", view}};
  for (const Block& block : content.timeline) blocks.push_back({block.name, block.bytes});
  return make_shell(bundle, report::page_title(content.profile),
                    report::to_html(report::page_overview(content.profile)), blocks);
}

std::string make_diff_page(const Bundle& bundle, const compare::Diff& diff, std::string_view json) {
  const std::string view = view_json(diff);
  return make_shell(bundle, report::diff_title(diff),
                    report::to_html(report::diff_page_overview(diff)),
                    {{"diff", json}, {"view", view}});
}

std::optional<Bundle> embedded_bundle() {
  const Bundle bundle = {between(llmprof_page_script_begin, llmprof_page_script_end),
                         between(llmprof_page_style_begin, llmprof_page_style_end),
                         between(llmprof_page_sha256_begin, llmprof_page_sha256_end)};
  return bundle.script.empty() ? std::nullopt : std::optional(bundle);
}

std::string why_no_bundle() {
  const std::string_view why = between(llmprof_page_why_begin, llmprof_page_why_end);
  return fmt::format(
      "this llmprof was built without it{}; build it again where Node.js 18 and npm can make the "
      "page, then `llmprof report RUN` writes it",
      why.empty() ? "" : fmt::format(", because {}", why));
}

}  // namespace llmprof::page
