/* The floating-point state of the calling thread: how it rounds and whether it keeps subnormals. What the library
 * computes must not depend on what the host has set. */
#ifndef MW__BASE_FLOAT_MODE_H
#define MW__BASE_FLOAT_MODE_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__aarch64__)
typedef uint64_t mw__float_mode; /* MXCSR and, above it, the x87 control word; FPCR */
#else
#include <fenv.h>
typedef fenv_t mw__float_mode;
#endif

/* Sets to nearest, subnormals kept, no traps; returns what was. Functions of their own, so that no compiler moves
 * arithmetic past them. */
mw__float_mode mw__float_enter(void);
void mw__float_leave(mw__float_mode saved);
void mw__float_leave_scope(const mw__float_mode *saved);

/* First in a public function that computes or converts: from here to whichever return the mode is ours. */
#define MW__FLOAT_SCOPE                                                                                                \
    const mw__float_mode mw__saved_mode __attribute__((cleanup(mw__float_leave_scope), unused)) = mw__float_enter()

#endif
