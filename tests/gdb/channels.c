/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program for tests/gdb/run: channels in known states, then a call of `here`, where gdb stops.
 *
 *     channels FILE
 *
 * There is one worker: what is in its queue when `show` is handled was handled before. Writes the ports to FILE.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <troupe/troupe.h>

enum { MUCH = 8 * 1024 * 1024 };

TR_MESSAGE(ready);
TR_MESSAGE(show);
TR_MESSAGE(port_is, (u16, port));
TR_REQUEST(open_door, port_is, (ref, client));
TR_MESSAGE(read_from, (u16, port), (ref, client));

TR_ACTOR(door, open_door, tr_connection);
TR_ACTOR(reader, read_from);
TR_ACTOR(meter, tr_datagram, show);

static sem_t never;

/* Where gdb stops. */
__attribute__((noinline)) void here(tr_self *self)
{
    __asm__ volatile("" ::"r"(self) : "memory");
}

static tr_ref client_ref;

static tr_next on_open_door(tr_self *self, const struct open_door *message)
{
    client_ref = message->client;
    tr_listener_ref listener = tr_listen(
        self, door, TR_TCP("127.0.0.1:0", .framing = TR_LINES, .accepted_by = tr_any(tr_me(self))));
    return tr_reply(self, port_is, .port = tr_listener_address(self, listener).port);
}

static tr_next on_connection(tr_self *self, const struct tr_connection *request)
{
    tr_channel channel;
    (void)!tr_accept(self, request, &channel);
    return TR_SAME;
}

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    tr_tell(self, client_ref, ready);
    if (strcmp(line->bytes.data, "much") == 0) { /* nobody reads it: the second one waits */
        for (int i = 0; i < 2; i++) {
            tr_buffer *buffer = tr_buffer_of_turn(self, MUCH);
            memset(tr_buffer_data(buffer), 'x', MUCH);
            tr_write_buffer(self, line->channel, buffer);
        }
    }
    return TR_SAME;
}

TR_BEHAVIOR(door, void, TR_ON(open_door, on_open_door), TR_ON(tr_connection, on_connection),
            TR_ON(tr_received, on_line));

static tr_next on_read_from(tr_self *self, const struct read_from *message)
{
    char address[32];
    tr_bytes line;
    snprintf(address, sizeof address, "127.0.0.1:%d", message->port);
    tr_channel channel = tr_connect(self, TR_TCP(address, .framing = TR_LINES));
    tr_print(self, channel, "hello\n"); /* so that the other side has it when this one reads */
    (void)tr_read_line(self, channel, &line);
    return TR_STOP;
}

TR_BEHAVIOR(reader, void, TR_ON(read_from, on_read_from));

static tr_next set_up_meter(tr_self *self)
{
    tr_bind(self, TR_UDP("127.0.0.1:0"));
    return TR_SAME;
}

static tr_next on_datagram(void)
{
    return TR_SAME;
}

static tr_next on_show(tr_self *self)
{
    here(self);
    return TR_SAME;
}

TR_BEHAVIOR(meter, void, TR_SETUP(set_up_meter), TR_ON(tr_datagram, on_datagram),
            TR_ON(show, on_show));

static int port_of(int fd)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    return getsockname(fd, (struct sockaddr *)&at, &size) == 0 ? ntohs(at.sin_port) : 0;
}

/* Connects, sends the text, and waits until a line of it was handled. Returns its own port. */
static int dial(tr_client *client, uint16_t port, const char *text)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        send(fd, text, strlen(text), 0) != (ssize_t)strlen(text) ||
        !tr_receive(client, ready, TR_NEVER))
        return 0;
    return port_of(fd);
}

int main(int argc, char **argv)
{
    tr_system_options options = {.size = sizeof options, .name = "stage", .workers = 1};
    tr_system *system;
    tr_client *client;
    door_ref door;
    reader_ref reader;
    meter_ref meter;
    const struct port_is *reply;
    FILE *ports = argc == 2 ? fopen(argv[1], "w") : NULL;

    if (!ports || sem_init(&never, 0, 0) != 0 || tr_system_new(&options, &system) != TR_OK ||
        tr_system_start(system) != TR_OK || tr_client_new(system, &client) != TR_OK ||
        tr_try_spawn(client, &door, door, "door") != TR_OK ||
        tr_try_spawn(client, &reader, reader, "reader") != TR_OK ||
        tr_try_spawn(client, &meter, meter, "meter") != TR_OK)
        return 1;
    open_door_ask asked = tr_ask(client, door, open_door, .client = tr_client_ref(client));
    if (tr_try_await(client, asked, &reply) != TR_OK)
        return 1;
    uint16_t port = reply->port;
    fprintf(ports, "door %d\n", port);
    fprintf(ports, "half %d\n", dial(client, port, "whole\nhalf of it"));
    tr_tell(client, reader, read_from, .port = port);
    if (!tr_receive(client, ready, TR_NEVER))
        return 1;
    fprintf(ports, "much %d\n", dial(client, port, "much\n")); /* its turn waits from now on */
    fclose(ports);
    tr_tell(client, meter, show);
    while (sem_wait(&never) != 0)
        ;
    return 0;
}
