/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Echoes of WebSockets: wsclient PORT CONNECTIONS DEPTH SECONDS. Each connection has so many messages of 64 bytes under way,
 * sends as many again when all have come back, and does so for that time. Prints how many came back, and the seconds.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

#include "../net/sockets.h"

enum { PAYLOAD = 64, FRAME_OUT = 6 + PAYLOAD, FRAME_IN = 2 + PAYLOAD, DEPTH_MAX = 256 };

struct connection {
    int fd;
    size_t got; /* bytes of this batch */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int shake(int port)
{
    static const char request[] =
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    char answer[2048];
    size_t size = 0;
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    require(fd >= 0, "socket");
    require(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    no_delay(fd);
    require(write(fd, request, sizeof request - 1) == sizeof request - 1, "write");
    while (size < 4 || memcmp(answer + size - 4, "\r\n\r\n", 4) != 0) {
        require(size < sizeof answer && read(fd, answer + size, 1) == 1, "handshake");
        size++;
    }
    require(memcmp(answer, "HTTP/1.1 101", 12) == 0, "no upgrade");
    require(fcntl(fd, F_SETFL, O_NONBLOCK) == 0, "fcntl");
    return fd;
}

/* Makes a batch of masked frames. */
static void make_batch(unsigned char *batch, int depth)
{
    static const unsigned char mask[4] = {1, 2, 3, 4};
    for (int i = 0; i < depth; i++) {
        unsigned char *frame = batch + (size_t)i * FRAME_OUT;
        frame[0] = 0x82;
        frame[1] = 0x80 | PAYLOAD;
        memcpy(frame + 2, mask, 4);
        for (int j = 0; j < PAYLOAD; j++)
            frame[6 + j] = (unsigned char)('x' ^ mask[j & 3]);
    }
}

static void send_batch(const struct connection *connection, const unsigned char *batch, int depth)
{
    ssize_t size = (ssize_t)depth * FRAME_OUT;
    require(write(connection->fd, batch, (size_t)size) == size, "write");
}

int main(int argc, char **argv)
{
    static unsigned char batch[DEPTH_MAX * FRAME_OUT];
    static char input[65536];
    require(argc == 5, "wsclient PORT CONNECTIONS DEPTH SECONDS");
    int count = atoi(argv[2]);
    int depth = atoi(argv[3]);
    require(count > 0 && depth > 0 && depth <= DEPTH_MAX, "arguments");
    make_batch(batch, depth);
    struct connection *connections = calloc((size_t)count, sizeof *connections);
    int epoll = epoll_create1(0);
    require(connections && epoll >= 0, "epoll");
    for (int i = 0; i < count; i++) {
        connections[i].fd = shake(atoi(argv[1]));
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        require(epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event) == 0, "epoll_ctl");
    }
    for (int i = 0; i < count; i++)
        send_batch(&connections[i], batch, depth);
    double begin = now();
    double end = begin + atof(argv[4]);
    uint64_t echoes = 0;
    while (now() < end) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, 1000);
        require(ready > 0, "the server does not answer");
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            ssize_t got = read(connection->fd, input, sizeof input);
            require(got > 0, "read");
            connection->got += (size_t)got;
            if (connection->got < (size_t)depth * FRAME_IN)
                continue;
            connection->got = 0;
            echoes += (uint64_t)depth;
            send_batch(connection, batch, depth);
        }
    }
    printf("%llu %.6f\n", (unsigned long long)echoes, now() - begin);
    return 0;
}
