// SPDX-License-Identifier: BSD-2-Clause
// Shows programs the tree of our devices where they look for those of the kernel: the functions of the C library that
// take paths, with /sys/class/infiniband, /sys/class/infiniband_verbs and /dev/infiniband replaced by the same names
// below ROCE_VERBS_TREE. Loaded in front of the C library by LD_PRELOAD.

// The names below would be redirected to those with 64 in them, and the checks for small buffers put in front.
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "verbs/paths/counter_files.h"

namespace {

/// Returns the root of the tree; null without one.
[[nodiscard]] const char* tree() {
  static const char* const root = getenv("ROCE_VERBS_TREE");
  return root;
}

/// True if `path` is `folder`, or something in it or in one whose name begins like that (infiniband_verbs).
[[nodiscard]] bool is_in(const char* path, const char* folder) {
  return strncmp(path, folder, strlen(folder)) == 0;
}

/// A path as the C library is to see it.
class Path {
 public:
  explicit Path(const char* path) : path_(path) {
    if (path == nullptr || tree() == nullptr) return;
    if (!is_in(path, "/sys/class/infiniband") && !is_in(path, "/dev/infiniband")) return;
    // A path that is too long stays as it is: there is nothing at it.
    const int length = snprintf(replaced_, sizeof replaced_, "%s%s", tree(), path);
    if (length > 0 && static_cast<size_t>(length) < sizeof replaced_) path_ = replaced_;
  }
  [[nodiscard]] const char* get() const { return path_; }

 private:
  const char* path_;
  char replaced_[PATH_MAX];
};

/// The same for a file that is opened: that of a counter has the number of this moment in it.
class OpenedPath {
 public:
  explicit OpenedPath(const char* path) : path_(path), file_(tree(), path_.get()) {}
  [[nodiscard]] const char* get() const { return file_.path(); }

 private:
  Path path_;
  roce::verbs::CounterFile file_;
};

/// Returns the C library's own function.
template <typename Function>
[[nodiscard]] Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// True if `flags` say that a mode follows them.
[[nodiscard]] bool has_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// A function that takes a path is the C library's own, with another path. Each keeps where that one is.
#define ROCE_WITH_PATH(type, name, parameters, specifier, ...) \
  type name parameters specifier {                             \
    static auto* const real = next<type parameters>(#name);    \
    return real(__VA_ARGS__);                                  \
  }
#define ROCE_OPEN(name)                                                \
  int name(const char* path, int flags, ...) {                         \
    static auto* const real = next<int(const char*, int, ...)>(#name); \
    va_list rest;                                                      \
    va_start(rest, flags);                                             \
    const mode_t mode = has_mode(flags) ? va_arg(rest, mode_t) : 0;    \
    va_end(rest);                                                      \
    return real(OpenedPath{path}.get(), flags, mode);                  \
  }
#define ROCE_OPENAT(name)                                                   \
  int name(int folder, const char* path, int flags, ...) {                  \
    static auto* const real = next<int(int, const char*, int, ...)>(#name); \
    va_list rest;                                                           \
    va_start(rest, flags);                                                  \
    const mode_t mode = has_mode(flags) ? va_arg(rest, mode_t) : 0;         \
    va_end(rest);                                                           \
    return real(folder, OpenedPath{path}.get(), flags, mode);               \
  }

ROCE_OPEN(open)
ROCE_OPEN(open64)
ROCE_OPENAT(openat)
ROCE_OPENAT(openat64)
// Programs that are built with _FORTIFY_SOURCE, or were built before glibc 2.33, call these.
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);
ssize_t __readlink_chk(const char* path, char* out, size_t size, size_t room);
ssize_t __readlinkat_chk(int folder, const char* path, char* out, size_t size, size_t room);
char* __realpath_chk(const char* path, char* out, size_t room);
int __xstat(int version, const char* path, struct stat* out);
int __xstat64(int version, const char* path, struct stat64* out);
int __lxstat(int version, const char* path, struct stat* out);
int __lxstat64(int version, const char* path, struct stat64* out);
int __fxstatat(int version, int folder, const char* path, struct stat* out, int flags);
int __fxstatat64(int version, int folder, const char* path, struct stat64* out, int flags);

ROCE_WITH_PATH(int, __open_2, (const char* path, int flags), , OpenedPath{path}.get(), flags)
ROCE_WITH_PATH(int, __open64_2, (const char* path, int flags), , OpenedPath{path}.get(), flags)
ROCE_WITH_PATH(int, __openat_2, (int folder, const char* path, int flags), , folder, OpenedPath{path}.get(), flags)
ROCE_WITH_PATH(int, __openat64_2, (int folder, const char* path, int flags), , folder, OpenedPath{path}.get(), flags)
ROCE_WITH_PATH(FILE*, fopen, (const char* path, const char* mode), , OpenedPath{path}.get(), mode)
ROCE_WITH_PATH(FILE*, fopen64, (const char* path, const char* mode), , OpenedPath{path}.get(), mode)
ROCE_WITH_PATH(int, access, (const char* path, int mode), noexcept, Path{path}.get(), mode)
ROCE_WITH_PATH(int, faccessat, (int folder, const char* path, int mode, int flags), noexcept, folder, Path{path}.get(),
               mode, flags)
ROCE_WITH_PATH(int, stat, (const char* path, struct stat* out), noexcept, Path{path}.get(), out)
ROCE_WITH_PATH(int, stat64, (const char* path, struct stat64* out), noexcept, Path{path}.get(), out)
ROCE_WITH_PATH(int, lstat, (const char* path, struct stat* out), noexcept, Path{path}.get(), out)
ROCE_WITH_PATH(int, lstat64, (const char* path, struct stat64* out), noexcept, Path{path}.get(), out)
ROCE_WITH_PATH(int, fstatat, (int folder, const char* path, struct stat* out, int flags), noexcept, folder,
               Path{path}.get(), out, flags)
ROCE_WITH_PATH(int, fstatat64, (int folder, const char* path, struct stat64* out, int flags), noexcept, folder,
               Path{path}.get(), out, flags)
ROCE_WITH_PATH(int, statx, (int folder, const char* path, int flags, unsigned mask, struct statx* out), noexcept,
               folder, Path{path}.get(), flags, mask, out)
ROCE_WITH_PATH(int, __xstat, (int version, const char* path, struct stat* out), , version, Path{path}.get(), out)
ROCE_WITH_PATH(int, __xstat64, (int version, const char* path, struct stat64* out), , version, Path{path}.get(), out)
ROCE_WITH_PATH(int, __lxstat, (int version, const char* path, struct stat* out), , version, Path{path}.get(), out)
ROCE_WITH_PATH(int, __lxstat64, (int version, const char* path, struct stat64* out), , version, Path{path}.get(), out)
ROCE_WITH_PATH(int, __fxstatat, (int version, int folder, const char* path, struct stat* out, int flags), , version,
               folder, Path{path}.get(), out, flags)
ROCE_WITH_PATH(int, __fxstatat64, (int version, int folder, const char* path, struct stat64* out, int flags), , version,
               folder, Path{path}.get(), out, flags)
ROCE_WITH_PATH(DIR*, opendir, (const char* path), , Path{path}.get())
ROCE_WITH_PATH(int, scandir,
               (const char* path, dirent*** list, int (*is_wanted)(const dirent*),
                int (*compare)(const dirent**, const dirent**)),
               , Path{path}.get(), list, is_wanted, compare)
ROCE_WITH_PATH(int, scandir64,
               (const char* path, dirent64*** list, int (*is_wanted)(const dirent64*),
                int (*compare)(const dirent64**, const dirent64**)),
               , Path{path}.get(), list, is_wanted, compare)
ROCE_WITH_PATH(ssize_t, getxattr, (const char* path, const char* name, void* out, size_t size), noexcept,
               Path{path}.get(), name, out, size)
ROCE_WITH_PATH(ssize_t, lgetxattr, (const char* path, const char* name, void* out, size_t size), noexcept,
               Path{path}.get(), name, out, size)
ROCE_WITH_PATH(ssize_t, readlink, (const char* path, char* out, size_t size), noexcept, Path{path}.get(), out, size)
ROCE_WITH_PATH(ssize_t, readlinkat, (int folder, const char* path, char* out, size_t size), noexcept, folder,
               Path{path}.get(), out, size)
ROCE_WITH_PATH(ssize_t, __readlink_chk, (const char* path, char* out, size_t size, size_t room), , Path{path}.get(),
               out, size, room)
ROCE_WITH_PATH(ssize_t, __readlinkat_chk, (int folder, const char* path, char* out, size_t size, size_t room), , folder,
               Path{path}.get(), out, size, room)
ROCE_WITH_PATH(char*, realpath, (const char* path, char* out), noexcept, Path{path}.get(), out)
ROCE_WITH_PATH(char*, __realpath_chk, (const char* path, char* out, size_t room), , Path{path}.get(), out, room)

#undef ROCE_WITH_PATH
#undef ROCE_OPEN
#undef ROCE_OPENAT
}
#pragma GCC visibility pop
