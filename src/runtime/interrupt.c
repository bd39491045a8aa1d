/* Ctrl-C while mw_fit runs: a flag instead of an end. The one place that touches signal handling; the flag and the
 * saved handler belong to the process, as signals do. */
#include "runtime/fit.h"

#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t interrupted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;
static struct sigaction previous;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* SA_RESETHAND: the first Ctrl-C asks, the second one ends the process. An ignored SIGINT (nohup, a job in the
 * background of a script) stays ignored. */
static void install(void)
{
    interrupted = 0;
    struct sigaction action = {0};
    action.sa_handler = on_interrupt;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, NULL, &previous) != 0 || (previous.sa_flags & SA_SIGINFO) != 0 ||
        previous.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, &previous);
}

void mw__interrupt_begin(void)
{
    pthread_mutex_lock(&lock);
    if (users++ == 0)
        install();
    pthread_mutex_unlock(&lock);
}

void mw__interrupt_end(void)
{
    pthread_mutex_lock(&lock);
    if (--users == 0)
        sigaction(SIGINT, &previous, NULL);
    pthread_mutex_unlock(&lock);
}

bool mw__interrupted(void) { return interrupted != 0; }
