/* SPDX-License-Identifier: Apache-2.0 */
/** The real platform: a table of the functions of clock.c, thread.c, parker.c and others. */
#include <troupe/platform.h>

#include "os/clock.h"
#include "os/cpu.h"
#include "os/datagram.h"
#include "os/file_read.h"
#include "os/log.h"
#include "os/memory.h"
#include "os/parker.h"
#include "os/process.h"
#include "os/random.h"
#include "os/resolve.h"
#include "os/signal_pipe.h"
#include "os/socket.h"
#include "os/socket_file.h"
#include "os/socket_open.h"
#include "os/thread.h"

static void *real_resize(const tr_platform *platform, void *memory, size_t size)
{
    (void)platform;
    return tr__os_resize(memory, size);
}

static const tr_platform real_table = {
    .size = sizeof(tr_platform),
    .mono_now = tr__real_mono_now,
    .wall_now = tr__real_wall_now,
    .random = tr__real_random,
    .resize = real_resize,
    .log = tr__real_log,
    .cpu_count = tr__real_cpu_count,
    .thread_start = tr__real_thread_start,
    .thread_join = tr__real_thread_join,
    .thread_id = tr__real_thread_id,
    .yield = tr__real_yield,
    .parker_new = tr__real_parker_new,
    .parker_free = tr__real_parker_free,
    .park = tr__real_park,
    .wake = tr__real_wake,
    .parker_fd = tr__real_parker_fd,
    .thread_cpu = tr__real_thread_cpu,
    .parker_alarm = tr__real_parker_alarm,
    .socket_open = tr__real_socket_open,
    .socket_outcome = tr__real_socket_outcome,
    .socket_accept = tr__real_socket_accept,
    .socket_receive = tr__real_socket_receive,
    .socket_send = tr__real_socket_send,
    .socket_receive_many = tr__real_socket_receive_many,
    .socket_send_many = tr__real_socket_send_many,
    .socket_finish = tr__real_socket_finish,
    .socket_close = tr__real_socket_close,
    .socket_address = tr__real_socket_address,
    .io_watch = tr__real_io_watch,
    .io_watch_input = tr__real_io_watch_input,
    .io_watch_output = tr__real_io_watch_output,
    .io_unwatch = tr__real_io_unwatch,
    .io_poll = tr__real_io_poll,
    .resolve = tr__real_resolve,
    .process_start = tr__real_process_start,
    .process_signal = tr__real_process_signal,
    .process_reap = tr__real_process_reap,
    .signals_open = tr__real_signals_open,
    .signals_read = tr__real_signals_read,
    .signals_close = tr__real_signals_close,
    .file_open = tr__real_file_open,
    .file_size = tr__real_file_size,
    .file_read = tr__real_file_read,
    .file_close = tr__real_file_close,
    .socket_file = tr__real_socket_file,
    .socket_file_remove = tr__real_socket_file_remove,
    .log_line = tr__real_log_line,
    .thread_stack = tr__real_thread_stack,
};

const tr_platform *tr_platform_real(void)
{
    return &real_table;
}
