/* What ranks do together, over MPI: values and bits, messages of all sizes, communicators side by side. */
#include "mpi/on_ranks.h"

#include <math.h>
#include <stdlib.h>

/* Sizes differ by many powers of two, so that another order of additions gives other bits. */
static float value_of(int rank, size_t i)
{
    return (float)sin((double)(i * 31 + (size_t)rank * 7 + 1)) *
           ldexpf(1.0f, (int)((i * 5 + (size_t)rank * 11) % 24) - 12);
}

static void check_sums(mw_communicator *c, size_t count)
{
    const int rank = mw_communicator_get_info(c).rank, size = mw_communicator_get_info(c).size;
    float *sums = malloc((count + 1) * sizeof *sums);
    double *wide = malloc((count + 1) * sizeof *wide);
    size_t wrong = 0;
    mw_error err = {0};
    for (size_t i = 0; i < count; i++)
        wide[i] = (double)(sums[i] = value_of(rank, i)) / 3.0;
    mw_communicator_allreduce(c, sums, count, MW_F32, &err);
    mw_communicator_allreduce(c, wide, count, MW_F64, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < count; i++) {
        float sum = value_of(0, i);
        double wide_sum = (double)value_of(0, i) / 3.0;
        for (int from = 1; from < size; from++) {
            sum += value_of(from, i);
            wide_sum += (double)value_of(from, i) / 3.0;
        }
        wrong += memcmp(&sum, &sums[i], sizeof sum) != 0 || memcmp(&wide_sum, &wide[i], sizeof wide_sum) != 0;
    }
    CHECK_INT(wrong, 0);
    free(sums);
    free(wide);
}

/* From messages that MPI copies to those that it fetches, and more than one piece. */
static void test_sums_have_the_bits_of_the_order_of_ranks(void)
{
    static const size_t counts[] = {1, 2, 5, 1000, 1003, 100003, 300007};
    mw_error err = {0};
    mw_communicator *c = on_ranks_communicator();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        check_sums(c, counts[i]);
    CHECK_INT(mw_communicator_finish(c, &err), MW_OK);
}

static void test_no_more_than_the_bound_goes_over_the_wire(void)
{
    enum { COUNT = 840 };
    static float data[COUNT];
    mw_error err = {0};
    mw_communicator *c = on_ranks_communicator();
    const int size = mw_communicator_get_info(c).size;
    mw_communicator_allreduce(c, data, COUNT, MW_F32, &err);
    CHECK_INT(mw_communicator_get_info(c).bytes_sent, 2 * (size - 1) * COUNT / size * 4);
    CHECK_INT(mw_communicator_get_info(c).bytes_received, 2 * (size - 1) * COUNT / size * 4);
    CHECK_INT(mw_communicator_finish(c, &err), MW_OK);
}

static void check_broadcast(mw_communicator *c, int root, size_t count)
{
    mw_error err = {0};
    size_t wrong = 0;
    float *data = malloc(count * sizeof *data);
    for (size_t i = 0; i < count; i++)
        data[i] = mw_communicator_get_info(c).rank == root ? value_of(root, i) : -1.0f;
    mw_communicator_broadcast(c, root, data, count * sizeof *data, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < count; i++)
        wrong += data[i] != value_of(root, i);
    CHECK_INT(wrong, 0);
    free(data);
}

static void test_broadcasts_and_records_reach_all(void)
{
    mw_error err = {0};
    mw_communicator *c = on_ranks_communicator();
    const int rank = mw_communicator_get_info(c).rank, size = mw_communicator_get_info(c).size;
    CHECK_INT(rank, on_ranks_rank());
    CHECK_INT(size, on_ranks_size());
    for (int root = 0; root < size; root++) {
        check_broadcast(c, root, 3);
        check_broadcast(c, root, 300001);
    }
    int records[16][3], wrong = 0;
    mw_communicator_gather(c, (int[3]){rank, rank * rank, -rank}, sizeof *records, records, &err);
    for (int from = 0; from < size; from++)
        wrong += records[from][0] != from || records[from][1] != from * from || records[from][2] != -from;
    CHECK_INT(wrong, 0);
    CHECK_INT(mw_communicator_finish(c, &err), MW_OK);
}

/* The tags of calls come again after 16383 of them; ranks run ahead of each other. */
static void test_many_calls_keep_their_order(void)
{
    enum { CALLS = 17000 };
    mw_error err = {0};
    mw_communicator *c = on_ranks_communicator();
    int wrong = 0;
    for (int i = 0; i < CALLS && err.status == MW_OK; i++) {
        int value = mw_communicator_get_info(c).rank == i % mw_communicator_get_info(c).size ? i : -1;
        mw_communicator_broadcast(c, i % mw_communicator_get_info(c).size, &value, sizeof value, &err);
        wrong += value != i;
    }
    CHECK_OK(err);
    CHECK_INT(wrong, 0);
    CHECK_INT(mw_communicator_finish(c, &err), MW_OK);
}

/* Messages of one meet no others, neither those of the program. */
static void test_communicators_do_not_hear_each_other(void)
{
    enum { COUNT = 40 };
    mw_error err = {0};
    mw_communicator *all[COUNT];
    const int rank = on_ranks_rank(), next = (rank + 1) % on_ranks_size();
    int letter = -1, wrong = 0;
    MPI_Request request;
    MPI_Isend(&rank, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < COUNT; i++)
        all[i] = on_ranks_communicator();
    for (int i = 0; i < COUNT; i++) {
        int value = rank == 0 ? i : -1;
        mw_communicator_broadcast(all[i], 0, &value, sizeof value, &err);
        wrong += value != i;
    }
    MPI_Recv(&letter, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_INT((letter + 1) % on_ranks_size(), rank);
    CHECK_INT(wrong, 0);
    CHECK_OK(err);
    for (int i = COUNT; i-- > 0;)
        CHECK_INT(mw_communicator_finish(all[i], &err), MW_OK);
}

/* Ranks of a part of all, counted from the last. */
static void test_a_communicator_of_some_ranks(void)
{
    mw_error err = {0};
    MPI_Comm part;
    const int rank = on_ranks_rank(), size = on_ranks_size();
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, size - rank, &part);
    MPI_Comm_set_errhandler(part, MPI_ERRORS_ARE_FATAL);
    mw_communicator *c = mw_communicator_create_mpi(part, &err);
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(part, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL); /* the program's is as it was */
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&part); /* ours is a duplicate */
    double sum = rank;
    mw_communicator_allreduce(c, &sum, 1, MW_F64, &err);
    double expected = 0.0;
    for (int i = rank % 2; i < size; i += 2)
        expected += i;
    CHECK(sum == expected);
    CHECK_INT(mw_communicator_finish(c, &err), MW_OK);
    CHECK_OK(err);
}

static void test_what_is_no_group_of_ranks_is_refused(void)
{
    mw_error err = {0};
    CHECK(mw_communicator_create_mpi(MPI_COMM_NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "MPI_COMM_NULL");
    CHECK(mw_communicator_create_mpi(MPI_COMM_WORLD, &err) == NULL); /* skipped */
    CHECK(mw_mpi_start(NULL, NULL, &err) == NULL);
    CHECK(mw_communicator_create_mpi(MPI_COMM_NULL, NULL) == NULL);
}

/* MPI is the program's: it goes on after the communicator. */
static void test_what_was_initialized_is_not_finalized(void)
{
    mw_error err = {0};
    int ended = 1;
    mw_communicator *c = mw_mpi_start(NULL, NULL, &err);
    CHECK_INT(mw_communicator_get_info(c).size, on_ranks_size());
    CHECK_INT(mw_communicator_finish(c, &err), MW_OK);
    MPI_Finalized(&ended);
    CHECK(!ended);
}

int main(int argc, char **argv)
{
    on_ranks_begin(&argc, &argv);
    RUN(test_sums_have_the_bits_of_the_order_of_ranks);
    RUN(test_no_more_than_the_bound_goes_over_the_wire);
    RUN(test_broadcasts_and_records_reach_all);
    RUN(test_many_calls_keep_their_order);
    RUN(test_communicators_do_not_hear_each_other);
    RUN(test_a_communicator_of_some_ranks);
    RUN(test_what_is_no_group_of_ranks_is_refused);
    RUN(test_what_was_initialized_is_not_finalized);
    return on_ranks_finish();
}
