// A worker process whose model does what the job's path says, for tests.
#ifndef SOTTO_WORKER_TESTING_FAKE_WORKER_H_
#define SOTTO_WORKER_TESTING_FAKE_WORKER_H_

namespace sotto::worker::testing {

/// The body of `worker --fd N`. The model's path "bad" fails to load, "crash" ends the process. A
/// job's path is a list of words: segments=N, and at=I with one of crash, hang, spin (works for
/// ever but gets nowhere), which happens at segment I; once=FILE restricts it to the first process
/// that finds no such file. Samples and bytes are described by a segment.
int fake_worker_main(int fd);

}  // namespace sotto::worker::testing

#endif  // SOTTO_WORKER_TESTING_FAKE_WORKER_H_
