/* SPDX-License-Identifier: Apache-2.0 */
#include "os/local_socket.h"

#include "os/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 16, EVENTS_MAX = 64 };

static tr_status listen_refuse(char *why, size_t size, tr_status status, const char *path,
                               const char *reason)
{
    snprintf(why, size, "cannot listen at the control socket %s: %s", path, reason);
    return status;
}

/* Whether the file is a socket at which no process listens. */
static bool is_left_over(const struct sockaddr_un *address)
{
    struct stat file;
    if (lstat(address->sun_path, &file) != 0 || !S_ISSOCK(file.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool is_dead = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                   errno == ECONNREFUSED;
    (void)close(fd);
    return is_dead;
}

static int bind_to(int fd, const struct sockaddr_un *address)
{
    /*
     * The kernel gives the new file the mode of the socket. So no other user can ever open the
     * file.
     */
    if (fchmod(fd, S_IRUSR | S_IWUSR) != 0)
        return errno;
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0)
        return 0;
    if (errno != EADDRINUSE)
        return errno;
    if (!is_left_over(address) || unlink(address->sun_path) != 0)
        return EADDRINUSE;
    return bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : errno;
}

tr_status tr__local_listen(const char *path, int *fd, char *why, size_t why_size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) > LOCAL_PATH_MAX)
        return listen_refuse(why, why_size, TR_LIMIT, path, "the path has more than 107 bytes");
    memcpy(address.sun_path, path, strlen(path) + 1);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0)
        return listen_refuse(why, why_size, TR_LIMIT, path, strerror(errno));
    int error = bind_to(made, &address);
    if (!error && listen(made, BACKLOG) != 0)
        error = errno;
    if (error) {
        (void)close(made);
        tr_status status = tr__socket_status(error);
        return listen_refuse(why, why_size, status, path, strerror(error));
    }
    *fd = made;
    return TR_OK;
}

void tr__local_unlisten(int fd, const char *path)
{
    /*
     * remove the file first: after the close another process could listen at the path, and its file
     * would be removed
     */
    (void)unlink(path);
    (void)close(fd);
}

tr_status tr__local_accept(int listener, int *fd, uint32_t *uid)
{
    int made = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (made < 0)
        return errno == EMFILE || errno == ENFILE ? TR_LIMIT : TR_WOULD_BLOCK;
    struct ucred peer;
    socklen_t size = sizeof peer;
    bool is_known = getsockopt(made, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    if (!is_known || (peer.uid != geteuid() && peer.uid != 0)) {
        (void)close(made);
        return TR_NOT_PERMITTED;
    }
    *fd = made;
    *uid = peer.uid;
    return TR_OK;
}

/* Whether a call may succeed if it is repeated later. */
static bool is_later(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

ptrdiff_t tr__local_read(int fd, void *to, size_t size)
{
    ssize_t got = read(fd, to, size);
    if (got > 0)
        return got;
    return got < 0 && is_later() ? 0 : -1;
}

ptrdiff_t tr__local_write(int fd, const void *from, size_t size)
{
    ssize_t sent = send(fd, from, size, MSG_NOSIGNAL);
    if (sent >= 0)
        return sent;
    return is_later() ? 0 : -1;
}

void tr__local_close(int fd)
{
    (void)close(fd);
}

void tr__local_wait(struct local_event *events, size_t count, int timeout_ms)
{
    struct pollfd polled[EVENTS_MAX];
    count = count < EVENTS_MAX ? count : EVENTS_MAX;
    for (size_t i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = events[i].fd,
                                    .events = (short)((events[i].wants_read ? POLLIN : 0) |
                                                      (events[i].wants_write ? POLLOUT : 0))};
    int found = poll(polled, count, timeout_ms);
    for (size_t i = 0; i < count; i++) {
        short seen = (short)(found > 0 ? polled[i].revents : 0);
        events[i].can_read = seen & (POLLIN | POLLHUP | POLLERR);
        events[i].can_write = seen & (POLLOUT | POLLHUP | POLLERR);
    }
}

int tr__local_bell_new(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void tr__local_bell_take(int bell)
{
    uint64_t count;
    ssize_t got = read(bell, &count, sizeof count);
    (void)got; /* got is -1 if nobody has rung the bell */
}

void tr__local_bell_ring(int bell)
{
    uint64_t one = 1;
    ssize_t written = write(bell, &one, sizeof one);
    (void)written; /* the write fails if the counter is full; then the bell is readable already */
}

int tr__local_process(void)
{
    return (int)getpid();
}

uint32_t tr__local_user(void)
{
    return geteuid();
}

bool tr__local_directory(const char *path, bool is_private)
{
    struct stat file;
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
        return false;
    if (lstat(path, &file) != 0 || !S_ISDIR(file.st_mode) || access(path, W_OK | X_OK) != 0)
        return false;
    return !is_private || (file.st_uid == geteuid() && !(file.st_mode & (S_IRWXG | S_IRWXO)));
}

bool tr__local_absolute(const char *path, char *absolute, size_t size)
{
    char *real = realpath(path, NULL);
    size_t length = real ? strlen(real) : size;
    if (length < size)
        memcpy(absolute, real, length + 1);
    free(real);
    return length < size;
}
