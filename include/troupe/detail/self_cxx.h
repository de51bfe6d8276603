/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of self.h in C++17.
 *
 * If a verb ends the turn, it throws an exception, which the function around the handler catches,
 * so that destructors run. A catch (...) of the program between the verb and that function must
 * rethrow the exception. Without exceptions (-fno-exceptions) the verbs are those of C, which drop
 * the stack frames without destructors.
 */
#ifndef TROUPE_DETAIL_SELF_CXX_H
#define TROUPE_DETAIL_SELF_CXX_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#include <cstdarg>
#include <cstdio>
#include <cstring>

#define TR_SPEAKER_(from, verb) tr_speak_##verb##_
#define TR_SPEAKERS_(verb) \
    template <class... TR_A> inline auto tr_speak_##verb##_(tr_self *from, TR_A... a) \
    { \
        return tr_self_##verb(from, a...); \
    } \
    template <class... TR_A> inline auto tr_speak_##verb##_(tr_client *from, TR_A... a) \
    { \
        return tr_client_##verb(from, a...); \
    }
TR_SPEAKERS_(tell)
TR_SPEAKERS_(try_spawn)
TR_SPEAKERS_(find)
TR_SPEAKERS_(stop)
TR_SPEAKERS_(kill)
TR_SPEAKERS_(suspend)
TR_SPEAKERS_(resume)
TR_SPEAKERS_(try_watch)
TR_SPEAKERS_(unwatch)
#undef TR_SPEAKERS_

#define TR_TYPED_(m, pointer) static_cast<const struct m *>(pointer)
#define TR_REF_OUT_(out, a) (&static_cast<a##_ref *>(out)->bits)
#define TR_SPAWN_ARGS_(...) tr_address_(tr_spawn_args{ sizeof(tr_spawn_args), __VA_ARGS__, nullptr })

inline tr_status tr_speak_watch_(tr_client *client, tr_ref ref)
{
    return tr_client_watch(client, ref);
}

#ifdef __cpp_exceptions
inline tr_status tr_speak_watch_(tr_self *self, tr_ref ref)
{
    tr_status status = tr_self_try_watch(self, ref);
    if (status != TR_OK)
        throw tr_turn_over_{ tr_fail(self, status, "tr_watch: %s", tr_status_text(status)) };
    return TR_OK;
}

#define TR_SPAWN_CALL_(self, args) tr_spawn_cxx_(self, args)
inline tr_ref tr_spawn_cxx_(tr_self *self, const tr_spawn_args *args)
{
    tr_error error;
    tr_spawn_args with_error = *args;
    with_error.error = &error;
    uint64_t bits = 0;
    if (tr_self_try_spawn(self, &with_error, &bits) != TR_OK)
        throw tr_turn_over_{ tr_fail(self, error.status, "%s", error.text) };
    return tr_ref_from_bits(bits);
}

inline void *tr_memory_cxx_(tr_self *self, void *memory, size_t size)
{
    if (memory == nullptr)
        throw tr_turn_over_{ tr_fail(self, TR_NO_MEMORY, "no memory for %zu bytes", size) };
    return memory;
}
inline void *tr_alloc_cxx_(tr_self *self, size_t size)
{
    return tr_memory_cxx_(self, tr_try_alloc(self, size), size);
}
inline void *tr_realloc_cxx_(tr_self *self, void *memory, size_t size)
{
    return tr_memory_cxx_(self, tr_try_realloc(self, memory, size), size);
}
inline void *tr_scratch_cxx_(tr_self *self, size_t size)
{
    return tr_memory_cxx_(self, tr_try_scratch(self, size), size);
}
inline char *tr_strdup_cxx_(tr_self *self, const char *string)
{
    if (string == nullptr)
        return nullptr;
    size_t size = std::strlen(string) + 1;
    return static_cast<char *>(std::memcpy(tr_alloc_cxx_(self, size), string, size));
}
TR_PRINTF(2, 3) inline char *tr_format_cxx_(tr_self *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    size_t size = length < 0 ? 1 : static_cast<size_t>(length) + 1;
    char *text = static_cast<char *>(tr_scratch_cxx_(self, size));
    text[0] = '\0';
    va_start(arguments, format);
    std::vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return text;
}

#define tr_alloc(self, size) tr_alloc_cxx_(self, size)
#define tr_realloc(self, memory, size) tr_realloc_cxx_(self, memory, size)
#define tr_scratch(self, size) tr_scratch_cxx_(self, size)
#define tr_strdup(self, string) tr_strdup_cxx_(self, string)
#define tr_format(self, ...) tr_format_cxx_(self, __VA_ARGS__)
#define tr_crash(self, ...) (throw tr_turn_over_{ tr_fail(self, __VA_ARGS__) })
#else
inline tr_status tr_speak_watch_(tr_self *self, tr_ref ref)
{
    return tr_self_watch(self, ref);
}
#define TR_SPAWN_CALL_(self, args) tr_self_spawn(self, args)
#endif

#endif
