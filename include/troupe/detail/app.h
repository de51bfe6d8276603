/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How tr_app_main calls tr_app_run. For app.h only.
 */
#ifndef TROUPE_DETAIL_APP_H
#define TROUPE_DETAIL_APP_H

TR_BEGIN_C
/** tr_app_run with the size of the options for which the program was compiled. */
int tr_app_run_sized(int argc, char **argv, const tr_behavior *root, const tr_app *app,
                     size_t size);
TR_END_C

TR_INLINE int tr_app_run(int argc, char **argv, const tr_behavior *root, const tr_app *app)
{
    return tr_app_run_sized(argc, argv, root, app, sizeof *app);
}

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_APP_BRACES_(a, ...) { .size = 0, __VA_ARGS__ }
#define TR_APP_MAIN_(argc, argv, ...) \
    TR_PP_CALL(TR_APP_MAIN__, argc, argv, TR_PP_HEAD(__VA_ARGS__), TR_APP_BRACES_(__VA_ARGS__, ))
#ifdef __cplusplus
#define TR_APP_MAIN__(argc, argv, a, ...) \
    tr_app_run(argc, argv, &tr_behavior_##a, tr_address_(__extension__ tr_app __VA_ARGS__))
#else
#define TR_APP_MAIN__(argc, argv, a, ...) \
    tr_app_run(argc, argv, &tr_behavior_##a, &(__extension__ (const tr_app) __VA_ARGS__))
#endif

#endif
