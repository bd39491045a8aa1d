/* What a thread does between two looks at a word that another will write. */
#ifndef MW__ENGINE_RUN_RELAX_H
#define MW__ENGINE_RUN_RELAX_H

static inline void mw__relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
