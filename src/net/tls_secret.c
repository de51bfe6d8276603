/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_secret.h"

#include <openssl/crypto.h>
#include <stddef.h>

/*
 * Makes LeakSanitizer look for pointers in memory that malloc has not allocated. In a program
 * without LeakSanitizer, the address of this function is NULL.
 */
extern void leak_search_in(const void *memory, size_t size) __asm__("__lsan_register_root_region")
    __attribute__((__weak__));

enum {
    /* bytes of the heap, which cannot grow; its unused pages take no memory */
    HEAP_SIZE = 4 * 1024 * 1024,
    HEAP_MIN = 32 /* bytes of the smallest block, which a key of X25519 needs */
};

/* Makes the secure heap of the process, unless there is one. OpenSSL puts guard pages around it. */
static void heap_make(void)
{
    if (CRYPTO_secure_malloc_initialized() || !CRYPTO_secure_malloc_init(HEAP_SIZE, HEAP_MIN))
        return;
    /* the heap has pointers to ordinary memory, which LeakSanitizer must find */
    if (leak_search_in) {
        void *all = OPENSSL_secure_malloc(HEAP_SIZE);
        if (all)
            leak_search_in(all, HEAP_SIZE);
        OPENSSL_secure_free(all);
    }
}

void tr__tls_secret_begin(void)
{
    static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
    (void)CRYPTO_THREAD_run_once(&once, heap_make);
}
