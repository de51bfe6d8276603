/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/metrics_port.h"

#include <string.h>
#include <troupe/blocking.h>
#include <troupe/http.h>
#include <troupe/pool.h>

#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "actor/verbs/self_memory.h"
#include "observe/json_line.h"
#include "observe/metrics.h"
#include "observe/openmetrics.h"

bool tr__metrics_is_address(const char *address)
{
    tr_address parsed;
    return address[0] == '/' || address[0] == '@' || tr_address_parse(address, &parsed) == TR_OK;
}

bool tr__metrics_is_local(const char *address)
{
    static const uint8_t loopback[16] = {[15] = 1};
    tr_address parsed;
    if (address[0] == '/' || address[0] == '@')
        return true;
    if (tr_address_parse(address, &parsed) != TR_OK)
        return false;
    if (parsed.family == TR_FAMILY_V4)
        return parsed.host[0] == 127;
    return parsed.family == TR_FAMILY_V6 && memcmp(parsed.host, loopback, sizeof loopback) == 0;
}

/* ---- A request. ---- */

struct page {
    tr_system *system;
    struct json_line text;
    bool is_open; /* the client accepts OpenMetrics, the format with exemplars */
};

/* Makes the text of a page. This runs on a helper thread, because reading a million actors takes 50
 * ms. */
static void page_write(void *argument)
{
    struct page *page = argument;
    if (page->is_open)
        tr__openmetrics_write(&page->text, page->system);
    else
        tr__metrics_write(&page->text, page->system);
}

static void page_free(void *resource)
{
    tr__json_line_free(&((struct page *)resource)->text);
}

static tr_next on_metrics(tr_self *self)
{
    struct page *page = tr_scratch(self, sizeof *page);
    const char *accept = tr_http_header(self, "accept");
    *page = (struct page){.system = self->worker->system,
                          .is_open = accept && strstr(accept, OPENMETRICS_TYPE)};
    tr__json_line_init(&page->text, &page->system->source);
    tr__turn_defer(
        /* this frees the page even if the turn ends while the helper thread still runs */
        self,
        page,
        page_free);
    if (tr_try_blocking(self, page_write, page) != TR_OK || page->text.has_failed)
        return tr_http_reply(self, 503, .text = "the metrics cannot be written now\n");
    const tr_bytes body = {page->text.data, page->text.length};
    const char *type = page->is_open ? OPENMETRICS_TYPE "; version=1.0.0; charset=utf-8"
                                     : "text/plain; version=0.0.4";
    return tr_http_reply(self, 200, .type = type, .body = body);
}

TR_ACTOR(tr_metrics_page);
TR_BEHAVIOR(tr_metrics_page, void, TR_GET("/metrics", tr_http_request, on_metrics));

/* ---- The listener. ---- */

TR_MESSAGE(tr_metrics_open, (str, address));
TR_ACTOR(tr_metrics_port);

static tr_next on_open(tr_self *self, const struct tr_metrics_open *message)
{
    tr_listener_ref listener;
    tr_status status = tr_try_listen(self, &listener, tr_metrics_page, TR_HTTP(message->address));
    if (status == TR_NOT_SUPPORTED)
        return tr_fail(self, status, "the library was built without HTTP");
    if (status != TR_OK)
        return tr_fail(
            self, status, "cannot listen at %s: %s", message->address, tr_status_text(status));
    tr_log_info(self,
                "metrics at http://%s/metrics",
                tr_address_text(self, tr_listener_address(self, listener)));
    return TR_SAME;
}

TR_BEHAVIOR(tr_metrics_port, void, TR_SETUP_WITH(tr_metrics_open, on_open),
            TR_OPTIONS(.restart = TR_TEMPORARY));

tr_status tr__metrics_port_start(tr_client *client, const char *address, tr_ref *actor)
{
    tr_metrics_port_ref port;
    tr_status status = tr_try_pool_spawn(
        client, &port, tr_metrics_port, "metrics", tr_metrics_open, .address = address);
    if (status == TR_OK)
        *actor = tr_ref_from_bits(port.bits);
    return status;
}
