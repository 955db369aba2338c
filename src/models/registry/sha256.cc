#include "models/registry/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "models/registry/files.h"

namespace sotto::registry {
namespace {

EVP_MD_CTX* evp(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

}  // namespace

void Sha256::FreeContext::operator()(void* context) const {
  EVP_MD_CTX_free(evp(context));
}

Result<Sha256> Sha256::create() {
  Sha256 sum(EVP_MD_CTX_new());
  if (sum.context_ == nullptr ||
      EVP_DigestInit_ex(evp(sum.context_.get()), EVP_sha256(), nullptr) != 1) {
    return internal_error("OpenSSL cannot compute SHA-256");
  }
  return sum;
}

void Sha256::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(evp(context_.get()), bytes.data(), bytes.size());
}

std::string Sha256::hex() const {
  const std::unique_ptr<void, FreeContext> copy(EVP_MD_CTX_new());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (copy == nullptr || EVP_MD_CTX_copy_ex(evp(copy.get()), evp(context_.get())) != 1 ||
      EVP_DigestFinal_ex(evp(copy.get()), digest.data(), &length) != 1) {
    return "";  // matches no sum, so the caller's comparison fails
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += kDigits[digest[i] >> 4U];
    text += kDigits[digest[i] & 15U];
  }
  return text;
}

void Sha256::reset() {
  EVP_DigestInit_ex(evp(context_.get()), EVP_sha256(), nullptr);
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<bool()>& should_stop) {
  SOTTO_ASSIGN_OR_RETURN(Sha256 sum, Sha256::create());
  const auto take = [&sum](std::span<const std::byte> bytes) {
    sum.update(bytes);
    return Status();
  };
  SOTTO_RETURN_IF_ERROR(read_chunks(path, take, should_stop));
  return sum.hex();
}

}  // namespace sotto::registry
