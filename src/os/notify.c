/* SPDX-License-Identifier: Apache-2.0 */
#include "os/notify.h"

#include "os/small_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

/* Makes the address of a socket: `name` is a path, or '@' and the name of an abstract socket. */
static tr_status address_of(const char *name, struct sockaddr_un *address, socklen_t *size)
{
    size_t length = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof address->sun_path)
        return TR_ADDRESS_INVALID;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, name, length);
    if (name[0] == '@')
        address->sun_path[0] = '\0';
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return TR_OK;
}

tr_status tr__notify(const char *state)
{
    const char *name = tr__environment("NOTIFY_SOCKET");
    struct sockaddr_un address;
    socklen_t size;
    if (!name)
        return TR_OK;
    tr_status status = address_of(name, &address, &size);
    if (status != TR_OK)
        return status;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return TR_FAILED;
    ssize_t sent;
    do
        sent =
            sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address, size);
    while (sent < 0 && errno == EINTR);
    (void)close(fd);
    return sent == (ssize_t)strlen(state) ? TR_OK : TR_FAILED;
}

/* Reads a number of at most 18 digits. Returns -1 if the text is no such number. */
static int64_t number_of(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > 18 || strspn(text, "0123456789") != length)
        return -1;
    return strtoll(text, NULL, 10);
}

tr_time tr__notify_watchdog_ns(void)
{
    const char *period = tr__environment("WATCHDOG_USEC");
    const char *process = tr__environment("WATCHDOG_PID");
    if (!period || (process && number_of(process) != getpid()))
        return 0;
    int64_t us = number_of(period);
    return us > 0 && us < TR_HOUR * 24 / 1000 ? us * 1000 : 0;
}

int tr__ticker_new(tr_time period_ns)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    const struct timespec period = {.tv_sec = period_ns / TR_SECOND,
                                    .tv_nsec = period_ns % TR_SECOND};
    const struct itimerspec times = {.it_interval = period, .it_value = period};
    if (fd >= 0 && timerfd_settime(fd, 0, &times, NULL) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

bool tr__ticker_read(int ticker)
{
    uint64_t count;
    return read(ticker, &count, sizeof count) == (ssize_t)sizeof count;
}

void tr__ticker_close(int ticker)
{
    if (ticker >= 0)
        (void)close(ticker);
}
