/* Drives behind RAID controllers: folders named by their slots, in the folder of the controller. */
#include "simulator.h"

#include <errno.h>
#include <linux/cciss_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

static struct drive *drive_in(const char *controller, unsigned host, unsigned slot)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/%u/%u", controller, host, slot);
    return drive_at(folder);
}

/* What a controller itself answers, read as if it were a drive. */
static long controller_answer(const char *controller, unsigned host, const char *name, void *data, size_t room)
{
    struct drive itself = {0};
    snprintf(itself.folder, sizeof itself.folder, "%s/%u", controller, host);
    return drive_answer(&itself, data, room, 0, "%s", name);
}

/* --- MegaRAID (Linux, drivers/scsi/megaraid/megaraid_sas.h) ------------------------ */

/* struct megasas_iocpacket: one node for all controllers, a frame for the firmware, one piece of data. */
struct megasas_packet {
    uint16_t host, reserved;
    uint32_t sgl_offset, sgl_count, sense_offset, sense_length;
    uint8_t frame[128];
    struct iovec data[16];
} __attribute__((packed));

#define MEGASAS_FIRMWARE _IOWR('M', 1, struct megasas_packet)

/* Places in a frame, commands and results (enum MFI_STAT). */
enum { F_COMMAND = 0x00, F_STATUS = 0x02, F_SCSI_STATUS = 0x03, F_TARGET = 0x04, F_OPCODE = 0x18, F_CDB = 0x20 };
enum { PHYSICAL_DRIVE_SCSI = 4, DIRECT_COMMAND = 5, GET_PHYSICAL_DRIVES = 0x02010000 };
enum { DONE = 0x00, INVALID_COMMAND = 0x01, NO_SUCH_DRIVE = 0x0c, SCSI_FAILED = 0x2d };

static int megasas_scsi(struct megasas_packet *packet, uint8_t *data, size_t room)
{
    uint8_t *frame = packet->frame;
    struct drive *drive = drive_in("megaraid", packet->host, frame[F_TARGET]);
    if (!drive) {
        frame[F_STATUS] = NO_SUCH_DRIVE;
        return 0;
    }
    struct command command = {.cdb = frame + F_CDB, .data = data, .room = room};
    int failed = scsi_command(drive, &command);
    frame[F_SCSI_STATUS] = command.status;
    frame[F_STATUS] = command.status ? SCSI_FAILED : DONE;
    return failed;
}

static int megasas_direct(struct megasas_packet *packet, uint8_t *data, size_t room)
{
    uint32_t opcode;
    memcpy(&opcode, packet->frame + F_OPCODE, sizeof opcode);
    long length = opcode == GET_PHYSICAL_DRIVES ? controller_answer("megaraid", packet->host, "list", data, room) : NEVER;
    packet->frame[F_STATUS] = length == NEVER ? INVALID_COMMAND : DONE;
    return 0;
}

static int megaraid_ioctl(struct device *device, unsigned long request, void *argument)
{
    struct megasas_packet *packet = argument;
    (void)device;
    if (request != MEGASAS_FIRMWARE)
        return -ENOTTY;
    uint8_t *data = packet->sgl_count ? packet->data[0].iov_base : NULL;
    size_t room = packet->sgl_count ? packet->data[0].iov_len : 0;
    if (packet->frame[F_COMMAND] == PHYSICAL_DRIVE_SCSI)
        return megasas_scsi(packet, data, room);
    if (packet->frame[F_COMMAND] == DIRECT_COMMAND)
        return megasas_direct(packet, data, room);
    packet->frame[F_STATUS] = INVALID_COMMAND;
    return 0;
}

const struct driver megaraid_driver = {"megaraid", megaraid_ioctl};

/* --- HP and HPE Smart Array (Linux, cciss_ioctl.h) --------------------------------- */

enum { REPORT_PHYSICAL_LUNS = 0xc3 };

/* The address of a drive is ours to choose; the list "luns" holds the slot in the first byte. */
static int cciss_scsi(unsigned host, IOCTL_Command_struct *request)
{
    struct drive *drive = drive_in("cciss", host, request->LUN_info.LunAddrBytes[0]);
    if (!drive)
        return -ENXIO;
    struct command command = {.cdb = request->Request.CDB, .data = request->buf, .room = request->buf_size};
    int failed = scsi_command(drive, &command);
    request->error_info.ScsiStatus = command.status;
    request->error_info.CommandStatus = failed ? CMD_HARDWARE_ERR : command.status ? CMD_TARGET_STATUS : CMD_SUCCESS;
    request->error_info.SenseLen = (uint8_t)command.sense_length;
    memcpy(request->error_info.SenseInfo, command.sense, command.sense_length);
    return 0;  /* as the real driver: what went wrong stands in error_info, where smartctl does not look */
}

static int cciss_ioctl(struct device *device, unsigned long request, void *argument)
{
    IOCTL_Command_struct *command = argument;
    if (request != CCISS_PASSTHRU)
        return -ENOTTY;
    if (command->Request.CDB[0] != REPORT_PHYSICAL_LUNS)
        return cciss_scsi((unsigned)device->number, command);
    long length = controller_answer("cciss", (unsigned)device->number, "luns", command->buf, command->buf_size);
    return length == NEVER ? -ENXIO : 0;
}

const struct driver cciss_driver = {"cciss", cciss_ioctl};
