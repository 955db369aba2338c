// Which handler answers which method and path.
#ifndef SOTTO_SERVE_HTTP_ROUTER_H_
#define SOTTO_SERVE_HTTP_ROUTER_H_

#include <map>
#include <string>
#include <string_view>

#include "serve/http/exchange.h"

namespace sotto::serve {

struct Route {
  Handler handler;
  std::string pattern;     ///< As it was added: the label of metrics
  bool is_public = false;  ///< No key is asked for
};

class Router {
 public:
  /// A pattern that ends with "/*" takes every longer path that begins so; an exact one goes first.
  void add(std::string method, std::string pattern, Handler handler, bool is_public = false);

  /// Null when no such route; then `allowed` holds the methods of the path, e.g. "GET, POST", or ""
  /// when no method has it. HEAD is answered by GET's handler.
  [[nodiscard]] const Route* find(std::string_view method, std::string_view path,
                                  std::string* allowed) const;

  /// What stands for the '*' of the route's pattern in `path`.
  static std::string_view rest_of(const Route& route, std::string_view path);

 private:
  using Methods = std::map<std::string, Route, std::less<>>;
  [[nodiscard]] const Methods* methods_of(std::string_view path) const;

  std::map<std::string, Methods, std::less<>> exact_;
  std::map<std::string, Methods, std::less<>> prefixes_;  ///< By what stands before the '*'
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_HTTP_ROUTER_H_
