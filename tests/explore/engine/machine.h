/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs one schedule of a model: its threads are fibers, and one of them runs at a time.
 *
 * There is one machine in the process, because the sources under test call it through functions
 * that have no context.
 */
#ifndef ENGINE_MACHINE_H
#define ENGINE_MACHINE_H

#include "engine/chooser.h"
#include "explore/model.h"

enum {
    STEPS_MAX = 2000,      /* choice points of one schedule; more is a livelock */
    FAILURE_SIZE_MAX = 200 /* bytes of text */
};

enum phase { PHASE_SETUP, PHASE_RUN, PHASE_CHECK };

struct machine {
    const struct explore_model *model;
    struct chooser *chooser;
    int threads;
    int current; /* -1 outside of threads */
    enum phase phase;
    unsigned ready;   /* set of threads that are neither done nor parked */
    unsigned yielded; /* subset that gives way */
    unsigned done;
    unsigned steps;
    unsigned stale_reads; /* how many are still allowed */
    bool is_weak;
    bool is_traced;
    bool is_woken_early;
    bool is_failed;
    char failure[FAILURE_SIZE_MAX];
};

extern struct machine machine;

/** Runs one schedule; false when it failed, and machine.failure says how. */
bool machine_run(const struct explore_model *model, struct chooser *chooser, uint64_t seed,
                 bool is_weak, bool is_traced);

/** A choice point: another thread may run before this returns. */
void machine_point(void);

/** Something has changed: threads that gave way continue. */
void machine_progress(void);

#endif
