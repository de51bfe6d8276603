/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes system calls without the C library. For the few system calls that each message of a channel
 * needs.
 *
 *     long count = os_call(SYS_recvfrom, fd, (long)to, (long)size, MSG_DONTWAIT, 0, 0);
 *     if (count < 0) error = (int)-count;
 *
 * In the C library these calls are points where a thread can be cancelled, which costs two locked
 * operations in a program with threads. syscall() of the C library has no such points, but it has
 * variable arguments and reports errors by errno, which costs time, too.
 */
#ifndef OS_SYSCALL_H
#define OS_SYSCALL_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Makes a system call. Returns what the kernel returns: a negative error number for a failure. */
static inline long os_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    long result = syscall(number, a, b, c, d, e, f);
    return result < 0 ? -errno : result;
#endif
}

#endif
