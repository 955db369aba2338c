#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>

#include <memory>
#include <string>

namespace sotto {

void init_log() {
  auto logger =
      std::make_shared<spdlog::logger>("sotto", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("sotto: %l: %v");
  logger->set_level(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

Status set_log_level(std::string_view level) {
  const spdlog::level::level_enum parsed = spdlog::level::from_str(std::string(level));
  if (parsed == spdlog::level::off && level != "off") {
    return invalid_argument("unknown log level '" + std::string(level) +
                            "'; use trace, debug, info, warn, error or off");
  }
  spdlog::set_level(parsed);
  return {};
}

}  // namespace sotto
