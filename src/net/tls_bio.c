/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_bio.h"

#include <string.h>

static int pipe_read(BIO *bio, char *data, size_t size, size_t *count)
{
    struct tls_pipe *pipe = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (pipe->input.size == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    *count = pipe->input.size < size ? pipe->input.size : size;
    memcpy(data, pipe->input.data, *count);
    pipe->input.data = (const char *)pipe->input.data + *count;
    pipe->input.size -= *count;
    return 1;
}

static int pipe_write(BIO *bio, const char *data, size_t size, size_t *count)
{
    struct tls_pipe *pipe = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (tr__net_buffer_append(pipe->out, data, size) != TR_OK) {
        pipe->is_out_of_memory = true;
        return 0;
    }
    *count = size;
    return 1;
}

static long pipe_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD *tr__tls_bio_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "troupe");
    if (method &&
        (!BIO_meth_set_read_ex(method, pipe_read) || !BIO_meth_set_write_ex(method, pipe_write) ||
         !BIO_meth_set_ctrl(method, pipe_control))) {
        BIO_meth_free(method);
        method = NULL;
    }
    return method;
}

BIO *tr__tls_bio_new(const BIO_METHOD *method, struct tls_pipe *pipe)
{
    BIO *bio = BIO_new(method);
    if (bio) {
        BIO_set_data(bio, pipe);
        BIO_set_init(bio, 1);
    }
    return bio;
}
