/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes and signals, as channels.
 *
 * ```c
 * #include <troupe/process.h>
 * #include <troupe/troupe.h>
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     tr_channel sort = tr_process_start(self, TR_PROCESS("sort", .arguments = TR_ARGUMENTS("-n")));
 *     tr_write_text(self, sort, "10\n9\n");
 *     tr_finish(self, sort); // the end of its input
 *     tr_bytes line;
 *     while (tr_read_line(self, sort, &line))
 *         tr_log_info(self, "%s", (const char *)line.data);
 *     return TR_SAME;
 * }
 *
 * static tr_next on_ended(tr_self *self, const struct tr_process_ended *message)
 * {
 *     tr_log_info(self, "exit code %d", (int)message->code);
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args), TR_ON(tr_process_ended, on_ended));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, app);
 * }
 * ```
 *
 * A child process is a channel of the actor that has started it: the output of the process is what
 * the channel reads, by tr_received or tr_read, cut as .framing says. What is written to the
 * channel is the input of the process, and tr_finish ends this input. Input and output are one UNIX
 * socket. What the process writes to its standard error goes to the standard error of this program,
 * or to a second channel, which tr_process_errors returns.
 *
 * The end. tr_process_ended comes once, in place of tr_closed, when the process has ended and all
 * of its output and errors was read. So if nobody reads the output of a process, tr_process_ended
 * never comes: read the output, close the channel, or start the process with .output =
 * TR_PROCESS_NOTHING. tr_process_ended does not come either while another process, which the child
 * has left behind, keeps the output open. If an actor has no handler for tr_process_ended, and the
 * exit code is not 0, the actor fails with TR_PROCESS_FAILED, so that its supervisor restarts it,
 * and with it the process.
 *
 * tr_close ends the input and drops the output; if the process has not ended .grace_ns after that,
 * it gets SIGTERM, and after .grace_ns more SIGKILL. tr_reset sends SIGKILL at once. After an error
 * of the channel (TR_TOO_LARGE, TR_BAD_DATA, TR_STALLED), the process gets SIGTERM, and after
 * .grace_ns SIGKILL. If a process does not read its input to the end, this is no error: the rest of
 * the input is dropped.
 *
 * A process ends with the incarnation of its actor: it gets SIGTERM, and SIGKILL after .grace_ns.
 * No process and no zombie is left behind. A shutdown waits until these processes have ended. If
 * this program itself is killed or crashes, the kernel kills its children, except children with
 * .outlives, and programs that get other rights by their file (set-user-ID). The kernel does not
 * kill the processes that the children have started; these see the end of their input.
 *
 * Without .shares_group a process has a process group of its own, and signals go to the whole group. So Ctrl-C at a
 * terminal reaches only this program, which then stops, and ends its children in order. A child blocks and ignores no
 * signals, and has no descriptors except its input, output and errors. tr_app_run raises the soft limit of descriptors
 * of this program. A child gets the limit from before, because the child may use select(). If this program has changed
 * the limit after tr_app_run did, the child gets the changed limit.
 *
 * An actor with a process does not move to another worker, and does not hand the channel over.
 */
#ifndef TROUPE_PROCESS_H
#define TROUPE_PROCESS_H

#include <troupe/net.h>
#include <troupe/platform.h>

/** How to start a process: what TR_PROCESS makes. All zero is the default. */
typedef struct tr_process {
    size_t size TR_ZERO;         /* need not be set */
    const char *program TR_ZERO; /* a name without a '/' is looked for in PATH; no shell reads it */
    /* arguments after the name of the program: TR_ARGUMENTS("-n", "-r") */
    const char *const *arguments TR_ZERO;
    /*
     * an array of texts "NAME=value", ended by NULL; if the member is NULL: the environment of this
     * program
     */
    const char *const *environment TR_ZERO;
    /*
     * working directory of the process; a relative path of the program begins there; NULL: the
     * working directory of this program
     */
    const char *directory TR_ZERO;
    tr_process_stream input TR_ZERO;
    tr_process_stream output TR_ZERO;
    tr_process_stream errors TR_ZERO;
    bool shares_group TR_ZERO; /* the process stays in the process group of this program */
    tr_time grace_ns TR_ZERO;  /* the time from SIGTERM to SIGKILL; 0: TR_GRACE_NS */
    /* As the members of tr_endpoint with these names. */
    const tr_framing *framing TR_ZERO;
    size_t frame_max TR_ZERO;
    size_t output_max TR_ZERO; /* at most this many bytes wait until the process reads them */
    /* the channel ends with TR_STALLED if the process reads nothing for this long */
    tr_time stall_ns TR_ZERO;
    tr_time linger_ns TR_ZERO; /* how long a closed channel continues to send */
    bool outlives TR_ZERO;     /* the process is not killed when this program is killed */
} tr_process;

/**
 * A process, for one call: TR_PROCESS("sort"), TR_PROCESS("sort", .framing = TR_LINES). Members of tr_process follow
 * the program.
 * Any thread. Does not wait.
 */
#define TR_PROCESS(...) TR_PROCESS_(__VA_ARGS__, )
/**
 * The arguments of a process, for one call: TR_ARGUMENTS("-n", "-r"). Any thread. Does not wait.
 */
#define TR_ARGUMENTS(...) TR_STRINGS_(__VA_ARGS__)
/**
 * The environment of a process, for one call: TR_ENVIRONMENT("LANG=C", "TZ=UTC"). Any thread. Does
 * not wait.
 */
#define TR_ENVIRONMENT(...) TR_STRINGS_(__VA_ARGS__)

/**
 * A child process has ended. Comes once, after all output that was read. If a signal has ended the process, `signal` is
 * this signal and `code` is -1. Otherwise `code` is the exit code and `signal` is 0. `status` is TR_OK if all output
 * was read; otherwise it says why not: TR_TOO_LARGE, TR_BAD_DATA, TR_STALLED, TR_TIMEOUT, TR_NO_MEMORY. TR_NOT_FOUND:
 * it is not known how the process ended, because this program ignores SIGCHLD.
 */
TR_MESSAGE(tr_process_ended, (channel, channel), (i32, code), (i32, signal),
           (enum_of(tr_status), status));

/**
 * A signal has come, for an actor that has taken it with tr_signals. Several signals of the same
 * kind may come as one tr_signal, because the kernel joins them.
 */
TR_MESSAGE(tr_signal, (channel, channel), (i32, signal));

TR_BEGIN_C
/**
 * Starts a process. Returns its channel, which is open. If tr_try_process_start would return an error, ends the turn
 * with this error and a text such as "cannot start sort: No such file or directory".
 * In a turn. May wait.
 *
 * A helper thread loads the program. This takes about a millisecond, or 20 ms under load, and the actor handles other
 * messages meanwhile. In tr_pre_start the call does not wait: the worker itself loads the program.
 */
tr_channel tr_process_start(tr_self *self, const tr_process *process);
/**
 * As tr_process_start, but returns a status. TR_OK; TR_CANNOT_EXECUTE: there is no such program or directory, or the
 * program cannot be executed; TR_INVALID_ARGUMENT: an option is not valid; TR_CANCELLED: the actor ends during the
 * wait; TR_NOT_SUPPORTED: this actor is durable; TR_LIMIT, TR_TOO_LARGE, TR_NO_MEMORY, TR_STOPPING. *why is the reason
 * that the operating system gives, or ""; `why` may be NULL.
 * In a turn. May wait.
 */
TR_MUST_CHECK tr_status tr_try_process_start(tr_self *self, const tr_process *process,
                                             tr_channel *channel, const char **why);
/**
 * Returns the channel of the errors of a process. Returns all zero if the errors are no channel, or
 * if that channel has ended. In a turn. Does not wait.
 */
tr_channel tr_process_errors(tr_self *self, tr_channel process);
/**
 * Returns the process id of a process, or 0 if it has ended or if the channel is no process. In a
 * turn. Does not wait.
 */
int64_t tr_process_id(tr_self *self, tr_channel process);
/**
 * Sends a signal to a process and its group. TR_OK; TR_NOT_FOUND: the process has ended; TR_CLOSED:
 * tr_process_ended has come or will come; TR_INVALID_ARGUMENT: there is no such signal, or the
 * channel is no process; TR_NOT_OWNER, TR_NOT_PERMITTED. In a turn. Does not wait.
 */
tr_status tr_process_signal(tr_self *self, tr_channel process, int signal);
/**
 * Ends a process: it gets SIGTERM, and SIGKILL if it has not ended after .grace_ns. Its output can still be read. The
 * statuses are those of tr_process_signal.
 * In a turn. Does not wait.
 */
tr_status tr_process_terminate(tr_self *self, tr_channel process);

/* ---- Signals. ---- */

/**
 * Takes signals of this program: tr_signals(self, SIGHUP, SIGUSR1). From now on each of these signals only sends a
 * tr_signal to this actor. tr_close of the returned channel, or the end of the incarnation, gives the signals back:
 * they then do what they did before. A signal has one taker in a process. If tr_try_signals would return an error, ends
 * the turn instead. In a turn. Does not wait.
 *
 * While tr_app_main or tr_app_run runs, it has taken SIGINT and SIGTERM itself, and starts a shutdown when one of them
 * comes. A program that makes its system with tr_system_new may take these two. A signal never comes if every thread of
 * the program blocks it.
 */
#define tr_signals(self, ...)                                                                      \
    tr_self_signals(self, TR_SIGNALS_(__VA_ARGS__), TR_COUNT_INTS_(__VA_ARGS__))
/**
 * As tr_signals, but writes to a tr_channel * and returns a status. Returns TR_OK. TR_NAME_EXISTS:
 * another actor, or tr_app_run, has taken one of the signals. TR_NOT_PERMITTED: nobody can take one
 * of the signals (SIGKILL, SIGSTOP, SIGCHLD, SIGPROF, and the signals of faults, such as SIGSEGV).
 * TR_INVALID_ARGUMENT: there is no such signal, there are more than TR_SIGNALS_MAX, or the behavior
 * has no handler for tr_signal. TR_NOT_SUPPORTED: this actor is durable. Also returns TR_LIMIT,
 * TR_NO_MEMORY or TR_STOPPING. In a turn. Does not wait.
 */
#define tr_try_signals(self, channel, ...)                                                         \
    tr_self_try_signals(self, TR_SIGNALS_(__VA_ARGS__), TR_COUNT_INTS_(__VA_ARGS__), channel)

/** What tr_signals calls. In a turn. Does not wait. */
tr_channel tr_self_signals(tr_self *self, const int *signals, size_t count);
/** What tr_try_signals calls. In a turn. Does not wait. */
TR_MUST_CHECK tr_status tr_self_try_signals(tr_self *self, const int *signals, size_t count,
                                            tr_channel *channel);
TR_END_C

#include <troupe/detail/process.h>

#endif
