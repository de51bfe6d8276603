/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Typed handlers behind one function type, in C++17: what handler_c.h does with _Generic.
 *
 * The generated functions also catch what a verb throws to end the turn, so that destructors run.
 * If an exception of the application leaves its handler, the process ends (std::terminate), because
 * the runtime is C.
 */
#ifndef TROUPE_DETAIL_HANDLER_CXX_H
#define TROUPE_DETAIL_HANDLER_CXX_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#include <type_traits>

template <class TR_T> inline const TR_T *tr_address_(const TR_T &value)
{
    return &value;
}
template <class TR_T> inline const TR_T *tr_cast_(const void *pointer)
{
    return static_cast<const TR_T *>(pointer);
}

/* The exception that a verb throws to end the turn. */
struct tr_turn_over_ {
    tr_next next;
};
#ifdef __cpp_exceptions
#define TR_TURN_(call) \
    try { \
        return call; \
    } catch (const tr_turn_over_ &over) { \
        return over.next; \
    }
#else
#define TR_TURN_(call) return call;
#endif

/* TR_NAME_ does nothing in C++: only C needs it. */
#define TR_NAME_(m)

struct tr_yes_ {
    static constexpr bool value = true;
};
struct tr_no_ {
    static constexpr bool value = false;
};

/*
 * X(parameters, arguments) for each parameter list that a handler of state TR_S and message TR_M
 * may have.
 */
#define TR_SHAPES_(X) \
    X((tr_self *, TR_S *, const TR_M *), (self, static_cast<TR_S *>(state), tr_cast_<TR_M>(message))) \
    X((tr_self *, TR_S *), (self, static_cast<TR_S *>(state))) \
    X((tr_self *, const TR_M *), (self, tr_cast_<TR_M>(message))) \
    X((TR_S *, const TR_M *), (static_cast<TR_S *>(state), tr_cast_<TR_M>(message))) \
    X((tr_self *), (self)) \
    X((TR_S *), (static_cast<TR_S *>(state))) \
    X((const TR_M *), (tr_cast_<TR_M>(message))) \
    X((void), ())
#define TR_SHAPE_CXX_(parameters, arguments) \
    template <class TR_S, class TR_M> tr_yes_ tr_is_handler_(tr_next(*) parameters); \
    template <class TR_S, class TR_M> inline tr_next tr_invoke_(tr_next(*handler) parameters, \
        tr_self *self, void *state, const void *message) noexcept \
    { \
        (void)self; \
        (void)state; \
        (void)message; \
        TR_TURN_(handler arguments) \
    }
TR_SHAPES_(TR_SHAPE_CXX_)
template <class TR_S, class TR_M> tr_no_ tr_is_handler_(...);
/*
 * Accepts a handler that TR_CHECK_HANDLER_ has refused already, so that the compiler does not
 * report all other overloads as well.
 */
template <class TR_S, class TR_M> inline tr_next tr_invoke_(...) noexcept
{
    return TR_SAME;
}

#define TR_CHECK_HANDLER_(TR_S, TR_M, clause, h) \
    static_assert(decltype(tr_is_handler_<TR_S, TR_M>(&h))::value, \
        "troupe: " clause ": the handler must be tr_next " #h "(tr_self *self, " #TR_S \
        " *state, const " #TR_M " *message); any of the three parameters may be left out")
#define TR_CHECK_ON_(TR_S, m, clause, h) TR_CHECK_HANDLER_(TR_S, struct m, clause, h)
#define TR_INVOKE_(h, TR_S, TR_M, self, state, message) tr_invoke_<TR_S, TR_M>(&h, self, state, message)

/* X(parameters, arguments) for each parameter list that a handler of batches may have. */
#define TR_SHAPES_BATCH_(X) \
    X((tr_self *, TR_S *, const TR_M *const *, size_t), \
        (self, static_cast<TR_S *>(state), tr_cast_all_<TR_M>(messages), count)) \
    X((tr_self *, const TR_M *const *, size_t), (self, tr_cast_all_<TR_M>(messages), count)) \
    X((TR_S *, const TR_M *const *, size_t), \
        (static_cast<TR_S *>(state), tr_cast_all_<TR_M>(messages), count)) \
    X((const TR_M *const *, size_t), (tr_cast_all_<TR_M>(messages), count))
#define TR_SHAPE_BATCH_CXX_(parameters, arguments) \
    template <class TR_S, class TR_M> tr_yes_ tr_is_batch_(tr_next(*) parameters); \
    template <class TR_S, class TR_M> inline tr_next tr_invoke_batch_(tr_next(*handler) parameters, \
        tr_self *self, void *state, const void *const *messages, size_t count) noexcept \
    { \
        (void)self; \
        (void)state; \
        TR_TURN_(handler arguments) \
    }
template <class TR_T> inline const TR_T *const *tr_cast_all_(const void *const *messages)
{
    return reinterpret_cast<const TR_T *const *>(messages);
}
TR_SHAPES_BATCH_(TR_SHAPE_BATCH_CXX_)
template <class TR_S, class TR_M> tr_no_ tr_is_batch_(...);
template <class TR_S, class TR_M> inline tr_next tr_invoke_batch_(...) noexcept
{
    return TR_SAME;
}

#define TR_CHECK_BATCH_(TR_S, TR_M, clause, h) \
    static_assert(decltype(tr_is_batch_<TR_S, TR_M>(&h))::value, \
        "troupe: " clause ": the handler must be tr_next " #h "(tr_self *self, " #TR_S \
        " *state, const " #TR_M " *const *messages, size_t count); the first two parameters may be " \
        "left out")
#define TR_INVOKE_BATCH_(h, TR_S, TR_M, self, state, messages, count) \
    tr_invoke_batch_<TR_S, TR_M>(&h, self, state, messages, count)

/* These overloads find out whether a function is a predicate of a message. */
template <class TR_M> tr_yes_ tr_is_filter_(bool (*)(const TR_M *));
template <class TR_M> tr_no_ tr_is_filter_(...);
template <class TR_M>
inline bool tr_invoke_filter_(bool (*filter)(const TR_M *), const void *message) noexcept
{
    return filter(tr_cast_<TR_M>(message));
}
#define TR_CHECK_FILTER_(TR_M, clause, what, f) \
    static_assert(decltype(tr_is_filter_<TR_M>(&f))::value, \
        "troupe: " clause ": the " what " must be bool " #f "(const " #TR_M " *message)")
#define TR_INVOKE_FILTER_(f, TR_M, message) tr_invoke_filter_<TR_M>(&f, message)

template <class TR_S> struct tr_state_ {
    static constexpr size_t size = sizeof(TR_S);
    static constexpr bool is_message =
        sizeof(tr_marks_message_(static_cast<const TR_S *>(nullptr))) == sizeof(char);
    static constexpr bool is_plain = std::is_trivially_destructible<TR_S>::value &&
        (is_message || std::is_trivially_default_constructible<TR_S>::value);
    static constexpr bool is_aligned = alignof(TR_S) <= alignof(max_align_t);
};
template <> struct tr_state_<void> {
    static constexpr size_t size = 0;
    static constexpr bool is_plain = true;
    static constexpr bool is_aligned = true;
};
#define TR_STATE_SIZE_(TR_S) tr_state_<TR_S>::size
#define TR_CHECK_STATE_(b, TR_S) \
    static_assert(tr_state_<TR_S>::is_plain, \
        "troupe: " #b ": the state " #TR_S " begins as zeros and is just freed: no constructor and " \
        "no destructor would run; hold such a member by pointer and give it to tr_at_end"); \
    static_assert(tr_state_<TR_S>::is_aligned, \
        "troupe: " #b ": the state " #TR_S " needs more than the usual alignment")

/* These macros stand around a call and give its value, as in handler_c.h. */
#define TR_SAY_ ((void)
#define TR_SAY_DO_ ,
#define TR_SAY_END_ )
#define TR_SAID_(m) (&tr_says_##m)
#define TR_MADE_(m) tr_address_(__extension__ tr_struct_##m
#define TR_MADE_END_ )
#define TR_MAKE_(m, ...) tr_address_(__extension__ tr_struct_##m __VA_ARGS__)
#define TR_TABLE_(type) __extension__ type
#define TR_TABLE_ZERO_(type) type(0)
#define TR_MAKE_STATIC_(m, ...) \
    []() -> const tr_struct_##m * { \
        static const tr_struct_##m message = __extension__ tr_struct_##m __VA_ARGS__; \
        return &message; \
    }()
#define TR_REQUIRE_SELF_(self, verb) (void)0

/*
 * Switches off a warning of g++ -Wextra about members that a designated initialiser leaves at zero.
 */
#define TR_QUIET_ \
    _Pragma("GCC diagnostic push") \
    _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"")
#define TR_QUIET_END_ _Pragma("GCC diagnostic pop")

#endif
