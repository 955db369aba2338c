#include "models/registry/wheel.h"

#include <zip.h>

#include <memory>
#include <vector>

namespace sotto::registry {
namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

Result<std::unique_ptr<zip_t, Discard>> open_wheel(const std::string& wheel) {
  int code = 0;
  std::unique_ptr<zip_t, Discard> archive(zip_open(wheel.c_str(), ZIP_RDONLY, &code));
  if (archive != nullptr) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  return corrupt(wheel + ": not a readable wheel: " + reason);
}

}  // namespace

Status read_wheel_member(const std::string& wheel, const std::string& member, int64_t limit,
                         const std::function<Status(std::span<const std::byte>)>& take) {
  constexpr size_t kChunk = size_t{1} << 20;
  SOTTO_ASSIGN_OR_RETURN(const auto archive, open_wheel(wheel));
  const zip_int64_t index = zip_name_locate(archive.get(), member.c_str(), 0);
  if (index < 0) return not_found(wheel + ": has no member " + member);
  const std::unique_ptr<zip_file_t, CloseFile> file(
      zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(index), 0));
  if (file == nullptr) {
    return corrupt(wheel + ": " + member + ": " + zip_strerror(archive.get()));
  }
  std::vector<std::byte> buffer(kChunk);
  int64_t unpacked = 0;
  for (;;) {
    const zip_int64_t got = zip_fread(file.get(), buffer.data(), buffer.size());
    if (got < 0) {
      return corrupt(wheel + ": " + member + ": " +
                     zip_error_strerror(zip_file_get_error(file.get())));
    }
    if (got == 0) return {};
    unpacked += got;
    if (limit >= 0 && unpacked > limit) {
      return corrupt(wheel + ": " + member + " is larger than it should be");
    }
    SOTTO_RETURN_IF_ERROR(take(std::span(buffer).first(static_cast<size_t>(got))));
  }
}

}  // namespace sotto::registry
