/* The floating-point state of the calling thread: how it rounds and whether it keeps subnormals. What the library
 * computes must not depend on what the host has set. */
#ifndef MW__BASE_NUMBER_FLOAT_MODE_H
#define MW__BASE_NUMBER_FLOAT_MODE_H

#include "base/visible.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#if defined(__x86_64__) || defined(__aarch64__)
typedef uint64_t mw__float_mode; /* MXCSR and, above it, the x87 control word; FPCR */
#else
#include <fenv.h>
typedef fenv_t mw__float_mode;
#endif

/* Sets to nearest, subnormals kept, no traps; returns what was. Functions of their own, so that no compiler moves
 * arithmetic past them. */
MW__SIBLING mw__float_mode mw__float_enter(void);
void mw__float_leave(mw__float_mode saved);
MW__SIBLING void mw__float_leave_scope(const mw__float_mode *saved);

/* The same for kernels, which compute in vector registers alone and are called often: leaves out the word of the x87
 * unit. With `flush` arithmetic takes subnormals for 0 and gives 0 in their place, where the processor can (x86-64 and
 * aarch64). What computes in between is called through a pointer, so that nothing moves out. */
#if defined(__x86_64__)
typedef uint32_t mw__vector_mode;
#define MW__VECTOR_MODE       0x1f80U /* all exceptions masked, nearest, no flush */
#define MW__VECTOR_MODE_FLUSH 0x9fc0U /* of results and of operands too */
static inline mw__vector_mode mw__vector_mode_of(bool flush) { return flush ? MW__VECTOR_MODE_FLUSH : MW__VECTOR_MODE; }
static inline mw__vector_mode mw__vector_mode_enter(bool flush)
{
    const mw__vector_mode saved = _mm_getcsr(), wanted = mw__vector_mode_of(flush);
    if ((saved & ~0x3fU) != wanted) /* but for what has happened so far */
        _mm_setcsr(wanted);
    return saved;
}
static inline void mw__vector_mode_leave(mw__vector_mode saved, bool flush)
{
    if ((saved & ~0x3fU) != mw__vector_mode_of(flush))
        _mm_setcsr(saved);
}
#elif defined(__aarch64__)
typedef uint64_t mw__vector_mode;
mw__vector_mode mw__vector_mode_enter(bool flush);
void mw__vector_mode_leave(mw__vector_mode saved, bool flush);
#else
typedef mw__float_mode mw__vector_mode;
static inline mw__vector_mode mw__vector_mode_enter(bool flush)
{
    (void)flush;
    return mw__float_enter();
}
static inline void mw__vector_mode_leave(mw__vector_mode saved, bool flush)
{
    (void)flush;
    mw__float_leave(saved);
}
#endif

/* First in a public function that computes or converts: from here to whichever return the mode is ours. */
#define MW__FLOAT_SCOPE                                                                                                \
    const mw__float_mode mw__saved_mode __attribute__((cleanup(mw__float_leave_scope), unused)) = mw__float_enter()

#endif
