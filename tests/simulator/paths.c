/* Paths below /dev, /sys and /proc are looked up in the machine's folder, as if smartctl ran in a chroot.
 *
 * The real ones stay out of sight: no command can ever reach a real drive. glibc's own functions call
 * each other directly, so each one that smartctl uses is replaced by itself (nm -D smartctl lists them).
 */
#include "simulator.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Declares real_NAME, the function that the hook of that name stands before. */
#define REAL(result, name, ...) \
    static result (*real_##name)(__VA_ARGS__); \
    if (!real_##name) \
        *(void **)&real_##name = dlsym(RTLD_NEXT, #name)

/* Without a folder there are no devices at all. */
static const char *machine(void)
{
    const char *folder = getenv("SIMULATED_MACHINE");
    return folder && *folder ? folder : "/nonexistent";
}

const char *machine_file(char *buffer, const char *format, ...)
{
    int length = snprintf(buffer, PATH_MAX, "%s/", machine());
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer + length, (size_t)(PATH_MAX - length), format, arguments);
    va_end(arguments);
    return buffer;
}

static int is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

/* The machine's own files are real ones, also where its folder is below /dev, as with TMPDIR=/dev/shm. */
int is_redirected(const char *path)
{
    return strcmp(path, "/dev/null") && !is_below(path, machine())
        && (is_below(path, "/dev") || is_below(path, "/sys") || is_below(path, "/proc"));
}

const char *redirected(const char *path, char *buffer)
{
    return is_redirected(path) ? machine_file(buffer, "%s", path + 1) : path;
}

/* Turns a path within the machine's folder into what smartctl may see of it. */
static void strip(char *path)
{
    size_t length = strlen(machine());
    if (!strncmp(path, machine(), length))
        memmove(path, path + length, strlen(path + length) + 1);
}

HOOK FILE *fopen(const char *path, const char *mode)
{
    char buffer[PATH_MAX];
    REAL(FILE *, fopen, const char *, const char *);
    return real_fopen(redirected(path, buffer), mode);
}

HOOK int access(const char *path, int mode)
{
    char buffer[PATH_MAX];
    REAL(int, access, const char *, int);
    return real_access(redirected(path, buffer), mode);
}

HOOK int stat(const char *path, struct stat *status)
{
    char buffer[PATH_MAX];
    REAL(int, stat, const char *, struct stat *);
    return real_stat(redirected(path, buffer), status);
}

/* The same functions in nvme-cli, which is built with _FILE_OFFSET_BITS=64. */
HOOK FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}

HOOK int stat64(const char *path, struct stat64 *status)
{
    char buffer[PATH_MAX];
    REAL(int, stat64, const char *, struct stat64 *);
    return real_stat64(redirected(path, buffer), status);
}

HOOK int lstat(const char *path, struct stat *status)
{
    char buffer[PATH_MAX];
    REAL(int, lstat, const char *, struct stat *);
    return real_lstat(redirected(path, buffer), status);
}

HOOK ssize_t readlink(const char *path, char *target, size_t room)
{
    char buffer[PATH_MAX];
    REAL(ssize_t, readlink, const char *, char *, size_t);
    return real_readlink(redirected(path, buffer), target, room);
}

HOOK DIR *opendir(const char *path)
{
    char buffer[PATH_MAX];
    REAL(DIR *, opendir, const char *);
    return real_opendir(redirected(path, buffer));
}

HOOK char *realpath(const char *path, char *resolved)
{
    char buffer[PATH_MAX];
    REAL(char *, realpath, const char *, char *);
    char *found = real_realpath(redirected(path, buffer), resolved);
    if (found && is_redirected(path))
        strip(found);
    return found;
}

HOOK int glob(const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *found)
{
    char buffer[PATH_MAX];
    REAL(int, glob, const char *, int, int (*)(const char *, int), glob_t *);
    int failed = real_glob(redirected(pattern, buffer), flags, on_error, found);
    for (size_t place = 0; !failed && is_redirected(pattern) && place < found->gl_pathc; place++)
        strip(found->gl_pathv[place]);
    return failed;
}

/* smartctl makes the node of a MegaRAID controller where udev did not; here it is there, or there is no controller. */
HOOK int mknod(const char *path, mode_t mode, dev_t device)
{
    char buffer[PATH_MAX];
    struct stat status;
    (void)mode;
    (void)device;
    errno = stat(redirected(path, buffer), &status) ? EPERM : EEXIST;
    return -1;
}

HOOK int unlink(const char *path)
{
    REAL(int, unlink, const char *);
    if (!is_redirected(path))
        return real_unlink(path);
    errno = EPERM;
    return -1;
}

/* What programs call that were built before glibc 2.33. */
HOOK int __xstat(int version, const char *path, struct stat *status)
{
    (void)version;
    return stat(path, status);
}

HOOK int __lxstat(int version, const char *path, struct stat *status)
{
    (void)version;
    return lstat(path, status);
}

HOOK int __xmknod(int version, const char *path, mode_t mode, dev_t *device)
{
    (void)version;
    return mknod(path, mode, *device);
}
