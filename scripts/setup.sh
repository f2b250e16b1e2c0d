#!/usr/bin/env bash
# Bring what a Debian 12 machine lacks to build, test and run this project:
# Debian packages (LLVM, MLIR and clang of one major version among them) and a
# Python environment in .venv with the packages of requirements.txt.
#
#   scripts/setup.sh          what `make test` and `make demo` need
#   scripts/setup.sh --dev    also what `make format`, `tidy` and `asan` need
#
# What is there already is left alone, so a second run costs next to nothing.
# Installing takes root or sudo; without either the command to run is printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

LLVM=22
packages=(
  ca-certificates ccache cmake g++ git libbenchmark-dev libgmock-dev
  libgtest-dev libzstd-dev make ninja-build pkg-config python3 python3-venv
  z3 zlib1g-dev
  "clang-$LLVM" "libclang-$LLVM-dev" "libclang-cpp$LLVM" "libmlir-$LLVM-dev"
  "libomp-$LLVM-dev" "lld-$LLVM" "llvm-$LLVM-dev" "llvm-$LLVM-tools"
  "mlir-$LLVM-tools"
)
case "${1:-}" in
  "") ;;
  --dev)
    packages+=("clang-format-$LLVM" "clang-tidy-$LLVM" "libclang-rt-$LLVM-dev")
    ;;
  *)
    echo "usage: scripts/setup.sh [--dev]" >&2
    exit 2
    ;;
esac

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

# The packages of the list that are not installed.
missing_packages() {
  local name
  local -A installed=()
  while read -r name; do
    installed[$name]=1
  done < <(dpkg-query -W -f '${db:Status-Abbrev}|${Package}\n' \
             "${packages[@]}" 2>/dev/null | sed -n 's/^.i *|//p')
  for name in "${packages[@]}"; do
    [[ -n "${installed[$name]:-}" ]] || printf '%s\n' "$name"
  done
}

# Those of the packages given that apt cannot install: no candidate at all, or
# one of this LLVM's packages at another major version.
without_candidate() {
  local -A candidate=()
  local name version
  while read -r name version; do
    candidate[$name]=$version
  done < <(LC_ALL=C apt-cache policy "$@" |
             awk '/^[^ ]/ { sub(/:.*/, ""); name = $1 }
                  $1 == "Candidate:" { print name, $2 }')
  for name in "$@"; do
    version=${candidate[$name]:-(none)}
    if [[ "$version" == "(none)" ]]; then
      printf '%s\n' "$name"
    elif [[ "$name" == *"$LLVM"* && "$version" != "1:$LLVM."* ]]; then
      printf '%s (only at %s)\n' "$name" "$version"
    fi
  done
}

install_packages() {
  local -a as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      cannot_install "$@"
    elif [[ -t 0 ]]; then
      as_root=(sudo) # it may ask for a password
    elif sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      cannot_install "$@"
    fi
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get
            -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -qq)

  say "installing $*"
  # A source that is down matters only if it is the one that has a package.
  "${as_root[@]}" update ||
    say "apt-get update failed for some source; going on with the lists at hand"
  local -a absent
  mapfile -t absent < <(without_candidate "$@")
  if ((${#absent[@]})); then
    fail "the apt sources of this machine do not offer:" \
         "${absent[@]/#/  }" \
         "LLVM $LLVM is in Debian 12's security updates (bookworm-security);" \
         "add that source and run this script again."
  fi
  "${as_root[@]}" install -y --no-install-recommends "$@" >/dev/null ||
    fail "apt-get could not install the packages; its messages are above."
}

cannot_install() {
  fail "packages are missing, and installing them takes root or sudo." \
       "Run this as root, then this script again:" \
       "" \
       "  apt-get update && apt-get install -y --no-install-recommends $*"
}

command -v dpkg-query >/dev/null ||
  fail "this machine has no dpkg. Install, by its own means, what Debian 12" \
       "calls: ${packages[*]}"
mapfile -t missing < <(missing_packages)
if ((${#missing[@]})); then
  install_packages "${missing[@]}"
fi
version=$("llvm-config-$LLVM" --version) ||
  fail "llvm-config-$LLVM does not run, though its package is installed."
[[ "$version" == "$LLVM".1.* ]] ||
  fail "LLVM is $version; this project is built with LLVM $LLVM.1."

# The stamp names what .venv was made from, its own place included: the scripts
# in it hold absolute paths.
stamp=.venv/setup-stamp
made_from="$(sha256sum <requirements.txt) $(readlink -f /usr/bin/python3) $PWD"
if [[ ! -f $stamp || "$(<$stamp)" != "$made_from" ]]; then
  say "making .venv"
  /usr/bin/python3 -m venv --clear .venv </dev/null
  .venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --no-input --no-deps --requirement requirements.txt </dev/null ||
    fail "pip could not install the packages of requirements.txt."
  .venv/bin/python -m pip check --disable-pip-version-check >/dev/null ||
    fail "requirements.txt does not name all that its packages need."
  printf '%s\n' "$made_from" >$stamp
fi
