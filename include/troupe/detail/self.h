/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of self.h call its functions.
 */
#ifndef TROUPE_DETAIL_SELF_H
#define TROUPE_DETAIL_SELF_H

/* Macros are laid out by hand. */
/* clang-format off */

/* Before the pragma, so that gcc warns of a result that is not returned. */
#define TR_BECOME_(self, ...) \
    TR_PP_CAT(TR_BECOME_, TR_PP_IS_ONE(__VA_ARGS__))(self, __VA_ARGS__)
#define TR_BECOME_1(self, b) tr_self_become(self, &tr_behavior_##b, NULL, NULL)
#define TR_BECOME_0(self, b, ...) TR_BECOME_WITH_(self, b, \
    TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_BECOME_WITH_(...) TR_BECOME_WITH__(__VA_ARGS__)
#define TR_BECOME_WITH__(self, b, m, ...) \
    tr_self_become(self, &tr_behavior_##b, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))

#pragma GCC system_header

#ifdef __cplusplus
#include <troupe/detail/self_cxx.h>
#else
#define TR_SPEAKER_(from, verb) \
    _Generic((from), tr_self *: tr_self_##verb, tr_client *: tr_client_##verb)
#define TR_TYPED_(m, pointer) \
    (_Generic((pointer), struct m *: (pointer), const struct m *: (pointer), \
        default: (const struct m *)0) + \
        TR_REQUIRE_(_Generic((pointer), struct m *: 1, const struct m *: 1, default: 0), \
            "troupe: tr_tell_copy of " #m " needs a pointer to a struct " #m))
#define TR_REF_OUT_(out, a) \
    (&_Generic((out), a##_ref *: (out), default: (a##_ref *)0)->bits + \
        TR_REQUIRE_(_Generic((out), a##_ref *: 1, default: 0), \
            "troupe: tr_try_spawn of " #a " writes its ref into an " #a "_ref *"))
#define TR_SPAWN_ARGS_(...) (&(const tr_spawn_args){ sizeof(tr_spawn_args), __VA_ARGS__, NULL })
#define TR_SPAWN_CALL_(self, args) (TR_REQUIRE_SELF_(self, "spawn"), tr_self_spawn(self, args))
#endif

#define TR_TELL_(from, to, ...) \
    TR_PP_CALL(TR_TELL__, from, to, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_TELL__(from, to, m, ...) \
    TR_SPEAKER_(from, tell)(from, TR_TO_(to, m), &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))
#define TR_TELL_COPY_(from, to, m, pointer) \
    TR_SPEAKER_(from, tell)(from, TR_TO_(to, m), &tr_type_##m, TR_TYPED_(m, pointer))
#define TR_TIMER_(self, key, kind, ns, ...) \
    TR_PP_CALL(TR_TIMER__, self, key, kind, ns, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_TIMER__(self, key, kind, ns, m, ...) \
    tr_self_timer(self, key, kind, ns, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))
#define TR_TRY_TIMER_(self, timer, key, kind, ns, ...) \
    TR_PP_CALL(TR_TRY_TIMER__, self, timer, key, kind, ns, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_TRY_TIMER__(self, timer, key, kind, ns, m, ...) \
    tr_self_try_timer(self, key, kind, ns, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__), timer)
#define TR_REPLY_(verb, self, ...) \
    TR_PP_CALL(TR_REPLY__, verb, self, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_REPLY__(verb, self, m, ...) \
    tr_self_##verb(self, &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))

/* _1 without a set-up message, _0 with one. */
#define TR_SPAWN_(self, worker, a, ...) \
    TR_PP_CAT(TR_SPAWN_, TR_PP_IS_ONE(__VA_ARGS__))(self, worker, a, __VA_ARGS__)
#define TR_SPAWN_1(self, worker, a, name) \
    a##_ref_of(TR_SPAWN_CALL_(self, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, worker, NULL, NULL, NULL)))
#define TR_SPAWN_0(self, worker, a, name, ...) TR_SPAWN_WITH_(self, worker, a, name, \
    TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_SPAWN_WITH_(...) TR_SPAWN_WITH__(__VA_ARGS__)
#define TR_SPAWN_WITH__(self, worker, a, name, m, ...) \
    a##_ref_of(TR_SPAWN_CALL_(self, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, worker, &tr_type_##m, \
            TR_MAKE_(m, __VA_ARGS__), NULL)))

#define TR_TRY_SPAWN_(from, ref, error, worker, a, ...) \
    TR_PP_CAT(TR_TRY_SPAWN_, TR_PP_IS_ONE(__VA_ARGS__))(from, ref, error, worker, a, __VA_ARGS__)
#define TR_TRY_SPAWN_1(from, ref, error, worker, a, name) \
    TR_SPEAKER_(from, try_spawn)(from, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, worker, NULL, NULL, error), \
        TR_REF_OUT_(ref, a))
#define TR_TRY_SPAWN_0(from, ref, error, worker, a, name, ...) \
    TR_TRY_SPAWN_WITH_(from, ref, error, worker, a, name, \
        TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_TRY_SPAWN_WITH_(...) TR_TRY_SPAWN_WITH__(__VA_ARGS__)
#define TR_TRY_SPAWN_WITH__(from, ref, error, worker, a, name, m, ...) \
    TR_SPEAKER_(from, try_spawn)(from, \
        TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, worker, &tr_type_##m, \
            TR_MAKE_(m, __VA_ARGS__), error), \
        TR_REF_OUT_(ref, a))

#endif
