"""Runs faster-whisper for bench/peers, in its own Python.

    faster_whisper_worker.py MODEL RECORDING THREADS COMPUTE CASE MODE

CASE: encode, beam5, greedy or batched. MODE: "paced" does one run for each line of standard input; "once" is a single
run. Prints a JSON object for the loading and one for each run."""

import json
import sys
import time

start = time.perf_counter()

from faster_whisper import BatchedInferencePipeline, WhisperModel  # noqa: E402


def say(**values):
    print(json.dumps(values), flush=True)


def make_run(model, recording, case):
    """A function without arguments that does the work and returns (milliseconds, text)."""
    if case == "encode":
        from faster_whisper.audio import decode_audio, pad_or_trim
        features = pad_or_trim(model.feature_extractor(decode_audio(recording)))

        def encode():
            begin = time.perf_counter()
            model.encode(features)
            return (time.perf_counter() - begin) * 1000, ""
        return encode
    pipeline, options = model, {"beam_size": 1 if case == "greedy" else 5}
    if case == "batched":
        pipeline, options["batch_size"] = BatchedInferencePipeline(model), 8

    def transcribe():
        begin = time.perf_counter()
        segments, _ = pipeline.transcribe(recording, language="en", **options)
        text = "".join(segment.text for segment in segments)
        return (time.perf_counter() - begin) * 1000, text
    return transcribe


def main():
    path, recording, threads, compute, case, mode = sys.argv[1:]
    begin = time.perf_counter()
    model = WhisperModel(path, device="cpu", compute_type=compute, cpu_threads=int(threads))
    say(load_ms=(time.perf_counter() - begin) * 1000, import_ms=(begin - start) * 1000)
    run = make_run(model, recording, case)
    for _ in sys.stdin if mode == "paced" else [""]:
        milliseconds, text = run()
        say(ms=milliseconds, text=text)


main()
