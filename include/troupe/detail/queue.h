/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of queue.h call its functions.
 */
#ifndef TROUPE_DETAIL_QUEUE_H
#define TROUPE_DETAIL_QUEUE_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_QUEUE_PUSH_(self, queue, delay, ...) \
    TR_PP_CALL(TR_QUEUE_PUSH__, self, queue, delay, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_QUEUE_PUSH__(self, queue, delay, m, ...) \
    tr_self_queue_push(self, queue, delay, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))
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
