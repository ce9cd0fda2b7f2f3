/* Simulated drives for the real smartctl. README.md tells how the parts work together. */
#ifndef SIMULATOR_H
#define SIMULATOR_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* Only what replaces a function of the C library may be seen outside. */
#define HOOK __attribute__((visibility("default")))

/* --- paths.c: which paths belong to the simulated machine ------------------------- */

/* Writes the path of NAME, a file of the machine's folder, to BUFFER of PATH_MAX bytes. */
const char *machine_file(char *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the path to use in place of PATH: within the machine's folder, or PATH itself. */
const char *redirected(const char *path, char *buffer);
int is_redirected(const char *path);

/* --- drive.c: one drive, its answers and its faults ------------------------------- */

enum { NEVER = -1, AWAKE = 0xff };

struct drive {
    char folder[PATH_MAX];  /* relative to the machine's: "drives/sda" */
    int commands;           /* how many this process has sent */
    int latency;            /* milliseconds a command takes */
    int hang;               /* number of the command that never returns, from 0 */
    int error;              /* number of the command from which on all fail with EIO */
    int vanish;             /* number of the command from which on the drive is gone: ENODEV */
    int denied;             /* nobody may open it */
    int failed;             /* its own verdict on itself */
    int power;              /* what CHECK POWER MODE tells: 0 is standby */
    int recorded;           /* keep a list of the commands, in the file "commands" */
};

/* Returns the drive in a folder, always the same for the same folder; NULL without one. */
struct drive *drive_at(const char *folder);

/* A command arrives: it is written down, takes its time and meets its fault.
 * Returns 0, or a negative errno for a command that never gets an answer. */
int drive_receives(struct drive *drive, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads an answer from the drive's folder, from OFFSET on, into ROOM bytes.
 * Returns the number of bytes, NEVER where the drive has no such answer. */
long drive_answer(const struct drive *drive, void *data, size_t room, long offset, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* --- devices.c: open files, and which of them are drives -------------------------- */

struct device {
    const struct driver *driver;
    struct drive *drive;    /* NULL for the node of a controller */
    char folder[NAME_MAX];  /* of the drive or controller */
    int number;             /* SCSI host, or NVMe namespace */
};

/* Takes an ioctl; returns its result, or a negative errno. */
struct driver {
    const char *name;       /* as in the files below dev/ of the machine's folder */
    int (*ioctl)(struct device *device, unsigned long request, void *argument);
};

extern const struct driver scsi_driver, nvme_driver, megaraid_driver, cciss_driver;

/* --- scsi.c, ata.c: commands, whatever brought them ------------------------------- */

struct command {
    const uint8_t *cdb;     /* SPC-5, 4.2: command descriptor block */
    uint8_t *data;
    size_t room;            /* for data */
    size_t length;          /* of the data returned */
    uint8_t status;         /* SAM-5, 5.3.1: 0 good, 2 check condition */
    uint8_t sense[32];
    size_t sense_length;
};

/* Returns 0 when the drive has answered, well or badly; else a negative errno. */
int scsi_command(struct drive *drive, struct command *command);
int ata_command(struct drive *drive, struct command *command);

#endif
