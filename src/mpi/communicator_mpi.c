/* Communicators over MPI: what they are made of, and why they could not be made. */
#include "mpi/transport.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- errors ---- */

mw_status mw__mpi_fail(mw_error *err, mw_status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    va_list arguments;
    *err = (mw_error){.status = status};
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return status;
}

/* Some MPIs say it in several lines. */
mw_status mw__mpi_fail_code(mw_error *err, int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", code);
    for (char *at = text; *at != '\0'; at++)
        if (*at < ' ' || *at > '~')
            *at = ' ';
    return mw__mpi_fail(err, MW_ERROR_COMMUNICATION, "%s: %.380s", what, text);
}

bool mw__mpi_is_up(void)
{
    int begun = 0, ended = 0;
    return MPI_Initialized(&begun) == MPI_SUCCESS && MPI_Finalized(&ended) == MPI_SUCCESS && begun && !ended;
}

/* ---- making ---- */

/* While it is duplicated, `comm` returns its errors, too. */
static mw_status duplicate(MPI_Comm comm, MPI_Comm *out, mw_error *err)
{
    MPI_Errhandler before;
    int code = MPI_Comm_get_errhandler(comm, &before);
    if (code != MPI_SUCCESS)
        return mw__mpi_fail_code(err, code, "MPI_Comm_get_errhandler failed");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    code = MPI_Comm_dup(comm, out);
    MPI_Comm_set_errhandler(comm, before);
    MPI_Errhandler_free(&before);
    if (code != MPI_SUCCESS)
        return mw__mpi_fail_code(err, code, "MPI_Comm_dup failed");
    MPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
    return MW_OK;
}

static mw_communicator *make_communicator(MPI_Comm comm, bool finalizes, mw_error *err)
{
    MPI_Comm own;
    int rank = 0, size = 1;
    if (duplicate(comm, &own, err) != MW_OK)
        return NULL;
    MPI_Comm_rank(own, &rank);
    MPI_Comm_size(own, &size);
    void *link = mw__mpi_link_create(own, finalizes);
    if (link == NULL) {
        mw__mpi_fail(err, MW_ERROR_MEMORY, "MPI: out of memory for a communicator");
        return NULL;
    }
    const mw_transport transport = mw__mpi_transport(link, rank, size);
    return mw_communicator_create(&transport, NULL, err);
}

static bool is_between_groups(MPI_Comm comm)
{
    int is = 0;
    return MPI_Comm_test_inter(comm, &is) == MPI_SUCCESS && is;
}

mw_communicator *mw_communicator_create_mpi(MPI_Comm comm, mw_error *err)
{
    if (err != NULL && err->status != MW_OK)
        return NULL;
    if (!mw__mpi_is_up())
        mw__mpi_fail(err, MW_ERROR_STATE, "mw_communicator_create_mpi: MPI is not initialized, or is finalized");
    else if (comm == MPI_COMM_NULL || is_between_groups(comm))
        mw__mpi_fail(err, MW_ERROR_ARGUMENT,
                     "mw_communicator_create_mpi: the communicator is MPI_COMM_NULL or joins two groups");
    else
        return make_communicator(comm, false, err);
    return NULL;
}

mw_communicator *mw_mpi_start(int *argc, char ***argv, mw_error *err)
{
    int begun = 0, ended = 0, level, code = MPI_SUCCESS;
    if (err != NULL && err->status != MW_OK)
        return NULL;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (!begun && !ended)
        code = MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level);
    if (ended)
        mw__mpi_fail(err, MW_ERROR_STATE, "mw_mpi_start: MPI is finalized, and cannot be begun again");
    else if (code != MPI_SUCCESS)
        mw__mpi_fail_code(err, code, "MPI_Init_thread failed");
    else
        return make_communicator(MPI_COMM_WORLD, !begun, err);
    return NULL;
}
