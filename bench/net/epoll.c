/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The least that an echo server does: epoll, edge-triggered, one registration per connection, one receive and
 * one send per piece. It has no partial writes, no timeouts and no limits. It prints its port.
 */
#include "sockets.h"

#include <sys/epoll.h>

enum { EVENTS = 256, SIZE = 65536 };

static char bytes[SIZE];

static void add(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    require(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static void accept_all(int epoll, int listener)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        no_delay(fd);
        add(epoll, fd);
    }
}

static void echo(int fd)
{
    for (;;) {
        ssize_t count = recv(fd, bytes, SIZE, 0);
        if (count < 0 && errno == EAGAIN)
            return;
        if (count <= 0 || send(fd, bytes, (size_t)count, MSG_NOSIGNAL) != count) {
            close(fd);
            return;
        }
        if (count < SIZE)
            return;
    }
}

int main(void)
{
    struct epoll_event events[EVENTS];
    int listener = listen_and_tell();
    int epoll = epoll_create1(0);
    require(epoll >= 0, "epoll_create1");
    add(epoll, listener);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                accept_all(epoll, listener);
            else
                echo(events[i].data.fd);
        }
    }
}
