/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How tr_app_main calls tr_app_run. For app.h only.
 */
#ifndef TROUPE_DETAIL_APP_H
#define TROUPE_DETAIL_APP_H
#pragma GCC system_header

TR_BEGIN_C
/**
 * The beginning and the end of the list of all behaviors of this program or plug-in (TR_LISTED_).
 * The linker defines both symbols.
 */
extern const tr_behavior *const tr_behaviors_first_[] __asm__("__start_tr_behaviors")
    __attribute__((__weak__, __visibility__("hidden")));
extern const tr_behavior *const tr_behaviors_end_[] __asm__("__stop_tr_behaviors")
    __attribute__((__weak__, __visibility__("hidden")));
/**
 * As tr_app_run. `size` is sizeof(tr_app) in the header that the program was compiled with;
 * `behaviors` to `behaviors_end` is the list of the program's behaviors.
 */
int tr_app_run_sized(int argc, char **argv, const tr_behavior *root, const tr_app *app, size_t size,
                     const tr_behavior *const *behaviors, const tr_behavior *const *behaviors_end);
TR_END_C

TR_INLINE int tr_app_run(int argc, char **argv, const tr_behavior *root, const tr_app *app)
{
    return tr_app_run_sized(
        argc, argv, root, app, sizeof *app, tr_behaviors_first_, tr_behaviors_end_);
}

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_APP_BRACES_(a, ...) { .size = 0, __VA_ARGS__ }
#define TR_APP_MAIN_(argc, argv, ...) \
    TR_PP_CALL(TR_APP_MAIN__, argc, argv, TR_PP_HEAD(__VA_ARGS__), TR_APP_BRACES_(__VA_ARGS__, ))
#ifdef __cplusplus
#define TR_FLAGS_(...) \
    ([&]() -> const tr_flag * { \
        static const tr_flag all[] = { __VA_ARGS__, {} }; \
        return all; \
    }())
#define TR_APP_MAIN__(argc, argv, a, ...) \
    tr_app_run(argc, argv, &tr_behavior_##a, tr_address_(__extension__ tr_app __VA_ARGS__))
#else
#define TR_FLAGS_(...) ((const tr_flag[]){ __VA_ARGS__, { .name = NULL } })
#define TR_APP_MAIN__(argc, argv, a, ...) \
    tr_app_run(argc, argv, &tr_behavior_##a, &(__extension__ (const tr_app) __VA_ARGS__))
#endif

#endif
