/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of queue.h call its functions.
 */
#ifndef TROUPE_DETAIL_QUEUE_H
#define TROUPE_DETAIL_QUEUE_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_QUEUE_PUSH_(self, queue, delay, m, ...) \
    TR_SAY_ &tr_says_##m TR_SAY_DO_ \
        tr_self_queue_push(self, queue, delay, TR_SAID_(m)->type, TR_MADE_(m) { __VA_ARGS__ } TR_MADE_END_) TR_SAY_END_
#ifdef __cplusplus
#define TR_QUEUES_(...) \
    ([]() -> const tr_queue_options * { \
        static const tr_queue_options all[] = { __VA_ARGS__, {} }; \
        return all; \
    }())
#define TR_QUEUE_OUT_(m, pointer) \
    reinterpret_cast<const void **>(static_cast<const struct m **>(pointer))
#else
#define TR_QUEUES_(...) ((const tr_queue_options[]){ __VA_ARGS__, { 0 } })
#define TR_QUEUE_OUT_(m, pointer) \
    ((const void **)_Generic((pointer), const struct m **: (pointer)))
#endif

#endif
