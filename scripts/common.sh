# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the scripts beside it: where the tree is, how they speak, and how a build folder is configured.

top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
  bold=$'\e[1m' plain=$'\e[0m'
else
  bold='' plain=''
fi

say() { printf '%s%s%s\n' "$bold" "$*" "$plain"; }

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# configure FOLDER CMAKE-ARGUMENT...
# Runs CMake only when the folder has no finished configuration of this tree with these arguments or the presets are newer; Ninja notices every
# other change by itself.
# A configuration that failed leaves files behind that look like a finished one, so a file of our own says that it was.
configure() {
  local folder=$1 fresh=()
  shift
  if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$top" "$folder/CMakeCache.txt"; then
    fresh=(--fresh)
  elif [[ -f $folder/configured && $(<"$folder/configured") == "$*" && ! $top/CMakePresets.json -nt $folder/configured ]]; then
    return 0
  fi
  rm -f -- "$folder/configured"
  (cd -- "$top" && cmake "${fresh[@]}" "$@")
  printf '%s\n' "$*" >"$folder/configured"
}
