/* SCSI commands (SPC-5, SBC-4), and the ioctl SG_IO that brings them. */
#include "simulator.h"

#include <errno.h>
#include <scsi/scsi.h>
#include <scsi/sg.h>
#include <string.h>

enum { ATA_PASS_THROUGH_12 = 0xa1, ATA_PASS_THROUGH_16 = 0x85, READ_CAPACITY_16 = 0x9e };
enum { MAINTENANCE_IN = 0xa3, READ_DEFECT_12 = 0xb7 };
enum { MEDIUM_ERROR_KEY = 3, ILLEGAL_REQUEST_KEY = 5 };

/* SPC-5, 4.4.3: fixed format sense data. */
static void refuse(struct command *command, uint8_t key, uint8_t code, uint8_t qualifier)
{
    command->status = 2;
    command->sense_length = 18;
    command->sense[0] = 0x70;
    command->sense[2] = key;
    command->sense[7] = 10;
    command->sense[12] = code;
    command->sense[13] = qualifier;
}

static void answer(struct command *command, long length)
{
    if (length == NEVER)
        refuse(command, ILLEGAL_REQUEST_KEY, 0x24, 0);  /* invalid field in CDB */
    else
        command->length = (size_t)length;
}

static size_t smaller(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* SPC-5, 6.6: the second byte asks for a page of vital product data. */
static void inquiry(struct drive *drive, struct command *command)
{
    const uint8_t *cdb = command->cdb;
    size_t room = smaller(command->room, (size_t)(cdb[3] << 8 | cdb[4]));
    answer(command, cdb[1] & 1 ? drive_answer(drive, command->data, room, 0, "vpd-%02x", cdb[2])
                               : drive_answer(drive, command->data, room, 0, "inquiry"));
}

/* SPC-5, 6.8. */
static void log_sense(struct drive *drive, struct command *command)
{
    const uint8_t *cdb = command->cdb;
    size_t room = smaller(command->room, (size_t)(cdb[7] << 8 | cdb[8]));
    answer(command, drive_answer(drive, command->data, room, 0, "page-%02x-%02x", cdb[2] & 0x3f, cdb[3]));
}

/* SPC-5, 6.14: what is current and what can be changed are the same here. */
static void mode_sense(struct drive *drive, struct command *command)
{
    const uint8_t *cdb = command->cdb;
    size_t room = smaller(command->room, cdb[4]);
    answer(command, drive_answer(drive, command->data, room, 0, "mode-%02x", cdb[2] & 0x3f));
}

/* SBC-4, 5.19: drives without a list (solid state ones) say "defect list not found". */
static void read_defects(struct drive *drive, struct command *command)
{
    long length = drive_answer(drive, command->data, command->room, 0, "defects");
    if (length == NEVER)
        refuse(command, MEDIUM_ERROR_KEY, 0x1c, 0);
    else
        command->length = (size_t)length;
}

/* SPC-5, 6.35: REPORT SUPPORTED OPERATION CODES, of all commands or of one. smartctl sends it since 7.4. */
static void report_opcodes(struct drive *drive, struct command *command)
{
    const uint8_t *cdb = command->cdb;
    answer(command, cdb[2] & 7 ? drive_answer(drive, command->data, command->room, 0, "opcode-%02x", cdb[3])
                               : drive_answer(drive, command->data, command->room, 0, "opcodes"));
}

int scsi_command(struct drive *drive, struct command *command)
{
    uint8_t opcode = command->cdb[0];
    if (opcode == ATA_PASS_THROUGH_12 || opcode == ATA_PASS_THROUGH_16)
        return ata_command(drive, command);
    int failed = drive_receives(drive, "scsi %02x %02x %02x", opcode, command->cdb[1], command->cdb[2]);
    if (failed)
        return failed;
    switch (opcode) {
    case TEST_UNIT_READY:
        break;
    case REQUEST_SENSE:
        answer(command, drive_answer(drive, command->data, command->room, 0, "sense"));
        break;
    case INQUIRY:
        inquiry(drive, command);
        break;
    case LOG_SENSE:
        log_sense(drive, command);
        break;
    case MODE_SENSE:
        mode_sense(drive, command);
        break;
    case READ_CAPACITY_16:
        answer(command, drive_answer(drive, command->data, command->room, 0, "capacity"));
        break;
    case MAINTENANCE_IN:
        report_opcodes(drive, command);
        break;
    case READ_DEFECT_12:
        read_defects(drive, command);
        break;
    default:
        refuse(command, ILLEGAL_REQUEST_KEY, 0x20, 0);  /* invalid command operation code */
    }
    return 0;
}

/* Without SG_INFO_CHECK, and a driver status of "sense", smartctl does not look at the sense data. */
static void hand_back_sense(const struct command *command, sg_io_hdr_t *header)
{
    header->info = SG_INFO_CHECK;
    header->status = command->status;
    header->masked_status = command->status >> 1;
    header->driver_status = 8;
    header->sb_len_wr = (unsigned char)smaller(command->sense_length, header->mx_sb_len);
    memcpy(header->sbp, command->sense, header->sb_len_wr);
}

/* Linux SCSI Generic (sg) driver, version 3: struct sg_io_hdr. */
static int sg_io(struct drive *drive, sg_io_hdr_t *header)
{
    if (header->interface_id != 'S')
        return -EINVAL;
    struct command command = {.cdb = header->cmdp, .data = header->dxferp, .room = header->dxfer_len};
    int failed = scsi_command(drive, &command);
    if (failed)
        return failed;
    header->resid = (int)(header->dxfer_len - command.length);
    if (command.status)
        hand_back_sense(&command, header);
    return 0;
}

static int scsi_ioctl(struct device *device, unsigned long request, void *argument)
{
    if (request == SCSI_IOCTL_GET_BUS_NUMBER) {
        *(int *)argument = device->number;
        return 0;
    }
    if (request != SG_IO)
        return -ENOTTY;
    return device->drive ? sg_io(device->drive, argument) : -ENODEV;
}

const struct driver scsi_driver = {"scsi", scsi_ioctl};
