/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inline functions of observe.h, and the functions that they call.
 */
#ifndef TROUPE_DETAIL_OBSERVE_H
#define TROUPE_DETAIL_OBSERVE_H
#pragma GCC system_header

TR_BEGIN_C
/*
 * The functions of observe.h. Each size is that of a struct in the header that the program was
 * compiled with. Members that only the program or only the library has are zero.
 */
TR_MUST_CHECK tr_status tr_system_actors_sized(tr_system *system, tr_actor_query *query,
                                               size_t query_size, tr_actor_info *actors,
                                               size_t size, size_t max, size_t *count);
size_t tr_system_running_sized(tr_system *system, tr_worker_info *workers, size_t size, size_t max);
TR_MUST_CHECK tr_status tr_system_behaviors_sized(tr_system *system, tr_behavior_info *behaviors,
                                                  size_t size, size_t max, size_t *count);
uint64_t tr_system_failures_sized(tr_system *system, tr_failure_record *last, size_t size,
                                  size_t max, size_t *count);
TR_MUST_CHECK tr_status tr_actor_show_sized(tr_client *client, tr_ref actor,
                                            tr_actor_report *report, size_t size);
TR_END_C

TR_INLINE tr_status tr_system_actors(tr_system *system, tr_actor_query *query,
                                     tr_actor_info *actors, size_t max, size_t *count)
{
    return tr_system_actors_sized(system, query, sizeof *query, actors, sizeof *actors, max, count);
}

TR_INLINE size_t tr_system_running(tr_system *system, tr_worker_info *workers, size_t max)
{
    return tr_system_running_sized(system, workers, sizeof *workers, max);
}

TR_INLINE tr_status tr_system_behaviors(tr_system *system, tr_behavior_info *behaviors, size_t max,
                                        size_t *count)
{
    return tr_system_behaviors_sized(system, behaviors, sizeof *behaviors, max, count);
}

TR_INLINE uint64_t tr_system_failures(tr_system *system, tr_failure_record *last, size_t max,
                                      size_t *count)
{
    return tr_system_failures_sized(system, last, sizeof *last, max, count);
}

TR_INLINE tr_status tr_actor_show(tr_client *client, tr_ref actor, tr_actor_report *report)
{
    return tr_actor_show_sized(client, actor, report, sizeof *report);
}

#endif
