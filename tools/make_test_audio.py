#!/usr/bin/env python3
"""Writes recordings of all kinds, sound and broken, and what a decoder should make of them.

    make_test_audio.py OUTDIR            # every file below, and OUTDIR/expected.json
    make_test_audio.py --corpus OUTDIR   # a few very small files: seeds for the fuzzer

Python's standard library alone makes the wav files. Files that need an encoder are made with ffmpeg, speech with
espeak-ng, where these are on PATH; without them those files are left out (--require-tools makes that an error).

expected.json is a list of objects:
  file      name in OUTDIR
  seconds   length of the decoded recording (within `tolerance` seconds, 0.001 by default); or
  error     the name of a status code, or "any"
  message   words of the error message
  warning   words of a warning; no warning is expected without it
  tone      true: the recording is the test tone (440 Hz) all along
  level     amplitude of that tone, within 5 %
  text      what is said (speech made by espeak-ng)
"""

import argparse
import json
import math
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import zlib

SECONDS = 2.0
TONE_HZ = 440
LEVEL = 0.5
PCM, FLOAT, ALAW, MULAW, EXTENSIBLE = 1, 3, 6, 7, 0xFFFE


def tone(rate=16000, seconds=SECONDS, level=LEVEL):
    return [level * math.sin(2 * math.pi * TONE_HZ * i / rate) for i in range(round(rate * seconds))]


def mulaw(x):
    """G.711 mu-law of a number in [-1, 1]."""
    value = round(x * 32767)
    sign, value = (0x80, -value) if value < 0 else (0, value)
    value = min(value, 32635) + 132
    exponent = value.bit_length() - 8
    return ~(sign | exponent << 4 | value >> (exponent + 3) & 15) & 0xFF


def alaw(x):
    """G.711 A-law of a number in [-1, 1]."""
    value = round(x * 32767)
    sign, value = (0, -value - 1) if value < 0 else (0x80, value)
    value >>= 3
    exponent = max(value.bit_length() - 5, 0)
    mantissa = value >> max(exponent, 1) & 15
    return (sign | exponent << 4 | mantissa) ^ 0x55


def integer(bits, endian="little"):
    scale = 2 ** (bits - 1)
    return lambda x: max(-scale, min(scale - 1, round(x * scale))).to_bytes(bits // 8, endian, signed=True)


ENCODERS = {
    "u8": (PCM, 8, lambda x: bytes([max(0, min(255, round(x * 128) + 128))])),
    "s16": (PCM, 16, integer(16)),
    "s24": (PCM, 24, integer(24)),
    "s32": (PCM, 32, integer(32)),
    "f32": (FLOAT, 32, lambda x: struct.pack("<f", x)),
    "f64": (FLOAT, 64, lambda x: struct.pack("<d", x)),
    "alaw": (ALAW, 8, lambda x: bytes([alaw(x)])),
    "mulaw": (MULAW, 8, lambda x: bytes([mulaw(x)])),
}


def encode(channels, kind="s16"):
    """Interleaved bytes of a list of channels (lists of numbers)."""
    sample = ENCODERS[kind][2]
    return b"".join(sample(x) for frame in zip(*channels) for x in frame)


def chunk(name, body):
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def fmt_chunk(kind="s16", rate=16000, channels=1, mask=None, **fields):
    tag, bits, _ = ENCODERS[kind]
    tag, channels, rate, bits = (fields.get("tag", tag), fields.get("channels_field", channels),
                                 fields.get("rate_field", rate), fields.get("bits_field", bits))
    align = fields.get("align", max(channels * bits // 8, 0) & 0xFFFF)
    head = struct.pack("<HIIHH", channels, rate, rate * align & 0xFFFFFFFF, align, bits)
    if mask is None:
        return chunk(b"fmt ", struct.pack("<H", tag) + head)
    guid = struct.pack("<H", tag) + bytes.fromhex("000000001000800000aa00389b71")
    return chunk(b"fmt ", struct.pack("<H", EXTENSIBLE) + head + struct.pack("<HHI", 22, bits, mask) + guid)


def riff(*chunks, size=None):
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body) if size is None else size) + body


def wav(channels, kind="s16", rate=16000, mask=None):
    return riff(fmt_chunk(kind, rate, len(channels), mask), chunk(b"data", encode(channels, kind)))


def rf64(data, fmt):
    body = b"WAVE" + chunk(b"ds64", struct.pack("<QQQI", 0, len(data), len(data) // 2, 0)) + fmt
    return b"RF64\xff\xff\xff\xff" + body + b"data\xff\xff\xff\xff" + data


class Writer:
    def __init__(self, folder, require_tools):
        self.folder = folder
        self.expected = []
        self.tools = {name: shutil.which(name) for name in ("ffmpeg", "espeak-ng")}
        missing = [name for name, path in self.tools.items() if path is None]
        if missing and require_tools:
            sys.exit(f"make_test_audio.py: not on PATH: {', '.join(missing)}")

    def add(self, name, content, **expected):
        (self.folder / name).write_bytes(content)
        self.expected.append({"file": name, **expected})

    def tone(self, name, content, level=LEVEL, seconds=SECONDS, **expected):
        self.add(name, content, seconds=seconds, tone=True, level=level, **expected)

    def ffmpeg(self, name, *arguments, **expected):
        """Runs ffmpeg with `arguments` in the folder, the last of which is a file to write."""
        if self.tools["ffmpeg"] is None:
            return False
        subprocess.run([self.tools["ffmpeg"], "-nostdin", "-v", "error", "-y", *arguments, "file:" + name], check=True,
                       cwd=self.folder)
        if expected:
            self.expected.append({"file": name, **expected})
        return True


def write_wavs(out):
    for kind in ENCODERS:
        out.tone(f"{kind}.wav", wav([tone()], kind))
    for rate in (8000, 11025, 22050, 44100, 48000, 96000, 192000):
        out.tone(f"s16_{rate}.wav", wav([tone(rate)], rate=rate))
    silent = [0.0] * len(tone())
    inverted = [-x for x in tone()]
    out.tone("stereo.wav", wav([tone(), tone()]))
    out.tone("stereo_left_only.wav", wav([tone(), silent]), level=LEVEL / 2)
    out.tone("stereo_inverted.wav", wav([tone(), inverted]), warning="inverted")
    out.tone("extensible_stereo.wav", wav([tone(), tone()], mask=3))
    out.tone("extensible_float.wav", wav([tone()], "f32", mask=4))
    # Front left and right, centre, low frequency, back left and right. The centre has 1 / (2 + sqrt 2 + ...) of the mix.
    centre = 1 / (1 + 2 * math.sqrt(0.5) + 2 * 0.5)
    out.tone("surround_centre.wav", wav([silent, silent, tone(), silent, silent, silent], mask=0x3F), level=LEVEL * centre)
    out.tone("three_channels_third.wav", wav([silent, silent, tone()]), level=LEVEL / 3)
    # Front left and right and "low frequency", as libav labels any three channels.
    out.tone("two_point_one_third.wav", wav([silent, silent, tone()], mask=0x0B), level=LEVEL / 3)
    out.tone("eleven_channels.wav", wav([tone()] * 11))
    data, fmt = encode([tone()]), fmt_chunk()
    listing = chunk(b"LIST", b"INFOISFT" + struct.pack("<I", 6) + b"maker\0")
    out.tone("size_0.wav", riff(fmt, b"data\0\0\0\0" + data, size=0))
    out.tone("size_ffffffff.wav", riff(fmt, listing, b"data\xff\xff\xff\xff" + data, size=0xFFFFFFFF))
    out.tone("size_7fffffff.wav", riff(fmt, b"data\xff\xff\xff\x7f" + data, size=0x7FFFFFFF))
    out.tone("rf64.wav", rf64(data, fmt))
    out.tone("junk_before_fmt.wav", riff(chunk(b"JUNK", bytes(28)), fmt, chunk(b"data", data)))
    out.tone("list_before_data.wav", riff(fmt, listing, chunk(b"odd ", b"xyz"), chunk(b"data", data)))
    out.tone("list_after_data.wav", riff(fmt, chunk(b"data", data), listing))
    out.tone("rifx.wav", b"RIFX" + struct.pack(">I", 36 + len(data)) + b"WAVEfmt " +
             struct.pack(">IHHIIHH", 16, PCM, 1, 16000, 32000, 2, 16) + b"data" + struct.pack(">I", len(data)) +
             b"".join(integer(16, "big")(x) for x in tone()))
    out.tone("sun.au", struct.pack(">4s5I", b".snd", 24, 0xFFFFFFFF, 3, 16000, 1) +
             b"".join(integer(16, "big")(x) for x in tone()))
    whole = riff(fmt, chunk(b"data", data))
    out.tone("cut_off.wav", whole[:44 + 16000], seconds=0.5, warning="cut off")
    out.tone("half_a_sample.wav", riff(fmt, chunk(b"data", data + b"\x01")))
    bad = tone()
    bad[100:110] = [math.nan, math.inf, -math.inf, 1e38, -1e38] * 2
    out.tone("not_numbers.wav", wav([bad], "f32"), warning="not numbers")
    out.tone("not_numbers_48000.wav", wav([[math.nan] * 10 + tone(48000)[10:]], "f64", 48000), warning="not numbers")
    out.add("integer_scale.wav", wav([[30000 * x for x in tone()]], "f32"), seconds=SECONDS, warning="outside -1..1")
    out.add("digital_silence.wav", wav([silent]), seconds=SECONDS)
    out.add("one_sample.wav", wav([[0.5]]), seconds=1 / 16000)
    out.add("zero_samples.wav", wav([[]]), seconds=0, warning="no samples")
    for name in ("spaces & ünïcode にっぽん ⚒️.wav", "-dash.wav", "quotes'\"`$(touch x).wav", "line\nfeed.wav", "file:name.wav",
                 "concat:a|b.wav", "percent%d.wav", "no_extension", "wrong_name.mp3"):
        out.tone(name, whole)


def write_broken(out):
    data = encode([tone(seconds=0.1)])
    out.add("empty.wav", b"", error="invalid_argument", message="empty")
    out.add("header_only_20.wav", wav([tone()])[:20], error="unsupported")
    out.add("no_data_chunk.wav", riff(fmt_chunk(), chunk(b"HURF", b"x" * 3000)), error="corrupt")
    for name, fields in {"no_channels": {"channels_field": 0}, "no_rate": {"rate_field": 0},
                         "many_channels": {"channels_field": 65535}, "rate_1": {"rate_field": 1},
                         "rate_4e9": {"rate_field": 4000000000}, "bits_0": {"bits_field": 0},
                         "bits_999": {"bits_field": 999}, "unknown_tag": {"tag": 0x7777}}.items():
        out.add(f"fmt_{name}.wav", riff(fmt_chunk(**fields), chunk(b"data", data)), error="any")
    noise = random.Random(1).randbytes(20000)
    out.add("noise.mp3", noise, error="unsupported", message="not audio")
    out.add("picture.mp3", b"\xff\xd8\xff\xe0\0\x10JFIF\0" + noise[:5000], error="unsupported", message="JPEG")
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    out.add("picture.wav", png, error="unsupported", message="PNG")
    out.add("text.wav", b"This is a plain text file, not audio.\n" * 40, error="unsupported", message="plain text")
    out.add("utf8.wav", "Grüße, 世界! Текст, kein Ton.\n".encode() * 40, error="unsupported", message="plain text")
    out.add("page.m4a", b"<!DOCTYPE html><html><body>404 Not Found</body></html>\n" * 9, error="unsupported", message="HTML")
    out.add("document.mp3", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + noise[:900], error="unsupported", message="PDF")
    out.add("archive.wav", b"PK\x03\x04" + noise[:900], error="unsupported", message="ZIP")
    # Playlists must not make the decoder open the files that they name.
    out.add("list.m3u8", b"#EXTM3U\n#EXTINF:2,\ns16.wav\n#EXT-X-ENDLIST\n", error="unsupported", message="playlist")
    out.add("list.ffconcat", b"ffconcat version 1.0\nfile s16.wav\n", error="unsupported", message="playlist")


def write_with_ffmpeg(out):
    source = ["-i", "file:s16_44100.wav"]
    lossy = {"seconds": SECONDS, "tone": True, "level": LEVEL}
    lame = {**lossy, "level": 0.95 * LEVEL}   # LAME turns high rates down a little
    loose = {**lossy, "tolerance": 0.1}   # some containers cannot tell the encoder's padding
    if not out.ffmpeg("tone.mp3", *source, "-c:a", "libmp3lame", **lame):
        return
    out.ffmpeg("vbr_22050.mp3", *source, "-ar", "22050", "-q:a", "5", **lossy)
    out.ffmpeg("tone.flac", *source, **lossy)
    out.ffmpeg("tone.ogg", *source, "-c:a", "libvorbis", **lossy)
    out.ffmpeg("tone.opus", *source, "-c:a", "libopus", **lossy)
    out.ffmpeg("tone.m4a", *source, "-c:a", "aac", **loose)
    out.ffmpeg("tone.aac", *source, "-c:a", "aac", **loose)
    out.ffmpeg("tone.ac3", *source, **loose)
    out.ffmpeg("tone.wma", *source, **loose)
    out.ffmpeg("tone.aiff", *source, **lossy)
    out.ffmpeg("tone.caf", *source, **lossy)
    out.ffmpeg("tone.w64", *source, **lossy)
    out.ffmpeg("adpcm.wav", *source, "-c:a", "adpcm_ms", **loose)
    out.ffmpeg("live.webm", *source, "-c:a", "libopus", "-f", "webm", "-live", "1", **lossy)
    out.ffmpeg("surround.flac", "-i", "surround_centre.wav", seconds=SECONDS, tone=True)
    picture = ["-f", "lavfi", "-i", "testsrc=duration=2:size=64x64:rate=10"]
    video = ["-c:v", "mpeg4"]
    out.ffmpeg("video.mp4", *picture, *source, *video, "-c:a", "aac", **loose)
    out.ffmpeg("video.mkv", *picture, *source, *video, "-c:a", "libvorbis", **loose)
    out.ffmpeg("video.avi", *picture, *source, *video, "-c:a", "libmp3lame", **{**lame, "tolerance": 0.1})
    out.ffmpeg("video.ts", *picture, *source, "-c:v", "mpeg2video", "-c:a", "mp2", **loose)
    out.ffmpeg("video_without_audio.mp4", *picture, *video, error="invalid_argument", message="no audio stream")
    out.ffmpeg("cover.jpg", *picture, "-frames:v", "1")
    out.ffmpeg("cover.mp3", *source, "-i", "cover.jpg", "-map", "0", "-map", "1", "-c:v", "copy", "-id3v2_version", "3",
               "-disposition:v", "attached_pic", **lame)
    out.ffmpeg("half_rate.mp3", *source, "-ar", "22050", "-write_xing", "0", "-id3v2_version", "0")
    out.ffmpeg("full_rate.mp3", *source, "-write_xing", "0", "-id3v2_version", "0")
    folder = out.folder
    mp3 = (folder / "tone.mp3").read_bytes()
    out.tone("truncated.mp3", mp3[:len(mp3) // 2 + 7], level=lame["level"], seconds=1.0, tolerance=0.1,
             warning="cut off")
    mixed = (folder / "full_rate.mp3").read_bytes() + (folder / "half_rate.mp3").read_bytes()
    out.add("mixed_rates.mp3", mixed, seconds=2 * SECONDS, tolerance=0.25)
    flac = bytearray((folder / "tone.flac").read_bytes())
    flac[len(flac) // 2:len(flac) // 2 + 200] = b"\x55" * 200
    out.add("damaged.flac", bytes(flac), seconds=SECONDS, tolerance=0.3, warning="damaged")
    for name in ("cover.jpg", "half_rate.mp3", "full_rate.mp3"):
        (folder / name).unlink()


def write_speech(out):
    if out.tools["espeak-ng"] is None:
        return
    text = "The quick brown fox jumps over the lazy dog."
    subprocess.run([out.tools["espeak-ng"], "-v", "en-us", "-s", "140", "-w", str(out.folder / "speech.wav"), text], check=True)
    out.expected.append({"file": "speech.wav", "text": text})


def write_corpus(folder):
    short = tone(seconds=0.01)
    files = {f"{kind}.wav": wav([short], kind) for kind in ENCODERS}
    files["stereo_8000.wav"] = wav([short, short], rate=8000)
    files["surround.wav"] = wav([short] * 6, mask=0x3F, rate=48000)
    files["three.wav"] = wav([short] * 3)
    files["streaming.wav"] = riff(fmt_chunk(), b"data\xff\xff\xff\xff" + encode([short]), size=0xFFFFFFFF)
    files["rf64.wav"] = rf64(encode([short]), fmt_chunk())
    files["channels.wav"] = riff(fmt_chunk(channels_field=65535), chunk(b"data", encode([short])))
    files["sun.au"] = struct.pack(">4s5I", b".snd", 24, 0xFFFFFFFF, 3, 16000, 1) + encode([short])
    for number, kind in enumerate(("s16", "f32")):  # the fuzzer's own header for headerless samples
        files[f"raw_{kind}"] = b"raw" + bytes([number, 16, 1]) + encode([short], kind)
    files["text.txt"] = b"plain text, and so on"
    for name, content in files.items():
        (folder / name).write_bytes(content)
    ffmpeg = shutil.which("ffmpeg")
    for name in ("tiny.mp3", "tiny.flac", "tiny.ogg", "tiny.webm", "tiny.m4a") if ffmpeg else ():
        subprocess.run([ffmpeg, "-nostdin", "-v", "error", "-y", "-i", folder / "stereo_8000.wav", "-bitexact", folder / name],
                       check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="store_true")
    parser.add_argument("--require-tools", action="store_true")
    parser.add_argument("outdir", type=pathlib.Path)
    args = parser.parse_args()
    args.outdir.mkdir(parents=True, exist_ok=True)
    if args.corpus:
        write_corpus(args.outdir)
        return
    out = Writer(args.outdir, args.require_tools)
    write_wavs(out)
    write_broken(out)
    write_with_ffmpeg(out)
    write_speech(out)
    (args.outdir / "expected.json").write_text(json.dumps(out.expected, indent=1, ensure_ascii=False) + "\n")
    print(f"wrote {len(out.expected)} files to {args.outdir}")


if __name__ == "__main__":
    main()
