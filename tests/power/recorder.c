/* Records what a process does to files below a directory, for power.py: loaded with LD_PRELOAD.
 *
 * RECORD_BELOW: the directory. RECORD_TO: the file that gets the records, appended one by one by all processes.
 * A record is "operation inode offset length path[ path]\n" and the data that was written.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *to, *below;

#define REAL(name) ({ static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name); real; })

__attribute__((constructor)) static void begin(void)
{
    to = getenv("RECORD_TO");
    below = getenv("RECORD_BELOW");
}

static int concerns(const char *path)
{
    size_t length = below ? strlen(below) : 0;
    return to && path && strncmp(path, below, length) == 0 && path[length] == '/';
}

static void record(char operation, unsigned long inode, long offset, const void *data, size_t length, const char *path,
                   const char *second)
{
    char head[2 * PATH_MAX + 100];
    int size = snprintf(head, sizeof head, "%c %lu %ld %zu %s%s%s\n", operation, inode, offset, data ? length : 0, path,
                        second ? " " : "", second ? second : "");
    struct iovec parts[] = {{head, size}, {(void *)data, data ? length : 0}};
    int out = syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    syscall(SYS_writev, out, parts, 2);  /* opened each time: the child of a check closes all files */
    syscall(SYS_close, out);
}

/* Record something that was done to an open file or directory. */
static void record_open(char operation, int file, long offset, const void *data, size_t length)
{
    char link[50], path[PATH_MAX];
    struct stat status;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = !to ? -1 : readlink(link, path, sizeof path - 1);
    if (size < 0)
        return;
    path[size] = 0;
    if ((concerns(path) || strcmp(path, below) == 0) && fstat(file, &status) == 0)
        record(operation, status.st_ino, offset, data, length, path, NULL);
}

static int opened(const char *path, int flags, int is_new, int file)
{
    if (file >= 0 && is_new)
        record_open('C', file, 0, NULL, 0);
    else if (file >= 0 && (flags & O_TRUNC) && concerns(path))
        record_open('T', file, 0, NULL, 0);
    return file;
}

#define OPEN(name, declaration, call) \
    int name declaration \
    { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        int is_new = (flags & O_CREAT) && concerns(path) && access(path, F_OK) != 0; \
        return opened(path, flags, is_new, REAL(name) call); \
    }
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode))
OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode))

ssize_t write(int file, const void *data, size_t length)
{
    off_t offset = lseek(file, 0, SEEK_CUR);
    ssize_t done = REAL(write)(file, data, length);
    if (done > 0 && offset >= 0)
        record_open('W', file, offset, data, done);
    return done;
}

#define PWRITE(name, type) \
    ssize_t name(int file, const void *data, size_t length, type offset) \
    { \
        ssize_t done = REAL(name)(file, data, length, offset); \
        if (done > 0) \
            record_open('W', file, offset, data, done); \
        return done; \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define AFTER(name, declaration, call, action) \
    int name declaration { int done = REAL(name) call; if (done == 0) { action; } return done; }
AFTER(ftruncate, (int file, off_t length), (file, length), record_open('T', file, length, NULL, 0))
AFTER(ftruncate64, (int file, off64_t length), (file, length), record_open('T', file, length, NULL, 0))
AFTER(fsync, (int file), (file), record_open('S', file, 0, NULL, 0))
AFTER(fdatasync, (int file), (file), record_open('S', file, 0, NULL, 0))
AFTER(rename, (const char *old, const char *new), (old, new),
      if (concerns(old)) record('R', 0, 0, NULL, 0, old, new))
AFTER(renameat, (int from, const char *old, int to, const char *new), (from, old, to, new),
      if (concerns(old)) record('R', 0, 0, NULL, 0, old, new))
AFTER(link, (const char *old, const char *new), (old, new),
      if (concerns(old)) record('L', 0, 0, NULL, 0, old, new))
AFTER(linkat, (int from, const char *old, int to_, const char *new, int flags), (from, old, to_, new, flags),
      if (concerns(old)) record('L', 0, 0, NULL, 0, old, new))
AFTER(unlink, (const char *path), (path), if (concerns(path)) record('U', 0, 0, NULL, 0, path, NULL))
AFTER(mkdir, (const char *path, mode_t mode), (path, mode), if (concerns(path)) record('M', 0, 0, NULL, 0, path, NULL))
