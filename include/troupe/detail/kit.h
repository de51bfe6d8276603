/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_kit_new, and what it calls.
 */
#ifndef TROUPE_DETAIL_KIT_H
#define TROUPE_DETAIL_KIT_H

TR_BEGIN_C
/** tr_kit_new with the size of the options for which the program was compiled. */
TR_MUST_CHECK tr_kit *tr_kit_new_sized(const tr_kit_options *options, size_t size);
TR_END_C

TR_INLINE tr_kit *tr_kit_new(const tr_kit_options *options)
{
    return tr_kit_new_sized(options, sizeof *options);
}

#endif
