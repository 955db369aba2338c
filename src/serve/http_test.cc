// Parsing of requests: targets, parameters, multipart bodies, forms; and who may ask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/access.h"
#include "serve/clip_length.h"
#include "serve/form.h"
#include "serve/http/message.h"
#include "serve/http/multipart.h"
#include "serve/http/router.h"
#include "serve/speech_request.h"

namespace sotto::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Result<Form> parse(std::string_view body, size_t piece = SIZE_MAX) {
  FormSink sink;
  MultipartParser parser("b", sink);
  while (!body.empty()) {
    SOTTO_RETURN_IF_ERROR(parser.feed(body.substr(0, piece)));
    body.remove_prefix(std::min(piece, body.size()));
  }
  SOTTO_RETURN_IF_ERROR(parser.finish());
  return sink.take();
}

constexpr std::string_view kBody =
    "preamble\r\n--b \t\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
    "--b\r\ncontent-disposition: form-data; filename=\"x \\\"y\\\".wav\"; name=\"file\"\r\n"
    "Content-Type: audio/L16;rate=8000\r\n\r\nbytes\r\n--\r\n--c\r\n"
    "--b\r\nContent-Disposition: form-data; name=empty\r\n\r\n\r\n--b--\r\nepilogue";

TEST(Multipart, GivesTheSameFormInPiecesOfAnySize) {
  for (size_t piece = 1; piece <= kBody.size(); ++piece) {
    const Result<Form> form = parse(kBody, piece);
    ASSERT_TRUE(form.ok()) << piece << ": " << form.status().message();
    EXPECT_THAT(form->fields, ElementsAre(Pair("a", "1"), Pair("empty", "")));
    ASSERT_TRUE(form->file.has_value());
    EXPECT_EQ(form->file->filename, "x \"y\".wav");
    EXPECT_EQ(form->file->content_type, "audio/L16;rate=8000");
    const auto bytes = form->file->bytes->memory();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
              "bytes\r\n--\r\n--c");
  }
}

TEST(Multipart, EveryCutBodyIsRefused) {
  const size_t end = kBody.rfind("--\r\nepilogue");
  for (size_t length = 0; length < end + 2; ++length) {
    const Result<Form> form = parse(kBody.substr(0, length));
    ASSERT_FALSE(form.ok()) << length;
    EXPECT_EQ(form.status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(Multipart, BrokenBodiesAreRefused) {
  for (const char* body :
       {"--b\r\n\r\nx\r\n--b--", "--b\r\nno colon\r\n\r\nx\r\n--b--", "--bx\r\n",
        "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nx\r\n--b--"}) {
    EXPECT_FALSE(parse(body).ok()) << body;
  }
  EXPECT_FALSE(parse("--b\r\n" + std::string(MultipartParser::kMaxHeaderBytes + 1, 'x')).ok());
  std::string many;
  for (int i = 0; i <= MultipartParser::kMaxParts; ++i)
    many += "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n";
  EXPECT_THAT(parse(many + "--b--").status().message(), HasSubstr("1024 parts"));
}

TEST(Multipart, FieldsAreBoundedAndFilesAreNot) {
  const std::string head = "--b\r\nContent-Disposition: form-data; name=";
  const std::string big(FormSink::kMaxFieldBytes + 1, 'x');
  EXPECT_EQ(parse(head + "a\r\n\r\n" + big + "\r\n--b--").status().code(),
            StatusCode::kResourceExhausted);
  const std::string huge(Spool::kMemoryBytes + 1, 'x');
  const Result<Form> form = parse(head + "file\r\n\r\n" + huge + "\r\n--b--", 100'000);
  ASSERT_TRUE(form.ok());
  EXPECT_NE(form->file->bytes->path(), "");
  int64_t read = 0;
  EXPECT_TRUE(form->file->bytes
                  ->read([&](std::string_view piece) {
                    read += static_cast<int64_t>(piece.size());
                    return Status();
                  })
                  .ok());
  EXPECT_EQ(read, static_cast<int64_t>(huge.size()));
}

TEST(Multipart, BoundaryOfAContentType) {
  EXPECT_EQ(*MultipartParser::boundary_of("Multipart/Form-Data; Boundary=\"a b\""), "a b");
  for (const std::string& type : {std::string("text/plain"), std::string("multipart/form-data"),
                                  "multipart/form-data; boundary=" + std::string(71, 'x')}) {
    EXPECT_FALSE(MultipartParser::boundary_of(type).ok()) << type;
  }
}

TEST(ClipLength, WavAndFlacHeaders) {
  using namespace std::string_literals;
  // 16 kHz, mono, 16 bits: 32000 bytes a second.
  const std::string fmt = "fmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0"s;
  EXPECT_DOUBLE_EQ(length_by_header("RIFF\xff\xff\xff\xffWAVE" + fmt, 320'000), 10);
  EXPECT_DOUBLE_EQ(length_by_header("RIFF\0\0\0\0WAVEJUNK\1\0\0\0xx"s + fmt, 32'000), 1);
  // 44.1 kHz, stereo, 16 bits, 441000 samples.
  const std::string flac = "fLaC\0\0\0\x22\0\0\0\0\0\0\0\0\0\0\x0a\xc4\x42\xf0\0\6\xba\xa8"s;
  EXPECT_DOUBLE_EQ(length_by_header(flac, 1), 10);
  for (size_t length = 0; length < flac.size(); ++length)
    EXPECT_LT(length_by_header(flac.substr(0, length), 1), 0) << length;
  const std::string wav = "RIFF\0\0\0\0WAVE"s + fmt;
  for (size_t length = 0; length < 32; ++length)
    EXPECT_LT(length_by_header(wav.substr(0, length), 1), 0) << length;
  EXPECT_LT(length_by_header("RIFF\0\0\0\0WAVELIST\xff\xff\xff\xff"s, 1), 0);
}

TEST(Message, Targets) {
  Request request;
  ASSERT_TRUE(parse_target("/a%20b/c?x=1+2&y=%zz&z", request));
  EXPECT_EQ(request.path, "/a b/c");
  EXPECT_EQ(request.query["x"], "1 2");
  EXPECT_FALSE(request.query.contains("y"));
  ASSERT_TRUE(parse_target("http://host:1/p?q=1", request));
  EXPECT_EQ(request.path, "/p");
  for (const char* target : {"", "a", "/%", "/%0", "/%gg", "/%00"})
    EXPECT_FALSE(parse_target(target, request)) << target;
}

TEST(Router, ExactPathsGoBeforePrefixes) {
  Router router;
  const Handler none = [](Exchange&) -> Task<void> { co_return; };
  router.add("GET", "/v1/models", none);
  router.add("GET", "/v1/models/*", none);
  router.add("POST", "/v1/models/*", none);
  std::string allowed;
  EXPECT_EQ(router.find("GET", "/v1/models", &allowed)->pattern, "/v1/models");
  const Route* route = router.find("HEAD", "/v1/models/a/b", &allowed);
  EXPECT_EQ(Router::rest_of(*route, "/v1/models/a/b"), "a/b");
  EXPECT_EQ(router.find("DELETE", "/v1/models/a", &allowed), nullptr);
  EXPECT_EQ(allowed, "GET, POST");
  EXPECT_EQ(router.find("GET", "/v1/models/", &allowed), nullptr);
  EXPECT_EQ(allowed, "");
}

Request request_with(std::initializer_list<std::pair<const char*, const char*>> headers) {
  Request request;
  for (const auto& [name, value] : headers)
    request.headers.add(name, value);
  return request;
}

TEST(Access, OriginsAndHosts) {
  AccessPolicy policy;
  policy.check_host = true;
  for (const char* origin : {"http://localhost", "http://127.0.0.1:3000", "https://[::1]:4"})
    EXPECT_FALSE(check_origin(policy, request_with({{"Origin", origin}}))) << origin;
  for (const char* origin : {"https://evil.example", "null", "http://localhost.evil.example"})
    EXPECT_EQ(check_origin(policy, request_with({{"Origin", origin}}))->status, 403) << origin;
  EXPECT_TRUE(check_origin(policy, request_with({{"Host", "evil.example:1"}})));
  EXPECT_FALSE(check_origin(policy, request_with({{"Host", "localhost:1"}})));
  policy.allowed_hosts = {"stt.lan"};
  EXPECT_FALSE(check_origin(policy, request_with({{"Host", "STT.lan"}})));
  policy.cors = "https://a.example, https://b.example/";
  EXPECT_TRUE(check_access_policy(policy).ok());
  EXPECT_FALSE(check_origin(policy, request_with({{"Origin", "https://b.example"}})));
  EXPECT_TRUE(check_origin(policy, request_with({{"Origin", "http://localhost"}})));
  policy.cors = "anywhere";
  EXPECT_FALSE(check_access_policy(policy).ok());
}

TEST(Access, Keys) {
  AccessPolicy policy;
  EXPECT_FALSE(check_key(policy, request_with({{"Authorization", "Bearer any"}})));
  policy.api_keys = parse_api_keys("# keys\n\n one \r\ntwo");
  EXPECT_THAT(policy.api_keys, ElementsAre("one", "two"));
  EXPECT_FALSE(check_key(policy, request_with({{"Authorization", "bearer two"}})));
  EXPECT_FALSE(check_key(policy, request_with({{"x-api-key", "one"}})));
  EXPECT_TRUE(check_key(policy, request_with({{"X-API-Key", ""}})));
  Request socket;
  socket.query["api_key"] = "one";
  EXPECT_TRUE(check_key(policy, socket));
  socket.wants_websocket = true;
  EXPECT_FALSE(check_key(policy, socket));
}

TEST(Access, TextsCompareByAllTheirBytes) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "abcabc"})
    EXPECT_FALSE(equal_in_constant_time("abc", other)) << other;
  EXPECT_FALSE(equal_in_constant_time("", "a"));
}

SpeechRequest read(const Form& form, std::optional<ApiError>* error = nullptr) {
  FieldReader fields(form);
  SpeechRequest request;
  read_openai_request(fields, sotto::Task::kTranscribe, {}, request);
  if (error != nullptr) *error = fields.error();
  return request;
}

TEST(SpeechRequest, FieldsInTheFormsThatClientsSend) {
  Form form;
  form.fields = {{"timestamp_granularities[]", "word"},
                 {"response_format", "verbose_json"},
                 {"language", "pt_BR"},
                 {"temperature", "0.5"},
                 {"keywords", "alpha, beta"},
                 {"keywords[]", "gamma"},
                 {"chunking_strategy[type]", "server_vad"},
                 {"chunking_strategy[threshold]", "0.3"},
                 {"stream", "off"}};
  std::optional<ApiError> error;
  const SpeechRequest request = read(form, &error);
  EXPECT_FALSE(error) << error->message;
  EXPECT_TRUE(request.words);
  EXPECT_FALSE(request.segments);
  EXPECT_TRUE(request.options.word_timestamps);
  EXPECT_EQ(request.options.language, "pt");
  EXPECT_THAT(request.options.temperatures, ElementsAre(0.5f));
  EXPECT_EQ(request.options.hotwords, "alpha, beta, gamma");
  EXPECT_FLOAT_EQ(request.options.vad.threshold, 0.3f);
}

TEST(SpeechRequest, TheFirstFaultIsToldWithItsField) {
  Form form;
  form.fields = {{"language", "en"}, {"temperature", "warm"}, {"response_format", "docx"}};
  std::optional<ApiError> error;
  read(form, &error);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status, 400);
  EXPECT_EQ(error->param, "response_format");
}

TEST(SpeechRequest, WhisperCppStepsDoNotRunAway) {
  Form form;
  form.fields = {{"temperature_inc", "0.0000001"}};
  FieldReader fields(form);
  SpeechRequest request;
  read_whisper_cpp_request(fields, {}, request);
  EXPECT_LE(request.options.temperatures.size(), 101u);
}

}  // namespace
}  // namespace sotto::serve
