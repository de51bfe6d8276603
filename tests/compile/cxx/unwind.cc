/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A turn that ends inside a verb unwinds its frames in C++. Needs no library: what the verbs call
 * is played here by functions that always fail.
 */
#include <cstdio>
#include <string>
#include <troupe/troupe.h>

TR_MESSAGE(crash);
TR_MESSAGE(allocate);
TR_MESSAGE(spawn);
TR_MESSAGE(format, (str, text));
TR_ACTOR(fragile, crash, allocate, spawn, format);

static int destroyed;
static tr_status failed_with;
static std::string failed_text;

struct witness {
    ~witness()
    {
        destroyed++;
    }
};

extern "C" tr_next tr_fail(tr_self *, tr_status status, const char *format, ...)
{
    char text[100];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    failed_with = status;
    failed_text = text;
    return tr_next{TR_NEXT_FAILED};
}

extern "C" void *tr_try_alloc(tr_self *, size_t)
{
    return nullptr;
}

extern "C" void *tr_try_scratch(tr_self *, size_t size)
{
    static char memory[100];
    return size <= sizeof(memory) ? memory : nullptr;
}

extern "C" tr_status tr_self_try_spawn(tr_self *, const tr_spawn_args *args, uint64_t *)
{
    args->error->status = TR_NAME_EXISTS;
    std::snprintf(args->error->text, sizeof(args->error->text), "%s is taken", args->name);
    return TR_NAME_EXISTS;
}

static void deeper(tr_self *self)
{
    witness w;
    tr_crash(self, TR_BAD_DATA, "row %d", 7);
}

static tr_next on_crash(tr_self *self)
{
    witness w;
    deeper(self);
    return TR_SAME;
}

static tr_next on_allocate(tr_self *self, const allocate *)
{
    witness w;
    tr_alloc(self, 5);
    return TR_SAME;
}

static tr_next on_spawn(tr_self *self)
{
    witness w;
    fragile_ref other = tr_spawn(self, fragile, "other");
    tr_log_info(self, "%d", tr_is_nobody(other));
    return TR_SAME;
}

static tr_next on_format(tr_self *self, const format *message)
{
    failed_text = tr_format(self, "%s and %d", message->text, 5);
    return TR_STOP;
}

TR_BEHAVIOR(fragile, void, TR_ON(crash, on_crash), TR_ON(allocate, on_allocate),
            TR_ON(spawn, on_spawn), TR_ON(format, on_format));

extern "C" void tr_log(tr_self *, tr_level, const char *, ...)
{
    destroyed = -1000;
}

static bool expect(size_t row, const void *message, tr_next_code code, tr_status status,
                   const char *text, int count)
{
    destroyed = 0;
    failed_with = TR_OK;
    tr_next next = tr_behavior_fragile.handlers[row].call(nullptr, nullptr, message);
    bool is_right =
        next.code == code && failed_with == status && failed_text == text && destroyed == count;
    if (!is_right)
        std::printf("row %zu: %d %s \"%s\", %d destroyed\n",
                    row,
                    static_cast<int>(next.code),
                    std::to_string(failed_with).c_str(),
                    failed_text.c_str(),
                    destroyed);
    return is_right;
}

int main()
{
    format message = {"one"};
    return expect(0, nullptr, TR_NEXT_FAILED, TR_BAD_DATA, "row 7", 2) &&
                   expect(1, nullptr, TR_NEXT_FAILED, TR_NO_MEMORY, "no memory for 5 bytes", 1) &&
                   expect(2, nullptr, TR_NEXT_FAILED, TR_NAME_EXISTS, "other is taken", 1) &&
                   expect(3, &message, TR_NEXT_STOP, TR_OK, "one and 5", 0)
               ? 0
               : 1;
}
