/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of self.h call its functions.
 */
#ifndef TROUPE_DETAIL_SELF_H
#define TROUPE_DETAIL_SELF_H

/* Macros are laid out by hand. */
/* clang-format off */

/* This macro stands before the pragma system_header, so that gcc warns if a handler does not return the result. */
#define TR_BECOME_(self, b, ...) tr_self_become(self, &tr_behavior_##b, TR_SETUP_MESSAGE_(__VA_ARGS__))

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
#define TR_SPAWN_CALL_(self, args) (TR_REQUIRE_SELF_(self, "spawn"), tr_self_spawn(TR_IF_SELF_(self), args))
#endif

#define TR_TELL_(from, to, m, ...) \
    TR_SAY_ &tr_says_##m TR_SAY_DO_ \
        TR_SPEAKER_(from, tell)(from, TR_TO_(to, m), TR_SAID_(m)->type, TR_MADE_(m) { __VA_ARGS__ } TR_MADE_END_) TR_SAY_END_
#define TR_TELL_COPY_(from, to, m, pointer) \
    TR_SPEAKER_(from, tell)(from, TR_TO_(to, m), &tr_type_##m, TR_TYPED_(m, pointer))
#define TR_TIMER_(self, key, kind, ns, m, ...) \
    TR_SAY_ &tr_says_##m TR_SAY_DO_ \
        tr_self_timer(self, key, kind, ns, TR_SAID_(m)->type, TR_MADE_(m) { __VA_ARGS__ } TR_MADE_END_) TR_SAY_END_
#define TR_TRY_TIMER_(self, timer, key, kind, ns, m, ...) \
    TR_SAY_ &tr_says_##m TR_SAY_DO_ \
        tr_self_try_timer(self, key, kind, ns, TR_SAID_(m)->type, TR_MADE_(m) { __VA_ARGS__ } TR_MADE_END_, timer) TR_SAY_END_
#define TR_REPLY_(verb, self, m, ...) \
    tr_self_##verb(self, &tr_type_##m, TR_MAKE_(m, { __VA_ARGS__ }))

/* The type and the message of a set-up, or two NULLs if there is no set-up message. */
#define TR_SETUP_MESSAGE_(...) TR_PP_CAT(TR_SETUP_MESSAGE_, TR_PP_IS_ONE(__VA_ARGS__))(__VA_ARGS__)
#define TR_SETUP_MESSAGE_1(none) NULL, NULL
#define TR_SETUP_MESSAGE_0(m, ...) &tr_type_##m, TR_MAKE_(m, { __VA_ARGS__ })

/*
 * In C, all that a spawn needs of an actor comes from one function, tr_spawnable_a. So if the actor
 * is not declared, the compiler reports only one error (TR_SAY_).
 */
#ifdef __cplusplus
#define TR_SPAWN_(self, worker, a, name, ...) \
    a##_ref_of(TR_SPAWN_CALL_(self, TR_SPAWN_ARGS_(&tr_behavior_##a, tr_protocol_##a, name, worker, \
        TR_SETUP_MESSAGE_(__VA_ARGS__), NULL)))
#else
#ifdef __clang__
#define TR_ACTOR_SAID_(a) tr_said
#else
#define TR_ACTOR_SAID_(a) (&tr_spawnable_##a)()
#endif
#define TR_SPAWN_(self, worker, a, name, ...) \
    TR_SAY_ (&tr_spawnable_##a)() TR_SAY_DO_ (__typeof__(TR_ACTOR_SAID_(a).ref)){ \
        TR_SPAWN_CALL_(self, TR_SPAWN_ARGS_(TR_ACTOR_SAID_(a).behavior, TR_ACTOR_SAID_(a).protocol, name, worker, \
            TR_SETUP_MESSAGE_(__VA_ARGS__), NULL)).bits } TR_SAY_END_
#endif

/* Calls TR_TRY_SPAWN_1 if there is no set-up message, else TR_TRY_SPAWN_0. */
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
