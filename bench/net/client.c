/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client of the echo servers.
 *
 *     client echo PORT CONNECTIONS DEPTH MESSAGES    each connection has DEPTH messages of 64 bytes under way
 *     client connect PORT AT_ONCE 0 CONNECTIONS      each connects, sends a message, gets it back, and resets
 *     client idle PORT CONNECTIONS                   each gets one message back, then all stay open
 *     client udp PORT SOCKETS DEPTH MESSAGES         each socket has DEPTH datagrams of 64 bytes under way
 *
 * It prints "begin" when the connections are there and warm, and waits for a line of input; after the last
 * operation it prints "end SECONDS MEDIAN", and waits again. So the program that runs it can look at the server between.
 * MEDIAN is that of the times from a message to its answer, in nanoseconds, with one connection; else 0.
 * Every byte that comes back is compared. Exit 2: a failure, 3: a wrong answer.
 */
#include "sockets.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <time.h>

enum { MESSAGE = 64, EVENTS = 256, SIZE = 65536, DEPTH_MAX = SIZE / MESSAGE };

struct connection {
    int fd;
    size_t got; /* bytes of the answer that have come */
};

static char batch[SIZE]; /* DEPTH messages */
static char answer[SIZE];
static int epoll;
static int port;
static double *spans; /* from a message to its answer; NULL: they are not kept */
static long span_count;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int compare_spans(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_ns(void)
{
    if (!span_count)
        return 0;
    qsort(spans, (size_t)span_count, sizeof *spans, compare_spans);
    return spans[span_count / 2] * 1e9;
}

static void tell_and_wait(const char *what, double seconds)
{
    printf("%s %.6f %.0f\n", what, seconds, median_ns());
    fflush(stdout);
    require(getchar() == '\n', "standard input");
}

static void wrong(const char *what)
{
    fprintf(stderr, "client: %s\n", what);
    exit(3);
}

static int dial(void)
{
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    require(fd >= 0, "socket");
    require(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    no_delay(fd);
    return fd;
}

static void send_all(int fd, size_t size)
{
    if (send(fd, batch, size, MSG_NOSIGNAL) != (ssize_t)size)
        wrong("the kernel did not take a batch");
}

/* Receives what has come. Returns true if the batch is back. */
static int take(struct connection *connection, size_t size)
{
    ssize_t count = recv(connection->fd, answer, size - connection->got, 0);
    require(count >= 0 || errno == EAGAIN, "recv");
    if (count < 0)
        return 0;
    if (count == 0 || memcmp(answer, batch + connection->got, (size_t)count) != 0)
        wrong("an answer is cut or not what was sent");
    connection->got += (size_t)count;
    if (connection->got < size)
        return 0;
    connection->got = 0;
    return 1;
}

static void watch(struct connection *connection, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = connection};
    require(epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0, "epoll_ctl");
}

static int wait_for(struct epoll_event *events)
{
    int count = epoll_wait(epoll, events, EVENTS, 10000);
    if (count == 0)
        wrong("nothing has come for ten seconds");
    return count;
}

static struct connection *dial_all(int count)
{
    struct connection *connections = calloc((size_t)count, sizeof *connections);
    require(connections != NULL, "calloc");
    for (int i = 0; i < count; i++) {
        connections[i].fd = dial();
        send_all(connections[i].fd, MESSAGE);
        while (!take(&connections[i], MESSAGE))
            ;
    }
    return connections;
}

static void echo_rounds(struct connection *connections, int count, size_t size, long batches)
{
    struct epoll_event events[EVENTS];
    long begun = count < batches ? count : batches;
    double since = spans ? now() : 0;
    for (long i = 0; i < begun; i++)
        send_all(connections[i].fd, size);
    for (long done = 0; done < batches;) {
        int ready = wait_for(events);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!take(connection, size))
                continue;
            if (spans) { /* of one connection: the next message goes at once */
                double then = now();
                spans[span_count++] = then - since;
                since = then;
            }
            done++;
            if (begun++ < batches)
                send_all(connection->fd, size);
        }
    }
}

static void echo(int count, int depth, long messages)
{
    struct connection *connections = dial_all(count);
    size_t size = (size_t)depth * MESSAGE;
    for (int i = 0; i < count; i++) {
        require(fcntl(connections[i].fd, F_SETFL, O_NONBLOCK) == 0, "fcntl");
        watch(&connections[i], EPOLLIN);
    }
    echo_rounds(connections, count, size, messages / depth / 10 + count);
    tell_and_wait("begin", 0);
    if (count == 1)
        spans = calloc((size_t)(messages / depth), sizeof *spans);
    double begin = now();
    echo_rounds(connections, count, size, messages / depth);
    tell_and_wait("end", now() - begin);
}

static int udp_open(void)
{
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    require(fd >= 0, "socket");
    require(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    return fd;
}

static void udp_rounds(struct connection *sockets, int count, int depth, long messages)
{
    struct epoll_event events[EVENTS];
    long begun = 0;
    for (int i = 0; i < count * depth && begun < messages; i++, begun++)
        send_all(sockets[i % count].fd, MESSAGE);
    for (long done = 0; done < messages;) {
        int ready = wait_for(events);
        for (int i = 0; i < ready; i++) {
            const struct connection *one = events[i].data.ptr;
            ssize_t size;
            while ((size = recv(one->fd, answer, sizeof answer, 0)) >= 0) {
                if (size != MESSAGE || memcmp(answer, batch, MESSAGE) != 0)
                    wrong("a datagram is not what was sent");
                done++;
                if (begun++ < messages)
                    send_all(one->fd, MESSAGE);
            }
            require(errno == EAGAIN, "recv");
        }
    }
}

static void udp(int count, int depth, long messages)
{
    struct connection *sockets = calloc((size_t)count, sizeof *sockets);
    require(sockets != NULL, "calloc");
    for (int i = 0; i < count; i++) {
        sockets[i].fd = udp_open();
        watch(&sockets[i], EPOLLIN);
    }
    udp_rounds(sockets, count, depth, messages / 10 + count);
    tell_and_wait("begin", 0);
    double begin = now();
    udp_rounds(sockets, count, depth, messages);
    tell_and_wait("end", now() - begin);
}

static void connect_begin(struct connection *connection)
{
    struct sockaddr_in address = loopback(port);
    struct linger resets = {.l_onoff = 1, .l_linger = 0};
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    require(connection->fd >= 0, "socket");
    require(setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &resets, sizeof resets) == 0,
            "linger");
    require(connect(connection->fd, (struct sockaddr *)&address, sizeof address) == 0 ||
                errno == EINPROGRESS,
            "connect");
    watch(connection, EPOLLOUT);
}

static void connect_rounds(struct connection *connections, int at_once, long connects)
{
    struct epoll_event events[EVENTS];
    long begun = at_once < connects ? at_once : connects;
    for (long i = 0; i < begun; i++)
        connect_begin(&connections[i]);
    for (long done = 0; done < connects;) {
        int ready = wait_for(events);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) {
                struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
                send_all(connection->fd, MESSAGE);
                require(epoll_ctl(epoll, EPOLL_CTL_MOD, connection->fd, &event) == 0, "epoll_ctl");
            } else if (take(connection, MESSAGE)) {
                close(connection->fd);
                done++;
                if (begun++ < connects)
                    connect_begin(connection);
            }
        }
    }
}

static void connects(int at_once, long count)
{
    struct connection *connections = calloc((size_t)at_once, sizeof *connections);
    require(connections != NULL, "calloc");
    connect_rounds(connections, at_once, count / 10 + at_once);
    tell_and_wait("begin", 0);
    double begin = now();
    connect_rounds(connections, at_once, count);
    tell_and_wait("end", now() - begin);
}

static void idle(int count)
{
    enum { WARM = 200 };
    struct connection *warm = dial_all(WARM);
    tell_and_wait("begin", 0);
    double begin = now();
    free(dial_all(count));
    tell_and_wait("end", now() - begin);
    free(warm);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 3 ? argv[1] : "";
    int count = argc > 3 ? atoi(argv[3]) : 0;
    int depth = argc > 4 ? atoi(argv[4]) : 0;
    long messages = argc > 5 ? atol(argv[5]) : 0;
    port = argc > 2 ? atoi(argv[2]) : 0;
    epoll = epoll_create1(0);
    for (size_t i = 0; i < sizeof batch; i++)
        batch[i] = (char)('a' + i % 26);
    if (!strcmp(mode, "echo") && depth > 0 && depth <= DEPTH_MAX)
        echo(count, depth, messages);
    else if (!strcmp(mode, "udp") && depth > 0)
        udp(count, depth, messages);
    else if (!strcmp(mode, "connect"))
        connects(count, messages);
    else if (!strcmp(mode, "idle"))
        idle(count);
    else
        require(0, "client echo|udp|connect|idle PORT COUNT [DEPTH OPERATIONS]");
    return 0;
}
