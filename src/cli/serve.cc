// sotto serve: the HTTP server.
#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/serve_options.h"
#include "cli/serve_parts.h"
#include "cli/terminal.h"
#include "serve/server.h"

namespace sotto::cli {
namespace {

std::atomic<bool> reload_requested{false};

extern "C" void on_reload_signal(int) {
  reload_requested.store(true);
}

void install_reload_handler() {
  struct sigaction reload {};
  reload.sa_handler = on_reload_signal;
  sigemptyset(&reload.sa_mask);
  sigaction(SIGHUP, &reload, nullptr);
}

void reload(const ServeOptions& options, serve::Server& server) {
  const Result<serve::ServerOptions> fresh = server_options(options);
  Status status = fresh.status();
  if (status.ok()) status = server.reconfigure(*fresh);
  if (status.ok()) {
    print_note("reloaded");
  } else {
    print_error(status.with_context("the old settings stay"));
  }
}

int run_serve(const ServeOptions& options) {
  // A server's log tells of every request unless the user chose a level.
  if (!options.quiet && spdlog::get_level() == spdlog::level::warn) (void)set_log_level("info");
  const Result<serve::ServerOptions> settings = server_options(options);
  if (!settings.ok()) return report(settings.status(), kExitUsage);
  const Result<StoreCatalogue> catalogue = StoreCatalogue::open(options.model);
  if (!catalogue.ok()) return report(catalogue.status(), kExitModel);
  ServeParts parts(options);
  serve::Server server(*settings, *catalogue, parts.loader());
  if (const Status status = parts.attach(server); !status.ok()) return report(status, kExitUsage);
  const Result<ModelInfo> model = server.app().default_model();
  if (!model.ok()) return report(model.status(), kExitModel);
  if (const Status device = check_device(options.load); !device.ok())
    return report(device, kExitDevice);
  install_reload_handler();
  if (const Status started = server.start(); !started.ok()) {
    return report(started, kExitUsage);
  }
  if (const Status status = parts.start(server); !status.ok()) {
    parts.stop();
    return report(status, kExitUsage);
  }
  for (const std::string& address : server.addresses())
    print_note(fmt::format("listening at {}, model {}", address, printable(model->name)));
  constexpr std::chrono::milliseconds kPoll{200};
  while (!interrupted() && !parts.finished()) {
    std::this_thread::sleep_for(kPoll);
    if (reload_requested.exchange(false)) reload(options, server);
  }
  print_note("stopping; running requests may end");
  parts.stop();
  server.stop();
  return kExitOk;
}

}  // namespace

void register_serve(Program& program) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App& app = program.add_command("serve", "Answer OpenAI's and whisper.cpp's HTTP APIs",
                                      [options] { return run_serve(*options); });
  declare_serve_options(app, *options);
}

}  // namespace sotto::cli
