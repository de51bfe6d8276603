/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Typed handlers behind one function type, in C++17: what handler_c.h does with _Generic.
 *
 * The generated functions also catch what a verb throws that ends the turn, so that destructors
 * run. An exception of the application that leaves its handler ends the process (std::terminate):
 * the runtime below is C.
 */
#ifndef TROUPE_DETAIL_HANDLER_CXX_H
#define TROUPE_DETAIL_HANDLER_CXX_H

/* Macros are laid out by hand. */
/* clang-format off */

#include <type_traits>

template <class T> inline const T *tr_address_(const T &value)
{
    return &value;
}
template <class T> inline const T *tr_cast_(const void *pointer)
{
    return static_cast<const T *>(pointer);
}

/* Thrown by a verb that ends the turn. */
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

struct tr_yes_ {
    static constexpr bool value = true;
};
struct tr_no_ {
    static constexpr bool value = false;
};

/* X(parameters, arguments) for each shape that a handler of state S and message M may have. */
#define TR_SHAPES_(X) \
    X((tr_self *, S *, const M *), (self, static_cast<S *>(state), tr_cast_<M>(message))) \
    X((tr_self *, S *), (self, static_cast<S *>(state))) \
    X((tr_self *, const M *), (self, tr_cast_<M>(message))) \
    X((S *, const M *), (static_cast<S *>(state), tr_cast_<M>(message))) \
    X((tr_self *), (self)) \
    X((S *), (static_cast<S *>(state))) \
    X((const M *), (tr_cast_<M>(message))) \
    X((void), ())
#define TR_SHAPE_CXX_(parameters, arguments) \
    template <class S, class M> tr_yes_ tr_is_handler_(tr_next(*) parameters); \
    template <class S, class M> inline tr_next tr_invoke_(tr_next(*handler) parameters, \
        tr_self *self, void *state, const void *message) noexcept \
    { \
        (void)self; \
        (void)state; \
        (void)message; \
        TR_TURN_(handler arguments) \
    }
TR_SHAPES_(TR_SHAPE_CXX_)
template <class S, class M> tr_no_ tr_is_handler_(...);

#define TR_CHECK_HANDLER_(S, M, clause, h) \
    static_assert(decltype(tr_is_handler_<S, M>(&h))::value, \
        "troupe: " clause ": the handler must be tr_next " #h "(tr_self *self, " #S \
        " *state, const " #M " *message); any of the three parameters may be left out")
#define TR_INVOKE_(h, S, M, self, state, message) tr_invoke_<S, M>(&h, self, state, message)

/* The shapes of a handler of batches. */
#define TR_SHAPES_BATCH_(X) \
    X((tr_self *, S *, const M *const *, size_t), \
        (self, static_cast<S *>(state), tr_cast_all_<M>(messages), count)) \
    X((tr_self *, const M *const *, size_t), (self, tr_cast_all_<M>(messages), count)) \
    X((S *, const M *const *, size_t), \
        (static_cast<S *>(state), tr_cast_all_<M>(messages), count)) \
    X((const M *const *, size_t), (tr_cast_all_<M>(messages), count))
#define TR_SHAPE_BATCH_CXX_(parameters, arguments) \
    template <class S, class M> tr_yes_ tr_is_batch_(tr_next(*) parameters); \
    template <class S, class M> inline tr_next tr_invoke_batch_(tr_next(*handler) parameters, \
        tr_self *self, void *state, const void *const *messages, size_t count) noexcept \
    { \
        (void)self; \
        (void)state; \
        TR_TURN_(handler arguments) \
    }
template <class T> inline const T *const *tr_cast_all_(const void *const *messages)
{
    return reinterpret_cast<const T *const *>(messages);
}
TR_SHAPES_BATCH_(TR_SHAPE_BATCH_CXX_)
template <class S, class M> tr_no_ tr_is_batch_(...);

#define TR_CHECK_BATCH_(S, M, clause, h) \
    static_assert(decltype(tr_is_batch_<S, M>(&h))::value, \
        "troupe: " clause ": the handler must be tr_next " #h "(tr_self *self, " #S \
        " *state, const " #M " *const *messages, size_t count); the first two parameters may be " \
        "left out")
#define TR_INVOKE_BATCH_(h, S, M, self, state, messages, count) \
    tr_invoke_batch_<S, M>(&h, self, state, messages, count)

/* A function of a message that says yes or no. */
template <class M> tr_yes_ tr_is_filter_(bool (*)(const M *));
template <class M> tr_no_ tr_is_filter_(...);
template <class M>
inline bool tr_invoke_filter_(bool (*filter)(const M *), const void *message) noexcept
{
    return filter(tr_cast_<M>(message));
}
#define TR_CHECK_FILTER_(M, clause, what, f) \
    static_assert(decltype(tr_is_filter_<M>(&f))::value, \
        "troupe: " clause ": the " what " must be bool " #f "(const " #M " *message)")
#define TR_INVOKE_FILTER_(f, M, message) tr_invoke_filter_<M>(&f, message)

template <class S> struct tr_state_ {
    static constexpr size_t size = sizeof(S);
    static constexpr bool is_message =
        sizeof(tr_marks_message_(static_cast<const S *>(nullptr))) == sizeof(char);
    static constexpr bool is_plain = std::is_trivially_destructible<S>::value &&
        (is_message || std::is_trivially_default_constructible<S>::value);
    static constexpr bool is_aligned = alignof(S) <= alignof(max_align_t);
};
template <> struct tr_state_<void> {
    static constexpr size_t size = 0;
    static constexpr bool is_plain = true;
    static constexpr bool is_aligned = true;
};
#define TR_STATE_SIZE_(S) tr_state_<S>::size
#define TR_CHECK_STATE_(b, S) \
    static_assert(tr_state_<S>::is_plain, \
        "troupe: " #b ": the state " #S " begins as zeros and is just freed: no constructor and " \
        "no destructor would run; hold such a member by pointer and give it to tr_clean"); \
    static_assert(tr_state_<S>::is_aligned, \
        "troupe: " #b ": the state " #S " needs more than the usual alignment")

/* `.field = value` is an extension before C++20, which __extension__ allows. */
#define TR_MAKE_(m, ...) tr_address_(__extension__ tr_struct_##m __VA_ARGS__)
#define TR_TABLE_(type) __extension__ type
#define TR_TABLE_ZERO_(type) type(0)
#define TR_MAKE_STATIC_(m, ...) \
    []() -> const tr_struct_##m * { \
        static const tr_struct_##m message = __extension__ tr_struct_##m __VA_ARGS__; \
        return &message; \
    }()
#define TR_REQUIRE_SELF_(self, verb) (void)0

/* g++ -Wextra warns of members left to zero in designated initialisers. */
#define TR_QUIET_ \
    _Pragma("GCC diagnostic push") \
    _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"")
#define TR_QUIET_END_ _Pragma("GCC diagnostic pop")

#endif
