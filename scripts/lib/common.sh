# Shared by the scripts of this folder: where things are, messages, packages. Sourced, not run.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${SOTTO_CACHE:-$ROOT/.cache}     # models and tools that are fetched once
JOBS=${JOBS:-$(nproc)}

step() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Debian 12/13 and Ubuntu 24.04 use the same names.
BUILD_PACKAGES=(g++ cmake ninja-build pkg-config ccache git ca-certificates python3 python3-pip
  libavformat-dev libavcodec-dev libavutil-dev libswresample-dev
  nlohmann-json3-dev libcli11-dev libfmt-dev libspdlog-dev
  libcurl4-openssl-dev libssl-dev libzip-dev zlib1g-dev libboost-dev)
TEST_PACKAGES=(libgtest-dev libgmock-dev libbenchmark-dev clang ffmpeg espeak-ng chromium)

# Installs those of the named packages that are missing; says so; needs root or sudo only then.
ensure_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "packages: all $# are installed"
    return
  fi
  command -v apt-get >/dev/null || die "apt-get not found; install the equivalents of: ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "run as root, or install sudo; missing packages: ${missing[*]}"
    sudo=(sudo)
  fi
  echo "packages: installing ${missing[*]}"
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# libFuzzer and the sanitizer runtimes for whichever clang the distribution calls "clang".
ensure_clang_runtime() {
  local major
  major=$(clang++ -dumpversion | cut -d. -f1)
  ensure_packages "libclang-rt-$major-dev"
}

# build PRESET [TARGET...]: configures when needed and builds.
build() {
  local preset=$1
  shift
  [ -f "$ROOT/build/$preset/build.ninja" ] || (cd "$ROOT" && cmake --preset "$preset" >/dev/null)
  if [ $# -gt 0 ]; then
    cmake --build "$ROOT/build/$preset" -j "$JOBS" --target "$@"
  else
    cmake --build "$ROOT/build/$preset" -j "$JOBS"
  fi
}
