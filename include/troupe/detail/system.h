/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inline functions of system.h, and the functions that they call.
 */
#ifndef TROUPE_DETAIL_SYSTEM_H
#define TROUPE_DETAIL_SYSTEM_H
#pragma GCC system_header

TR_BEGIN_C
/*
 * These are tr_system_new, tr_system_counters and tr_system_dead_letters with the size of the
 * struct in the header that the program was compiled with. If the program's options have members
 * that the library does not know, these must be zero, else the status is TR_INVALID_ARGUMENT. In
 * results, members that only the program knows are zero.
 */
TR_MUST_CHECK tr_status tr_system_new_sized(const tr_system_options *options, size_t size,
                                            tr_system **system);
void tr_system_counters_sized(tr_system *system, tr_counters *counters, size_t size);
uint64_t tr_system_dead_letters_sized(tr_system *system, tr_dead_letter_record *last, size_t size,
                                      size_t max, size_t *count);
TR_END_C

TR_INLINE tr_status tr_system_new(const tr_system_options *options, tr_system **system)
{
    return tr_system_new_sized(options, sizeof *options, system);
}

TR_INLINE void tr_system_counters(tr_system *system, tr_counters *counters)
{
    tr_system_counters_sized(system, counters, sizeof *counters);
}

TR_INLINE uint64_t tr_system_dead_letters(tr_system *system, tr_dead_letter_record *last,
                                          size_t max, size_t *count)
{
    return tr_system_dead_letters_sized(system, last, sizeof *last, max, count);
}

#endif
