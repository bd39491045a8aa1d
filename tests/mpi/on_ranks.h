/* Tests that run as several ranks, by mpiexec: every rank runs the same tests, rank 0 counts a test as failed if a
 * check failed on any of them, and prints. Include it before support/check.h. */
#ifndef TESTS_MPI_ON_RANKS_H
#define TESTS_MPI_ON_RANKS_H

#define RUN(test)                                                                                                      \
    do {                                                                                                               \
        check_begin(#test);                                                                                            \
        test();                                                                                                        \
        on_ranks_end();                                                                                                \
    } while (0)

#include "support/check.h"

#include <millwright/mpi.h>
#include <stdbool.h>

/* Initializes MPI. */
void on_ranks_begin(int *argc, char ***argv);
/* After a test, with all ranks. */
void on_ranks_end(void);
/* Finalizes MPI; what main returns. */
int on_ranks_finish(void);

int on_ranks_rank(void);
int on_ranks_size(void);

/* A new communicator of all ranks. */
mw_communicator *on_ranks_communicator(void);

#endif
