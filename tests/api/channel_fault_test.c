/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Trapped faults in actors with channels: turns that wait for a channel are abandoned with their stacks, and nothing
 * keeps a link to them, a descriptor of theirs or memory. On real sockets, with the system in the loop of the test.
 */
#include "support/faults.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <troupe/net.h>

enum deed {
    ACT_CONNECT,  /* opens a channel to the test */
    ACT_READ,     /* waits for bytes of channel `on` */
    ACT_EXCHANGE, /* waits for a reply on channel `on` */
    ACT_ALONE,    /* waits until it may be the only exchange on channel `on` */
    ACT_FILE,     /* writes a file to channel `on`, which nobody reads */
    ACT_DIAL,     /* connects to a listener that is full */
    ACT_SLIP,     /* has a fault */
    ACT_WRITE     /* writes a line to channel `on` */
};

enum { CHANNELS = 3, FILE_SIZE = 8 << 20 };

TR_MESSAGE(act, (u32, what), (u32, on));
TR_ACTOR(owner, act);

static tr_channel channels[CHANNELS];
static int connected;
static int peers[CHANNELS];
static char address[32];      /* where the test listens */
static char full_address[32]; /* where connections wait */
static char path[] = "/tmp/troupe-fault-XXXXXX";
static int closed;            /* tr_closed that have come */
static tr_status closed_with; /* status of the last one */
static tr_status answered;    /* what the last act that ends has got */
static uint32_t fault_kind;

static void note(tr_status status)
{
    answered = status;
}

static tr_next on_act(tr_self *self, const struct act *message)
{
    tr_channel channel = channels[message->on];
    const struct tr_received *reply;
    tr_bytes bytes;
    switch ((enum deed)message->what) {
    case ACT_CONNECT:
        note(tr_try_connect(self, TR_TCP(address, .framing = TR_LINES), &channels[connected++]));
        break;
    case ACT_READ:
        note(tr_try_read(self, channel, &bytes));
        break;
    case ACT_EXCHANGE:
        note(tr_try_await(self, tr_exchange(self, channel, TR_BYTES("question\n")), &reply));
        break;
    case ACT_ALONE:
        note(tr_try_await(self, tr_exchange_alone(self, channel, TR_BYTES("alone\n")), &reply));
        break;
    case ACT_FILE:
        note(tr_write_file(self, channel, path, 0, SIZE_MAX));
        break;
    case ACT_DIAL:
        note(tr_try_connect(self, TR_TCP(full_address), &channel));
        break;
    case ACT_WRITE:
        note(tr_write_text(self, channel, "more\n"));
        break;
    case ACT_SLIP:
        slip_now(fault_kind);
        break;
    }
    return TR_SAME;
}

/* A turn with a piece of a channel: it has a fault, or waits with the piece. */
static tr_next on_received(tr_self *self, const struct tr_received *line)
{
    if (strcmp(line->bytes.data, "slip") == 0)
        slip_now(fault_kind);
    tr_bytes bytes;
    note(tr_try_read(self, line->channel, &bytes));
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    closed++;
    closed_with = message->status;
    return TR_SAME;
}

TR_BEHAVIOR(owner, void, TR_ON(act, on_act), TR_ON(tr_received, on_received),
            TR_ON(tr_closed, on_closed), TR_OPTIONS(.restart = TR_TEMPORARY));

/* ---- A system that counts its memory. ---- */

static size_t bytes_held;

static void *resize_counted(void *context, void *memory, size_t size)
{
    (void)context;
    if (memory)
        bytes_held -= malloc_usable_size(memory);
    if (size == 0) {
        free(memory);
        return NULL;
    }
    memory = realloc(memory, size);
    bytes_held += malloc_usable_size(memory);
    return memory;
}

static int listen_at(int backlog, char *text)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, size), 0);
    ck_assert_int_eq(listen(fd, backlog), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(text, 32, "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
    return fd;
}

/* Counts the descriptors of sockets, and those of the file. */
static int descriptors(void)
{
    char name[300];
    char target[300];
    int count = 0;
    const struct dirent *entry;
    DIR *directory = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory))) {
        (void)snprintf(name, sizeof name, "/proc/self/fd/%s", entry->d_name);
        ssize_t size = readlink(name, target, sizeof target - 1);
        target[size > 0 ? size : 0] = '\0';
        count += strncmp(target, "socket:", 7) == 0 || strcmp(target, path) == 0;
    }
    closedir(directory);
    return count;
}

struct scene {
    struct embedded at;
    owner_ref owner;
    int listener;
    int before; /* descriptors that are open without the actor */
};

static void tell(struct scene *scene, enum deed what, uint32_t on)
{
    tr_tell(scene->at.client, scene->owner, act, .what = what, .on = on);
    embedded_run(&scene->at);
}

static void await(struct scene *scene, const int *what, int value)
{
    while (*what != value)
        ck_assert_int_eq(tr_system_run_once(scene->at.system, TR_MILLISECOND), TR_OK);
    embedded_run(&scene->at);
}

static void system_open(struct scene *scene)
{
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .traps_faults = true,
                                       .on_log = log_keep,
                                       .resize = resize_counted};
    ck_assert_int_eq(tr_system_new(&options, &scene->at.system), TR_OK);
    ck_assert_int_eq(tr_client_new(scene->at.system, &scene->at.client), TR_OK);
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, FILE_SIZE), 0);
    close(fd);
    scene->listener = listen_at(CHANNELS, address);
    connected = closed = 0;
    log_text[0] = '\0';
}

/* Opens the channels of the actor. The first connects also make the helper threads and what else stays. */
static void owner_open(struct scene *scene)
{
    embedded_run(&scene->at);
    for (int i = 0; i < CHANNELS; i++) {
        answered = TR_FAILED;
        tell(scene, ACT_CONNECT, 0);
        while (answered == TR_FAILED)
            ck_assert_int_eq(tr_system_run_once(scene->at.system, TR_MILLISECOND), TR_OK);
        ck_assert_int_eq(answered, TR_OK);
        peers[i] = accept(scene->listener, NULL, NULL);
        ck_assert_int_ge(peers[i], 0);
    }
}

static void open_scene(struct scene *scene)
{
    system_open(scene);
    scene->before = descriptors();
    ck_assert_int_eq(tr_try_spawn(scene->at.client, &scene->owner, owner, NULL), TR_OK);
    owner_open(scene);
}

static void close_scene(struct scene *scene)
{
    for (int i = 0; i < CHANNELS; i++)
        close(peers[i]);
    close(scene->listener);
    embedded_close(&scene->at);
    ck_assert_uint_eq(bytes_held, 0);
    unlink(path);
    strcpy(path + strlen(path) - 6, "XXXXXX");
}

/* The actor has failed: all its connections are reset, and it has left no descriptor. */
static void has_failed(struct scene *scene)
{
    char text[4096];
    embedded_await(&scene->at, 0);
    ck_assert_ptr_nonnull(strstr(log_text, "TR_FAULT"));
    for (int i = 0; i < CHANNELS; i++) {
        ssize_t got;
        while ((got = recv(peers[i], text, sizeof text, 0)) > 0)
            ;
        ck_assert_msg(got < 0 && errno == ECONNRESET, "channel %d ended in order", i);
    }
    ck_assert_int_eq(descriptors(), scene->before + CHANNELS); /* those of the test */
}

/* ---- Failures. ---- */

TEST(turns_that_wait_to_read_are_abandoned_with_their_channels, "S-10", "C-04", "C-09")
{
    struct scene scene;
    for (fault_kind = 0; fault_kind < SLIP_COUNT; fault_kind++) {
        open_scene(&scene);
        tell(&scene, ACT_READ, 0);
        tell(&scene, ACT_READ, 0);
        tell(&scene, ACT_READ, 1);
        tell(&scene, ACT_SLIP, 0);
        has_failed(&scene);
        close_scene(&scene);
    }
}

TEST(a_fault_with_a_piece_leaves_nothing_of_it, "S-10", "C-07", "C-09")
{
    struct scene scene;
    open_scene(&scene);
    /* One turn waits with a piece, another reads the next bytes of its channel: the first keeps the memory. */
    ck_assert_int_eq(send(peers[0], "stay\nhal", 8, MSG_NOSIGNAL), 8);
    embedded_run(&scene.at);
    tell(&scene, ACT_READ, 0);
    ck_assert_int_eq(send(peers[0], "f\nslip\n", 7, MSG_NOSIGNAL), 7);
    ck_assert_int_eq(send(peers[2], "slip\nrest\nof it", 15, MSG_NOSIGNAL), 15);
    has_failed(&scene);
    close_scene(&scene);
}

TEST(a_file_that_is_being_sent_is_closed, "S-10", "C-08")
{
    struct scene scene;
    open_scene(&scene);
    tell(&scene, ACT_FILE, 0);
    /* until the kernel takes no more, and the turn waits for the peer */
    for (int i = 0; i < 300; i++)
        ck_assert_int_eq(tr_system_run_once(scene.at.system, TR_MILLISECOND), TR_OK);
    tell(&scene, ACT_SLIP, 0);
    has_failed(&scene);
    close_scene(&scene);
}

TEST(a_file_that_a_helper_thread_reads_is_closed, "S-10", "C-08")
{
    struct scene scene;
    for (int i = 0; i < 20; i++) {
        open_scene(&scene);
        tr_tell(scene.at.client, scene.owner, act, .what = ACT_FILE, .on = 0);
        tr_tell(scene.at.client, scene.owner, act, .what = ACT_SLIP);
        has_failed(&scene);
        close_scene(&scene);
    }
}

TEST(exchanges_are_abandoned_with_their_channels, "S-10", "C-03")
{
    struct scene scene;
    open_scene(&scene);
    tell(&scene, ACT_EXCHANGE, 0);
    tell(&scene, ACT_EXCHANGE, 0);
    tell(&scene, ACT_ALONE, 0);
    tell(&scene, ACT_ALONE, 1);
    tell(&scene, ACT_EXCHANGE, 1);
    tell(&scene, ACT_SLIP, 0);
    has_failed(&scene);
    close_scene(&scene);
}

TEST(a_connect_is_abandoned, "S-10", "C-05")
{
    struct scene scene;
    open_scene(&scene);
    int full = listen_at(0, full_address);
    int waiting[2];
    for (int i = 0; i < 2; i++) { /* the queue of the listener is full then */
        struct sockaddr_in to;
        socklen_t size = sizeof to;
        ck_assert_int_eq(getsockname(full, (struct sockaddr *)&to, &size), 0);
        waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(waiting[i], (struct sockaddr *)&to, size);
    }
    answered = TR_FAILED;
    tell(&scene, ACT_DIAL, 0);
    ck_assert_int_eq(answered, TR_FAILED); /* it waits */
    scene.before += 3;
    tell(&scene, ACT_SLIP, 0);
    has_failed(&scene);
    close(full);
    close(waiting[0]);
    close(waiting[1]);
    close_scene(&scene);
}

/* ---- Pieces that are handled at the same time. ---- */

TR_BEHAVIOR_DECLARE(session);
static tr_next on_piece(tr_self *self, const struct tr_received *line)
{
    static char block[16384];
    if (strcmp(line->bytes.data, "slip") == 0)
        slip_now(fault_kind);
    if (strcmp(line->bytes.data, "file") == 0)
        note(tr_write_file(self, line->channel, path, 0, SIZE_MAX));
    if (strcmp(line->bytes.data, "write") == 0)
        note(tr_write(self, line->channel, (tr_bytes){block, sizeof block}));
    tr_sleep(self, TR_MINUTE);
    return TR_SAME;
}

TR_BEHAVIOR(session, void, TR_ON(tr_received, on_piece));

TR_ACTOR(landlord, act);
static tr_next on_listen(tr_self *self, const struct act *message)
{
    tr_listener_ref listener = tr_listen(self,
                                         session,
                                         TR_TCP("127.0.0.1:0",
                                                .framing = TR_LINES,
                                                .interleaves = true,
                                                .answers_in_order = message->on));
    tr_address at = tr_listener_address(self, listener);
    (void)snprintf(address, sizeof address, "%u", (unsigned)at.port);
    return TR_SAME;
}

TR_BEHAVIOR(landlord, void, TR_ON(act, on_listen));

static int dial_session(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(address)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void play_interleaved(bool in_order)
{
    struct scene scene;
    landlord_ref landlord;
    system_open(&scene);
    ck_assert_int_eq(tr_try_spawn(scene.at.client, &landlord, landlord, NULL), TR_OK);
    tr_tell(scene.at.client, landlord, act, .on = in_order);
    embedded_run(&scene.at);
    for (int i = 0; i < 20; i++) {
        const char *lines =
            in_order ? "stay\nstay\nwrite\nstay\nslip\nlate\n" : "stay\nfile\nstay\nslip\nlate\n";
        char text[4096];
        int other = dial_session();
        int fd = dial_session();
        size_t size = strlen(lines);
        ck_assert_int_eq(send(fd, lines, size, MSG_NOSIGNAL), (ssize_t)size);
        log_text[0] = '\0';
        while (!strstr(log_text, "TR_FAULT"))
            ck_assert_int_eq(tr_system_run_once(scene.at.system, TR_MILLISECOND), TR_OK);
        ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
        ssize_t got;
        while ((got = recv(fd, text, sizeof text, 0)) > 0 || (got < 0 && errno == EAGAIN))
            ck_assert_int_eq(tr_system_run_once(scene.at.system, TR_MILLISECOND), TR_OK);
        ck_assert_int_eq(got, -1);
        ck_assert_int_eq(errno, ECONNRESET);
        /* another connection is unharmed */
        ck_assert_int_eq(send(other, "stay\n", 5, MSG_NOSIGNAL), 5);
        embedded_run(&scene.at);
        ck_assert_int_eq(recv(other, text, sizeof text, MSG_DONTWAIT), -1);
        ck_assert_int_eq(errno, EAGAIN);
        close(fd);
        close(other);
        embedded_run(&scene.at);
    }
    for (int i = 0; i < CHANNELS; i++)
        peers[i] = -1;
    close_scene(&scene);
}

TEST(pieces_beside_a_fault_are_abandoned, "S-10", "C-03")
{
    play_interleaved(false);
    play_interleaved(true);
}

/* ---- A supervisor that lets the actor continue. ---- */

static tr_directive resume(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_RESUME;
}

/* As owner, but a supervisor is asked when it fails. */
TR_ACTOR(steady, act);
TR_BEHAVIOR(steady, void, TR_ON(act, on_act), TR_ON(tr_received, on_received),
            TR_ON(tr_closed, on_closed));

TR_ACTOR(patient, act);
static owner_ref child;
static tr_next on_spawn(tr_self *self)
{
    child.bits = tr_spawn(self, steady, "child").bits;
    return TR_SAME;
}

TR_BEHAVIOR(patient, void, TR_ON(act, on_spawn), TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = resume));

TEST(an_actor_that_is_resumed_has_channels_without_their_turns, "S-10", "C-03", "C-05", "C-08")
{
    struct scene scene;
    patient_ref patient;
    system_open(&scene);
    ck_assert_int_eq(tr_try_spawn(scene.at.client, &patient, patient, NULL), TR_OK);
    tr_tell(scene.at.client, patient, act);
    embedded_run(&scene.at);
    scene.owner = child;
    owner_open(&scene);
    tell(&scene, ACT_FILE, 0);
    tell(&scene, ACT_EXCHANGE, 1);
    tell(&scene, ACT_ALONE, 1); /* waits for the one before */
    tell(&scene, ACT_READ, 2);
    for (int i = 0; i < 300; i++)
        ck_assert_int_eq(tr_system_run_once(scene.at.system, TR_MILLISECOND), TR_OK);
    tell(&scene, ACT_SLIP, 0);
    /* A part of a file is no file. */
    await(&scene, &closed, 1);
    ck_assert_int_eq(closed_with, TR_CANCELLED);
    /* The place of the exchange that was abandoned is kept; one behind it gets the next answer. */
    answered = TR_FAILED;
    tell(&scene, ACT_EXCHANGE, 1);
    ck_assert_int_eq(send(peers[1], "first\nsecond\n", 13, MSG_NOSIGNAL), 13);
    for (int i = 0; i < 1000 && answered == TR_FAILED; i++)
        ck_assert_int_eq(tr_system_run_once(scene.at.system, TR_MILLISECOND), TR_OK);
    ck_assert_int_eq(answered, TR_OK);
    /* The turn that waited to read is gone, so a piece goes to the handler. */
    answered = TR_OK;
    ck_assert_int_eq(send(peers[2], "a\nb\n", 4, MSG_NOSIGNAL), 4);
    answered = TR_FAILED;
    for (int i = 0; i < 1000 && answered == TR_FAILED; i++)
        ck_assert_int_eq(tr_system_run_once(scene.at.system, TR_MILLISECOND), TR_OK);
    ck_assert_int_eq(answered, TR_OK);
    tell(&scene, ACT_WRITE, 2);
    ck_assert_int_eq(answered, TR_OK);
    close_scene(&scene);
}

SUITE("faults with channels", turns_that_wait_to_read_are_abandoned_with_their_channels,
      a_fault_with_a_piece_leaves_nothing_of_it, a_file_that_is_being_sent_is_closed,
      a_file_that_a_helper_thread_reads_is_closed, exchanges_are_abandoned_with_their_channels,
      a_connect_is_abandoned, pieces_beside_a_fault_are_abandoned,
      an_actor_that_is_resumed_has_channels_without_their_turns)
