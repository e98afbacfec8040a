# Names of the Debian packages that ./run and ./test need, and how to install those that are missing.

run_packages=(g++ cmake ninja-build nlohmann-json3-dev libyaml-cpp-dev libcli11-dev libfmt-dev
  libcpp-httplib-dev graphviz)
# What the web application of `nest serve` is bundled with; without them the server has a page that says so.
# A Node that did not come from Debian is as good, and would not go together with Debian's npm.
web_packages=()
command -v node >/dev/null || web_packages+=(nodejs)
command -v npm >/dev/null || web_packages+=(npm)
# What tests and benchmarks need on top; ./run leaves both out where one of these is missing.
unit_packages=(libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev)
test_packages=("${run_packages[@]}" "${web_packages[@]}" "${unit_packages[@]}" clang-format-19
  clang-19 libclang-rt-19-dev valgrind ccache python3 python3-dev python3-venv time protobuf-compiler
  chromium)

# missing_packages NAME...: those that are not installed, one on a line. Off Debian nothing can be said.
missing_packages() {
  command -v dpkg-query >/dev/null || return 0
  local installed
  # dpkg-query fails where it does not know a name: an answer, and no reason to stop under set -e.
  installed=" $(dpkg-query -W -f='${db:Status-Abbrev}${binary:Package} ' "$@" 2>/dev/null || true) "
  local name
  for name in "$@"; do
    [[ $installed == *"ii "$name[\ :]* ]] || echo "$name"
  done
}

# install_missing NAME...: installs what is missing by name; silent and quick when nothing is.
install_missing() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -eq 0 ]] && return 0
  local as_root=()
  if [[ $EUID -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "nest: packages are missing; install them as root: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "nest: installing ${missing[*]}" >&2
  local log install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends)
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -q && "${as_root[@]}" "${install[@]}" "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "nest: apt-get could not install ${missing[*]}" >&2
    return 1
  fi
  rm -f "$log"
}

# install_tidy: clang-tidy into build-tidy/venv by name, and its path; fails where it can't be had. This
# version passes over the declarations of system headers, which takes less than half the time of Debian's.
install_tidy() {
  local venv=build-tidy/venv
  if [[ ! -x $venv/bin/clang-tidy ]]; then
    { python3 -m venv "$venv" && "$venv/bin/pip" install -q clang-tidy==23.1.4; } >&2 || return 1
  fi
  echo "$PWD/$venv/bin/clang-tidy"
}

# install_site: mkdocs with its theme and the reader of Python's docstrings into build/site-venv by name, and
# the path of its program; fails where they can't be had.
install_site() {
  local venv=build/site-venv
  if [[ ! -e $venv/complete ]]; then
    { python3 -m venv "$venv" && "$venv/bin/pip" install -q mkdocs-material 'mkdocstrings[python]' &&
      touch "$venv/complete"; } >&2 || return 1
  fi
  echo "$PWD/$venv/bin/mkdocs"
}

# What ./test frameworks compares with: the releases for which exports are written, where PyPI has them.
framework_packages=(torch transformers accelerate torchtitan==0.2.2 megatron-core onnx onnxscript deepspeed)

# install_frameworks: a virtual environment with the frameworks, and the path of its Python; fails where it
# can't be had. NEST_FRAMEWORKS_VENV says where it is or should be; it is kept. torch from PyPI does not
# start without the GPU's libraries, so they come along: 6 GB, of which a disk needs twice as much while they
# are unpacked.
install_frameworks() {
  local venv=${NEST_FRAMEWORKS_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/nest/frameworks}
  if [[ ! -e $venv/nest-complete ]]; then
    local imports='import torch, transformers, accelerate, torchtitan, megatron.core, deepspeed'
    if ! "$venv/bin/python" -c "$imports" >/dev/null 2>&1; then
      mkdir -p "$venv" || return 1
      local free
      free=$(df --output=avail -BG "$venv" | tail -n 1 | tr -dc 0-9)
      if [[ $free -lt 14 ]]; then
        echo "nest: $venv has $free GB left, and the frameworks need 14" >&2
        return 1
      fi
      # DeepSpeed asks the installed torch while it is built, so it comes last, and builds no kernels.
      { python3 -m venv "$venv" && "$venv/bin/pip" install -q setuptools "${framework_packages[@]:0:7}" &&
        DS_BUILD_OPS=0 "$venv/bin/pip" install -q --no-build-isolation "${framework_packages[@]:7}"
      } >&2 || return 1
    fi
    touch "$venv/nest-complete" || return 1
  fi
  echo "$venv/bin/python"
}
