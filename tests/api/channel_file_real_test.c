/* SPDX-License-Identifier: Apache-2.0 */
/** Files that are sent on real sockets, by several sessions at once. */
#include "support/real_net.h"

enum { SIZE = 3 * 1024 * 1024 + 17, CLIENTS = 4 };

static char path[] = "/tmp/troupe-file-XXXXXX";
static unsigned char content[SIZE];

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    tr_status status = tr_write_file(self, line->channel, path, 0, SIZE_MAX);
    ck_assert_int_eq(status, TR_OK);
    tr_close(self, line->channel);
    return TR_SAME;
}

TR_BEHAVIOR(files, void, TR_ON(tr_received, on_line));

static uint64_t listen_files(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_listener_ref listener = tr_listen(self, files, TR_TCP("127.0.0.1:0", .framing = TR_LINES));
    return tr_listener_address(self, listener).port;
}

static void *fetch(void *argument)
{
    unsigned char *got = malloc(SIZE + 1);
    int fd = dial_port((uint64_t)(uintptr_t)argument);
    send_all(fd, "get\n", 4);
    ck_assert_uint_eq(receive_all(fd, got, SIZE + 1), SIZE);
    ck_assert_int_eq(memcmp(got, content, SIZE), 0);
    close(fd);
    free(got);
    return NULL;
}

TEST(several_clients_get_a_file_at_once, "C-08")
{
    pthread_t threads[CLIENTS];
    uint64_t dice = 1;
    int fd = mkstemp(path);
    for (size_t i = 0; i < SIZE; i++)
        content[i] = (unsigned char)dice_roll(&dice);
    ck_assert_int_eq(write(fd, content, SIZE), SIZE);
    close(fd);
    real_open(2);
    uint64_t port = GO(listen_files);
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fetch, (void *)(uintptr_t)port), 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    real_close();
    unlink(path);
}

SUITE("files on real sockets", several_clients_get_a_file_at_once)
