#include "http/ca_certificates.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "base/text.h"

namespace llmprof::http {
namespace {

class FindCaCertificates : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("SSL_CERT_FILE");
    ::unsetenv("SSL_CERT_DIR");
  }
  std::filesystem::path put(const std::string& place) const {
    const auto path = root_.path() / place;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(replace_file(path, "x"));
    return path;
  }

  ScratchFolder root_{ScratchFolder::make(std::filesystem::temp_directory_path(), "ca")};
};

TEST_F(FindCaCertificates, LooksWhereDistributionsKeepThem) {
  const auto none = find_ca_certificates("", root_.path());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::tool);
  EXPECT_TRUE(contains(none.error().message, "etc/ssl/certs/ca-certificates.crt"));
  for (const char* place :
       {"etc/ssl/cert.pem", "var/lib/ca-certificates/ca-bundle.pem",
        "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "etc/ssl/certs/ca-certificates.crt"}) {
    const auto path = put(place);
    EXPECT_EQ(find_ca_certificates("", root_.path())->file, path);
  }
}

TEST_F(FindCaCertificates, PrefersTheNamedFileAndTheEnvironment) {
  put("etc/ssl/cert.pem");
  const auto named = put("mine.pem");
  ::setenv("SSL_CERT_FILE", "/of/the/environment", 1);
  EXPECT_EQ(find_ca_certificates("", root_.path())->file, "/of/the/environment");
  EXPECT_EQ(find_ca_certificates(named, root_.path())->file, named);
  const auto missing = find_ca_certificates("/not/there.pem", root_.path());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace llmprof::http
