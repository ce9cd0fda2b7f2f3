/* A drive is a folder: a file for each answer it can give, and "settings" for how it behaves. */
#include "simulator.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *name;
    size_t offset;
} SETTINGS[] = {
    {"latency", offsetof(struct drive, latency)}, {"hang", offsetof(struct drive, hang)},
    {"error", offsetof(struct drive, error)},     {"vanish", offsetof(struct drive, vanish)},
    {"denied", offsetof(struct drive, denied)},   {"failed", offsetof(struct drive, failed)},
    {"power", offsetof(struct drive, power)},     {"recorded", offsetof(struct drive, recorded)},
};

static void set(struct drive *drive, const char *name, int value)
{
    for (size_t place = 0; place < sizeof SETTINGS / sizeof *SETTINGS; place++)
        if (!strcmp(name, SETTINGS[place].name))
            *(int *)((char *)drive + SETTINGS[place].offset) = value;
}

/* Reads lines such as "latency 20". Returns 0, or NEVER where there is no drive. */
static int read_settings(struct drive *drive)
{
    char path[PATH_MAX], name[16];
    int value;
    FILE *file = fopen(machine_file(path, "%s/settings", drive->folder), "r");
    if (!file)
        return NEVER;
    while (fscanf(file, "%15s %d", name, &value) == 2)
        set(drive, name, value);
    fclose(file);
    return 0;
}

struct drive *drive_at(const char *folder)
{
    static struct drive known[64];  /* one smartctl talks to one drive; a scan, to all slots */
    static int count;
    for (int place = 0; place < count; place++)
        if (!strcmp(known[place].folder, folder))
            return &known[place];
    if (count == sizeof known / sizeof *known)
        return NULL;
    struct drive *drive = &known[count];
    *drive = (struct drive){.hang = NEVER, .error = NEVER, .vanish = NEVER, .power = AWAKE};
    snprintf(drive->folder, sizeof drive->folder, "%s", folder);
    if (read_settings(drive))
        return NULL;
    count++;
    return drive;
}

static void write_down(const struct drive *drive, const char *format, va_list arguments)
{
    char path[PATH_MAX], line[64];
    int file = open(machine_file(path, "%s/commands", drive->folder), O_WRONLY | O_CREAT | O_APPEND, 0666);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    line[length++] = '\n';
    if (write(file, line, (size_t)length) != length)
        abort();  /* a test must not believe in a list that is not complete */
    close(file);
}

/* Like a process in state D: no signal reaches it, except that SIGKILL ends it after all. */
static void hang_for_ever(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;)
        pause();
}

int drive_receives(struct drive *drive, const char *format, ...)
{
    int number = drive->commands++;
    if (drive->recorded) {
        va_list arguments;
        va_start(arguments, format);
        write_down(drive, format, arguments);
        va_end(arguments);
    }
    if (drive->vanish != NEVER && number >= drive->vanish)
        return -ENODEV;
    if (drive->error != NEVER && number >= drive->error)
        return -EIO;
    if (drive->hang != NEVER && number >= drive->hang)
        hang_for_ever();
    struct timespec time = {drive->latency / 1000, drive->latency % 1000 * 1000000L};
    nanosleep(&time, NULL);
    return 0;
}

long drive_answer(const struct drive *drive, void *data, size_t room, long offset, const char *format, ...)
{
    char name[64], path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    int file = open(machine_file(path, "%s/%s", drive->folder, name), O_RDONLY);
    if (file < 0)
        return NEVER;
    long length = pread(file, data, room, offset);
    close(file);
    return length;
}
