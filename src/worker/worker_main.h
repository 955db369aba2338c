// The worker process: one model, jobs one after the other, until the parent goes.
#ifndef SOTTO_WORKER_WORKER_MAIN_H_
#define SOTTO_WORKER_WORKER_MAIN_H_

#include <functional>
#include <memory>
#include <string>

#include "sotto/status.h"
#include "sotto/transcribe.h"

namespace sotto::worker {

/// How the process gets its model: SpeechModel::load, or a test's fake.
using WorkerLoader = std::function<Result<std::unique_ptr<SpeechModel>>(const std::string& path,
                                                                        const LoadOptions&)>;

/// Answers the messages that arrive at the socket `fd` until the other end closes it (success) or
/// breaks the protocol. `on_parent_gone` is called from another thread as soon as the other end is
/// closed, even while the model works: it ends the process. (PR_SET_PDEATHSIG would do so when the
/// parent's THREAD that started the worker ends, which is no reason to stop.)
Status run_worker(int fd, const WorkerLoader& load, std::function<void()> on_parent_gone);

}  // namespace sotto::worker

#endif  // SOTTO_WORKER_WORKER_MAIN_H_
