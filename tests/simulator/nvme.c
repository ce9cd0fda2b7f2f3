/* NVMe admin commands (NVMe 1.4, section 5), through the ioctls of Linux. */
#include "simulator.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>

enum { GET_LOG_PAGE = 0x02, IDENTIFY = 0x06 };
enum { NAMESPACE = 0, CONTROLLER = 1 };  /* what IDENTIFY is about: field CNS */

/* Status codes (figure "Generic Command Status Values") with "do not retry". A positive result of the ioctl. */
enum { INVALID_OPCODE = 0x4001, INVALID_FIELD = 0x4002, INVALID_LOG_PAGE = 0x4109 };

static int identify(const struct drive *drive, const struct nvme_passthru_cmd *command)
{
    void *data = (void *)(uintptr_t)command->addr;
    uint8_t what = command->cdw10 & 0xff;
    long length = NEVER;
    if (what == CONTROLLER)
        length = drive_answer(drive, data, command->data_len, 0, "controller");
    else if (what == NAMESPACE)
        length = drive_answer(drive, data, command->data_len, 0, "namespace-%u", command->nsid);
    return length == NEVER ? INVALID_FIELD : 0;
}

/* Section 5.14: the page in dword 10, the offset in dword 12. */
static int get_log_page(const struct drive *drive, const struct nvme_passthru_cmd *command)
{
    void *data = (void *)(uintptr_t)command->addr;
    long length = drive_answer(drive, data, command->data_len, command->cdw12, "log-%02x", command->cdw10 & 0xff);
    return length == NEVER ? INVALID_LOG_PAGE : 0;
}

static int admin_command(struct drive *drive, const struct nvme_passthru_cmd *command)
{
    int failed = drive_receives(drive, "nvme %02x %02x", command->opcode, command->cdw10 & 0xff);
    if (failed)
        return failed;
    switch (command->opcode) {
    case IDENTIFY:
        return identify(drive, command);
    case GET_LOG_PAGE:
        return get_log_page(drive, command);
    default:
        return INVALID_OPCODE;
    }
}

static int nvme_ioctl(struct device *device, unsigned long request, void *argument)
{
    if (request == NVME_IOCTL_ID)  /* the controller's own node has no namespace and says so */
        return device->number > 0 ? device->number : -ENOTTY;
    if (request != NVME_IOCTL_ADMIN_CMD)
        return -ENOTTY;
    return device->drive ? admin_command(device->drive, argument) : -ENODEV;
}

const struct driver nvme_driver = {"nvme", nvme_ioctl};
