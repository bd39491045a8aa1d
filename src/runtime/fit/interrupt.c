/* While mw_trainer_fit runs, SIGINT (Ctrl-C) and SIGTERM set a flag instead of ending the process. No other file
 * changes signal handlers. The flag and the saved handlers are global, because signals belong to the process. */
#include "runtime/fit/fit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static const int asking[] = {SIGINT, SIGTERM};
enum { ASKING = sizeof asking / sizeof asking[0] };

static atomic_int interrupted; /* the first signal that came; lock-free, as a handler needs */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;
static struct sigaction previous[ASKING];
static bool installed[ASKING];

/* The first signal sets the flag. The second, SIGINT or SIGTERM, ends the process: this handler restores the default
 * action and raises the signal again. The system delivers it when the handler returns. */
static void on_interrupt(int signal_number)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&interrupted, &none, signal_number))
        return;
    struct sigaction end = {0};
    end.sa_handler = SIG_DFL;
    sigemptyset(&end.sa_mask);
    sigaction(signal_number, &end, NULL);
    raise(signal_number);
}

/* What is ignored (nohup, a job in the background of a script) stays ignored. */
static void install(int i)
{
    struct sigaction action = {0};
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    installed[i] = false;
    if (sigaction(asking[i], NULL, &previous[i]) != 0)
        return;
    if ((previous[i].sa_flags & SA_SIGINFO) == 0 && previous[i].sa_handler == SIG_IGN)
        return;
    installed[i] = sigaction(asking[i], &action, &previous[i]) == 0;
}

/* A handler that the host set meanwhile is the host's. */
static void uninstall(int i)
{
    struct sigaction now;
    if (!installed[i] || sigaction(asking[i], NULL, &now) != 0)
        return;
    if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == on_interrupt)
        sigaction(asking[i], &previous[i], NULL);
}

void mw__interrupt_begin(void)
{
    pthread_mutex_lock(&lock);
    if (users++ == 0) {
        atomic_store(&interrupted, 0);
        for (int i = 0; i < ASKING; i++)
            install(i);
    }
    pthread_mutex_unlock(&lock);
}

void mw__interrupt_end(void)
{
    pthread_mutex_lock(&lock);
    if (--users == 0) {
        for (int i = 0; i < ASKING; i++)
            uninstall(i);
    }
    pthread_mutex_unlock(&lock);
}

int mw__interrupted(void) { return atomic_load(&interrupted); }

int mw_fit_signal(void) { return atomic_load(&interrupted); }
