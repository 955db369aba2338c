// The description of the HTTP API in the form of OpenAPI 3.1.
#ifndef SOTTO_SERVE_OPENAPI_H_
#define SOTTO_SERVE_OPENAPI_H_

#include <nlohmann/json.hpp>

#include "serve/app.h"

namespace sotto::serve {

/// With the paths as `options` move them.
nlohmann::ordered_json openapi_document(const ServerOptions& options);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_OPENAPI_H_
