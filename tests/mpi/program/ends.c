/* What tests/mpi/test_faults.c starts as several ranks: trains until something happens to one of them.
 *
 *     ends WHAT RANK MICROSECONDS     the rank, and when it happens, counted from the first step
 *
 * "nothing": 20 steps; "kill", "stop": that signal; "size": a sum of another length; "leave": it returns without a
 * word; "fail": its disk is full. Each rank says "rank 1 is process 123" at its begin, and "rank 1 ends: <why>" in one
 * write. */
#include "mpi/nets.h"

#include <millwright/mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { BATCH = 8, STEPS = 20, FOR_EVER = 1 << 30, FLOATS = 3000000 };

static volatile sig_atomic_t signal_to_raise;
static volatile sig_atomic_t time_is_up;

static void on_time(int number)
{
    (void)number;
    time_is_up = 1;
    if (signal_to_raise != 0)
        raise(signal_to_raise);
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    char line[700];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (write(STDOUT_FILENO, line, (size_t)length) < 0)
        _exit(3);
}

static void set_time(long microseconds)
{
    const struct itimerval once = {.it_value = {microseconds / 1000000, microseconds % 1000000 + 1}};
    signal(SIGALRM, on_time);
    setitimer(ITIMER_REAL, &once, NULL);
}

/* What happens at that time without a signal. */
static void fail_here(mw_communicator *c, const char *what)
{
    if (strcmp(what, "leave") == 0)
        _exit(7);
    if (strcmp(what, "fail") == 0)
        mw_communicator_fail(c, "its disk is full");
}

static void train(mw_communicator *c, const char *what, int odd, long microseconds, mw_error *err)
{
    const int rank = mw_communicator_get_info(c).rank, ranks = mw_communicator_get_info(c).size;
    const int steps = strcmp(what, "nothing") == 0 ? STEPS : FOR_EVER;
    const net n = {.kind = NET_MLP, .batch = BATCH, .accumulate = 1, .device = MW_DEVICE_CPU, .seed = 1, .ranks = c};
    mw_trainer *t = net_trainer(&n, err);
    net_batch *b = net_batch_create(&n);
    for (int step = 0; step < steps && err->status == MW_OK; step++) {
        float loss;
        mw_trainer_step(t, net_batch_fill(b, (step % 100 * ranks + rank) * BATCH), &loss, err);
        if (step == 0 && rank == odd)
            set_time(microseconds);
        if (time_is_up)
            fail_here(c, what);
    }
    net_batch_destroy(b);
    mw_trainer_destroy(t);
}

/* Large enough that the bytes are fetched from the memory of the sender. */
static void sum(mw_communicator *c, int odd, mw_error *err)
{
    float *data = calloc(FLOATS, sizeof *data);
    mw_communicator_allreduce(c, data, mw_communicator_get_info(c).rank == odd ? FLOATS : FLOATS / 3, MW_F32, err);
    free(data);
}

int main(int argc, char **argv)
{
    mw_error err = {0};
    const char *what = argc > 1 ? argv[1] : "nothing";
    const int odd = argc > 2 ? atoi(argv[2]) : -1;
    const long microseconds = argc > 3 ? atol(argv[3]) : 0;
    mw_communicator *c = mw_mpi_start(&argc, &argv, &err);
    const int rank = mw_communicator_get_info(c).rank;
    mw_communicator_set_timeout(c, 2.0, &err);
    say("rank %d is process %ld\n", rank, (long)getpid());
    if (rank == odd)
        signal_to_raise = strcmp(what, "kill") == 0 ? SIGKILL : strcmp(what, "stop") == 0 ? SIGSTOP : 0;
    if (strcmp(what, "size") == 0)
        sum(c, odd, &err);
    else
        train(c, what, odd, microseconds, &err);
    if (err.status != MW_OK)
        say("rank %d ends: %s\n", rank, err.message);
    mw_communicator_finish(c, &err);
    int ended = 0;
    MPI_Finalized(&ended);
    if (err.status == MW_OK && ended)
        say("rank %d is done\n", rank);
    return err.status != MW_OK;
}
