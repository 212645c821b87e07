#include "base/secrets.h"

#include <gtest/gtest.h>

namespace llmprof {
namespace {

using Words = std::vector<std::string>;

TEST(Secrets, AreToldByTheirNames) {
  for (const char* name :
       {"HF_TOKEN", "--api-key", "apiKey", "OPENAI_API_KEY", "client_secret", "DB_PASSWORD",
        "token", "GOOGLE_APPLICATION_CREDENTIALS", "workload.environment.WANDB_API_KEY", "Password",
        "Authorization", "AWS_SECRET_ACCESS_KEY", "x-api-key"}) {
    EXPECT_TRUE(names_a_secret(name)) << name;
  }
  for (const char* name : {"tokenizer", "TOKENIZERS_PARALLELISM", "keyboard", "monkey", "hidden",
                           "--kv-heads", "passes", "secretary", "PATH", ""}) {
    EXPECT_FALSE(names_a_secret(name)) << name;
  }
}

TEST(Secrets, CountsOfTokensAndKeysAreNone) {
  EXPECT_EQ(recorded_value("num_key_value_heads", "4"), "4");
  EXPECT_EQ(recorded_value("prompt_tokens", "512"), "512");
  EXPECT_EQ(recorded_value("eos_token_id", "128001"), "128001");
  EXPECT_EQ(recorded_value("add_bos_token", "true"), "true");
  EXPECT_EQ(recorded_value("token", "hf_abc"), "***");
  EXPECT_EQ(recorded_value("token", "1234"), "***");
  EXPECT_EQ(recorded_value("password", "1234"), "***");
  EXPECT_EQ(recorded_value("password", ""), "");
  EXPECT_EQ(recorded_value("name", "a token of thanks"), "a token of thanks");
}

TEST(Secrets, AreHiddenInCommandLines) {
  EXPECT_EQ(without_secrets(Words{"serve", "--api-key", "X", "--port", "80"}),
            (Words{"serve", "--api-key", "***", "--port", "80"}));
  EXPECT_EQ(without_secrets(Words{"--password", "secret-1", "--api-key", "my-token"}),
            (Words{"--password", "***", "--api-key", "***"}));
  EXPECT_EQ(without_secrets(Words{"env", "HF_TOKEN=X", "serve", "--token=Y", "-password", "Z"}),
            (Words{"env", "HF_TOKEN=***", "serve", "--token=***", "-password", "***"}));
  EXPECT_EQ(without_secrets(Words{"sh", "-c", "export HF_TOKEN=X; serve  --api-key Y --tp 2"}),
            (Words{"sh", "-c", "export HF_TOKEN=*** serve  --api-key *** --tp 2"}));
  EXPECT_EQ(without_secrets(Words{"curl", "-H", "Authorization: Bearer X", "http://localhost/v1"}),
            (Words{"curl", "-H", "Authorization: Bearer ***", "http://localhost/v1"}));
  EXPECT_EQ(without_secrets(Words{"curl", "-H", "X-Api-Key: X"}),
            (Words{"curl", "-H", "X-Api-Key: ***"}));
  EXPECT_EQ(without_secrets(Words{"--json", R"({"api_key":"X", "n": 1, "token": "Y"})"}),
            (Words{"--json", R"({"api_key":***, "n": 1, "token": ***})"}));
  EXPECT_EQ(without_secrets(Words{"client", "https://me:X@host/a?b=c"}),
            (Words{"client", "https://me:***@host/a?b=c"}));
  EXPECT_EQ(without_secrets(Words{"client", "https://host/?token=X"}),
            (Words{"client", "https://host/?token=***"}));
}

TEST(Secrets, InJsonHideNoOtherMember) {
  const std::string model =
      R"({"num_key_value_heads":8,"bos_token_id":1,"eos_token_id":[1,2],"n":3})";
  EXPECT_EQ(without_secrets(Words{"--model-config", model}), (Words{"--model-config", model}));
  EXPECT_EQ(without_secrets(R"({"a":1,"api_key":"x,\"}y","b":{"token":"z"},"tokens":["s","t"]})"),
            R"({"a":1,"api_key":***,"b":{"token":***},"tokens":***})");
  EXPECT_EQ(without_secrets(R"({"password": "two words","token":"Y", "n": 1})"),
            R"({"password": ***,"token":***, "n": 1})");
  EXPECT_EQ(without_secrets(Words{R"({"token":"","n":1})", "positional"}),
            (Words{R"({"token":"","n":1})", "positional"}));
  EXPECT_EQ(without_secrets(R"({"token":"x","url":"https://me:pw@host/"})"),
            R"({"token":***,"url":"https://me:***@host/"})");
}

TEST(Secrets, InJsonAreHiddenWithAllThatTheyHold) {
  EXPECT_EQ(without_secrets(R"({"api_keys":{"openai":"1","hf":["2","]"]},"n":1})"),
            R"({"api_keys":***,"n":1})");
  EXPECT_EQ(without_secrets(R"({"tokens": [["a b"], ["b"]], "n": 1})"),
            R"({"tokens": ***, "n": 1})");
  EXPECT_EQ(without_secrets(Words{R"(--c={"api_keys": ["k1", "k2"], "num_key_value_heads": 8})"}),
            (Words{R"(--c={"api_keys": ***, "num_key_value_heads": 8})"}));
  EXPECT_EQ(without_secrets(Words{"--password", R"("a","b",c)", "end"}),
            (Words{"--password", "***", "end"}));
  EXPECT_EQ(without_secrets(R"(curl -d "{\"api_key\":\"X Y\",\"n\":1}" host)"),
            R"(curl -d "{\"api_key\":***,\"n\":1}" host)");
  EXPECT_EQ(without_secrets(R"({"api_key" : "X", 'token': 'Y'})"),
            R"({"api_key" : ***, 'token': ***})");
  EXPECT_EQ(without_secrets(R"({"password": "never ends, n: 1})"), R"({"password": ***)");
}

TEST(Secrets, ManyNumbersAreReadInOneGo) {
  std::string ids = "[1";
  for (int i = 0; i < 20000; ++i) ids += ",1234";
  EXPECT_EQ(recorded_value("prompt_token_ids", ids + "]"), ids + "]");
  EXPECT_EQ(recorded_value("prompt_token_ids", ids + ",x]"), "***");
}

TEST(Secrets, WithBlanksAreHiddenWhole) {
  EXPECT_EQ(without_secrets(Words{"--password", "two words", "--password=two words", "end"}),
            (Words{"--password", "***", "--password=***", "end"}));
}

TEST(Secrets, NothingElseChanges) {
  const Words plain = {
      "cpu_llm",      "--kv-heads",  "4",         "--prompt-tokens",     "64",
      "--new-tokens", "16",          "--name",    "llmprof/cpu tiny",    "a=b",
      "x:y::z",       "--use-token", "--verbose", "https://host:80/a@b", "  two  blanks "};
  EXPECT_EQ(without_secrets(plain), plain);
}

}  // namespace
}  // namespace llmprof
