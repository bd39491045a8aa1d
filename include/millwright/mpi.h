/* Communicators over MPI. A library of its own, millwright_mpi, which needs an MPI (Open MPI, MPICH, ..) and brings
 * libmillwright_ranks; this header includes <mpi.h>, and millwright.h does not include this one.
 *
 *     int main(int argc, char **argv)                       // mpiexec -n 4 ./program
 *     {
 *         mw_error err = {0};
 *         mw_communicator *ranks = mw_mpi_start(&argc, &argv, &err);
 *         options.ranks.communicator = ranks;               // of the trainer
 *         ...                                               // it is made, trained and destroyed
 *         mw_communicator_finish(ranks, &err);
 *         return err.status != MW_OK;
 *     }
 *
 * A rank that fails prints its error and ends: what launches the ranks then ends those that are left. MPI is finalized
 * only after all went well, as that waits for all ranks and has no time limit. After a failure, end the process:
 * messages that were under way may still be about memory that is gone, should MPI go on.
 *
 * Threads: as in communicator.h. Where the program initialized MPI with less than MPI_THREAD_SERIALIZED, all calls come
 * from the thread that did so. */
#ifndef MILLWRIGHT_MPI_H
#define MILLWRIGHT_MPI_H

#include <millwright/communicator.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A communicator of the ranks of `comm`, which all call this. `comm` is duplicated, so that our messages meet no
 *  others, and the duplicate returns its errors. Finish the communicator before MPI_Finalize.
 *  comm    an intracommunicator
 *  errors  MW_ERROR_STATE if MPI is not initialized or is finalized; MW_ERROR_ARGUMENT for MPI_COMM_NULL and
 *          intercommunicators; MW_ERROR_COMMUNICATION with what MPI says */
MW_API mw_communicator *mw_communicator_create_mpi(MPI_Comm comm, mw_error *err);

/** A communicator of all ranks (MPI_COMM_WORLD), for programs that have no other use for MPI: initializes it with
 *  MPI_THREAD_SERIALIZED, and mw_communicator_finish finalizes it if all went well. What is initialized stays the
 *  program's to finalize. Without mpiexec it has one rank. After a failure it takes 1.5 seconds to free the
 *  communicator, so that the others have said what they know before they are ended with this one.
 *  argc, argv  of main, from which an MPI may take arguments of its own; both may be NULL
 *  errors      as mw_communicator_create_mpi */
MW_API mw_communicator *mw_mpi_start(int *argc, char ***argv, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
