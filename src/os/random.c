/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random bits of the kernel.
 */
#include "os/random.h"

#include "base/hash.h"
#include "os/clock.h"

#include <sys/random.h>
#include <unistd.h>

uint64_t tr__real_random(const tr_platform *platform)
{
    uint64_t bits = 0;
    /*
     * The kernel returns up to 256 bytes as a whole. A signal can interrupt the call only while it waits for the
     * kernel's first entropy, early after the boot.
     */
    if (getrandom(&bits, sizeof bits, 0) == (ssize_t)sizeof bits)
        return bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) == (ssize_t)sizeof bits)
        return bits;
    /*
     * A sandbox may refuse the system call. A seed from the clocks still differs between processes and from time to
     * time.
     */
    return hash_mix((uint64_t)tr__real_mono_now(platform)) ^
           hash_mix((uint64_t)tr__real_wall_now(platform) + (uint64_t)getpid());
}
