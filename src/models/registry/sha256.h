// SHA-256 (FIPS 180-4) of what streams by.
#ifndef SOTTO_MODELS_REGISTRY_SHA256_H_
#define SOTTO_MODELS_REGISTRY_SHA256_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sotto/status.h"

namespace sotto::registry {

class Sha256 {
 public:
  /// kInternal when the library has no SHA-256 (it always has, unless its configuration is broken).
  static Result<Sha256> create();

  void update(std::span<const std::byte> bytes);
  /// Lower-case hex of the sum over all bytes so far; more may follow.
  [[nodiscard]] std::string hex() const;
  void reset();

 private:
  struct FreeContext {
    void operator()(void* context) const;
  };
  explicit Sha256(void* context) : context_(context) {}
  std::unique_ptr<void, FreeContext> context_;  ///< EVP_MD_CTX
};

/// 64 lower-case hex digits.
bool is_sha256_hex(std::string_view text);

/// The sum of a file's bytes; kCancelled when should_stop (may be empty) says so.
Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<bool()>& should_stop);

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_SHA256_H_
