/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Static probes for perf, bpftrace and SystemTap (USDT), of the provider "troupe": a probe is a nop in the code, and a
 * note in the object file that says where the nop and its arguments are. A build without <sys/sdt.h> (Debian:
 * systemtap-sdt-dev) has no probes.
 *
 *     bpftrace -e 'usdt:./bank:troupe:failure { printf("%x %s\n", arg0, str(arg1)); }'
 *
 *     turn_begin(actor, causal, message)   a turn that is followed begins: troupe trace
 *     turn_end(actor, causal, status)      and ends
 *     spawn(actor)                         an actor starts
 *     stop(actor)                          an actor has ended
 *     failure(actor, text)                 a turn has failed
 *     commit(actor, status)                what a durable actor has changed is on disk, or not
 *     wake(actor, kind)                    a durable actor was loaded
 *     sleep(actor)                         a durable actor has ended, and what is stored remains
 *     stall(worker, nanoseconds)           a turn takes long
 *
 * Arguments are refs, ids and pointers to texts that exist already: no code runs to make them.
 */
#ifndef OS_PROBE_H
#define OS_PROBE_H

#if defined(__has_include)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define PROBE1(name, a) DTRACE_PROBE1(troupe, name, a)
#define PROBE2(name, a, b) DTRACE_PROBE2(troupe, name, a, b)
#define PROBE3(name, a, b, c) DTRACE_PROBE3(troupe, name, a, b, c)
#endif
#endif

#ifndef PROBE1
#define PROBE1(name, a) ((void)(a))
#define PROBE2(name, a, b) ((void)(a), (void)(b))
#define PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

#endif
