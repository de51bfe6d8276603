/* SPDX-License-Identifier: Apache-2.0 */
/** Files that are sent on real sockets, by several sessions at once. */
#include "support/real_net.h"

#include <time.h>

enum { SIZE = 3 * 1024 * 1024 + 17, SMALL = 5000, CLIENTS = 4 };

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

/* ---- A disk that is slow. ---- */

enum { PATIENCE_S = 20 };

static sem_t has_begun; /* a read of the file has begun */
static sem_t may_end;   /* another actor lets it end */
static atomic_int reads;

/* The first read of a file ends only after an actor has said so. */
static tr_status read_slowly(const tr_platform *platform, int fd, uint64_t offset, void *to,
                             size_t size, const char **why)
{
    const tr_platform *real = tr_platform_real();
    struct timespec until;
    (void)platform;
    if (atomic_fetch_add(&reads, 1) == 0) {
        sem_post(&has_begun);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += PATIENCE_S;
        if (sem_timedwait(&may_end, &until) != 0) {
            *why = "no actor has run meanwhile";
            return TR_TIMEOUT;
        }
    }
    return real->file_read(real, fd, offset, to, size, why);
}

static uint64_t let_it_end(tr_self *self, uint64_t argument)
{
    (void)self;
    sem_post(&may_end);
    return argument;
}

static tr_next on_request(tr_self *self, const struct tr_received *line)
{
    (void)tr_write_file(self, line->channel, path, 0, SIZE_MAX);
    tr_close(self, line->channel);
    return TR_SAME;
}

TR_BEHAVIOR(slow_files, void, TR_ON(tr_received, on_request));

static uint64_t listen_slowly(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_listener_ref listener =
        tr_listen(self, slow_files, TR_TCP("127.0.0.1:0", .framing = TR_LINES));
    return tr_listener_address(self, listener).port;
}

TEST(a_slow_disk_does_not_hold_the_worker, "C-08")
{
    static char got[SMALL + 1];
    tr_platform table = *tr_platform_real();
    table.file_read = read_slowly;
    int file = mkstemp(path);
    ck_assert_int_eq(write(file, content, SMALL), SMALL);
    close(file);
    ck_assert_int_eq(sem_init(&has_begun, 0, 0), 0);
    ck_assert_int_eq(sem_init(&may_end, 0, 0), 0);
    const tr_system_options options = {.size = sizeof options, .workers = 1, .platform = &table};
    real_open_with(&options);
    int fd = dial_port(GO(listen_slowly));
    send_all(fd, "get\n", 4);
    while (sem_wait(&has_begun) != 0)
        ck_assert_int_eq(errno, EINTR);
    /* The only worker has other turns while the disk is read. */
    ck_assert_uint_eq(go_with(let_it_end, 7), 7);
    ck_assert_uint_eq(receive_all(fd, got, sizeof got), SMALL);
    close(fd);
    real_close();
    unlink(path);
}

SUITE("files on real sockets", several_clients_get_a_file_at_once,
      a_slow_disk_does_not_hold_the_worker)
