#include "support/child.h"

#include "support/check.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int child_run(void (*job)(void *user), void *user)
{
    enum { HANGS = 250 }; /* seconds; CTest gives a test 300 */
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(HANGS);
        check_global.failures_here = 0;
        job(user);
        fflush(stdout);
        _exit(check_global.failures_here == 0 ? 0 : 1);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

void child_check(void (*job)(void *user), void *user)
{
    const int status = child_run(job, user);
    check_note(status == 0, __FILE__, __LINE__, "the child ended with %s %d",
               WIFSIGNALED(status) ? "signal" : "exit code", WIFSIGNALED(status) ? WTERMSIG(status) : status >> 8);
}

bool child_is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return false;
}

static void try_beyond_the_limit(void *user)
{
    const size_t most = (size_t)1 << 30, more = 2 * most;
    (void)user;
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) == 0);
    void *memory = mmap(NULL, more, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0);
    _exit(memory == MAP_FAILED ? 2 : 3);
}

bool child_can_limit_addresses(void)
{
    return !child_is_sanitized() && child_run(try_beyond_the_limit, NULL) >> 8 == 2;
}

bool child_can_start(const char *program)
{
    enum { WRONG_FORMAT = 98 };
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL)
            execl(program, program, "--help", (char *)NULL);
        _exit(errno == ENOEXEC ? WRONG_FORMAT : 97);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status >> 8 != WRONG_FORMAT;
}

long long child_peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
    return usage.ru_maxrss;
#else
    return (long long)usage.ru_maxrss * 1024;
#endif
}
