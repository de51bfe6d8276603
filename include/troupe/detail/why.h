/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions behind the macro tr_actor_why.
 */
#ifndef TROUPE_DETAIL_WHY_H
#define TROUPE_DETAIL_WHY_H
#pragma GCC system_header

TR_BEGIN_C
/**
 * As tr_actor_why: the first for a handler, the second for a client. `size` is
 * sizeof(tr_why_report) in the header that the program was compiled with.
 */
TR_MUST_CHECK tr_status tr_self_actor_why_sized(tr_self *self, tr_ref actor, tr_why_report *report,
                                                size_t size);
TR_MUST_CHECK tr_status tr_client_actor_why_sized(tr_client *client, tr_ref actor,
                                                  tr_why_report *report, size_t size);
TR_END_C

/** See tr_actor_why. */
TR_MUST_CHECK TR_INLINE tr_status tr_self_actor_why(tr_self *self, tr_ref actor,
                                                    tr_why_report *report)
{
    return tr_self_actor_why_sized(self, actor, report, sizeof *report);
}

/** See tr_actor_why. */
TR_MUST_CHECK TR_INLINE tr_status tr_client_actor_why(tr_client *client, tr_ref actor,
                                                      tr_why_report *report)
{
    return tr_client_actor_why_sized(client, actor, report, sizeof *report);
}

#ifdef __cplusplus
inline tr_status tr_speak_actor_why_(tr_self *from, tr_ref actor, tr_why_report *report)
{
    return tr_self_actor_why(from, actor, report);
}

inline tr_status tr_speak_actor_why_(tr_client *from, tr_ref actor, tr_why_report *report)
{
    return tr_client_actor_why(from, actor, report);
}
#endif

#endif
