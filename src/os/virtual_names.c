/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_names.h"

#include "os/virtual.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * After a delayed look-up is done, calls get its result for this long. A turn that waits for the
 * look-up asks every 10 ms, so 20 ms are enough. The first call after that time begins another
 * look-up.
 */
#define SEEN_NS (20 * TR_MILLISECOND)

enum { NUMBERS_MAX = 64 }; /* the longest numeric address has fewer characters */

struct virtual_name {
    struct list link; /* in virtual_net.names, oldest first */
    tr_address address;
    tr_status status;
    bool is_delay;    /* the entry is a delay and has no address */
    tr_time delay_ns; /* if is_delay: how long each look-up takes */
    /* if is_delay: when the look-up that was begun last is done; 0: none was begun */
    tr_time due_ns;
    char name[];
};

tr_status tr__virtual_names_add(struct virtual_net *net, const char *name,
                                const tr_address *address, tr_status status)
{
    size_t size = strlen(name) + 1;
    struct virtual_name *made = tr__virtual_net_new(net, sizeof *made + size);
    if (!made)
        return TR_NO_MEMORY;
    *made = (struct virtual_name){.status = status};
    if (address)
        made->address = *address;
    memcpy(made->name, name, size);
    list_push_last(&net->names, &made->link);
    return TR_OK;
}

static struct virtual_name *delay_of(const struct virtual_net *net, const char *name)
{
    LIST_EACH (link, &net->names) {
        struct virtual_name *known = LIST_OWNER(link, struct virtual_name, link);
        if (known->is_delay && strcasecmp(known->name, name) == 0)
            return known;
    }
    return NULL;
}

tr_status tr__virtual_names_delay(struct virtual_net *net, const char *name, tr_time delay_ns)
{
    struct virtual_name *delay = delay_of(net, name);
    if (!delay && tr__virtual_names_add(net, name, NULL, TR_OK) != TR_OK)
        return TR_NO_MEMORY;
    if (!delay)
        delay = LIST_OWNER(net->names.previous, struct virtual_name, link);
    delay->is_delay = true;
    delay->delay_ns = delay_ns;
    delay->due_ns = 0;
    return TR_OK;
}

/*
 * Whether a look-up of this name is done. The first call begins the look-up. Later calls share this
 * look-up until it has been done for SEEN_NS.
 */
static bool is_due(struct virtual_net *net, const char *name)
{
    struct virtual_name *delay = delay_of(net, name);
    if (!delay || !delay->delay_ns)
        return true;
    tr_time now_ns = tr__virtual_net_now(net);
    if (!delay->due_ns || now_ns - delay->due_ns > SEEN_NS)
        delay->due_ns = delay->delay_ns < TR_NEVER - now_ns ? now_ns + delay->delay_ns : TR_NEVER;
    return now_ns >= delay->due_ns;
}

void tr__virtual_names_clear(struct virtual_net *net)
{
    struct list *link;
    while ((link = list_pop_first(&net->names)) != NULL)
        tr__virtual_net_free(net, LIST_OWNER(link, struct virtual_name, link));
}

bool tr__virtual_read_host(const char *name, tr_address *address)
{
    char text[NUMBERS_MAX + sizeof "[]:0"];
    if (strlen(name) > NUMBERS_MAX || !*name)
        return false;
    (void)snprintf(text, sizeof text, strchr(name, ':') ? "[%s]:0" : "%s:0", name);
    return tr_address_parse(text, address) == TR_OK;
}

tr_status tr__virtual_resolve(const tr_platform *platform, const char *name, uint16_t port,
                              tr_address *addresses, size_t max, size_t *count)
{
    struct virtual_net *net = &((struct virtual_platform *)(uintptr_t)platform)->net;
    tr_status status = tr__virtual_net_call(net, VIRTUAL_CALL_RESOLVE);
    tr_address numbers;
    size_t found = 0;
    if (status != TR_OK)
        return status;
    if (!is_due(net, name))
        return TR_WOULD_BLOCK;
    if (max > 0 && tr__virtual_read_host(name, &numbers))
        addresses[found++] = numbers;
    LIST_EACH (link, &net->names) {
        const struct virtual_name *known = LIST_OWNER(link, struct virtual_name, link);
        if (known->is_delay || strcasecmp(known->name, name) != 0 || found == max)
            continue;
        if (known->status != TR_OK)
            return known->status;
        addresses[found++] = known->address;
    }
    if (found == 0)
        return TR_ADDRESS_INVALID;
    for (size_t i = 0; i < found; i++)
        addresses[i].port = port;
    *count = found;
    return TR_OK;
}
