/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every workload is given, and the table of them.
 *
 * A workload is a function on the main thread. It finds a system that runs and a client to talk
 * through, takes the time, spawns its first actor, and waits until an actor tells the client that
 * it is done. It checks what came out, prints the result and returns; main.c ends the system.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdint.h>
#include <troupe/troupe.h>

#include "report.h"

struct bench {
    const char *workload;
    int threads;
    /**
     * Over how many workers the actors are spread. 1 unless SPREAD=1 asks for it: where the
     * workload does not say, an actor lives where its parent does.
     */
    uint32_t spread;
    tr_system *system;
    tr_client *client;
};

/** From the last actor to the client. What `value` is, the workload says. */
TR_MESSAGE(done, (u64, value));

/** A workload that has said nothing for so long is broken; the longest takes a few seconds. */
#define RESULT_TIMEOUT (2 * TR_MINUTE)

/** Waits for `done` and returns its value; ends the process when it does not come. */
uint64_t bench_wait(struct bench *bench);

/** Ends the process and says how far it came, when no result came within RESULT_TIMEOUT. */
_Noreturn void bench_die_without_result(struct bench *bench);

/** Ends the process when `got` is not what it should be. */
void bench_check(const char *what, uint64_t got, uint64_t expected);

/** Ends the process when a call failed that cannot fail here. */
void bench_must(tr_status status, const char *what);

void bench_pingpong_local(struct bench *bench);
void bench_pingpong_cross(struct bench *bench);
void bench_ring(struct bench *bench);
void bench_fanin20(struct bench *bench);
void bench_fanin2(struct bench *bench);
void bench_bank_ask(struct bench *bench);
void bench_bank_ask_c20(struct bench *bench);
void bench_counting(struct bench *bench);
void bench_spawn_tree(struct bench *bench);
void bench_idle(struct bench *bench);
void bench_big(struct bench *bench);
void bench_timer_storm(struct bench *bench);
void bench_client_tell(struct bench *bench);
void bench_kit_tell(struct bench *bench);
void bench_kit_echo(struct bench *bench);

/** A platform for one thread whose time is not real; alone.c has the rest. */
const tr_platform *bench_alone_platform(void);
/** From now on waiting runs this system. */
void bench_alone_begin(tr_system *system);
/** Runs it until it has stopped. */
void bench_alone_end(void);

#endif
