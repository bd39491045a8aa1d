/* What a test does in a process of its own: limits of a process cannot be taken back, and a crash is then a result. */
#ifndef TESTS_SUPPORT_CHILD_H
#define TESTS_SUPPORT_CHILD_H

#include <stdbool.h>

/* Runs `job` in a child, which ends as a signal if it hangs. CHECK inside counts: 0 = the child ended by itself, and
 * every check in it held; else what waitpid says. The parent must not have used the engine. */
int child_run(void (*job)(void *user), void *user);

/* The same, and a check of the parent's that it ended so. */
void child_check(void (*job)(void *user), void *user);

/* Under ASan and TSan, which need terabytes of addresses and keep what was freed. */
bool child_is_sanitized(void);

/* False where RLIMIT_AS is not heeded: under sanitizers, emulators and macOS. */
bool child_can_limit_addresses(void);

/* False under an emulator of another processor, which runs this program only; the system refuses others of its kind. */
bool child_can_start(const char *program);

/* Most bytes that this process ever had in memory at once. */
long long child_peak_bytes(void);

#endif
