/* Ranks that are killed, stopped, leave or fail: all others end, and say which rank it was. This starts the ranks
 * itself (tests/mpi/program/ends.c), each run under a time limit; by night each fault comes 20 times, by day twice. */
#include "support/check.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { RANKS = 3, LIMIT = 40 };

typedef struct run {
    FILE *pipe;
    double begun_at, seconds;
    int odd;  /* the rank to which it happens */
    int code; /* of mpiexec */
    char said[1 << 15];
} run;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* With a folder of its own: launchers that begin at once fail over one that they share (Open MPI 4.1). */
static void begin(run *r, const char *options, const char *what, int odd, long microseconds)
{
    char command[1500];
    snprintf(command, sizeof command,
             "folder=$(mktemp -d) && TMPDIR=$folder timeout -k 5 %d %s %s -n %d %s %s %d %ld 2>&1 </dev/null; code=$?; "
             "rm -rf \"$folder\"; exit $code",
             LIMIT, MW_MPIEXEC, options, RANKS, MW_MPI_ENDS, what, odd, microseconds);
    r->begun_at = now();
    r->odd = odd;
    r->pipe = popen(command, "r");
}

static void end(run *r)
{
    const size_t length = r->pipe != NULL ? fread(r->said, 1, sizeof r->said - 1, r->pipe) : 0;
    r->said[length] = '\0';
    const int status = r->pipe != NULL ? pclose(r->pipe) : -1;
    r->code = status >= 0 ? status >> 8 : -1;
    r->seconds = now() - r->begun_at;
}

typedef void check_run(const run *r);

/* Each rank in turns, between the first step and 50 ms later. Mostly they wait, so two runs go on at once. */
static void repeat(const char *options, const char *what, check_run *check)
{
    static run runs[2];
    const char *nightly = getenv("MW_NIGHTLY");
    const int repetitions = nightly != NULL && nightly[0] == '1' ? 20 : 2;
    for (int i = 0; i < repetitions; i += 2) {
        for (int k = 0; k < 2; k++)
            begin(&runs[k], options, what, (i + k) % RANKS, ((i + k) * 7919L + 137) * 613 % 50000);
        for (int k = 0; k < 2; k++) {
            end(&runs[k]);
            check(&runs[k]);
        }
    }
}

/* The line of a rank behind "rank 1 <word>"; "" if there is none. */
static const char *line_of(const run *r, int rank, const char *word)
{
    static char line[700];
    char begin[64];
    snprintf(begin, sizeof begin, "rank %d %s", rank, word);
    const char *found = strstr(r->said, begin);
    snprintf(line, sizeof line, "%.*s", found != NULL ? (int)strcspn(found, "\n") : 0, found != NULL ? found : "");
    return line;
}

/* Processes that were killed may take a moment to go. */
static void check_gone(const run *r)
{
    for (int rank = 0; rank < RANKS; rank++) {
        const char *line = line_of(r, rank, "is process ");
        const pid_t process = (pid_t)atol(line + (*line != '\0' ? strlen("rank 0 is process ") : 0));
        CHECK(process > 1);
        for (int i = 0; i < 500 && process > 1 && kill(process, 0) == 0; i++)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        CHECK(process <= 1 || kill(process, 0) != 0);
    }
}

static void check_ended(const run *r)
{
    CHECK(r->seconds < LIMIT);
    check_gone(r);
    if (check_global.failures_here > 0)
        printf("mpiexec returned %d after %.1f s:\n%s", r->code, r->seconds, r->said);
}

static void check_failed(const run *r)
{
    CHECK(r->code != 0);
    check_ended(r);
}

/* What all say but the rank to which it happened, whose number stands in between. */
static void check_others_say(const run *r, const char *before, const char *after)
{
    char part[128];
    snprintf(part, sizeof part, "%s%d%s", before, r->odd, after);
    for (int rank = 0; rank < RANKS; rank++)
        if (rank != r->odd)
            CHECK_CONTAINS(line_of(r, rank, "ends: "), part);
    check_ended(r);
}

static void check_silent(const run *r)
{
    check_others_say(r, "waits for rank ", ", which has not answered for 2 seconds");
}
/* As check_sizes says: where the launcher has no way to let the others live (MPICH over UCX), one that copies out of
 * the memory of the rank that ends may end with it before it has said why; then one of them has. */
static void check_reason(const run *r)
{
    if (MW_MPIEXEC_SURVIVING[0] != '\0')
        check_others_say(r, "rank ", ": its disk is full");
    CHECK_CONTAINS(r->said, ": its disk is full");
    check_ended(r);
}

/* Who finds it says so. The others hear of it, unless they were reading the memory of a rank that has ended, on which
 * some MPIs give up by themselves. */
static void check_sizes(const run *r)
{
    CHECK(r->code != 0);
    CHECK_CONTAINS(r->said, "the ranks do not make the same calls in the same order");
    check_ended(r);
}

/* ---- tests ---- */

static void test_ranks_that_start_mpi_finalize_it(void)
{
    static run r;
    begin(&r, "", "nothing", 0, 0);
    end(&r);
    for (int rank = 0; rank < RANKS; rank++)
        CHECK(line_of(&r, rank, "is done")[0] != '\0');
    CHECK_INT(r.code, 0);
    check_ended(&r);
}

/* The launcher ends the others, if it is not told to let them live. */
static void test_a_killed_rank_ends_all(void) { repeat("", "kill", check_failed); }

static void test_a_killed_rank_is_named_by_those_that_live_on(void)
{
    if (MW_MPIEXEC_SURVIVING[0] == '\0')
        SKIP("this launcher ends all ranks with the first");
    repeat(MW_MPIEXEC_SURVIVING, "kill", check_silent);
}

static void test_a_stopped_rank_is_named_by_all(void) { repeat("", "stop", check_silent); }
static void test_a_rank_that_leaves_ends_all(void) { repeat("", "leave", check_failed); }
static void test_a_rank_that_fails_ends_all_with_its_reason(void) { repeat("", "fail", check_reason); }
static void test_long_messages_of_another_size_end_all(void) { repeat("", "size", check_sizes); }

int main(void)
{
    RUN(test_ranks_that_start_mpi_finalize_it);
    RUN(test_a_killed_rank_ends_all);
    RUN(test_a_killed_rank_is_named_by_those_that_live_on);
    RUN(test_a_stopped_rank_is_named_by_all);
    RUN(test_a_rank_that_leaves_ends_all);
    RUN(test_a_rank_that_fails_ends_all_with_its_reason);
    RUN(test_long_messages_of_another_size_end_all);
    return check_finish();
}
