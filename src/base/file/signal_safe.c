/* Quiet writes. Linux sends both signals to the thread that writes: they are blocked there, and what came is taken away
 * before the mask is given back. macOS sends them to the process, where any other thread might take them: there the
 * descriptor says that it wants no SIGPIPE, and a write past the limit is not begun. */
#include "base/file/signal_safe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool exceeds_limit(int descriptor, size_t size)
{
    struct rlimit limit;
    struct stat status;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return false; /* the limit is one of files */
    const int flags = fcntl(descriptor, F_GETFL);
    const off_t at = flags >= 0 && (flags & O_APPEND) != 0 ? status.st_size : lseek(descriptor, 0, SEEK_CUR);
    return at >= 0 && ((uint64_t)at > limit.rlim_cur || size > limit.rlim_cur - (uint64_t)at);
}

#ifdef F_SETNOSIGPIPE

static void silence(mw__signal_safe *quiet)
{
    quiet->kept = fcntl(quiet->descriptor, F_GETNOSIGPIPE);
    if (quiet->kept == 0)
        fcntl(quiet->descriptor, F_SETNOSIGPIPE, 1);
}

static void give_back(const mw__signal_safe *quiet)
{
    if (quiet->kept == 0)
        fcntl(quiet->descriptor, F_SETNOSIGPIPE, 0);
}

#else

static const int silenced[] = {SIGPIPE, SIGXFSZ};
enum { SILENCED = sizeof silenced / sizeof silenced[0] };

static void silence(mw__signal_safe *quiet)
{
    sigset_t pending, set;
    sigpending(&pending);
    sigemptyset(&set);
    for (int i = 0; i < SILENCED; i++) {
        quiet->pending[i] = sigismember(&pending, silenced[i]) == 1;
        sigaddset(&set, silenced[i]);
    }
    pthread_sigmask(SIG_BLOCK, &set, &quiet->mask);
}

/* What was pending before is the host's. */
static void give_back(const mw__signal_safe *quiet)
{
    const struct timespec at_once = {0};
    sigset_t pending, set;
    sigpending(&pending);
    for (int i = 0; i < SILENCED; i++) {
        if (quiet->pending[i] || sigismember(&pending, silenced[i]) != 1)
            continue;
        sigemptyset(&set);
        sigaddset(&set, silenced[i]);
        while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &quiet->mask, NULL);
}

#endif

bool mw__signal_safe_begin(mw__signal_safe *quiet, int descriptor, size_t size)
{
    if (exceeds_limit(descriptor, size)) {
        errno = EFBIG;
        return false;
    }
    quiet->descriptor = descriptor;
    silence(quiet);
    return true;
}

void mw__signal_safe_end(mw__signal_safe *quiet)
{
    const int reason = errno;
    give_back(quiet);
    errno = reason;
}
