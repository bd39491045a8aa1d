/* Trainers of several processes beside one that accumulates the same batches: the same bits. And beside one that has
 * all examples in one batch: the same numbers, but for the order of sums. */
#include "mpi/nets.h"
#include "mpi/on_ranks.h"

#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 20 };

typedef struct outcome {
    float losses[STEPS];
    float weights[784 * 256];
} outcome;

static int64_t batch_of(net_kind kind) { return kind == NET_MLP ? 16 : kind == NET_CNN ? 6 : 4; }

/* A loss is the mean of as many batches as an update has. */
static void train(const net *n, int64_t first, int64_t stride, int batches, outcome *out)
{
    mw_error err = {0};
    size_t count;
    mw_trainer *t = net_trainer(n, &err);
    net_batch *b = net_batch_create(n);
    for (int step = 0; step < STEPS && err.status == MW_OK; step++) {
        double sum = 0.0;
        for (int k = 0; k < batches; k++) {
            float loss = 0.0f;
            mw_trainer_step(t, net_batch_fill(b, first + (step * batches + k) * stride), &loss, &err);
            sum += (double)loss;
        }
        out->losses[step] = (float)(sum / batches);
    }
    const char *name = net_first_parameter(n->kind, &count);
    mw_trainer_read(t, name, MW_F32, out->weights, count, &err);
    CHECK_OK(err);
    net_batch_destroy(b);
    mw_trainer_destroy(t);
}

/* By rank 0 alone, while the others wait. */
static void train_alone(const net *like, int64_t batch, int batches, outcome *out)
{
    mw_error err = {0};
    mw_communicator *c = on_ranks_communicator();
    const net alone = {.kind = like->kind, .batch = batch, .accumulate = batches, .device = like->device, .seed = 1};
    mw_communicator_set_timeout(c, 100.0, &err);
    if (on_ranks_rank() == 0)
        train(&alone, 0, batch, batches, out);
    mw_communicator_broadcast(c, 0, out, sizeof *out, &err);
    CHECK_INT(mw_communicator_finish(c, &err), MW_OK);
}

static double largest_difference(const outcome *a, const outcome *b)
{
    double most = 0.0;
    for (int i = 0; i < STEPS; i++)
        most = fmax(most, fabs((double)a->losses[i] - (double)b->losses[i]));
    return most;
}

static void check_net(net_kind kind, mw_device device)
{
    mw_error err = {0};
    const int ranks = on_ranks_size();
    const int64_t batch = batch_of(kind);
    outcome *together = calloc(1, sizeof *together), *alone = calloc(1, sizeof *alone);
    net n = {.kind = kind, .batch = batch, .accumulate = 1, .device = device, .seed = 1 + (uint64_t)on_ranks_rank()};
    n.ranks = on_ranks_communicator();
    train(&n, on_ranks_rank() * batch, ranks * batch, 1, together);
    CHECK_INT(mw_communicator_finish(n.ranks, &err), MW_OK);
    train_alone(&n, batch, ranks, alone);
    CHECK(memcmp(together->losses, alone->losses, sizeof alone->losses) == 0);
    CHECK(memcmp(together->weights, alone->weights, sizeof alone->weights) == 0);
    CHECK(together->losses[STEPS - 1] < 0.9f * together->losses[0]);
    if (device == MW_DEVICE_CPU) {
        train_alone(&n, ranks * batch, 1, alone);
        CHECK_NEAR(largest_difference(together, alone), 0.0, 1e-6);
    }
    free(together);
    free(alone);
}

/* ---- parts of the optimizer's states ---- */

enum { FILE_MAX = 1 << 23 };

/* Trains and saves. */
static char *train_to_file(net *n, bool shards, size_t *out_size, outcome *out)
{
    mw_error err = {0};
    char path[] = "/tmp/mw_ranks_XXXXXX";
    n->shards = shards;
    n->ranks = on_ranks_communicator();
    const int made = on_ranks_rank() == 0 ? mkstemp(path) : -1;
    mw_communicator_broadcast(n->ranks, 0, path, sizeof path, &err);
    mw_trainer *t = net_trainer(n, &err);
    net_batch *b = net_batch_create(n);
    for (int step = 0; step < STEPS && err.status == MW_OK; step++)
        mw_trainer_step(t, net_batch_fill(b, (step * on_ranks_size() + on_ranks_rank()) * n->batch), &out->losses[step],
                        &err);
    mw_trainer_save(t, path, NULL, &err);
    char *bytes = malloc(FILE_MAX);
    FILE *f = fopen(path, "rb");
    *out_size = f != NULL ? fread(bytes, 1, FILE_MAX, f) : 0;
    if (f != NULL)
        fclose(f);
    net_batch_destroy(b);
    mw_trainer_destroy(t);
    CHECK_INT(mw_communicator_finish(n->ranks, &err), MW_OK);
    if (made >= 0) {
        close(made);
        unlink(path);
    }
    return bytes;
}

static void check_parts(net_kind kind, mw_device device)
{
    size_t size[2];
    outcome *of[2] = {calloc(1, sizeof **of), calloc(1, sizeof **of)};
    net n = {.kind = kind, .batch = batch_of(kind), .accumulate = 1, .device = device, .seed = 1};
    char *whole = train_to_file(&n, false, &size[0], of[0]), *parts = train_to_file(&n, true, &size[1], of[1]);
    CHECK(size[0] > 10000 && size[0] < FILE_MAX);
    CHECK(size[0] == size[1] && memcmp(whole, parts, size[0]) == 0);
    CHECK(memcmp(of[0]->losses, of[1]->losses, sizeof of[0]->losses) == 0);
    free(whole), free(parts), free(of[0]), free(of[1]);
}

static void test_parts_of_states_have_the_bits_of_whole_ones(void)
{
    check_parts(NET_MLP, MW_DEVICE_CPU);
    check_parts(NET_CNN, MW_DEVICE_ANE);
    check_parts(NET_CHARACTERS, MW_DEVICE_CPU);
}

static void test_mlp_has_the_bits_of_one_rank(void) { check_net(NET_MLP, MW_DEVICE_CPU); }
static void test_cnn_has_the_bits_of_one_rank(void) { check_net(NET_CNN, MW_DEVICE_CPU); }
static void test_transformer_has_the_bits_of_one_rank(void) { check_net(NET_CHARACTERS, MW_DEVICE_CPU); }
static void test_mlp_in_fp16_has_the_bits_of_one_rank(void) { check_net(NET_MLP, MW_DEVICE_ANE); }
static void test_cnn_in_fp16_has_the_bits_of_one_rank(void) { check_net(NET_CNN, MW_DEVICE_ANE); }
static void test_transformer_in_fp16_has_the_bits_of_one_rank(void) { check_net(NET_CHARACTERS, MW_DEVICE_ANE); }

int main(int argc, char **argv)
{
    on_ranks_begin(&argc, &argv);
    RUN(test_mlp_has_the_bits_of_one_rank);
    RUN(test_cnn_has_the_bits_of_one_rank);
    RUN(test_transformer_has_the_bits_of_one_rank);
    RUN(test_mlp_in_fp16_has_the_bits_of_one_rank);
    RUN(test_cnn_in_fp16_has_the_bits_of_one_rank);
    RUN(test_transformer_in_fp16_has_the_bits_of_one_rank);
    RUN(test_parts_of_states_have_the_bits_of_whole_ones);
    return on_ranks_finish();
}
