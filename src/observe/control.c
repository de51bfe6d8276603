/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/control.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/client.h"
#include "actor/cell/log_kept.h"
#include "actor/cell/system.h"
#include "observe/page.h"
#include "observe/schema.h"
#include "observe/slow_trees.h"
#include "observe/stacks.h"
#include "observe/store_backup.h"
#include "observe/trials.h"
#include "observe/visitor.h"
#include "os/local_socket.h"
#include "os/small_file.h"
#include "store/read.h"

enum {
    ASK_MS = 5,      /* time between two checks of whether an ask was answered */
    CHECK_MS = 1000, /* time between two checks for slow clients */
    /* time until the next accept when the last accept found no free descriptor */
    RETRY_MS = 100,
    READ_SIZE = 16384, /* bytes that one read takes at most */
    CLIENTS_MOST = CONTROL_CLIENTS + OBSERVER_PAGES
};

struct control_client {
    struct visitor visitor;
    int fd;
    bool has_more;    /* the job of this client can continue at once */
    tr_time moved_ns; /* when bytes were last sent to this client or received from it */
};

struct control {
    struct observer observer;
    tr_thread *thread;
    int listener;
    int bell;
    atom32 is_over;
    bool is_short; /* the last accept found no free descriptor */
    size_t client_count;
    char app[TR_NAME_MAX + 1];
    char path[LOCAL_PATH_MAX + 1];
    struct control_client clients[CLIENTS_MOST];
};

/* ---- Clients. ---- */

static void client_drop(struct control *control, size_t at)
{
    struct control_client *client = &control->clients[at];
    tr__visitor_close(&client->visitor);
    tr__local_close(client->fd);
    *client = control->clients[--control->client_count];
}

/* Sends as much output as the client takes now. Returns false if the client must be dropped. */
static bool client_send(struct control *control, struct control_client *client)
{
    struct json_line *output = &client->visitor.output;
    while (output->length) {
        ptrdiff_t sent = tr__local_write(client->fd, output->data, output->length);
        if (sent < 0)
            return false;
        if (!sent)
            return tr__observer_now(&control->observer) - client->moved_ns < CONTROL_SLOW_NS;
        client->moved_ns = tr__observer_now(&control->observer);
        tr__json_line_drop(output, (size_t)sent);
    }
    return !client->visitor.is_over;
}

/* Reads the bytes that the client has sent. Returns false if the client is gone. */
static bool client_receive(struct control *control, struct control_client *client)
{
    char bytes[READ_SIZE];
    size_t space = tr__visitor_space(&client->visitor);
    ptrdiff_t got =
        space ? tr__local_read(client->fd, bytes, space < READ_SIZE ? space : READ_SIZE) : 0;
    if (got < 0)
        return false;
    if (got > 0) {
        client->moved_ns = tr__observer_now(&control->observer);
        tr__visitor_input(&client->visitor, bytes, (size_t)got);
    }
    return true;
}

/* Does everything that can be done for a client now. Returns false if the client must be
 * dropped. */
static bool client_serve(struct control *control, struct control_client *client,
                         const struct local_event *event)
{
    if (event->can_read && !client_receive(control, client))
        return false;
    /* Each client gets one slice, then the next client has its turn. A list continues only as fast
     * as its client reads. */
    client->has_more = tr__visitor_work(&client->visitor);
    if (!client_send(control, client))
        return false;
    client->has_more &= client->visitor.output.length < VISITOR_PAGE_MAX / 2;
    return true;
}

/* Makes space for one more client, by dropping an idle one if needed. Returns false if none can be
 * dropped. Does not count clients that are pages of an inspector. */
static bool clients_make_space(struct control *control)
{
    tr_time now_ns = tr__observer_now(&control->observer);
    size_t idle = CLIENTS_MOST;
    if (control->client_count - control->observer.page_count < CONTROL_CLIENTS)
        return true;
    for (size_t i = 0; i < control->client_count; i++) {
        const struct control_client *client = &control->clients[i];
        bool is_idle = !client->visitor.is_page && client->visitor.job == JOB_NONE &&
                       !client->visitor.output.length &&
                       now_ns - client->moved_ns >= CONTROL_IDLE_NS;
        if (is_idle && (idle == CLIENTS_MOST || client->moved_ns < control->clients[idle].moved_ns))
            idle = i;
    }
    if (idle == CLIENTS_MOST)
        return false;
    client_drop(control, idle);
    return true;
}

static void client_accept(struct control *control)
{
    static const char full[] = "{\"id\":0,\"no\":\"TR_LIMIT\",\"why\":\"the control socket has 16 "
                               "clients, which is the most; try again later\"}\n";
    int fd;
    uint32_t uid;
    tr_status status = tr__local_accept(control->listener, &fd, &uid);
    control->is_short = status == TR_LIMIT;
    if (status != TR_OK)
        return;
    if (!clients_make_space(control)) {
        (void)tr__local_write(fd, full, sizeof full - 1);
        tr__local_close(fd);
        return;
    }
    struct control_client *client = &control->clients[control->client_count++];
    client->fd = fd;
    client->has_more = false;
    client->moved_ns = tr__observer_now(&control->observer);
    tr__visitor_open(&client->visitor, &control->observer, uid);
    if (!client_send(control, client))
        client_drop(control, control->client_count - 1);
}

/* ---- The thread. ---- */

/* Returns the shorter of two timeouts. A timeout of -1 means that there is none. */
static int sooner(int timeout_ms, int other_ms)
{
    return timeout_ms < 0 || (other_ms >= 0 && other_ms < timeout_ms) ? other_ms : timeout_ms;
}

/* Fills in the events for which the thread waits next. Returns for how many milliseconds it waits,
 * or -1 for no limit. */
static int events_fill(struct control *control, struct local_event *events)
{
    int timeout_ms = tr__observer_is_watched(&control->observer) ? OBSERVER_SAMPLE_MS : -1;
    timeout_ms = sooner(timeout_ms, tr__observer_look(&control->observer));
    timeout_ms = sooner(timeout_ms, tr__trials_look(&control->observer));
    if (control->observer.left)
        timeout_ms = sooner(timeout_ms, RETRY_MS);
    events[0] = (struct local_event){.fd = control->bell, .wants_read = true};
    events[1] = (struct local_event){.fd = control->listener, .wants_read = !control->is_short};
    if (control->is_short)
        timeout_ms = sooner(timeout_ms, RETRY_MS);
    for (size_t i = 0; i < control->client_count; i++) {
        const struct control_client *client = &control->clients[i];
        bool is_asking = client->visitor.job == JOB_ASK || client->visitor.job == JOB_WAIT;
        events[2 + i] = (struct local_event){.fd = client->fd,
                                             .wants_read = tr__visitor_space(&client->visitor) > 0,
                                             .wants_write = client->visitor.output.length > 0};
        if (client->has_more)
            timeout_ms = 0;
        if (is_asking)
            timeout_ms = sooner(timeout_ms, ASK_MS);
        if (client->visitor.output.length)
            timeout_ms = sooner(timeout_ms, CHECK_MS);
    }
    return timeout_ms;
}

static void control_main(void *context)
{
    struct control *control = context;
    struct local_event events[2 + CLIENTS_MOST];
    while (!atom32_load(&control->is_over, ATOM_ACQUIRE)) { /* pairs with tr__control_stop */
        int timeout_ms = events_fill(control, events);
        size_t count = control->client_count;
        tr__local_wait(events, 2 + count, timeout_ms);
        if (events[0].can_read) {
            tr__local_bell_take(control->bell);
            control->observer.is_dozing = false;
        }
        if (tr__observer_is_watched(&control->observer))
            tr__observer_sample(&control->observer);
        control->is_short = false;
        /* Walk from the last client to the first. When a client is dropped, the last client takes
         * its place. */
        for (size_t i = count; i-- > 0;) {
            if (!client_serve(control, &control->clients[i], &events[2 + i]))
                client_drop(control, i);
        }
        if (events[1].can_read)
            client_accept(control);
        tr__backups_collect(&control->observer, false);
    }
    while (control->client_count)
        client_drop(control, control->client_count - 1);
    tr__trials_end(&control->observer);
    tr__backups_collect(&control->observer, true);
}

/* ---- Life. ---- */

/* Copies the name of an app, and changes it so that it can be a part of a file name. */
static void name_copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
    for (char *at = to; *at; at++) {
        if (*at == '/')
            *at = '_';
    }
}

bool tr__control_place(const char *app, const char *store, char *path, size_t size)
{
    char directory[LOCAL_PATH_MAX + 1];
    char absolute[LOCAL_PATH_MAX + 1];
    char name[TR_NAME_MAX + 1];
    const char *runtime = tr__environment("XDG_RUNTIME_DIR");
    name_copy(name, sizeof name, app);
    for (int attempt = 0; attempt < 4; attempt++) {
        int length = -1;
        if (attempt == 0 && runtime)
            length = snprintf(directory, sizeof directory, "%s/troupe", runtime);
        else if (attempt == 1)
            length = snprintf(directory, sizeof directory, "/run/troupe");
        else if (attempt == 2 && store)
            length = snprintf(directory, sizeof directory, "%s", store);
        else if (attempt == 3)
            length =
                snprintf(directory, sizeof directory, "/tmp/troupe-%u", (unsigned)tr__local_user());
        if (length < 0 || (size_t)length >= sizeof directory ||
            !tr__local_directory(directory, attempt == 3))
            continue;
        /* The path must be absolute. The tool troupe reads the path in /proc/net/unix, the
         * kernel's list of UNIX sockets, and may run in another directory. */
        if (!tr__local_absolute(directory, absolute, sizeof absolute))
            continue;
        int whole = snprintf(path, size, "%s/%s.%d.sock", absolute, name, tr__local_process());
        if (whole > 0 && (size_t)whole < size && whole <= LOCAL_PATH_MAX)
            return true;
    }
    return false;
}

static void on_ring(void *context)
{
    const struct control *control = context;
    tr__local_bell_ring(control->bell);
}

/* Makes all parts of the control socket but its thread. */
static tr_status control_open(struct control *control, const char *path, char *why)
{
    tr_status status = tr_client_new(control->observer.system, &control->observer.client);
    if (status != TR_OK) {
        snprintf(why, CONTROL_WHY_SIZE, "no control socket: %s", tr_status_text(status));
        return status;
    }
    /* The thread must not wait for one client, because it has other clients. */
    control->observer.client->never_waits = true;
    control->bell = tr__local_bell_new();
    if (control->bell < 0) {
        snprintf(why, CONTROL_WHY_SIZE, "no control socket: no descriptor is left");
        status = TR_LIMIT;
        goto free_client;
    }
    status = tr__local_listen(path, &control->listener, why, CONTROL_WHY_SIZE);
    if (status != TR_OK)
        goto close_bell;
    snprintf(control->path, sizeof control->path, "%s", path);
    return TR_OK;

close_bell:
    tr__local_close(control->bell);
free_client:
    tr_client_free(control->observer.client);
    return status;
}

static void control_close(struct control *control)
{
    const struct memory_source source = control->observer.system->source;
    tr__local_unlisten(control->listener, control->path);
    tr__local_close(control->bell);
    tr__store_reader_free(control->observer.reader);
    tr__stack_texts_free(&control->observer);
    tr__slow_trees_free(&control->observer);
    tr_client_free(control->observer.client);
    source_resize(&source, control, 0);
}

tr_status tr__control_start(tr_system *system, const struct schema_source *schema, const char *path,
                            struct control **control, char why[CONTROL_WHY_SIZE])
{
    const tr_platform *platform = system->platform;
    struct control *made = source_resize(&system->source, NULL, sizeof *made);
    if (!made) {
        snprintf(why, CONTROL_WHY_SIZE, "no control socket: out of memory");
        return TR_NO_MEMORY;
    }
    memset(made, 0, sizeof *made);
    atom32_init(&made->is_over, 0);
    snprintf(made->app, sizeof made->app, "%s", schema->app);
    made->observer.system = system;
    made->observer.source = &system->source;
    made->observer.app = made->app;
    made->observer.schema = schema;
    tr__log_keep(system);
    tr_status status = control_open(made, path, why);
    if (status != TR_OK) {
        source_resize(&system->source, made, 0);
        return status;
    }
    status = platform->thread_start(platform, "control", control_main, made, &made->thread);
    if (status != TR_OK) {
        snprintf(why, CONTROL_WHY_SIZE, "no control socket: %s", tr_status_text(status));
        control_close(made);
        return status;
    }
    tr__doorbell_open(&system->doorbell, on_ring, made);
    *control = made;
    return TR_OK;
}

const char *tr__control_path(const struct control *control)
{
    return control->path;
}

void tr__control_stop(struct control *control)
{
    if (!control)
        return;
    const tr_platform *platform = control->observer.system->platform;
    tr__doorbell_close(&control->observer.system->doorbell);
    atom32_store(&control->is_over, 1, ATOM_RELEASE); /* pairs with control_main */
    tr__local_bell_ring(control->bell);
    platform->thread_join(platform, control->thread);
    control_close(control);
}
