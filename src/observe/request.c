/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/request.h"

#define FIELD(label, member, field_kind)                                                           \
    {                                                                                              \
        .name = (label), .offset = offsetof(struct control_request, member),                       \
        .size = sizeof(((struct control_request *)0)->member),                                     \
        .item_size = sizeof(((struct control_request *)0)->member), .count = 1,                    \
        .kind = TR_KIND_##field_kind, .shape = TR_SHAPE_ONE                                        \
    }

/* The descriptor is written by hand, because a struct cannot have a member with the name "do". */
static const tr_field request_fields[] = {FIELD("id", id, U64),
                                          FIELD("do", verb, STR),
                                          FIELD("path", path, STR),
                                          FIELD("behavior", behavior, STR),
                                          FIELD("state", state, STR),
                                          FIELD("message", message, STR),
                                          FIELD("json", json, STR),
                                          FIELD("level", level, STR),
                                          FIELD("kind", kind, STR),
                                          FIELD("key", key, STR),
                                          FIELD("text", text, STR),
                                          FIELD("causal", causal, STR),
                                          FIELD("limit", limit, U32),
                                          FIELD("queued", queued, U32),
                                          FIELD("timeout_ms", timeout_ms, U32),
                                          FIELD("after", after, U64),
                                          FIELD("may", may, BOOL),
                                          FIELD("sorted", is_sorted, BOOL),
                                          FIELD("secrets", secrets, BOOL),
                                          FIELD("writes", writes, BOOL),
                                          FIELD("more", more, BOOL),
                                          FIELD("reads_only", reads_only, BOOL),
                                          FIELD("direct", is_direct, BOOL),
                                          FIELD("from", from, STR),
                                          FIELD("failing", failing, BOOL),
                                          FIELD("follow", follows, BOOL),
                                          FIELD("progress", progress, BOOL)};

const tr_type tr__control_request_type = {
    .name = "control_request",
    .fields = request_fields,
    .file = __FILE__,
    .line = __LINE__,
    .size = sizeof(struct control_request),
    .field_count = sizeof request_fields / sizeof *request_fields,
    .field_size = sizeof *request_fields,
    .abi = TR_ABI,
};

tr_status tr__control_request_read(tr_bytes line, struct control_request **request,
                                   tr_wire_error *error)
{
    void *message;
    tr_status status = tr_json_read(&tr__control_request_type, line, &message, error);
    if (status == TR_OK)
        *request = message;
    return status;
}
