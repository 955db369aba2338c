// The web page at '/': upload or record, watch the text arrive, hear, edit and download it.
#ifndef SOTTO_SERVE_PAGE_PAGE_H_
#define SOTTO_SERVE_PAGE_PAGE_H_

#include <span>
#include <string>
#include <string_view>

#include "serve/http/router.h"

namespace sotto::serve {

/// A file of the page, compiled into the program.
struct PageFile {
  std::string_view path;  ///< Below the server's prefix: "/", "/app.js"
  std::string_view content_type;
  std::string_view content;
  std::string_view tag;  ///< Of the content, for If-None-Match
};

std::span<const PageFile> page_files();

/// Public: the page itself asks for a key when the server wants one.
void add_page_routes(Router& router, const std::string& prefix);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_PAGE_PAGE_H_
