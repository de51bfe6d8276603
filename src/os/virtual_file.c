/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_file.h"

#include "os/file_read.h"
#include "os/virtual.h"

/*
 * Counts a call of a file function. Returns TR_OK, or the status with which a test wants this call
 * to fail.
 */
static tr_status begin(const tr_platform *platform, enum virtual_call call, const char **why)
{
    struct virtual_net *net = &((struct virtual_platform *)(uintptr_t)platform)->net;
    tr_status status = tr__virtual_net_call(net, call);
    if (status != TR_OK)
        *why = "made to fail";
    return status;
}

tr_status tr__virtual_file_open(const tr_platform *platform, const char *path, int *fd,
                                uint64_t *size, const char **why)
{
    tr_status status = begin(platform, VIRTUAL_CALL_FILE_OPEN, why);
    return status == TR_OK ? tr__real_file_open(platform, path, fd, size, why) : status;
}

tr_status tr__virtual_file_size(const tr_platform *platform, int fd, uint64_t *size,
                                const char **why)
{
    tr_status status = begin(platform, VIRTUAL_CALL_FILE_OPEN, why);
    return status == TR_OK ? tr__real_file_size(platform, fd, size, why) : status;
}

tr_status tr__virtual_file_read(const tr_platform *platform, int fd, uint64_t offset, void *to,
                                size_t size, const char **why)
{
    tr_status status = begin(platform, VIRTUAL_CALL_FILE_READ, why);
    return status == TR_OK ? tr__real_file_read(platform, fd, offset, to, size, why) : status;
}
