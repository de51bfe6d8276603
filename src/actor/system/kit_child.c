/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/kit_child.h"

#include <string.h>
#include <troupe/kit_net.h>

#include "actor/system/kit.h"
#include "actor/system/kit_net.h"
#include "os/memory.h"
#include "os/virtual_process.h"
#include "os/virtual_signal.h"

struct tr_kit_child {
    tr_kit *kit;
    struct virtual_child *child;
    /*
     * The peer with which the test reads the output of the child process and writes its input. NULL
     * until the test asks for the peer.
     */
    tr_kit_peer *peer;
    tr_kit_peer *errors; /* as `peer`, but for the error output */
};

static struct virtual_net *net_of(const struct tr_kit *kit)
{
    return &kit->virtual->net;
}

void tr__kit_children_free(tr_kit *kit)
{
    LIST_EACH (link, &net_of(kit)->children)
        tr__os_resize(LIST_OWNER(link, struct virtual_child, link)->user, 0);
}

bool tr_kit_signal(tr_kit *kit, int signal)
{
    return tr__virtual_signal_raise(net_of(kit), signal);
}

bool tr_kit_add_program(tr_kit *kit, const char *program)
{
    return tr__virtual_program_add(net_of(kit), program) == TR_OK;
}

/* Returns the oldest child process that the test has not got yet; NULL for none. */
static struct virtual_child *child_next(const tr_kit *kit)
{
    LIST_EACH (link, &net_of(kit)->children) {
        struct virtual_child *child = LIST_OWNER(link, struct virtual_child, link);
        if (!child->was_shown)
            return child;
    }
    return NULL;
}

static bool has_child(void *context)
{
    return child_next(context);
}

tr_kit_child *tr_kit_child_started(tr_kit *kit, tr_time timeout_ns)
{
    tr__kit_wait_until(kit, tr__kit_deadline(kit, timeout_ns), has_child, kit);
    struct virtual_child *child = child_next(kit);
    tr_kit_child *made = child ? tr__os_resize(NULL, sizeof *made) : NULL;
    if (!made)
        return NULL;
    *made = (tr_kit_child){.kit = kit, .child = child};
    child->was_shown = true;
    child->user = made;
    return made;
}

const char *tr_kit_child_argument(const tr_kit_child *child, size_t n)
{
    return n < child->child->argument_count ? tr__virtual_child_text(child->child, n) : NULL;
}

static size_t variable_count(const struct virtual_child *child)
{
    return child->variable_count == SIZE_MAX ? 0 : child->variable_count;
}

const char *tr_kit_child_variable(const tr_kit_child *child, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < variable_count(child->child); i++) {
        const char *text = tr__virtual_child_text(child->child, child->child->argument_count + i);
        if (strncmp(text, name, length) == 0 && text[length] == '=')
            return text + length + 1;
    }
    return NULL;
}

const char *tr_kit_child_directory(const tr_kit_child *child)
{
    size_t n = child->child->argument_count + variable_count(child->child);
    return tr__virtual_child_text(child->child, n);
}

tr_kit_peer *tr_kit_child_peer(tr_kit_child *child)
{
    if (!child->child->io)
        return NULL;
    if (!child->peer)
        child->peer = tr__kit_peer_of_child(child->kit, &child->child->io);
    return child->peer;
}

tr_kit_peer *tr_kit_child_errors(tr_kit_child *child)
{
    if (!child->child->errors)
        return NULL;
    if (!child->errors)
        child->errors = tr__kit_peer_of_child(child->kit, &child->child->errors);
    return child->errors;
}

void tr_kit_child_exit(tr_kit_child *child, int code)
{
    tr__virtual_child_end(child->child, code, 0);
}

void tr_kit_child_die(tr_kit_child *child, int signal)
{
    tr__virtual_child_end(child->child, -1, signal);
}

void tr_kit_child_catch(tr_kit_child *child)
{
    child->child->catches = true;
}

int tr_kit_child_signal(tr_kit_child *child)
{
    struct virtual_child *of = child->child;
    if (!of->signal_count)
        return 0;
    int signal = of->signals[0];
    of->signal_count--;
    memmove(of->signals, of->signals + 1, of->signal_count * sizeof of->signals[0]);
    return signal;
}

bool tr_kit_child_has_ended(const tr_kit_child *child)
{
    return child->child->has_ended;
}
