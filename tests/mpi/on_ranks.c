#include "mpi/on_ranks.h"

void on_ranks_begin(int *argc, char ***argv)
{
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level);
}

int on_ranks_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int on_ranks_size(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

void on_ranks_end(void)
{
    int own[2] = {check_global.failures_here, check_global.skipped_here}, all[2];
    MPI_Allreduce(own, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_global.failures_here = all[0];
    check_global.skipped_here = all[1] > 0;
    if (on_ranks_rank() == 0)
        check_end();
    else
        check_global.failed += all[0] > 0;
    fflush(stdout);
}

int on_ranks_finish(void)
{
    const bool failed = check_global.failed > 0;
    if (on_ranks_rank() == 0)
        check_finish();
    MPI_Finalize();
    return failed;
}

mw_communicator *on_ranks_communicator(void)
{
    mw_error err = {0};
    mw_communicator *c = mw_communicator_create_mpi(MPI_COMM_WORLD, &err);
    CHECK_OK(err);
    return c;
}
