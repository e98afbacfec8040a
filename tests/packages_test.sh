#!/usr/bin/env bash
# A package that is missing is found also under set -e, as ./run uses it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../tools/packages.sh"
mapfile -t missing < <(missing_packages bash no-such-package-of-nest)
if [[ ${missing[*]} != no-such-package-of-nest ]]; then
  echo "packages_test: '${missing[*]}' is said to be missing"
  exit 1
fi
