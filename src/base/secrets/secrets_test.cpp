#include "base/secrets/secrets.h"

#include <gtest/gtest.h>

namespace llmprof {
namespace {

using Words = std::vector<std::string>;

TEST(Secrets, AreRecognizedByTheirNames) {
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

// The recorded form of a command line given as one script, as one text, or as separate arguments.
std::string in_script(const std::string& script) {
  return without_secrets(Words{"bash", "-c", script}).back();
}

TEST(Secrets, OfOptionsHeadersAndVariables) {
  EXPECT_EQ(without_secrets(Words{"--auth", "X", "--pass", "Y", "--cookie", "Z=1", "--sig", "S"}),
            (Words{"--auth", "***", "--pass", "***", "--cookie", "***", "--sig", "***"}));
  EXPECT_EQ(without_secrets(Words{"AUTH=X", "DB_PASS=Y", "API_KEY_2=Z", "-DclientSecret=W"}),
            (Words{"AUTH=***", "DB_PASS=***", "API_KEY_2=***", "-DclientSecret=***"}));
  EXPECT_EQ(without_secrets(Words{"--env=HF_TOKEN=X", "--set", "auth.token=Y", "--hftoken", "Z"}),
            (Words{"--env=HF_TOKEN=***", "--set", "auth.token=***", "--hftoken", "***"}));
  EXPECT_EQ(without_secrets(Words{"curl", "-H", "Cookie: a=b; c=d e", "-H", "X-Auth-Token: f g"}),
            (Words{"curl", "-H", "Cookie: ***", "-H", "X-Auth-Token: ***"}));
  EXPECT_EQ(without_secrets(Words{"curl", "-H", "Authorization: Basic dXNlcjpw IHg=", "h"}),
            (Words{"curl", "-H", "Authorization: Basic ***", "h"}));
  EXPECT_EQ(without_secrets(Words{"curl", "-u", "me:pw", "--proxy-user", "you:pw2", "h"}),
            (Words{"curl", "-u", "me:***", "--proxy-user", "you:***", "h"}));
  EXPECT_EQ(without_secrets(Words{"-k", "a1b2c3d4e5", "-k=a1b2c3d4e5", "-p", "s3cr3tPass"}),
            (Words{"-k", "***", "-k=***", "-p", "***"}));
}

TEST(Secrets, OfNamesThatMayMeanSomethingElse) {
  EXPECT_EQ(without_secrets(Words{"-b", "session=a1b2c3d4e5", "GITHUB_PAT=a1b2c3d4e5"}),
            (Words{"-b", "***", "GITHUB_PAT=***"}));
  EXPECT_EQ(without_secrets(Words{"-b", "8", "--pat", "*.py"}),
            (Words{"-b", "8", "--pat", "*.py"}));
  EXPECT_EQ(recorded_value("PGPASSWORD", "x"), "***");
  EXPECT_EQ(recorded_value("REDISCLI_AUTH", "x"), "***");
  EXPECT_EQ(recorded_value("DOCKER_AUTH_CONFIG", R"({"auths":{"h":{"auth":"eDp5"}}})"),
            R"({"auths":{"h":{"auth":***}}})");
}

TEST(Secrets, OfScripts) {
  EXPECT_EQ(in_script("serve --auth X --port 80"), "serve --auth *** --port 80");
  EXPECT_EQ(in_script("serve --auth 'two words' --tp 2"), "serve --auth *** --tp 2");
  EXPECT_EQ(in_script("AUTH='two words' serve --tp 2"), "AUTH=*** serve --tp 2");
  EXPECT_EQ(in_script("curl -H 'Cookie: a=b; c=d' -H \"x-api-key: Y\" http://h/"),
            "curl -H 'Cookie: ***' -H \"x-api-key: ***\" http://h/");
  EXPECT_EQ(in_script("curl -H \"Authorization: Bearer X\" http://h/"),
            "curl -H \"Authorization: Bearer ***\" http://h/");
  EXPECT_EQ(in_script("ssh h \"serve --api-key 'X Y' --tp 2\""),
            "ssh h \"serve --api-key *** --tp 2\"");
  EXPECT_EQ(in_script(R"(sh -c "curl -H \"Authorization: Bearer X\" h")"),
            R"(sh -c "curl -H \"Authorization: Bearer ***\" h")");
  EXPECT_EQ(in_script("don't --auth X or can't"), "don't --auth *** or can't");
  EXPECT_EQ(in_script("curl -d 'user=me&password=X&n=1' h"),
            "curl -d 'user=me&password=***&n=1' h");
}

TEST(Secrets, OfUrls) {
  EXPECT_EQ(without_secrets("https://h/a?sv=2&sig=X%3D&se=3#f"), "https://h/a?sv=2&sig=***&se=3#f");
  EXPECT_EQ(without_secrets("https://h/?token=X&n=1"), "https://h/?token=***&n=1");
  EXPECT_EQ(without_secrets("https://h/o?X-Amz-Credential=A%2F1&X-Amz-Date=2&X-Amz-Signature=B"),
            "https://h/o?X-Amz-Credential=***&X-Amz-Date=2&X-Amz-Signature=***");
  EXPECT_EQ(without_secrets("https://h/o?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&n=1"),
            "https://h/o?AWSAccessKeyId=***&n=1");
  EXPECT_EQ(without_secrets("--urls=http://a:b@h/,http://c:d@i/"),
            "--urls=http://a:***@h/,http://c:***@i/");
  EXPECT_EQ(without_secrets("https://a1b2c3d4e5f6@h/ ssh://git@h/"), "https://***@h/ ssh://git@h/");
  EXPECT_EQ(without_secrets("Protocol=https;AccountName=n;AccountKey=X+/==;Suffix=s"),
            "Protocol=https;AccountName=n;AccountKey=***;Suffix=s");
}

TEST(Secrets, ThatAreRecognizedByThemselves) {
  const Words bare = {
      "ghp_0123456789abcdefghijABCDEFGHIJ012345",
      "gho_0123456789abcdefghijABCDEFGHIJ012345",
      "github_pat_11ABCDEFG0abcdefghijkl_0123456789abcdef",
      "sk-abcdefghijklmnopqrstuvwx",
      "sk-proj-abc123DEF456ghi789",
      "sk-ant-api03-abcDEF123456",
      "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
      "AKIAIOSFODNN7EXAMPLE",
      "ASIAIOSFODNN7EXAMPLE",
      "xoxb-123456789012-abcdefABCDEF",
      "glpat-abcdefABCDEF12345678",
      "nvapi-abcdefghijABCDEFGHIJ0123456789",
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
  };
  for (const std::string& token : bare) {
    EXPECT_EQ(without_secrets(token), "***") << token;
    EXPECT_EQ(without_secrets(Words{"serve", token, "-x" + token}).at(1), "***") << token;
    EXPECT_EQ(recorded_value("name", "a " + token + ", b"), "a ***, b") << token;
    EXPECT_EQ(in_script("login '" + token + "'"), "login '***'") << token;
    EXPECT_EQ(without_secrets("{\"n\":\"" + token + "\"}"), "{\"n\":\"***\"}") << token;
    EXPECT_EQ(without_secrets("https://h/" + token + "/x?y=" + token), "https://h/***/x?y=***");
    EXPECT_EQ(without_secrets(Words{"-k", token}).back(), "***") << token;
  }
}

TEST(Secrets, InPemAreHidden) {
  EXPECT_EQ(without_secrets("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE "
                            "KEY-----\nrest"),
            "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nrest");
  EXPECT_EQ(without_secrets(Words{"--x", "-----BEGIN PRIVATE KEY-----\nMIIE"}).back(),
            "-----BEGIN PRIVATE KEY-----***");
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
  EXPECT_EQ(without_secrets(certificate), certificate);
}

TEST(Secrets, HarmlessValuesStay) {
  for (const Words& words : std::vector<Words>{
           {"--tokens", "128"},
           {"--max-tokens", "128k"},
           {"--prompt-tokens", "16:256"},
           {"--max-tokens=4096"},
           {"--tokenizer", "gpt2"},
           {"--tokenizer-path=/models/a1b2c3d4e5"},
           {"-k", "5"},
           {"-k", "test_decode_step_2"},
           {"-k", "bfloat16"},
           {"-p", "8080:80"},
           {"-p", "Tell me a story of 3 bears"},
           {"-t", "16"},
           {"--pass-through", "x"},
           {"--pass", "2"},
           {"--passes", "3"},
           {"--no-auth", "serve"},
           {"--auth-type", "basic"},
           {"--auth", "none"},
           {"--token-ids", "1,2,3"},
           {"--eos-token", "</s>"},
           {"--pad-token", "[PAD]"},
           {"--add-bos-token", "prompt"},
           {"--key-cache-dtype", "fp8_e4m3"},
           {"--user", "me", "--user", "1000:1000"},
           {"task-1", "risk-0123456789", "mask-sk-learn", "sk-learn", "disk-a1"},
           {"workloads/hf_llm.py", "hf_ocr", "hf_continuous_batching", "hf_transformers"},
           {"ASIA", "AKIA", "ghp_", "eyJ", "xai-model", "npm_config_cache"},
           {"https://host:80/a@b?page=2&sort=name", "user@host:path"},
           {"a1b2c3d4e5f6a7b8", "sha256:0123456789abcdef0123456789abcdef"},
       }) {
    EXPECT_EQ(without_secrets(words), words) << words.front();
  }
  const std::string progress = "pass 1 of 3: control run; the token 'x' of pass: 2";
  EXPECT_EQ(without_secrets(progress), progress);
}

TEST(Secrets, AreHiddenOnce) {
  for (const char* text : {"--auth X", "https://a:b@h?sig=c&d", "AUTH=X", R"({"token":"x"})",
                           "-H 'Authorization: Bearer X'"}) {
    const std::string once = without_secrets(text);
    EXPECT_EQ(without_secrets(once), once);
  }
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
