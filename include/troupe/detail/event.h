/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How TR_EVENTS and its clauses become constant tables. For event.h only.
 */
#ifndef TROUPE_DETAIL_EVENT_H
#define TROUPE_DETAIL_EVENT_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

/* Appends with tr_self_append or tr_memory_append_; `to` is its first argument. */
#define TR_APPEND_(function, to, list, item) \
    do { \
        __typeof__(*(list).items) tr_item_ = (item); \
        (list).items = (__typeof__((list).items))function( \
            to, (list).items, (list).count, sizeof tr_item_, &tr_item_); \
        (list).count++; \
    } while (0)

#define TR_REPLACE_(self, list, index, item) \
    do { \
        __typeof__(*(list).items) tr_item_ = (item); \
        (list).items = (__typeof__((list).items))tr_self_replace( \
            self, (list).items, (list).count, sizeof tr_item_, index, &tr_item_); \
    } while (0)
#define TR_REMOVE_(self, list, index) \
    do { \
        (list).items = (__typeof__((list).items))tr_self_replace( \
            self, (list).items, (list).count, sizeof *(list).items, index, NULL); \
        (list).count--; \
    } while (0)

#define TR_EVENTS_(b, S, ...) \
    TR_QUIET_ \
    TR_PP_EACH(TR_EVENT_CODE_, (TR_IN_EVENT_CODE, b, S), __VA_ARGS__) \
    static const tr_event_row tr_event_rows_##b[] = { \
        TR_PP_EACH(TR_CLAUSE_, (TR_IN_EVENT_ROW, b, S), __VA_ARGS__) \
        TR_TABLE_(tr_event_row) { .type = NULL, .apply = NULL, .stored = NULL, .name = NULL } \
    }; \
    static const tr_events b = TR_TABLE_(tr_events) { \
        .size = sizeof(tr_events), .state = &tr_type_##S, .rows = tr_event_rows_##b, \
        .row_count = sizeof(tr_event_rows_##b) / sizeof(tr_event_row) - 1, \
        TR_PP_EACH(TR_CLAUSE_, (TR_IN_EVENT_INIT, b, S), __VA_ARGS__) \
    }; \
    TR_QUIET_END_ \
    TR_STATIC_ASSERT(TR_ABI > 0, "")

#define TR_EVENT_CODE_(c, x) TR_PP_IF_TUPLE(x)(TR_CLAUSE_TUPLE_, TR_EVENT_BAD_)(c, x)
#define TR_EVENT_BAD_(c, x) \
    TR_STATIC_ASSERT(sizeof(#x) == 1, \
        "troupe: each clause of TR_EVENTS is TR_APPLY(...), TR_ON_STORED(...), TR_SNAPSHOTS(...); " \
        "not: " #x);

#define TR_IN_EVENT_CODE_TR_CLAUSE_APPLY(b, S, m, f, ...) \
    TR_CHECK_APPLY_(struct S, struct m, "TR_APPLY(" #m ", " #f ")", f); \
    static void tr_apply_##b##_##m(void *state, const void *event, tr_memory *memory) \
    { \
        TR_INVOKE_APPLY_(f, struct S, struct m, state, event, memory); \
    }
#define TR_IN_EVENT_CODE_TR_CLAUSE_STORED(b, S, m, h, ...) \
    TR_CHECK_HANDLER_(const struct S, struct m, "TR_ON_STORED(" #m ", " #h ")", h); \
    static tr_next tr_stored_##b##_##m(tr_self *self, void *state, const void *message) \
    { \
        return TR_INVOKE_(h, const struct S, struct m, self, state, message); \
    }
#define TR_IN_EVENT_CODE_TR_CLAUSE_SNAPSHOTS(b, S, ...)

#define TR_IN_EVENT_ROW_TR_CLAUSE_APPLY(b, S, m, f, ...) TR_TABLE_(tr_event_row) \
    { .type = &tr_type_##m, .apply = tr_apply_##b##_##m, .stored = NULL, .name = #f, __VA_ARGS__ },
#define TR_IN_EVENT_ROW_TR_CLAUSE_STORED(b, S, m, h, ...) TR_TABLE_(tr_event_row) \
    { .type = &tr_type_##m, .apply = NULL, .stored = tr_stored_##b##_##m, .name = #h, __VA_ARGS__ },
#define TR_IN_EVENT_ROW_TR_CLAUSE_SNAPSHOTS(b, S, ...)

#define TR_IN_EVENT_INIT_TR_CLAUSE_APPLY(b, S, ...)
#define TR_IN_EVENT_INIT_TR_CLAUSE_STORED(b, S, ...)
#define TR_IN_EVENT_INIT_TR_CLAUSE_SNAPSHOTS(b, S, ...) .snapshots = { __VA_ARGS__ },

#define TR_PERSIST_(self, m, ...) tr_self_persist(self, &tr_type_##m, TR_MAKE_(m, { __VA_ARGS__ }))
#define TR_TRY_PERSIST_(self, m, ...) \
    tr_self_try_persist(self, &tr_type_##m, TR_MAKE_(m, { __VA_ARGS__ }))
#define TR_EVENT_AS_(event, m) ((const struct m *)tr_event_data(event, &tr_type_##m))

#ifdef __cplusplus
template <class TR_S, class TR_M> tr_yes_ tr_is_apply_(void (*)(TR_S *));
template <class TR_S, class TR_M> tr_yes_ tr_is_apply_(void (*)(TR_S *, const TR_M *));
template <class TR_S, class TR_M> tr_yes_ tr_is_apply_(void (*)(TR_S *, const TR_M *, tr_memory *));
template <class TR_S, class TR_M> tr_no_ tr_is_apply_(...);
template <class TR_S, class TR_M>
inline void tr_invoke_apply_(void (*apply)(TR_S *), void *state, const void *, tr_memory *) noexcept
{
    apply(static_cast<TR_S *>(state));
}
template <class TR_S, class TR_M>
inline void tr_invoke_apply_(void (*apply)(TR_S *, const TR_M *), void *state, const void *event,
                             tr_memory *) noexcept
{
    apply(static_cast<TR_S *>(state), tr_cast_<TR_M>(event));
}
template <class TR_S, class TR_M>
inline void tr_invoke_apply_(void (*apply)(TR_S *, const TR_M *, tr_memory *), void *state,
                             const void *event, tr_memory *memory) noexcept
{
    apply(static_cast<TR_S *>(state), tr_cast_<TR_M>(event), memory);
}
#define TR_CHECK_APPLY_(TR_S, TR_M, clause, f) \
    static_assert(decltype(tr_is_apply_<TR_S, TR_M>(&f))::value, \
        "troupe: " clause ": the function must be void " #f "(" #TR_S " *state, const " #TR_M \
        " *event, tr_memory *memory); the last, or the last two, may be left out")
#define TR_INVOKE_APPLY_(f, TR_S, TR_M, state, event, memory) \
    tr_invoke_apply_<TR_S, TR_M>(&f, state, event, memory)
#else
#define TR_FN_APPLY_STATE_(S, M) void (*)(S *)
#define TR_FN_APPLY_EVENT_(S, M) void (*)(S *, const M *)
#define TR_FN_APPLY_MEMORY_(S, M) void (*)(S *, const M *, tr_memory *)
#define TR_CHECK_APPLY_(S, M, clause, f) \
    _Static_assert(_Generic(&f, TR_FN_APPLY_STATE_(S, M): 1, TR_FN_APPLY_EVENT_(S, M): 1, \
                            TR_FN_APPLY_MEMORY_(S, M): 1, default: 0), \
        "troupe: " clause ": the function must be void " #f "(" #S " *state, const " #M \
        " *event, tr_memory *memory); the last, or the last two, may be left out")
#define TR_INVOKE_APPLY_(f, S, M, state, event, memory) \
    ((void)(state), (void)(event), (void)(memory), _Generic(&f, \
        TR_FN_APPLY_STATE_(S, M): TR_PICK_(f, TR_FN_APPLY_STATE_(S, M))(state), \
        TR_FN_APPLY_EVENT_(S, M): TR_PICK_(f, TR_FN_APPLY_EVENT_(S, M))(state, event), \
        TR_FN_APPLY_MEMORY_(S, M): TR_PICK_(f, TR_FN_APPLY_MEMORY_(S, M))(state, event, memory), \
        default: (void)0))
#endif

#endif
