/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inline function tr_kit_set_network, and the function that it calls.
 */
#ifndef TROUPE_DETAIL_KIT_NET_H
#define TROUPE_DETAIL_KIT_NET_H
#pragma GCC system_header

TR_BEGIN_C
/**
 * As tr_kit_set_network. `size` is sizeof(tr_kit_network) in the header that the program was compiled
 * with.
 */
void tr_kit_set_network_sized(tr_kit *kit, const tr_kit_network *network, size_t size);
TR_END_C

TR_INLINE void tr_kit_set_network(tr_kit *kit, const tr_kit_network *network)
{
    tr_kit_set_network_sized(kit, network, sizeof *network);
}

#endif
