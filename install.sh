#!/bin/sh
# Installs automaton for this user, or updates it: fetches the program for this machine, checks it, and lets it do the
# rest (`automaton install`). Needs no root, and writes nothing outside of HOME's folder and a temporary one.
set -eu

usage() {
  cat <<'TEXT'
usage: install.sh --git-url URL [--home DIR] [--release URL|DIR | --binary FILE | --from-source]

  --git-url URL    your own repository, which HOME becomes a clone of; it may be empty.
                   Also AUTOMATON_GIT_URL. An update needs it no more.
  --home DIR       where HOME is; also AUTOMATON_HOME. Default: ~/.automaton
  --release WHERE  a release, as an address or a folder: SHA256SUMS and archives.
                   Also AUTOMATON_RELEASE
  --binary FILE    this program
  --from-source    build this checkout first (needs node and npm)

Without one of the last three: the folder of this script, if it holds a release or the sources.
TEXT
}

# One error is two lines, as automaton's own: what (where): why, then one thing to do. Third: the exit code.
die() {
  printf 'install.sh: %s\n  fix: %s\n' "$1" "$2" >&2
  exit "$3"
}

main() {
  git_url=${AUTOMATON_GIT_URL:-} home=${AUTOMATON_HOME:-} release=${AUTOMATON_RELEASE:-} from='' binary=''
  while [ $# -gt 0 ]; do
    case $1 in
      --git-url=* | --home=* | --release=* | --binary=*)
        option=${1%%=*} value=${1#*=}
        shift
        set -- "$option" "$value" "$@"
        continue
        ;;
      --git-url | --home | --release | --binary)
        if [ -z "${2:-}" ]; then die "missing value ($1): it needs one" "sh install.sh --help" 2; fi
        case $1 in
          --git-url) git_url=$2 ;;
          --home) home=$2 ;;
          --release) release=$2 from=release ;;
          --binary) binary=$2 from=binary ;;
        esac
        shift 2
        ;;
      --from-source)
        from=source
        shift
        ;;
      -h | --help)
        usage
        exit 0
        ;;
      *) die "unknown option ($1): there is no such option" "sh install.sh --help" 2 ;;
    esac
  done
  [ -n "$home" ] || home=${HOME:?HOME is not set}/.automaton
  case $home in /*) ;; *) home=$(pwd)/$home ;; esac

  if [ -z "$git_url" ] && [ ! -e "$home/.git" ]; then
    die "no git URL (install.sh): without a repository of yours, what automaton changes in its own files could not be undone" \
      "make an empty repository, then: sh install.sh --git-url URL" 2
  fi
  command -v git >/dev/null || die "git not found (git): it is in no folder of PATH" "install git 2.38 or newer" 5

  work=$(mktemp -d "${TMPDIR:-/tmp}/automaton-install.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  here=$(script_folder)
  [ -n "$from" ] || from=$(default_source)
  case $from in
    binary) program=$(absolute "$binary") ;;
    source) build_here ;;
    release) unpack_release ;;
    *) die "nothing to install (install.sh): it lies beside no release and no sources" \
      "sh install.sh --git-url URL --release URL" 2 ;;
  esac
  if [ ! -f "$program" ]; then die "program not found ($program): there is no such file" "sh install.sh --help" 2; fi
  check_program
  AUTOMATON_HOME=$home
  export AUTOMATON_HOME
  if [ -n "$git_url" ]; then "$program" install --git-url "$git_url"; else "$program" install; fi
}

# Empty when this script came through a pipe.
script_folder() {
  case $0 in */install.sh | install.sh) ;; *) return 0 ;; esac
  [ -f "$0" ] || return 0
  CDPATH='' cd -- "$(dirname -- "$0")" && pwd
}

default_source() {
  if [ -n "$release" ]; then
    echo release
  elif [ -n "$here" ] && [ -f "$here/SHA256SUMS" ]; then
    echo release
  elif [ -n "$here" ] && [ -f "$here/build.ts" ]; then
    echo source
  fi
}

absolute() {
  case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s/%s\n' "$(pwd)" "$1" ;; esac
}

build_here() {
  if [ -z "$here" ] || [ ! -f "$here/build.ts" ]; then
    die "no sources (install.sh): build.ts is not beside this script" "run install.sh from a checkout" 2
  fi
  command -v npm >/dev/null || die "npm not found (npm): it is in no folder of PATH" "install Node 20 or newer" 5
  (cd -- "$here" && npm run --silent build) >&2 || die "build failed ($here): see above" "npm run build" 5
  program=$here/dist/automaton
}

# --- the release ---

unpack_release() {
  [ -n "$release" ] || release=$here
  targets=$(candidates)
  fetch SHA256SUMS
  target=''
  for candidate in $targets; do
    if grep -q "[ *]automaton-$candidate.tar.gz\$" "$work/SHA256SUMS"; then
      target=$candidate
      break
    fi
  done
  [ -n "$target" ] ||
    die "no program for this machine ($release): it has none of these: $(echo "$targets" | tr '\n' ' ')" \
      "sh install.sh --from-source, in a checkout" 5
  archive=automaton-$target.tar.gz
  fetch "$archive"
  wanted=$(sed -n "s/^\([0-9a-fA-F]\{64\}\) [ *]$archive\$/\1/p" "$work/SHA256SUMS" | head -n 1 | tr A-F a-f)
  found=$(sha256 "$work/$archive" | sed 's/[^0-9a-f].*//')
  [ -n "$found" ] ||
    die "no checksums (sha256sum, shasum, openssl): none is in a folder of PATH" "install coreutils" 5
  [ "$wanted" = "$found" ] ||
    die "wrong checksum ($archive): it is $found, and SHA256SUMS says ${wanted:-nothing}" \
      "download the release again" 5
  mkdir "$work/unpacked"
  tar -xzf "$work/$archive" -C "$work/unpacked" ||
    die "cannot unpack ($archive): tar failed" "free space in ${TMPDIR:-/tmp}, then try again" 5
  program=$work/unpacked/automaton
  chmod u+x "$program" 2>/dev/null || :
  if [ -L "$program" ] || [ ! -f "$program" ]; then
    die "not a release ($archive): it holds no program" "download the release again" 5
  fi
}

# One file of the release, into the temporary folder.
fetch() {
  case $release in
    https://* | http://localhost[:/]* | http://127.0.0.1[:/]*) download "${release%/}/$1" "$work/$1" ;;
    http://*) die "address refused ($release): what comes without encryption could be anybody's" "use https" 2 ;;
    *) cp -- "${release#file://}/$1" "$work/$1" || die "cannot read ($release/$1): see above" "check --release" 5 ;;
  esac
}

download() {
  if command -v curl >/dev/null; then
    curl -fsSL --retry 2 --connect-timeout 20 --proto '=https,http' --proto-redir '=https' -o "$2" -- "$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" -- "$1"
  else
    die "nothing to download with (curl, wget): neither is in a folder of PATH" "install curl" 5
  fi || die "download failed ($1): see above" "check the address and the network, then try again" 5
}

sha256() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1"
  elif command -v shasum >/dev/null; then
    shasum -a 256 <"$1"
  elif command -v openssl >/dev/null; then
    openssl dgst -sha256 -r <"$1"
  fi
}

# --- this machine ---

# Names of the programs that run here, the best one first.
candidates() {
  machine=$(uname -m)
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) die "unknown system ($(uname -s)): there are programs for Linux and macOS" "sh install.sh --from-source" 5 ;;
  esac
  case $machine in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "unknown processor ($machine): there are programs for x86-64 and arm64" "sh install.sh --from-source" 5 ;;
  esac
  # A shell that Rosetta translates says x86_64.
  if [ "$os-$arch" = darwin-x64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then arch=arm64; fi
  libc=''
  if [ "$os" = linux ] && is_musl; then libc=-musl; fi
  # What was built for newer processors may run all the same; `check_program` finds out.
  if [ $arch = x64 ] && ! has_avx2; then echo "$os-$arch$libc-baseline"; fi
  echo "$os-$arch$libc"
  if [ $arch = x64 ]; then echo "$os-$arch$libc-baseline"; fi
}

is_musl() {
  if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then return 1; fi
  case $(ldd --version 2>&1 || :) in *musl*) return 0 ;; esac
  for loader in /lib/ld-musl-*; do [ ! -e "$loader" ] || return 0; done
  return 1
}

has_avx2() {
  if [ "$os" = darwin ]; then
    sysctl -n machdep.cpu.leaf7_features 2>/dev/null | grep -q AVX2
  else
    grep -qw avx2 /proc/cpuinfo 2>/dev/null
  fi
}

check_program() {
  said=$("$program" --version 2>"$work/why") ||
    die "cannot run ($program): $(sed -n '/[a-z]/{p;q;}' "$work/why")" \
      "take the program of this machine ($(uname -sm)), or set TMPDIR to a folder that may hold programs" 5
  case $said in
    'automaton '*) ;;
    *) die "not automaton ($program): it says $said" "check --binary" 2 ;;
  esac
}

main "$@"
