/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Opens sockets that listen, connect or are bound, and takes over sockets that this process has inherited from another
 * one.
 *
 * An option that is set on a listening socket holds also for the connections that the socket accepts, because the
 * kernel copies its options.
 */
#include "os/socket_open.h"

#include "base/sized.h"
#include "os/socket.h"
#include "os/socket_address.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
/*
 * Not <netinet/tcp.h>: it defines the same structs as <linux/tcp.h>, which socket_info.c needs, and
 * tools/amalgamate joins all files into one.
 */
#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* connections that may wait to be accepted, if the kernel does not allow fewer */
    BACKLOG = 4096,
    KEEP_ALIVE_IDLE = 60,  /* seconds until an idle connection is probed */
    KEEP_ALIVE_EVERY = 10, /* seconds between two probes */
    KEEP_ALIVE_PROBES = 3  /* after this many probes without an answer the connection is reset */
};

struct opening {
    const tr_socket_spec *spec;
    union socket_address address;
    socklen_t size;
    int type; /* SOCK_STREAM or SOCK_DGRAM */
};

/* Returns 0 or an error number. */
static int option_set(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof value) == 0 ? 0 : errno;
}

static int stall_ms(tr_time stall_ns)
{
    tr_time ms = (stall_ns - 1) / TR_MILLISECOND + 1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* Sets the options of a TCP socket. Returns 0 or an error number. */
static int tcp_set(int fd, const tr_socket_spec *spec)
{
    int error = option_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    if (!error)
        error = option_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEP_ALIVE_IDLE);
    if (!error)
        error = option_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEP_ALIVE_EVERY);
    if (!error)
        error = option_set(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_ALIVE_PROBES);
    if (!error)
        error = option_set(fd, IPPROTO_TCP, TCP_NODELAY, !spec->delays);
    if (!error && spec->stall_ns > 0)
        error = option_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, stall_ms(spec->stall_ns));
    return error;
}

/*
 * Sets the options that a socket of this family and type needs for its role. Returns 0 or an error
 * number.
 */
static int options_set(int fd, int family, int type, const tr_socket_spec *spec)
{
    int error = 0;
    bool is_ip = family == AF_INET || family == AF_INET6;
    bool is_bound = spec->role != TR_SOCKET_CONNECT;
    if (is_ip && type == SOCK_STREAM)
        error = tcp_set(fd, spec);
    if (!error && type == SOCK_DGRAM)
        error = option_set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
    /* Connections of an earlier process may still be ending. They must not prevent the bind. */
    if (!error && is_ip && spec->role == TR_SOCKET_LISTEN)
        error = option_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (!error && is_ip && spec->reuses_port)
        error = option_set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (!error && family == AF_INET6 && is_bound)
        error = option_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, spec->only_v6);
    return error;
}

/* ---- Descriptors that this process has inherited. ---- */

static bool is_inherited(const char *path)
{
    return path && strncmp(path, "fd:", 3) == 0;
}

/* Returns the number that a decimal text means; -1 if the text is no number. */
static int number_read(const char *text)
{
    int number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && number <= INT_MAX / 10 - 1; at++)
        number = 10 * number + (*at - '0');
    return *at || at == text ? -1 : number;
}

/*
 * Returns the descriptor to which systemd has given this name (FileDescriptorName=): see
 * sd_listen_fds(3). Returns -1 if there is none, or if several descriptors have this name: a unit
 * with several sockets gives all of them the same name. systemd passes the names in variables of
 * the environment. The variables are meant for this process only if LISTEN_PID is its number,
 * because a child inherits the variables of its parent.
 */
static int number_named(const char *name)
{
    enum { FIRST = 3 };
    const char *process = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    const char *names = getenv("LISTEN_FDNAMES");
    if (!process || !count || !names || number_read(process) != getpid())
        return -1;
    int found = -1;
    for (int i = 0; i < number_read(count); i++) {
        size_t length = strcspn(names, ":");
        if (length && strlen(name) == length && memcmp(names, name, length) == 0) {
            if (found >= 0)
                return -1;
            found = FIRST + i;
        }
        if (!names[length])
            break;
        names += length + 1;
    }
    return found;
}

/* Returns the descriptor that a path such as "fd:3" or "fd:web" names; -1 if there is none. */
static int number_of(const char *path)
{
    int number = number_read(path + 3);
    return number < 0 ? number_named(path + 3) : number;
}

/* Returns the value of an option of a socket; -1 if the descriptor is no socket. */
static int option_get(int fd, int name)
{
    int value;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

/* Whether a socket already listens, is bound or is connected, as this role requires. */
static bool has_role(int fd, const tr_socket_spec *spec, int type)
{
    union socket_address address;
    socklen_t size = sizeof address;
    if (option_get(fd, SO_TYPE) != type)
        return false;
    if (spec->role == TR_SOCKET_LISTEN)
        return option_get(fd, SO_ACCEPTCONN) == 1;
    return spec->role == TR_SOCKET_BIND || getpeername(fd, &address.any, &size) == 0;
}

static tr_status open_inherited(const tr_socket_spec *spec, int type, int *fd)
{
    int number = number_of(spec->path);
    if (number < 0)
        return TR_INVALID_ARGUMENT;
    int family = option_get(number, SO_DOMAIN);
    if (family != AF_INET && family != AF_INET6 && family != AF_UNIX)
        return TR_INVALID_ARGUMENT;
    if (!has_role(number, spec, type))
        return TR_INVALID_ARGUMENT;
    int flags = fcntl(number, F_GETFL);
    if (flags < 0 || fcntl(number, F_SETFL, flags | O_NONBLOCK) != 0)
        return TR_INVALID_ARGUMENT;
    if (fcntl(number, F_SETFD, FD_CLOEXEC) != 0)
        return TR_INVALID_ARGUMENT;
    /*
     * The socket is bound already. The options that must be set before a bind are left to the
     * process that has made the socket.
     */
    int error = family != AF_UNIX && type == SOCK_STREAM ? tcp_set(number, spec) : 0;
    if (!error && type == SOCK_DGRAM)
        error = option_set(number, SOL_SOCKET, SO_RXQ_OVFL, 1);
    if (!error)
        *fd = number;
    return tr__socket_status(error);
}

/* ---- Listen, bind and connect. Each returns 0 or an error number. ---- */

/* Whether the file at the path of an opening is a socket on which no process listens any more. */
static bool is_stale(const struct opening *opening)
{
    struct stat status;
    const struct sockaddr_un *path = &opening->address.path;
    if (lstat(path->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode))
        return false;
    int fd = socket(AF_UNIX, opening->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool is_refused =
        connect(fd, &opening->address.any, opening->size) != 0 && errno == ECONNREFUSED;
    (void)close(fd);
    return is_refused;
}

/*
 * Binds a socket. A file that a process has left behind is replaced. If two processes replace the same file at the same
 * moment, the later one has the path.
 */
static int socket_bind(int fd, const struct opening *opening)
{
    const struct sockaddr *address = &opening->address.any;
    int error = bind(fd, address, opening->size) == 0 ? 0 : errno;
    if (error != EADDRINUSE || address->sa_family != AF_UNIX)
        return error;
    const char *path = opening->address.path.sun_path;
    if (!path[0] || !is_stale(opening) || unlink(path) != 0)
        return error;
    return bind(fd, address, opening->size) == 0 ? 0 : errno;
}

static int socket_listen(int fd, const struct opening *opening)
{
    uint32_t backlog = opening->spec->backlog ? opening->spec->backlog : BACKLOG;
    int error = socket_bind(fd, opening);
    if (!error && listen(fd, backlog < INT_MAX ? (int)backlog : INT_MAX) != 0)
        error = errno;
    return error;
}

/*
 * If the spec has an address from which the socket is to connect, binds the socket to that address.
 */
static int source_bind(int fd, const struct opening *opening)
{
    union socket_address source;
    const tr_address *address = &opening->spec->source;
    if (address->family == TR_FAMILY_NONE)
        return 0;
    socklen_t size = tr__socket_address_of(address, &source);
    if (!size || source.any.sa_family != opening->address.any.sa_family)
        return EINVAL;
    /*
     * If no port is given, leave the choice of the port to connect, and not to bind. Unlike bind,
     * connect may choose a port that is in use for another peer.
     */
    if (!address->port)
        (void)option_set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    return bind(fd, &source.any, size) == 0 ? 0 : errno;
}

static tr_status socket_connect(int fd, const struct opening *opening)
{
    int error = source_bind(fd, opening);
    if (error)
        return tr__socket_status(error);
    if (connect(fd, &opening->address.any, opening->size) == 0)
        return TR_OK;
    bool is_unix = opening->address.any.sa_family == AF_UNIX;
    switch (errno) {
    case EINTR: /* the kernel continues to connect in the background */
        return TR_WOULD_BLOCK;
    case EAGAIN: /* UNIX sockets only: the listener's queue is full, and no event will say when it has space */
        return TR_LIMIT;
    case ENOENT:
        return is_unix ? TR_CONNECT_REFUSED : TR_ADDRESS_INVALID;
    case EADDRNOTAVAIL: /* no port is left, or this machine has no address of that kind */
        return TR_UNREACHABLE;
    default:
        return tr__socket_status(errno);
    }
}

/* ---- Open. ---- */

static tr_status socket_begin(int fd, const struct opening *opening)
{
    int family = opening->address.any.sa_family;
    int error = options_set(fd, family, opening->type, opening->spec);
    if (error)
        return tr__socket_status(error);
    switch (opening->spec->role) {
    case TR_SOCKET_LISTEN:
        return tr__socket_status(socket_listen(fd, opening));
    case TR_SOCKET_BIND:
        return tr__socket_status(socket_bind(fd, opening));
    case TR_SOCKET_CONNECT:
        return socket_connect(fd, opening);
    }
    return TR_INVALID_ARGUMENT;
}

static bool is_valid(const tr_socket_spec *spec, bool is_datagram)
{
    if (spec->stall_ns < 0)
        return false;
    switch (spec->role) {
    case TR_SOCKET_LISTEN:
        return !is_datagram;
    case TR_SOCKET_BIND:
        return is_datagram;
    case TR_SOCKET_CONNECT:
        return true;
    }
    return false;
}

/* Makes the socket of an opening. Returns its descriptor, or a negative error number. */
static int socket_make(struct opening *opening)
{
    const int flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(opening->address.any.sa_family, opening->type | flags, 0);
    const tr_socket_spec *spec = opening->spec;
    if (fd < 0 && errno == EAFNOSUPPORT && opening->address.any.sa_family == AF_INET6 &&
        IN6_IS_ADDR_UNSPECIFIED(&opening->address.v6.sin6_addr) &&
        spec->role != TR_SOCKET_CONNECT && !spec->only_v6) {
        /*
         * This machine has no IPv6. Use the IPv4 address that is all zero, which also stands for
         * every address of the machine.
         */
        const tr_address every = {.family = TR_FAMILY_V4, .port = spec->address.port};
        opening->size = tr__socket_address_of(&every, &opening->address);
        fd = socket(AF_INET, opening->type | flags, 0);
    }
    return fd < 0 ? -errno : fd;
}

static tr_status open_whole(const tr_socket_spec *spec, int *fd)
{
    struct opening opening = {.spec = spec};
    if (!is_valid(spec, spec->is_datagram))
        return TR_INVALID_ARGUMENT;
    opening.type = spec->is_datagram ? SOCK_DGRAM : SOCK_STREAM;
    if (is_inherited(spec->path))
        return open_inherited(spec, opening.type, fd);
    if (spec->address.family == TR_FAMILY_UNIX)
        opening.size = spec->path ? tr__socket_address_of_path(spec->path, &opening.address) : 0;
    else
        opening.size = tr__socket_address_of(&spec->address, &opening.address);
    if (!opening.size)
        return TR_ADDRESS_INVALID;
    int made = socket_make(&opening);
    if (made < 0)
        return tr__socket_status(-made);
    tr_status status = socket_begin(made, &opening);
    if (status == TR_OK || status == TR_WOULD_BLOCK)
        *fd = made;
    else
        (void)close(made);
    return status;
}

tr_status tr__real_socket_open(const tr_platform *platform, const tr_socket_spec *spec, int *fd)
{
    (void)platform;
    tr_socket_spec whole;
    if (!spec || !sized_read(&whole, sizeof whole, spec, spec->size ? spec->size : sizeof whole))
        return TR_INVALID_ARGUMENT;
    return open_whole(&whole, fd);
}
