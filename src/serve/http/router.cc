#include "serve/http/router.h"

#include <utility>

namespace sotto::serve {

void Router::add(std::string method, std::string pattern, Handler handler, bool is_public) {
  const bool is_prefix = pattern.size() >= 2 && pattern.substr(pattern.size() - 2) == "/*";
  auto& table = is_prefix ? prefixes_ : exact_;
  const std::string key = is_prefix ? pattern.substr(0, pattern.size() - 1) : pattern;
  table[key][std::move(method)] = Route{std::move(handler), std::move(pattern), is_public};
}

const Router::Methods* Router::methods_of(std::string_view path) const {
  if (const auto found = exact_.find(path); found != exact_.end()) return &found->second;
  const Methods* best = nullptr;
  for (const auto& [prefix, methods] : prefixes_) {
    const bool fits = path.size() > prefix.size() && path.substr(0, prefix.size()) == prefix;
    if (fits) best = &methods;  // Longer prefixes sort after shorter ones that they begin with
  }
  return best;
}

const Route* Router::find(std::string_view method, std::string_view path,
                          std::string* allowed) const {
  const Methods* methods = methods_of(path);
  allowed->clear();
  if (methods == nullptr) return nullptr;
  auto found = methods->find(method);
  if (found == methods->end() && method == "HEAD") found = methods->find("GET");
  if (found != methods->end()) return &found->second;
  for (const auto& [name, route] : *methods)
    *allowed += (allowed->empty() ? "" : ", ") + name;
  return nullptr;
}

std::string_view Router::rest_of(const Route& route, std::string_view path) {
  return path.substr(route.pattern.size() - 1);
}

}  // namespace sotto::serve
