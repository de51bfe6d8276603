/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A message with a field of every type, written as JSON and as MessagePack and read back.
 *
 * Nothing of this has to be declared but the message itself; no system and no actor is needed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>
#include <troupe/wire.h>

enum season { SPRING, SUMMER, AUTUMN, WINTER };

TR_ACTOR(keeper);
TR_MESSAGE(position, (f64, east), (f64, north));
/* clang-format off */
TR_MESSAGE(sighting,
    (bool, is_certain),
    (i8, celsius), (i16, meters), (i32, grams), (i64, time_ns),
    (u8, wings), (u16, ring), (u32, steps), (u64, serial),
    (f32, speed), (f64, weight),
    (enum_of(season), season),
    (str, name), (str, remark),                   /* NULL is no text, which is not "" */
    (bytes, song),
    (buffer, picture),                            /* shared by all who hold it, never copied */
    (ref, seen_by), (ref_of(keeper), keeper),
    (message(position), at),
    (array(u8, 3), colors),
    (list(u16), rings), (list(str), names), (list(message(position)), way),
    (optional(u32), eggs), (optional(u32), chicks), (optional(message(position)), nest));
/* clang-format on */

static tr_buffer *picture_new(void)
{
    static const char pixels[] = "a picture of 24 bytes...";
    tr_buffer *picture = tr_buffer_new(sizeof pixels - 1);
    if (!picture)
        exit(1);
    memcpy(tr_buffer_data(picture), pixels, sizeof pixels - 1);
    return picture;
}

static struct sighting sighting_of(tr_buffer *picture)
{
    static const uint16_t rings[] = {7, 65535};
    static const char *const names[] = {"Adebar", "Störchin"};
    static const struct position way[] = {{.east = 11.25, .north = 48.5}, {.east = -0.5}};
    return (struct sighting){
        .is_certain = true,
        .celsius = INT8_MIN,
        .meters = INT16_MIN,
        .grams = INT32_MIN,
        .time_ns = INT64_MIN,
        .wings = UINT8_MAX,
        .ring = UINT16_MAX,
        .steps = UINT32_MAX,
        .serial = UINT64_MAX,
        .speed = 0.1f,
        .weight = 0.1,
        .season = AUTUMN,
        .name = "a \"stork\"\n",
        .song = {"\x00\xff\x7f", 3},
        .picture = picture,
        .seen_by = tr_ref_from_bits(0x100000002), /* of a handler: tr_me(self) */
        .keeper = {0},                            /* nobody */
        .at = {.east = 11.5, .north = 48.125},
        .colors = {0, 128, 255},
        .rings = {rings, 2},
        .names = {names, 2},
        .way = {way, 2},
        .eggs = {true, 4},
        .chicks = {false, 0},
        .nest = {true, {.east = 1e-9, .north = 1e300}},
    };
}

/* Two messages are the same when their documents are. */
static bool is_same(const struct sighting *a, const struct sighting *b)
{
    char first[1024];
    char second[1024];
    size_t size = tr_pack(&tr_type_sighting, a, first, sizeof first, NULL);
    return size > 0 && size <= sizeof first &&
           tr_pack(&tr_type_sighting, b, second, sizeof second, NULL) == size &&
           memcmp(first, second, size) == 0;
}

static void fail(const char *what, const tr_wire_error *error)
{
    printf("%s: %s at byte %zu, %s: %s\n",
           what,
           tr_status_name(error->status),
           error->offset,
           error->path,
           error->text);
}

/* Says how the message that came back compares, and frees it. */
static bool compare(const char *form, const struct sighting *sighting, void *message)
{
    bool is_equal = is_same(sighting, message);
    printf("%s: %s\n\n", form, is_equal ? "it came back as it was" : "it came back changed");
    tr_message_free(&tr_type_sighting, message);
    return is_equal;
}

static bool try_json(const struct sighting *sighting)
{
    char text[2048];
    tr_wire_error error;
    void *message;
    size_t length = tr_json_write(&tr_type_sighting, sighting, text, sizeof text, &error);
    if (length == 0 || length >= sizeof text)
        return false;
    printf("%s\n", text);
    tr_status status = tr_json_read(&tr_type_sighting, (tr_bytes){text, length}, &message, &error);
    if (status != TR_OK) {
        fail("JSON", &error);
        return false;
    }
    return compare("JSON", sighting, message);
}

static bool try_messagepack(const struct sighting *sighting)
{
    unsigned char document[1024];
    tr_wire_error error;
    void *message;
    size_t size = tr_pack(&tr_type_sighting, sighting, document, sizeof document, &error);
    if (size == 0 || size > sizeof document)
        return false;
    for (size_t i = 0; i < size; i++)
        printf("%02x%s", document[i], i + 1 == size || i % 32 == 31 ? "\n" : "");
    tr_status status = tr_unpack(&tr_type_sighting, (tr_bytes){document, size}, &message, &error);
    if (status != TR_OK) {
        fail("MessagePack", &error);
        return false;
    }
    return compare("MessagePack", sighting, message);
}

/* What is wrong with a document is said with its place. */
static bool try_mistake(void)
{
    const char *text = "{\"name\":\"a stork\",\"way\":[{\"east\":1},{\"east\":\"two\"}]}";
    tr_wire_error error;
    void *message;
    if (tr_json_read(&tr_type_sighting, (tr_bytes){text, strlen(text)}, &message, &error) == TR_OK)
        return false;
    printf("%s\n", text);
    fail("JSON", &error);
    return true;
}

int main(void)
{
    tr_buffer *picture = picture_new();
    struct sighting sighting = sighting_of(picture);
    char text[2048];
    tr_type_print(&tr_type_sighting, &sighting, text, sizeof text);
    printf("%s\n\n", text);
    bool is_good = try_json(&sighting);
    is_good &= try_messagepack(&sighting);
    is_good &= try_mistake();
    tr_buffer_release(picture);
    return is_good ? 0 : 1;
}
