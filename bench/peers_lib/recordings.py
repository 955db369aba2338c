"""The recordings that all programs transcribe: one short clip, and a long one made of clips."""

import array
import json
import pathlib
import subprocess
import sys

from peers_lib.engines import Recording

RATE = 16000
PAUSE_S = 1.0

JFK = "And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country."


def read_samples(path):
    """16 kHz mono samples of any recording, as s16."""
    done = subprocess.run(["ffmpeg", "-v", "error", "-i", str(path), "-f", "s16le", "-ac", "1", "-ar", str(RATE), "-"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"ffmpeg cannot read {path}")
    return array.array("h", done.stdout)


def write_recording(folder, name, samples, text):
    """NAME.wav and NAME.f32."""
    wav, raw = folder / f"{name}.wav", folder / f"{name}.f32"
    array.array("f", (value / 32768 for value in samples)).tofile(raw.open("wb"))
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "s16le", "-ac", "1", "-ar", str(RATE), "-i", "-", str(wav)],
                   input=samples.tobytes(), check=True)
    return Recording(wav, raw, len(samples) / RATE, text)


def english_clips(manifest):
    """(path, text) of the English recordings with a known text in a manifest of bench/quality."""
    base = pathlib.Path(manifest).resolve().parent
    clips = []
    for line in pathlib.Path(manifest).read_text().splitlines():
        entry = json.loads(line)
        if entry.get("kind") == "audio" and entry.get("language") == "en" and entry.get("text"):
            clips.append((base / entry["file"], entry["text"]))
    return clips


def join_clips(clips, seconds):
    """Clips with pauses between them, again from the first when they are too few, until `seconds` are full. Returns
    samples and text; only whole clips are used, so that the text is right."""
    samples, texts = array.array("h"), []
    pause = array.array("h", [0] * int(PAUSE_S * RATE))
    while len(samples) < seconds * RATE:
        before = len(samples)
        for clip, text in clips:
            room = seconds * RATE * 1.02 - len(samples)
            if len(clip) > room and samples:
                continue
            samples += clip + pause
            texts.append(text)
        if len(samples) == before:
            break
    return samples, " ".join(texts)


def make_recordings(folder, clip, text, manifest, minutes):
    """The short and the long recording in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    short = read_samples(clip)
    clips = [(short, text)]
    if manifest:
        clips = [(read_samples(path), words) for path, words in english_clips(manifest)]
    long_samples, long_text = join_clips(clips, minutes * 60)
    return write_recording(folder, "short", short, text), write_recording(folder, "long", long_samples, long_text)
