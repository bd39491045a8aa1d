/* Preloaded into tests by ./run nightly slow: writes the name of each program that starts a thread to the file that
 * MW_TEST_WITNESS names. A test that never does so has no race, and ThreadSanitizer need not run it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int creator(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static void tell_once(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char line[256];
    const char *path = getenv("MW_TEST_WITNESS");
    if (path == NULL || atomic_flag_test_and_set(&told))
        return;
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const int length = snprintf(line, sizeof line, "%s\n", program_invocation_short_name);
    if (file >= 0 && write(file, line, (size_t)length) != length)
        perror(path);
    if (file >= 0)
        close(file);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
    creator *real = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    tell_once();
    return real(thread, attributes, function, argument);
}
