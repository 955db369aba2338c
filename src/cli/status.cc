// sotto status, sotto stop: the servers of this user.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/http_client.h"
#include "cli/interrupt.h"
#include "cli/model_output.h"
#include "cli/output.h"
#include "cli/run_file.h"
#include "cli/terminal.h"

namespace sotto::cli {
namespace {

constexpr int kHealthTimeoutMs = 2000;

struct Options {
  bool json = false;
  std::string url;
};

nlohmann::json health_of(const std::string& url) {
  HttpRequest request;
  request.url = url + "/health";
  request.timeout_ms = kHealthTimeoutMs;
  const Result<HttpAnswer> answer = send_http(request);
  if (!answer.ok()) return {{"status", "no answer"}};
  Result<nlohmann::json> health = parse_json(answer->body, url);
  return health.ok() && health->is_object() ? *health : nlohmann::json{{"status", "no answer"}};
}

std::string describe(const RunningServer& server, const nlohmann::json& health) {
  const auto word = [&health](const char* name) {
    const std::string* value = json_string(health, name);
    return value == nullptr ? std::string("-") : printable(*value);
  };
  const std::string process = server.pid > 0 ? fmt::format(", process {}", server.pid) : "";
  return fmt::format("{}: {}, model {}, device {}{}\n", server.url, word("status"),
                     word("default_model"), word("device"), process);
}

/// The servers of this user, or the one at a URL or at the default address.
std::vector<RunningServer> servers_at(const std::string& url) {
  std::vector<RunningServer> servers =
      url.empty() ? running_servers() : std::vector<RunningServer>();
  if (!servers.empty()) return servers;
  RunningServer server{url.empty() ? "http://127.0.0.1:52625" : url, 0, ""};
  if (url.empty() && json_member(health_of(server.url), "default_model") == nullptr) return {};
  return {server};
}

int run_status(const Options& options) {
  std::string lines;
  bool all_well = true;
  nlohmann::json list = nlohmann::json::array();
  for (const RunningServer& server : servers_at(options.url)) {
    const nlohmann::json health = health_of(server.url);
    const std::string* status = json_string(health, "status");
    all_well = all_well && status != nullptr && *status == "ok";
    list.push_back({{"url", server.url}, {"pid", server.pid}, {"health", health}});
    lines += describe(server, health);
  }
  const bool found = !list.empty();
  if (options.json) lines = json_line({{"servers", std::move(list)}}) + "\n";
  if (!found && !options.json) print_note("no server is running; `sotto serve` starts one");
  const int code = report(write_stdout(lines), kExitProcessing);
  return code != kExitOk ? code : found && all_well ? kExitOk : kExitUsage;
}

bool is_running(const RunningServer& server) {
  const std::vector<RunningServer> servers = running_servers();
  return std::any_of(servers.begin(), servers.end(),
                     [&server](const RunningServer& other) { return other.pid == server.pid; });
}

int run_stop() {
  const std::vector<RunningServer> servers = running_servers();
  if (servers.empty()) {
    print_note("no server of this user is running");
    return kExitUsage;
  }
  constexpr int kStepMs = 50, kLongestMs = 90'000;
  for (const RunningServer& server : servers) {
    if (::kill(server.pid, SIGTERM) != 0 && errno != ESRCH)
      return report(status_from_errno(errno, fmt::format("process {}", server.pid)),
                    kExitProcessing);
    for (int waited = 0; is_running(server) && waited < kLongestMs && !interrupted();
         waited += kStepMs) {
      ::poll(nullptr, 0, kStepMs);
    }
    if (interrupted()) return kExitInterrupted;
    print_note(fmt::format("{} has stopped", server.url));
  }
  return kExitOk;
}

}  // namespace

void register_status(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& status = program.add_command("status", "Show running servers and how they are",
                                         [options] { return run_status(*options); });
  status.add_flag("-j,--json", options->json, "As a JSON object, with each server's /health");
  status.add_option("URL", options->url, "Of one server; else those of this user");
  program.add_command("stop", "Stop this user's servers; running requests may end", run_stop);
}

}  // namespace sotto::cli
