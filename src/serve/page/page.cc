#include "serve/page/page.h"

#include <utility>

namespace sotto::serve {
namespace {

/// The page loads nothing from elsewhere, runs no script but its own, and is framed by nobody.
constexpr std::string_view kContentSecurity =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "media-src 'self' blob:; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

Response page_response(const PageFile& file, const Request& request) {
  Response response;
  response.headers.add("ETag", std::string(file.tag));
  response.headers.add("Cache-Control", "no-cache");
  if (request.headers.get("If-None-Match") == file.tag) {
    response.status = 304;
    return response;
  }
  response.content_type = file.content_type;
  response.body = file.content;
  response.headers.add("Content-Security-Policy", std::string(kContentSecurity));
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.headers.add("Referrer-Policy", "no-referrer");
  return response;
}

}  // namespace

void add_page_routes(Router& router, const std::string& prefix) {
  for (const PageFile& file : page_files()) {
    router.add(
        "GET", prefix + std::string(file.path),
        [&file](Exchange& exchange) -> Task<void> {
          co_await exchange.respond(page_response(file, exchange.request()));
        },
        /*is_public=*/true);
  }
}

}  // namespace sotto::serve
