#include "base/thread/fork.h"

#include <dlfcn.h>
#include <pthread.h>

/* pthread_atfork has no opposite, and not every system drops the handlers of a library that is unloaded (glibc does so
 * only if the library's start files ask for it): a later fork would jump into nothing. So this library stays. */
static void stay_loaded(void)
{
    static const char here_in_the_library = 0;
    Dl_info here;
    if (dladdr(&here_in_the_library, &here) != 0 && here.dli_fname != NULL)
        dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void mw__fork_watch(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    stay_loaded();
    pthread_atfork(prepare, parent, child);
}
