/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inline function tr_kit_new, and the function that it calls.
 */
#ifndef TROUPE_DETAIL_KIT_H
#define TROUPE_DETAIL_KIT_H
#pragma GCC system_header

TR_BEGIN_C
/**
 * As tr_kit_new. `size` is sizeof(tr_kit_options) in the header that the program was compiled with.
 */
TR_MUST_CHECK tr_kit *tr_kit_new_sized(const tr_kit_options *options, size_t size);
TR_END_C

TR_INLINE tr_kit *tr_kit_new(const tr_kit_options *options)
{
    return tr_kit_new_sized(options, sizeof *options);
}

#endif
