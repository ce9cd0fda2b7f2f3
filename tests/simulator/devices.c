/* Open files: a descriptor of a simulated drive is one of /dev/null, kept in a table with its drive. */
#include "simulator.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const struct driver *const DRIVERS[] = {&scsi_driver, &nvme_driver, &megaraid_driver, &cciss_driver};

static struct device table[256];  /* by descriptor; no driver: not ours */

static int real_open(const char *path, int flags, mode_t mode)
{
    static int (*function)(const char *, int, ...);
    if (!function)
        *(void **)&function = dlsym(RTLD_NEXT, "open");
    return function(path, flags, mode);
}

static int real_close(int descriptor)
{
    static int (*function)(int);
    if (!function)
        *(void **)&function = dlsym(RTLD_NEXT, "close");
    return function(descriptor);
}

static struct device *device_of(int descriptor)
{
    int is_ours = descriptor >= 0 && descriptor < (int)(sizeof table / sizeof *table) && table[descriptor].driver;
    return is_ours ? &table[descriptor] : NULL;
}

static int fails(int error)
{
    errno = error;
    return -1;
}

/* Reads a node, such as "scsi drives/sda 0". Returns 0 or a negative errno. */
static int read_node(const char *path, struct device *device)
{
    char buffer[PATH_MAX], text[PATH_MAX] = "", name[16];
    int file = real_open(redirected(path, buffer), O_RDONLY, 0);
    if (file < 0)
        return -errno;
    ssize_t length = read(file, text, sizeof text - 1);
    real_close(file);
    if (length <= 0 || sscanf(text, "%15s %254s %d", name, device->folder, &device->number) != 3)
        return -ENXIO;
    for (size_t place = 0; place < sizeof DRIVERS / sizeof *DRIVERS; place++)
        if (!strcmp(name, DRIVERS[place]->name))
            device->driver = DRIVERS[place];
    device->drive = drive_at(device->folder);
    if (!device->driver)
        return -ENXIO;
    return device->drive && device->drive->denied ? -EACCES : 0;
}

static int open_device(const char *path)
{
    struct device device = {0};
    int failed = read_node(path, &device);
    if (failed)
        return fails(-failed);
    int descriptor = real_open("/dev/null", O_RDWR, 0);  /* a real one: smartctl calls fcntl() on it */
    if (descriptor >= (int)(sizeof table / sizeof *table)) {
        real_close(descriptor);
        return fails(EMFILE);
    }
    if (descriptor >= 0)
        table[descriptor] = device;
    return descriptor;
}

/* Shuts a real device that was reached by a roundabout path, through a link or "//dev". */
static int no_device(int descriptor)
{
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status))
        return descriptor;
    int is_null = S_ISCHR(status.st_mode) && major(status.st_rdev) == 1;
    if (is_null || !(S_ISBLK(status.st_mode) || S_ISCHR(status.st_mode)))
        return descriptor;
    real_close(descriptor);
    return fails(ENODEV);
}

HOOK int open(const char *path, int flags, ...)
{
    char buffer[PATH_MAX];
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (is_redirected(path) && !strncmp(path, "/dev/", 5))
        return open_device(path);
    return no_device(real_open(redirected(path, buffer), flags, mode));
}

/* What open() becomes in programs that are built with _FORTIFY_SOURCE. */
HOOK int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

/* What it becomes in nvme-cli, which is built with _FILE_OFFSET_BITS=64. None of its calls makes a file. */
HOOK int __open64_2(const char *path, int flags)
{
    return open(path, flags);
}

HOOK int open64(const char *path, int flags, ...)
{
    return flags & O_CREAT ? fails(ENOSYS) : open(path, flags);
}

HOOK int close(int descriptor)
{
    struct device *device = device_of(descriptor);
    if (device)
        *device = (struct device){0};
    return real_close(descriptor);
}

HOOK int ioctl(int descriptor, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    struct device *device = device_of(descriptor);
    int result = device ? device->driver->ioctl(device, request, argument) : -ENOTTY;
    return result < 0 ? fails(-result) : result;
}
