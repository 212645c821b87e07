#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace llmprof::http {

// Where the certificates are that decide which servers are trusted: a file, a folder, or both.
struct CaCertificates {
  std::filesystem::path file;    // empty: none
  std::filesystem::path folder;  // empty: none; one file per hash of a name
};

// The file that the user named, else SSL_CERT_FILE and SSL_CERT_DIR, else the first place where a
// distribution keeps them below `root` (Debian, RHEL and Fedora, SUSE, Alpine). An error names the
// places that were tried.
Result<CaCertificates> find_ca_certificates(const std::string& named,
                                            const std::filesystem::path& root = "/");

}  // namespace llmprof::http
