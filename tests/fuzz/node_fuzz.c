/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the reader of node addresses against the rule written another way: what is read is printed
 * as it was, what is refused is refused where it begins to be wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <troupe/node.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";

/* Takes the text apart from its end, as the reader does not. */
static bool is_address(const char *text)
{
    char copy[TR_NODE_ADDRESS_MAX + 1];
    if (strlen(text) > TR_NODE_ADDRESS_MAX)
        return false;
    strcpy(copy, text);
    for (int part = 0; part < 4; part++) {
        char *slash = strrchr(copy, '/');
        if ((slash == NULL) != (part == 3))
            return false;
        const char *last = slash ? slash + 1 : copy;
        if (!*last || !strchr(digits, *last) || strlen(last) > TR_NODE_PART_MAX ||
            strspn(last, allowed) != strlen(last))
            return false;
        if (slash)
            *slash = '\0';
    }
    return true;
}

/* Whether a text can be continued to an address. */
static bool may_become_address(const char *text, size_t length)
{
    static const char *const tails[] = {"", "a", "/a", "a/a", "/a/a", "a/a/a", "/a/a/a", "a/a/a/a"};
    char copy[2 * TR_NODE_ADDRESS_MAX];
    if (length > TR_NODE_ADDRESS_MAX)
        return false;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        memcpy(copy, text, length);
        strcpy(copy + length, tails[i]);
        if (is_address(copy))
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    tr_node_address address;
    tr_node_error error = {.offset = 0};
    tr_status status = tr_node_address_parse(text, &address, &error);
    require((status == TR_OK) == is_address(text));
    if (status == TR_OK) {
        char back[TR_NODE_ADDRESS_MAX + 1];
        require(tr_node_address_print(&address, back, sizeof back) == strlen(text));
        require(strcmp(back, text) == 0);
    } else {
        /* All before the place can be the start of an address; with what stands there it cannot. */
        require(error.status == status);
        require(error.offset <= strlen(text));
        require(may_become_address(text, error.offset));
        require(!text[error.offset] || !may_become_address(text, error.offset + 1));
    }
    free(text);
    return 0;
}
