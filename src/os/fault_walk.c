/* SPDX-License-Identifier: Apache-2.0 */
#include "os/fault_walk.h"

#include "os/fault.h"
#include "os/text.h"

#include <unwind.h>

enum { DEPTH_MAX = 8192 }; /* at most this many frames are walked; no stack has so many */

static void fault_check_frame(struct fault_walk *walk)
{
    switch (tr__text_owner(walk->frame)) {
    case TEXT_APPLICATION:
        return;
    case TEXT_RUNTIME:
        walk->verdict = VERDICT_RUNTIME;
        return;
    case TEXT_SYSTEM:
        if (walk->verdict == VERDICT_OURS && !tr__text_is_leaf(walk->function))
            walk->verdict = VERDICT_SYSTEM;
        return;
    }
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
    struct fault_walk *walk = argument;
    int is_exact = 0;
    uintptr_t pc = (uintptr_t)_Unwind_GetIPInfo(context, &is_exact);
    if (!walk->has_begun && pc != walk->pc)
        return _URC_NO_REASON;
    /*
     * _Unwind_GetCFA returns the stack pointer of this frame, and the previous frame ends there. If
     * that end is beyond the base of the span, the previous frame is no user code.
     */
    if (walk->base && walk->has_begun && (uintptr_t)_Unwind_GetCFA(context) > walk->base) {
        walk->is_over = true;
        /* do not count the last recorded frame: it belongs to the caller of the span */
        walk->fault->depth--;
        return _URC_END_OF_STACK;
    }
    if (walk->has_begun)
        fault_check_frame(walk);
    walk->has_begun = true;
    struct fault *fault = walk->fault;
    if (fault->depth == DEPTH_MAX || !pc)
        return _URC_END_OF_STACK;
    /*
     * A call may be the last instruction of a function. Then the return address is the first address of the next
     * function. So use the address before the return address.
     */
    walk->frame = is_exact ? pc : pc - 1;
    walk->function = (uintptr_t)_Unwind_GetRegionStart(context);
    fault->frames[fault_place(fault->depth++)] = walk->frame;
    return _URC_NO_REASON;
}

void tr__fault_walk(struct fault_walk *walk)
{
    walk->verdict = VERDICT_OURS;
    (void)_Unwind_Backtrace(on_frame, walk);
    if (walk->verdict == VERDICT_OURS && !walk->is_over)
        walk->verdict = VERDICT_UNKNOWN;
}
