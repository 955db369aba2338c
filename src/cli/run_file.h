// Where running servers of this user are found: `sotto serve` leaves a note, others read it.
#ifndef SOTTO_CLI_RUN_FILE_H_
#define SOTTO_CLI_RUN_FILE_H_

#include <string>
#include <vector>

#include "sotto/status.h"

namespace sotto::cli {

struct RunningServer {
  std::string url;  ///< "http://127.0.0.1:52625"
  int pid = 0;
  std::string version;
};

/// $XDG_RUNTIME_DIR/sotto; "" where there is no such folder for the user, and servers are not
/// noted.
std::string run_folder();

/// A note in run_folder() that lasts as long as this object. Kept from other users.
class RunFile {
 public:
  RunFile() = default;
  ~RunFile() { remove(); }
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  Status write(const RunningServer& server);
  void remove();

 private:
  std::string path_;
};

/// Those whose process lives, the newest first. Notes of dead ones are deleted. A folder that
/// belongs to somebody else is not read.
std::vector<RunningServer> running_servers();

}  // namespace sotto::cli

#endif  // SOTTO_CLI_RUN_FILE_H_
