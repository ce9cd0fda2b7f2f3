/* ATA commands (ACS-4) within SCSI's ATA PASS-THROUGH (SAT-4, 12.2). */
#include "simulator.h"

#include <string.h>

enum { READ_LOG_EXT = 0x2f, SMART = 0xb0, CHECK_POWER_MODE = 0xe5, IDENTIFY_DEVICE = 0xec };
enum { SMART_READ_DATA = 0xd0, SMART_READ_THRESHOLDS = 0xd1, SMART_READ_LOG = 0xd5, SMART_WRITE_LOG = 0xd6 };
enum { SMART_RETURN_STATUS = 0xda };
enum { SCT_LOG = 0xe0, ERROR_RECOVERY_CONTROL = 3, RETURN_TIME_LIMIT = 2 };
enum { SECTOR = 512, DRIVE_READY = 0x50, DRIVE_ERROR = 0x51, ABORTED = 0x04 };

/* Registers on their way to the drive, and back. */
struct registers {
    uint8_t command, feature;
    uint16_t count, page;  /* page: LBA mid and its previous content */
    uint8_t log;           /* LBA low */
};

struct outcome {
    uint8_t status, error, count, lba_low, lba_mid, lba_high;
};

/* SAT-4, 12.2.2.2 and 12.2.2.3: where the registers stand in the 12 and the 16 byte form. */
static struct registers registers_of(const uint8_t *cdb)
{
    if (cdb[0] == 0xa1)
        return (struct registers){.command = cdb[9], .feature = cdb[3], .count = cdb[4], .log = cdb[5], .page = cdb[6]};
    return (struct registers){.command = cdb[14], .feature = cdb[4], .count = (uint16_t)(cdb[5] << 8 | cdb[6]),
                              .log = cdb[8], .page = (uint16_t)(cdb[9] << 8 | cdb[10])};
}

/* ACS-4, 8.3.3: an SCT command is written to log E0h. Only the time limits of error recovery can be asked for: the drive
 * aborts what would change anything. The file "erc" has the limits for reading and for writing. */
static long sct(const struct drive *drive, struct outcome *out, const uint8_t *data, size_t room)
{
    uint8_t limit[2];
    if (room < SECTOR || data[0] != ERROR_RECOVERY_CONTROL || data[2] != RETURN_TIME_LIMIT || data[4] < 1 || data[4] > 2)
        return NEVER;
    if (drive_answer(drive, limit, sizeof limit, 2 * (data[4] - 1), "erc") != sizeof limit)
        return NEVER;
    out->count = limit[0];
    out->lba_low = limit[1];
    return SECTOR;
}

/* Returns the length of the data, 0 for a command without any, NEVER for one that this drive aborts. */
static long smart(struct drive *drive, const struct registers *in, struct outcome *out, uint8_t *data, size_t room)
{
    switch (in->feature) {
    case SMART_READ_DATA:
        return drive_answer(drive, data, room, 0, "smart-data");
    case SMART_READ_THRESHOLDS:
        return drive_answer(drive, data, room, 0, "smart-thresholds");
    case SMART_READ_LOG:
        return drive_answer(drive, data, room, 0, "smart-log-%02x", in->log);
    case SMART_WRITE_LOG:
        return in->log == SCT_LOG ? sct(drive, out, data, room) : NEVER;
    case SMART_RETURN_STATUS:  /* ATA8-ACS, 7.52.8: SMART RETURN STATUS */
        out->lba_mid = drive->failed ? 0xf4 : 0x4f;
        out->lba_high = drive->failed ? 0x2c : 0xc2;
        return 0;
    default:
        return NEVER;
    }
}

static long execute(struct drive *drive, const struct registers *in, struct outcome *out, uint8_t *data, size_t room)
{
    switch (in->command) {
    case IDENTIFY_DEVICE:
        return drive_answer(drive, data, room, 0, "identify");
    case CHECK_POWER_MODE:  /* ACS-4, 7.3 */
        out->count = (uint8_t)drive->power;
        return 0;
    case READ_LOG_EXT:  /* ACS-4, 7.22 */
        return drive_answer(drive, data, room, (long)in->page * SECTOR, "log-%02x", in->log);
    case SMART:
        return smart(drive, in, out, data, room);
    default:
        return NEVER;
    }
}

/* SAT-4, 12.2.2.6: descriptor sense data that holds an ATA Status Return descriptor. */
static void hand_back_registers(struct command *command, const struct outcome *out, uint8_t key, uint8_t qualifier)
{
    uint8_t *descriptor = command->sense + 8;
    command->status = 2;
    command->sense_length = 22;
    command->sense[0] = 0x72;
    command->sense[1] = key;
    command->sense[3] = qualifier;
    command->sense[7] = 14;
    descriptor[0] = 0x09;
    descriptor[1] = 12;
    descriptor[3] = out->error;
    descriptor[5] = out->count;
    descriptor[7] = out->lba_low;
    descriptor[9] = out->lba_mid;
    descriptor[11] = out->lba_high;
    descriptor[13] = out->status;
}

int ata_command(struct drive *drive, struct command *command)
{
    struct registers in = registers_of(command->cdb);
    struct outcome out = {.status = DRIVE_READY};
    int failed = drive_receives(drive, "ata %02x %02x %02x", in.command, in.feature, in.log);
    if (failed)
        return failed;
    size_t asked = (size_t)in.count * SECTOR;
    long length = execute(drive, &in, &out, command->data, asked < command->room ? asked : command->room);
    if (length == NEVER) {
        out.status = DRIVE_ERROR;
        out.error = ABORTED;
        hand_back_registers(command, &out, 0x0b, 0);  /* aborted command */
        return 0;
    }
    command->length = (size_t)length;
    if (command->cdb[2] & 0x20)  /* CK_COND: the registers are wanted even after success */
        hand_back_registers(command, &out, 0x01, 0x1d);  /* recovered error, ATA pass-through information available */
    return 0;
}
