/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads multipart/form-data, the format of forms with files (RFC 7578; RFC 2046, 5.1), while the bytes of a form
 * arrive. The reader receives nothing itself: its caller passes the bytes.
 *
 *     struct multipart form;
 *     status = tr__multipart_init(&form, content_type, parts_max);
 *     while (...) {
 *         struct multipart_event event;
 *         size_t taken = tr__multipart_read(&form, bytes, size, &event);
 *         ...                            the first `taken` bytes are consumed; pass the others again, with more behind
 *     }
 *
 * The content of a part is returned in the portions in which it comes, and is not collected. Only the head of a part,
 * which has at most TR_HTTP_FORM_HEAD_MAX bytes, must have come completely. The caller gets every portion, and so can
 * limit the size of a part itself.
 */
#ifndef HTTP_MULTIPART_H
#define HTTP_MULTIPART_H

#include <troupe/message.h>
#include <troupe/status.h>

#include <stdbool.h>

#define MULTIPART_BOUNDARY_MAX 70 /* RFC 2046 5.1.1 */

/** The state of a form between two reads. Owner only. */
struct multipart {
    unsigned char state; /* of multipart.c */
    unsigned char delimiter_size;
    /** CR LF "--" and the boundary */
    unsigned char delimiter[4 + MULTIPART_BOUNDARY_MAX];
    uint32_t parts; /* number of parts that have begun */
    uint32_t parts_max;
};

enum multipart_kind {
    /* no event: pass the bytes that were not consumed again, with more bytes behind them */
    MULTIPART_MORE,
    MULTIPART_PART,  /* a part begins; see name, filename, type */
    MULTIPART_DATA,  /* a portion of the part's content, not empty */
    MULTIPART_CLOSE, /* the part ends */
    MULTIPART_END,   /* the form ends; bytes after it are ignored */
    MULTIPART_ERROR  /* the form is malformed; see `status` and `text`; no more is read */
};

struct multipart_event {
    enum multipart_kind kind;
    tr_bytes name;     /* of a part */
    tr_bytes filename; /* for MULTIPART_PART; data is NULL if the part has no file name */
    tr_bytes type;     /* Content-Type of the part; empty if it has none */
    tr_bytes bytes;    /* for MULTIPART_DATA: the content */
    /* TR_BAD_DATA, or TR_TOO_LARGE if a head is too long or there are more than parts_max parts */
    tr_status status;
    const char *text; /* error text */
};

/**
 * Begins a form with the value of Content-Type. TR_BAD_DATA: the value is not multipart/form-data, or its boundary is
 * missing or not allowed.
 */
TR_MUST_CHECK tr_status tr__multipart_init(struct multipart *form, tr_bytes content_type,
                                           uint32_t parts_max);

/**
 * Reads up to one event. Returns how many bytes were consumed. May change the bytes: names are
 * unquoted in place.
 */
size_t tr__multipart_read(struct multipart *form, unsigned char *bytes, size_t size,
                          struct multipart_event *event);

/** Whether the end of the form was read. If the body ends before that, the form is incomplete. */
bool tr__multipart_is_ended(const struct multipart *form);

#endif
