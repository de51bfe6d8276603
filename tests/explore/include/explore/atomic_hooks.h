/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The atomic operations of the explore build; os/atomic.h includes this in place of its own.
 *
 * Each operation is a choice point of the explorer, which owns the value. Each place in the source
 * that uses one has a site, so that a trace names file and line, and so that the study of memory
 * orders can weaken one place at a time.
 */
#ifndef EXPLORE_ATOMIC_HOOKS_H
#define EXPLORE_ATOMIC_HOOKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A place in the source that does an atomic operation. */
struct explore_site {
    const char *file;
    int line;
    const char *operation;
    bool is_known;
    bool is_weakened;     /* the used orders are not those of the source */
    memory_order order;   /* as in the source; set by the last use */
    memory_order failure; /* the same, of a compare-exchange that fails */
    memory_order used_order;
    memory_order used_failure;
};

/** What kind of word an address holds: its size, and how a trace shows it. */
enum explore_kind { EXPLORE_32, EXPLORE_64, EXPLORE_POINTER };

enum explore_update { EXPLORE_EXCHANGE, EXPLORE_ADD, EXPLORE_SUB, EXPLORE_OR, EXPLORE_AND };

void explore_init(void *address, enum explore_kind kind, uint64_t value);
uint64_t explore_load(struct explore_site *site, const void *address, enum explore_kind kind,
                      memory_order order);
void explore_store(struct explore_site *site, void *address, enum explore_kind kind, uint64_t value,
                   memory_order order);
uint64_t explore_modify(struct explore_site *site, void *address, enum explore_kind kind,
                        enum explore_update update, uint64_t operand, memory_order order);
bool explore_compare_exchange(struct explore_site *site, void *address, enum explore_kind kind,
                              uint64_t *expected, uint64_t value, memory_order success,
                              memory_order failure);
void explore_yield(void);
void explore_barrier(void);

#define EXPLORE_SITE(name)                                                                         \
    ({                                                                                             \
        static struct explore_site explore_site_here = {                                           \
            .file = __FILE__, .line = __LINE__, .operation = (name)};                              \
        &explore_site_here;                                                                        \
    })

/* The functions of one width; `as` turns the explorer's 64 bits into the type, `bits` back. */
#define EXPLORE_COMMON(name, type, kind, as, bits)                                                 \
    ATOM_INLINE void name##_init(name *atom, type value)                                           \
    {                                                                                              \
        explore_init(atom, kind, bits value);                                                      \
    }                                                                                              \
    ATOM_INLINE type name##_load_at(                                                               \
        struct explore_site *site, const name *atom, memory_order order)                           \
    {                                                                                              \
        return as explore_load(site, atom, kind, order);                                           \
    }                                                                                              \
    ATOM_INLINE void name##_store_at(                                                              \
        struct explore_site *site, name *atom, type value, memory_order order)                     \
    {                                                                                              \
        explore_store(site, atom, kind, bits value, order);                                        \
    }                                                                                              \
    ATOM_INLINE type name##_exchange_at(                                                           \
        struct explore_site *site, name *atom, type value, memory_order order)                     \
    {                                                                                              \
        return as explore_modify(site, atom, kind, EXPLORE_EXCHANGE, bits value, order);           \
    }                                                                                              \
    ATOM_INLINE bool name##_compare_exchange_at(struct explore_site *site,                         \
                                                name *atom,                                        \
                                                type *expected,                                    \
                                                type value,                                        \
                                                memory_order success,                              \
                                                memory_order failure)                              \
    {                                                                                              \
        uint64_t found = bits * expected;                                                          \
        bool is_done =                                                                             \
            explore_compare_exchange(site, atom, kind, &found, bits value, success, failure);      \
        if (!is_done)                                                                              \
            *expected = as found;                                                                  \
        return is_done;                                                                            \
    }

#define EXPLORE_UPDATE(name, type, kind, verb, update)                                             \
    ATOM_INLINE type name##_##verb##_at(                                                           \
        struct explore_site *site, name *atom, type value, memory_order order)                     \
    {                                                                                              \
        return (type)explore_modify(site, atom, kind, update, value, order);                       \
    }

#define EXPLORE_NUMBER(name, type, kind)                                                           \
    EXPLORE_COMMON(name, type, kind, (type), (uint64_t))                                           \
    EXPLORE_UPDATE(name, type, kind, fetch_add, EXPLORE_ADD)                                       \
    EXPLORE_UPDATE(name, type, kind, fetch_sub, EXPLORE_SUB)                                       \
    EXPLORE_UPDATE(name, type, kind, fetch_or, EXPLORE_OR)                                         \
    EXPLORE_UPDATE(name, type, kind, fetch_and, EXPLORE_AND)

EXPLORE_NUMBER(atom32, uint32_t, EXPLORE_32)
EXPLORE_NUMBER(atom64, uint64_t, EXPLORE_64)
EXPLORE_COMMON(atomptr, void *, EXPLORE_POINTER, (void *)(uintptr_t), (uintptr_t))

#define atom32_load(...) atom32_load_at(EXPLORE_SITE("load"), __VA_ARGS__)
#define atom32_store(...) atom32_store_at(EXPLORE_SITE("store"), __VA_ARGS__)
#define atom32_exchange(...) atom32_exchange_at(EXPLORE_SITE("exchange"), __VA_ARGS__)
#define atom32_compare_exchange(...)                                                               \
    atom32_compare_exchange_at(EXPLORE_SITE("compare_exchange"), __VA_ARGS__)
#define atom32_fetch_add(...) atom32_fetch_add_at(EXPLORE_SITE("fetch_add"), __VA_ARGS__)
#define atom32_fetch_sub(...) atom32_fetch_sub_at(EXPLORE_SITE("fetch_sub"), __VA_ARGS__)
#define atom32_fetch_or(...) atom32_fetch_or_at(EXPLORE_SITE("fetch_or"), __VA_ARGS__)
#define atom32_fetch_and(...) atom32_fetch_and_at(EXPLORE_SITE("fetch_and"), __VA_ARGS__)

#define atom64_load(...) atom64_load_at(EXPLORE_SITE("load"), __VA_ARGS__)
#define atom64_store(...) atom64_store_at(EXPLORE_SITE("store"), __VA_ARGS__)
#define atom64_exchange(...) atom64_exchange_at(EXPLORE_SITE("exchange"), __VA_ARGS__)
#define atom64_compare_exchange(...)                                                               \
    atom64_compare_exchange_at(EXPLORE_SITE("compare_exchange"), __VA_ARGS__)
#define atom64_fetch_add(...) atom64_fetch_add_at(EXPLORE_SITE("fetch_add"), __VA_ARGS__)
#define atom64_fetch_sub(...) atom64_fetch_sub_at(EXPLORE_SITE("fetch_sub"), __VA_ARGS__)
#define atom64_fetch_or(...) atom64_fetch_or_at(EXPLORE_SITE("fetch_or"), __VA_ARGS__)
#define atom64_fetch_and(...) atom64_fetch_and_at(EXPLORE_SITE("fetch_and"), __VA_ARGS__)

#define atomptr_load(...) atomptr_load_at(EXPLORE_SITE("load"), __VA_ARGS__)
#define atomptr_store(...) atomptr_store_at(EXPLORE_SITE("store"), __VA_ARGS__)
#define atomptr_exchange(...) atomptr_exchange_at(EXPLORE_SITE("exchange"), __VA_ARGS__)
#define atomptr_compare_exchange(...)                                                              \
    atomptr_compare_exchange_at(EXPLORE_SITE("compare_exchange"), __VA_ARGS__)

/** The explorer reorders no operations of a thread; what is old is a matter of loads. */
ATOM_INLINE void atom_half_barrier(void)
{
}

/** A spin gives way: the thread continues only after another one has done something. */
ATOM_INLINE void atom_pause(void)
{
    explore_yield();
}

#endif
