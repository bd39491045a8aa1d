/* Of an installed tree with libmillwright_mpi: one rank, as nothing launches more. */
#include <millwright/mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    mw_error err = {0};
    mw_communicator *ranks = mw_mpi_start(&argc, &argv, &err);
    const int size = mw_communicator_get_info(ranks).size;
    mw_communicator_barrier(ranks, &err);
    mw_communicator_finish(ranks, &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    return err.status != MW_OK || size != 1;
}
