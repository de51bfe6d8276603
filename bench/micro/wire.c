/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times the wire forms of a message of six fields: u64, str, u32, f64, bytes, bool. msgpack-c does
 * the same document in the same run.
 *
 *     cmake --build build --target micro_wire && build/micro/wire
 *
 * Prints the best of several rounds for each, in nanoseconds for one message.
 */
#include <troupe/wire.h>

#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TR_MESSAGE(six, (u64, id), (str, name), (u32, count), (f64, price), (bytes, blob), (bool, is_last));

/* Short rounds: some of them are not disturbed by whatever else runs. */
enum { ROUNDS = 3000, MESSAGES = 2000 };

static const unsigned char blob[16] = "0123456789abcdef";
static unsigned char document[128];
static size_t document_size;
static volatile size_t sink; /* So that the work is not left out. */

static struct six message_of(size_t i)
{
    return (struct six){.id = UINT64_C(0x1234567800000000) + i,
                        .name = "deposit account",
                        .count = 70000 + (uint32_t)i,
                        .price = 12.75,
                        .blob = {blob, sizeof blob},
                        .is_last = i & 1};
}

static size_t ours_write(size_t i)
{
    struct six message = message_of(i);
    return tr_pack(&tr_type_six, &message, document, sizeof document, NULL);
}

static size_t ours_read(size_t i)
{
    (void)i;
    void *message;
    if (tr_unpack(&tr_type_six, (tr_bytes){document, document_size}, &message, NULL) != TR_OK)
        abort();
    size_t size = ((struct six *)message)->blob.size;
    tr_message_free(&tr_type_six, message);
    return size;
}

/* The document is written to: the byte behind the text must be put back each time. */
static size_t ours_read_in_place(size_t i)
{
    (void)i;
    struct six message;
    static size_t behind_name;
    if (behind_name == 0)
        behind_name = (size_t)((unsigned char *)memchr(document, 'd', 64) - document) + 15;
    unsigned char kept = document[behind_name];
    if (tr_unpack_in_place(&tr_type_six, document, document_size, &message, sizeof message, NULL) !=
        TR_OK)
        abort();
    document[behind_name] = kept;
    return message.blob.size + message.count;
}

/* What the loop itself costs: contained in all the others. */
static size_t nothing(size_t i)
{
    unsigned char kept = document[20];
    document[20] = (unsigned char)i;
    __asm__ volatile("" ::: "memory");
    document[20] = kept;
    return i;
}

/* As its users do: into a buffer that grows, and that is kept from message to message. */
static msgpack_sbuffer sbuffer;

static size_t theirs_write(size_t i)
{
    struct six m = message_of(i);
    msgpack_packer packer;
    msgpack_sbuffer_clear(&sbuffer);
    msgpack_packer_init(&packer, &sbuffer, msgpack_sbuffer_write);
    msgpack_pack_array(&packer, 6);
    msgpack_pack_uint64(&packer, m.id);
    size_t length = strlen(m.name);
    msgpack_pack_str(&packer, length);
    msgpack_pack_str_body(&packer, m.name, length);
    msgpack_pack_uint32(&packer, m.count);
    msgpack_pack_double(&packer, m.price);
    msgpack_pack_bin(&packer, m.blob.size);
    msgpack_pack_bin_body(&packer, m.blob.data, m.blob.size);
    m.is_last ? msgpack_pack_true(&packer) : msgpack_pack_false(&packer);
    return sbuffer.size;
}

static size_t theirs_read(size_t i)
{
    (void)i;
    msgpack_unpacked result;
    msgpack_unpacked_init(&result);
    size_t at = 0;
    if (msgpack_unpack_next(&result, (const char *)document, document_size, &at) !=
        MSGPACK_UNPACK_SUCCESS)
        abort();
    const msgpack_object *items = result.data.via.array.ptr;
    struct six m = {.id = items[0].via.u64,
                    .name = items[1].via.str.ptr,
                    .count = (uint32_t)items[2].via.u64,
                    .price = items[3].via.f64,
                    .blob = {items[4].via.bin.ptr, items[4].via.bin.size},
                    .is_last = items[5].via.boolean};
    size_t size = m.blob.size + m.count;
    msgpack_unpacked_destroy(&result);
    return size;
}

static size_t json_write(size_t i)
{
    struct six message = message_of(i);
    char text[256];
    return tr_json_write(&tr_type_six, &message, text, sizeof text, NULL);
}

static size_t json_read(size_t i)
{
    (void)i;
    static char text[256];
    static size_t length;
    if (length == 0) {
        struct six message = message_of(0);
        length = tr_json_write(&tr_type_six, &message, text, sizeof text, NULL);
    }
    void *message;
    if (tr_json_read(&tr_type_six, (tr_bytes){text, length}, &message, NULL) != TR_OK)
        abort();
    tr_message_free(&tr_type_six, message);
    return length;
}

static void measure(const char *name, size_t (*work)(size_t i))
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        size_t sum = 0;
        for (size_t i = 0; i < MESSAGES; i++)
            sum += work(i);
        sink = sum;
        clock_gettime(CLOCK_MONOTONIC, &end);
        double ns =
            (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
        if (ns / MESSAGES < best)
            best = ns / MESSAGES;
    }
    printf("%-28s %7.1f ns\n", name, best);
}

int main(void)
{
    msgpack_sbuffer_init(&sbuffer);
    document_size = ours_write(1);
    printf("a document of %zu bytes\n", document_size);
    measure("the loop alone", nothing);
    measure("tr_pack", ours_write);
    measure("msgpack-c pack", theirs_write);
    ours_write(1);
    measure("tr_unpack_in_place", ours_read_in_place);
    measure("tr_unpack and free", ours_read);
    measure("msgpack-c unpack and destroy", theirs_read);
    measure("tr_json_write", json_write);
    measure("tr_json_read and free", json_read);
    msgpack_sbuffer_destroy(&sbuffer);
    return 0;
}
