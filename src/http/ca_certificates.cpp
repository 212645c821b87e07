#include "http/ca_certificates.h"

#include <fmt/format.h>

#include <array>

#include "base/files.h"
#include "base/machine.h"

namespace llmprof::http {

Result<CaCertificates> find_ca_certificates(const std::string& named,
                                            const std::filesystem::path& root) {
  constexpr std::array kFiles = {
      "etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
      "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL, Fedora, Rocky
      "etc/pki/tls/certs/ca-bundle.crt",                   // the same, older
      "var/lib/ca-certificates/ca-bundle.pem",             // SUSE
      "etc/ssl/ca-bundle.pem",                             // the same, older
      "etc/ssl/cert.pem",                                  // Alpine
  };
  if (!named.empty()) {
    if (!is_file(named)) {
      return fail(ErrorKind::usage, fmt::format("{}: there is no such file of CA certificates; "
                                                "--ca-file names a PEM file",
                                                named));
    }
    return CaCertificates{named, {}};
  }
  CaCertificates set = {environment_variable("SSL_CERT_FILE"),
                        environment_variable("SSL_CERT_DIR")};
  if (!set.file.empty() || !set.folder.empty()) return set;
  std::string tried;
  for (const char* file : kFiles) {
    const std::filesystem::path path = root / file;
    if (is_file(path)) return CaCertificates{path, {}};
    tried += (tried.empty() ? "" : ", ") + path.string();
  }
  return fail(ErrorKind::tool,
              fmt::format("no CA certificates were found (tried {}): install ca-certificates, or "
                          "name a PEM file by --ca-file or SSL_CERT_FILE",
                          tried));
}

}  // namespace llmprof::http
