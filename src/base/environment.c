/* Reads variables, unless who started the process has fewer rights than it. Checks no value: who asks does. */
#include "base/environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/auxv.h>

/* What the kernel found when it started the program, as secure_getenv of the GNU C library asks it. A process that
 * gives up rights later was started by one who had them. */
static bool is_raised(void) { return getauxval(AT_SECURE) != 0; }
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__)
static bool is_raised(void) { return issetugid() != 0; }
#else
static bool is_raised(void) { return getuid() != geteuid() || getgid() != getegid(); }
#endif

const char *mw__environment(const char *name)
{
    const char *value = is_raised() ? NULL : getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}
