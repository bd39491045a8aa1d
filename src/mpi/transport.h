/* The transport over MPI: messages of bytes in a communicator of its own. */
#ifndef MW__MPI_TRANSPORT_H
#define MW__MPI_TRANSPORT_H

#include <millwright/mpi.h>

/* Fills *err, unless it is NULL, and returns the status. */
mw_status mw__mpi_fail(mw_error *err, mw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* MW_ERROR_COMMUNICATION with what MPI says of its code. */
mw_status mw__mpi_fail_code(mw_error *err, int code, const char *what);

/* Whether MPI may be called. */
bool mw__mpi_is_up(void);

/* Takes `comm`, which returns its errors and is freed at a clean end; `finalizes`: so is MPI. NULL without memory, and
 * then nothing is taken. */
void *mw__mpi_link_create(MPI_Comm comm, bool finalizes);
/* `user` is a link. */
mw_transport mw__mpi_transport(void *user, int rank, int size);

#endif
