/* Sums inside of fusion groups, and chains of groups that run unit by unit: training steps give the bytes of steps
 * without fusion, at shapes whose runs, planes and units leave rests everywhere, on one lane and several. */
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 2

typedef mw_tensor *build(mw_tensor *x);

static mw_tensor *linear(mw_tensor *x) { return mw_batch_norm_layer(x, 0.1f, 1e-5f, "norm"); }

static mw_tensor *with_relu(mw_tensor *x) { return mw_relu(linear(x)); }
static mw_tensor *with_relu6(mw_tensor *x) { return mw_relu6(linear(x)); }
static mw_tensor *with_residual(mw_tensor *x) { return mw_relu(mw_add(linear(x), x)); }

/* Both the sums and another use need the masked gradient. */
static mw_tensor *with_two_branches(mw_tensor *x)
{
    mw_tensor *y = mw_relu(mw_add(linear(x), x));
    return mw_add(mw_relu(mw_batch_norm_layer(y, 0.1f, 1e-5f, "second")), mw_tanh(y));
}

static mw_tensor *layer_norm(mw_tensor *x) { return mw_gelu(mw_layer_norm_layer(x, 1, 1e-5f, "norm"), MW_GELU_TANH); }
static mw_tensor *rms_norm(mw_tensor *x) { return mw_add(mw_rms_norm_layer(x, 1, 1e-5f, "norm"), x); }
static mw_tensor *softmax(mw_tensor *x) { return mw_softmax(mw_mul_scalar(x, 3.0), -1); }
static mw_tensor *group_norm(mw_tensor *x) { return mw_silu(mw_group_norm_layer(x, 2, 1e-5f, "norm")); }

/* The mean over space is broadcast over it again. */
static mw_tensor *squeeze(mw_tensor *x)
{
    mw_tensor *mean = mw_reduce_mean(x, MW_AXES(2, 3), true);
    return mw_mul(x, mw_sigmoid(mean));
}

/* A number for each channel of each example in the group of the norm's sums, which are over channels. */
static mw_tensor *with_excite(mw_tensor *x) { return squeeze(mw_silu(linear(x))); }

typedef struct sums_case {
    const char *what;
    build *build;
    mw_shape shape;
    bool chain; /* on one lane, which is that of forward and backward pass as nothing else is between them */
} sums_case;

static const sums_case cases[] = {
    {"batch norm, runs of 63", linear, {4, {3, 5, 7, 9}}, true},
    {"batch norm and relu, runs beyond a tile", with_relu, {4, {4, 8, 23, 29}}, true},
    {"batch norm and relu, runs of 4, many units", with_relu, {4, {5, 132, 2, 2}}, true},
    {"batch norm and relu6", with_relu6, {4, {2, 6, 16, 33}}, true},
    {"batch norm and residual", with_residual, {4, {3, 12, 8, 11}}, true},
    {"batch norm of columns", with_relu, {2, {131, 20}}, false},
    {"batch norm of one plane", with_relu, {4, {1, 8, 19, 31}}, true},
    {"batch norm of single positions", with_relu, {4, {70, 9, 1, 1}}, false},
    {"two batch norms, the gradient used twice", with_two_branches, {4, {3, 8, 10, 7}}, true},
    {"batch norm over time", with_relu, {3, {4, 16, 41}}, true},
    {"batch norm, silu and excite, runs of 35", with_excite, {4, {3, 8, 5, 7}}, true},
    {"batch norm, silu and excite, runs beyond a tile", with_excite, {4, {4, 6, 23, 29}}, true},
    {"layer norm, short rows", layer_norm, {2, {130, 37}}, true},
    {"layer norm, rows beyond a tile", layer_norm, {2, {67, 601}}, true},
    {"layer norm, rank 3", layer_norm, {3, {9, 15, 64}}, true},
    {"rms norm", rms_norm, {2, {140, 48}}, true},
    {"softmax", softmax, {2, {96, 53}}, true},
    {"group norm", group_norm, {4, {6, 8, 5, 9}}, false},
    {"squeeze", squeeze, {4, {4, 8, 9, 9}}, false}};

static mw_trainer *make_trainer(const sums_case *c, const char *profile, int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, c->shape);
    mw_shape one = c->shape; /* its gradient is that of x, summed over the examples */
    one.dim[0] = 1;
    mw_tensor *scale = mw_parameter(graph, "scale", MW_F32, one, mw_init_uniform(0.5f, 1.5f));
    mw_tensor *y = c->build(mw_mul(x, scale));
    mw_tensor *loss = mw_reduce_mean(mw_square(mw_add_scalar(y, 0.25)), MW_ALL_AXES, false);
    mw_trainer *trainer =
        engine_trainer(loss, mw_sgd(0.1f), profile != NULL ? MW_DEVICE_ANE : MW_DEVICE_CPU, threads, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void train(mw_trainer *trainer, const sums_case *c, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(c->shape);
    float *x = calloc(count, sizeof *x);
    REQUIRE(x != NULL);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)((i * 7919) % 1009) / 500.0f - 0.9f;
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = count};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = (size_t)c->shape.dim[0]};
    for (int step = 0; step < STEPS; step++)
        mw_trainer_step(trainer, &batch, NULL, err);
    free(x);
}

/* One element for each of these a channel, or a column. */
static size_t vector_of(const sums_case *c)
{
    const bool last = c->shape.rank == 2 || strncmp(c->what, "layer", 5) == 0;
    return (size_t)c->shape.dim[last ? c->shape.rank - 1 : 1];
}

/* Parameters and states after some steps, in one piece of memory; how many numbers these are. */
static size_t state_of(const sums_case *c, const char *profile, int threads, const char *fuse, float *out)
{
    static const char *const names[] = {"norm.weight", "norm.bias",     "norm.running_mean", "norm.running_var",
                                        "second.bias", "second.weight", "second.running_var"};
    mw_error err = {0};
    size_t used = 0;
    setting_begin("MW_ENGINE_FUSE", fuse);
    setting_begin("MW_ENGINE_PROFILE", profile != NULL ? profile : "ieee");
    mw_trainer *trainer = make_trainer(c, profile, threads, &err);
    if (trainer != NULL) {
        train(trainer, c, &err);
        used = (size_t)(mw_shape_count(c->shape) / c->shape.dim[0]);
        mw_trainer_read(trainer, "scale", MW_F32, out, used, &err);
    }
    for (size_t i = 0; trainer != NULL && i < sizeof names / sizeof *names; i++) {
        mw_error absent = {0};
        if (mw_trainer_read(trainer, names[i], MW_F32, out + used, vector_of(c), &absent) == MW_OK)
            used += vector_of(c);
    }
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    setting_end("MW_ENGINE_PROFILE");
    setting_end("MW_ENGINE_FUSE");
    return used;
}

static void test_sums_in_groups_change_no_bit(void)
{
    enum { ROOM = 1 << 17 };
    static const char *const profiles[] = {NULL, "ieee", "h14"};
    static float fused[ROOM], plain[ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int threads = 1; threads <= 3; threads++)
            for (size_t k = 0; k < sizeof profiles / sizeof *profiles; k++) {
                const size_t count = state_of(&cases[i], profiles[k], threads, "1", fused);
                CHECK(count == state_of(&cases[i], profiles[k], threads, "0", plain));
                CHECK(count > 0);
                check_note(memcmp(fused, plain, count * sizeof *fused) == 0, __FILE__, __LINE__,
                           "%s, %d threads, profile %s: fused and plain differ", cases[i].what, threads,
                           profiles[k] != NULL ? profiles[k] : "none");
            }
}

/* Bits do not tell whether anything was joined. */
static void test_normalizations_run_as_chains(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        mw_trainer *trainer = make_trainer(&cases[i], NULL, 1, &err);
        REQUIRE(trainer != NULL);
        mw_plan *plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
        bool chain = false;
        mw_plan_step step;
        for (size_t s = 0; mw_plan_step_at(plan, s, &step); s++)
            chain = chain || strcmp(step.kernel, "fused.chain") == 0;
        check_note(chain || !cases[i].chain, __FILE__, __LINE__, "%s: there is no chain", cases[i].what);
        CHECK_OK(err);
        mw_plan_destroy(plan);
        mw_trainer_destroy(trainer);
    }
}

/* One mean for each pixel comes from one number for each example: nothing as large as x holds it. */
static void test_the_gradient_of_a_mean_is_not_materialized(void)
{
    mw_error err = {0};
    const sums_case c = {"squeeze", squeeze, {4, {4, 8, 9, 9}}, false};
    mw_trainer *trainer = make_trainer(&c, NULL, 1, &err);
    REQUIRE(trainer != NULL);
    mw_plan *plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
    mw_plan_step step;
    for (size_t s = 0; mw_plan_step_at(plan, s, &step); s++)
        CHECK(strcmp(step.kernel, "fill") != 0);
    CHECK_OK(err);
    mw_plan_destroy(plan);
    mw_trainer_destroy(trainer);
}

int main(void)
{
    RUN(test_sums_in_groups_change_no_bit);
    RUN(test_normalizations_run_as_chains);
    RUN(test_the_gradient_of_a_mean_is_not_materialized);
    return check_finish();
}
