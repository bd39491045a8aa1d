/* The hooks for threads beyond this library: engines that are libraries of their own have their own copy of
 * base/thread.
 */
#ifndef MW__RUNTIME_THREAD_HOOKS_H
#define MW__RUNTIME_THREAD_HOOKS_H

#include "runtime/dispatch/symbols.h"

/* A library was loaded: it is told of the hooks, if any are set, and of each later change. One that cannot be told
 * starts its threads itself. */
mw_status mw__dispatch_tell_thread_hooks(const mw__symbols *library, mw_error *err);

#endif
