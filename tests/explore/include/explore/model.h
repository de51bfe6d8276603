/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a model is made of, and what it may call.
 *
 * A model has two to four threads, which the explorer runs as fibers on one real thread. They change
 * at the choice points only: each atomic operation, and the calls below that say so. A model keeps
 * its state in static variables, which `setup` puts back to the start before each schedule. Threads
 * allocate nothing, because a schedule that fails leaves them where they stand.
 *
 * A schedule ends when no thread can continue: each has returned or is parked. Then `check` says
 * whether that is a good end. A letter that waits while its worker is parked is a lost wake-up.
 */
#ifndef EXPLORE_MODEL_H
#define EXPLORE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { EXPLORE_THREADS_MAX = 4 };

/** In which memories a model is run. */
enum explore_memory {
    EXPLORE_BOTH,
    EXPLORE_SC,  /* sequentially consistent: each load reads the newest store */
    EXPLORE_WEAK /* with a history of stores; see docs/design/explore.md */
};

struct explore_model {
    const char *name;
    const char *about;
    const char *ids;            /* of the promises and cases it proves, separated by blanks */
    enum explore_memory memory; /* where a planted bug can show */
    bool is_wrong;              /* a planted bug: the model is good when a schedule fails */
    int variant;                /* for the model's own use, see explore_variant */
    void (*setup)(void);
    void (*check)(void);
    /** After a search through all schedules; may be NULL. Uses EXPLORE_CHECK. */
    void (*on_exhausted)(void);
    /** Before the first schedule of a search; may be NULL. */
    void (*on_begin)(void);
    struct {
        const char *name;
        void (*run)(int index);
    } threads[EXPLORE_THREADS_MAX];
    struct explore_model *next;
};

void explore_model_add(struct explore_model *model);

/** Defines a model and adds it to the table: EXPLORE_MODEL(inbox, .about = "...", ...); */
#define EXPLORE_MODEL(identifier, ...)                                                             \
    static struct explore_model model_##identifier = {.name = #identifier, __VA_ARGS__};           \
    __attribute__((constructor)) static void add_##identifier(void)                                \
    {                                                                                              \
        explore_model_add(&model_##identifier);                                                    \
    }                                                                                              \
    _Static_assert(1, "")

/** Which variant of the model runs. */
int explore_variant(void);

/** Ends the schedule as failed. */
__attribute__((format(printf, 1, 2))) void explore_fail(const char *format, ...);

#define EXPLORE_CHECK(condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition))                                                                          \
            explore_fail(__VA_ARGS__);                                                             \
    } while (0)

/** A choice point without an operation. */
void explore_step(void);
/** A choice point at which this thread gives way until another one has done something. */
void explore_yield(void);
/** Any number below `count`: what the world may do. Every one is tried. */
unsigned explore_choose(unsigned count);

/** What a worker sleeps on: it remembers one wake. */
struct explore_parker {
    bool has_wake;
    bool orders_memory;  /* as a system call does; protocols that need less are tried without */
    bool may_wake_early; /* a park may end for no reason, at most once a schedule */
};
void explore_park(struct explore_parker *parker);
void explore_unpark(struct explore_parker *parker);

/** Says that plain memory is read or written; the weak memory finds races. No choice points. */
void explore_plain_read(const void *address);
void explore_plain_write(const void *address);

/** Names an address, or a pointer's value, for traces. For `setup`. */
void explore_name(const void *address, const char *name);
/** Adds a line to the trace. */
__attribute__((format(printf, 1, 2))) void explore_note(const char *format, ...);

#endif
