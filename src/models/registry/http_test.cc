#include "models/registry/http.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace sotto::registry {
namespace {

const std::string kSum(64, 'a');

HeaderParser parse(std::initializer_list<std::string> lines) {
  HeaderParser parser;
  for (const std::string& line : lines)
    parser.add_line(line + "\r\n");
  return parser;
}

TEST(HeaderParser, APlainAnswer) {
  const HttpHeaders headers =
      parse({"HTTP/1.1 200 OK", "Content-Length: 1234", "ETag: \"abc\"", ""}).headers(0);
  EXPECT_EQ(headers.status, 200);
  EXPECT_EQ(headers.total, 1234);
  EXPECT_EQ(headers.first, 0);
  EXPECT_EQ(headers.sha256, "");
}

TEST(HeaderParser, TheHubsRedirectCarriesTheSum) {
  const HeaderParser parser = parse(
      {"HTTP/2 302", "x-linked-etag: \"" + kSum + "\"", "X-LINKED-SIZE: 99", "content-length: 7",
       "", "HTTP/1.1 200 OK", "ETag: \"" + std::string(64, 'b') + "\"", ""});
  const HttpHeaders headers = parser.headers(0);
  EXPECT_EQ(headers.status, 200);
  EXPECT_EQ(headers.sha256, kSum);
  // The length of the redirect's own text says nothing.
  EXPECT_EQ(headers.total, 99);
}

TEST(HeaderParser, OnlyTheHubsOwnTagCountsAsASum) {
  const HeaderParser direct = parse({"HTTP/1.1 200 OK", "ETag: W/\"" + kSum + "\""});
  EXPECT_EQ(direct.headers(0).sha256, kSum);
  const HeaderParser behind =
      parse({"HTTP/1.1 302 Found", "", "HTTP/1.1 200 OK", "ETag: \"" + kSum + "\""});
  EXPECT_EQ(behind.headers(0).sha256, "");
  // Large files are tagged with SHA-256, small ones with git's SHA-1.
  EXPECT_EQ(parse({"HTTP/1.1 200 OK", "ETag: \"" + std::string(40, 'a') + "\""}).headers(0).sha256,
            "");
}

TEST(HeaderParser, Ranges) {
  const HeaderParser parser = parse(
      {"HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-199/200", "Content-Length: 100"});
  EXPECT_EQ(parser.headers(100).first, 100);
  EXPECT_EQ(parser.headers(100).total, 200);
  EXPECT_TRUE(parser.range_fits(100));
  EXPECT_FALSE(parser.range_fits(50));
  // A server that ignores the range begins at 0.
  const HeaderParser whole = parse({"HTTP/1.1 200 OK", "Content-Length: 200"});
  EXPECT_EQ(whole.headers(100).first, 0);
  EXPECT_TRUE(whole.range_fits(100));
  // A total that the server does not know.
  const HeaderParser open = parse(
      {"HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-199/*", "Content-Length: 100"});
  EXPECT_EQ(open.headers(100).total, 200);
}

TEST(HeaderParser, NonsenseIsNotBelieved) {
  const HeaderParser parser =
      parse({"HTTP/1.1 206 Partial Content", "Content-Range: bytes x-y/z", "Content-Length: -5",
             "Retry-After: soon", "no colon", "X-Linked-Size: 99999999999999999999999999"});
  EXPECT_EQ(parser.headers(0).total, -1);
  EXPECT_FALSE(parser.range_fits(0));
  EXPECT_EQ(parser.retry_after_s(), -1);
  EXPECT_EQ(parse({"HTTP/1.1"}).headers(0).status, 0);
  EXPECT_EQ(parse({}).headers(0).status, 0);
  EXPECT_EQ(parse({"HTTP/1.1 429 No", "Retry-After: 7"}).retry_after_s(), 7);
  EXPECT_EQ(parse({"HTTP/1.1 429 No", "Retry-After: 99999999999"}).retry_after_s(), 3600);
}

TEST(Urls, PathsAreEncoded) {
  EXPECT_EQ(encode_url_path("sub/model-1.0_x~y.bin"), "sub/model-1.0_x~y.bin");
  EXPECT_EQ(encode_url_path("My Model?#%.gguf"), "My%20Model%3F%23%25.gguf");
  EXPECT_EQ(encode_url_path("\xc3\xa4"), "%C3%A4");
}

TEST(Urls, Origins) {
  EXPECT_EQ(url_origin("https://huggingface.co/a/b"), "https://huggingface.co");
  EXPECT_EQ(url_origin("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
  EXPECT_EQ(url_origin("nonsense"), "nonsense");
}

}  // namespace
}  // namespace sotto::registry
