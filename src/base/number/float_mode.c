/* Reads and sets the one register that says how floating point behaves. */
#include "base/number/float_mode.h"

#if defined(__x86_64__)
/* All exceptions masked, nearest, no flush; FLAGS is what has happened so far. The x87 unit has a word of its own, by
 * which the C library's printf and strtod round. */
enum { DEFAULT_MODE = MW__VECTOR_MODE, FLAGS = 0x3f, DEFAULT_WORD = 0x37f };

static uint16_t get_word(void)
{
    uint16_t word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}

static void set_word(uint16_t word) { __asm__ volatile("fldcw %0" : : "m"(word)); }

mw__float_mode mw__float_enter(void)
{
    const uint32_t mode = _mm_getcsr();
    const uint16_t word = get_word();
    if ((mode & ~(uint32_t)FLAGS) != DEFAULT_MODE)
        _mm_setcsr(DEFAULT_MODE);
    if (word != DEFAULT_WORD)
        set_word(DEFAULT_WORD);
    return mode | (uint64_t)word << 32;
}

void mw__float_leave(mw__float_mode saved) /* writing costs more than reading: only what was another */
{
    if (((uint32_t)saved & ~(uint32_t)FLAGS) != DEFAULT_MODE)
        _mm_setcsr((uint32_t)saved);
    if (saved >> 32 != DEFAULT_WORD)
        set_word((uint16_t)(saved >> 32));
}
#elif defined(__aarch64__)
#define FLUSH ((uint64_t)1 << 24) /* FZ: operands and results */

mw__vector_mode mw__vector_mode_enter(bool flush)
{
    const uint64_t wanted = flush ? FLUSH : 0;
    uint64_t saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
    if (saved != wanted)
        __asm__ volatile("msr fpcr, %0" : : "r"(wanted));
    return saved;
}

void mw__vector_mode_leave(mw__vector_mode saved, bool flush)
{
    if (saved != (flush ? FLUSH : 0))
        __asm__ volatile("msr fpcr, %0" : : "r"(saved));
}

mw__float_mode mw__float_enter(void) { return mw__vector_mode_enter(false); }
void mw__float_leave(mw__float_mode saved) { mw__vector_mode_leave(saved, false); }
#else
mw__float_mode mw__float_enter(void)
{
    fenv_t saved;
    fegetenv(&saved);
    fesetenv(FE_DFL_ENV);
    return saved;
}

void mw__float_leave(mw__float_mode saved) { fesetenv(&saved); }
#endif

void mw__float_leave_scope(const mw__float_mode *saved) { mw__float_leave(*saved); }
