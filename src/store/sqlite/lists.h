/* SPDX-License-Identifier: Apache-2.0 */
/** Lists the rows of an actor, and the alarms and queues of all actors. */
#ifndef STORE_SQLITE_LISTS_H
#define STORE_SQLITE_LISTS_H

#include "store/sqlite/view.h"

/* These functions implement the functions of store_driver with the same names. */
tr_status tr__view_list_kv(struct store_view *view, tr_bytes name, const struct store_range *range,
                           store_visit *visit, void *context);
tr_status tr__view_list_alarms(struct store_view *view, tr_bytes name, store_visit *visit,
                               void *context);
tr_status tr__view_list_queue(struct store_view *view, tr_bytes name, const char *queue,
                              bool has_later, uint64_t from, size_t limit, store_visit *visit,
                              void *context);
tr_status tr__view_list_events(struct store_view *view, tr_bytes name, uint64_t from, uint64_t to,
                               size_t limit, store_visit *visit, void *context);
tr_status tr__view_list_queued(struct store_view *view, int64_t after, const char *behind,
                               size_t limit, store_visit_queued *visit, void *context);
tr_status tr__view_list_due(struct store_view *view, const struct store_alarm_place *after,
                            tr_time until_wall_ns, size_t limit, store_visit_due *visit,
                            void *context);

#endif
