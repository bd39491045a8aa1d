/* Muon, step by step: against its paper in PyTorch (data/torch/muon_cases.py) in fp32 and fp16, its states, the scale
 * of the loss, and what is refused. */
#include "autograd/hashed.h"
#include "format/tensors/safetensors.h"
#include "support/check.h"

#include "base/number/fp16.h"
#include "runtime/trainer/object/trainer_access.h"
#include <millwright/millwright.h>
#include <stdlib.h>

enum { STEPS = 10, PARAMETERS = 5, ELEMENTS = 82 };

static const mw_shape shapes[PARAMETERS] = {{2, {6, 4}}, {2, {3, 5}}, {4, {2, 4, 2, 1}}, {2, {1, 7}}, {1, {20}}};

static const char *name_of(char start, int index)
{
    static char names[2][8];
    char *name = names[start == 'g'];
    snprintf(name, 8, "%c%d", start, index);
    return name;
}

/* loss = the sum over all parameters of p g / 256. */
static mw_tensor *make_loss(mw_graph *graph)
{
    mw_tensor *loss = NULL;
    for (int i = 0; i < PARAMETERS; i++) {
        mw_tensor *p = mw_parameter(graph, name_of('p', i), MW_F32, shapes[i], mw_init_zeros());
        mw_tensor *g = mw_input(graph, name_of('g', i), MW_F32, shapes[i]);
        mw_tensor *sum = mw_reduce_sum(mw_mul(p, g), MW_ALL_AXES, false);
        loss = loss == NULL ? sum : mw_add(loss, sum);
    }
    return mw_mul_scalar(loss, 1.0 / 256.0);
}

typedef struct muon_setting {
    mw_optimizer optimizer;
    mw_device device;
    float loss_scale;
    bool adamw; /* every parameter in such a group */
    int segments;
} muon_setting;

static mw_trainer *make_trainer(const muon_setting *s, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer_options options = mw_trainer_defaults(make_loss(graph), s->optimizer);
    mw_parameter_group group = mw_parameter_group_defaults("*");
    mw_parameter_group_set(&group, MW_GROUP_ADAMW, 1);
    options.groups = s->adamw ? &group : NULL;
    options.group_count = s->adamw;
    options.precision.loss_scale = s->loss_scale;
    options.memory.segments = s->segments;
    options.compile.device = s->device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    for (int i = 0; i < PARAMETERS && trainer != NULL; i++) {
        const size_t count = (size_t)mw_shape_count(shapes[i]);
        float *values = hashed_floats(count, 40 + (uint64_t)i, 1.0f, 0.0f);
        mw_trainer_write(trainer, name_of('p', i), MW_F32, values, count, err);
        free(values);
    }
    return trainer;
}

static void take_step(mw_trainer *trainer, int step, mw_error *err)
{
    float *values[PARAMETERS];
    mw_feed feeds[PARAMETERS];
    char names[PARAMETERS][8];
    for (int i = 0; i < PARAMETERS; i++) {
        const size_t count = (size_t)mw_shape_count(shapes[i]);
        values[i] = hashed_floats(count, 100 + 10 * (uint64_t)step + (uint64_t)i, ldexpf(256.0f, -(step % 4)), 0.0f);
        snprintf(names[i], sizeof names[i], "g%d", i);
        feeds[i] = (mw_feed){.name = names[i], .dtype = MW_F32, .data = values[i], .count = count};
    }
    mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = PARAMETERS, .examples = 1}, NULL, err);
    for (int i = 0; i < PARAMETERS; i++)
        free(values[i]);
}

static float element_of(const mw__state_entry *entry, size_t index)
{
    return entry->dtype == MW_F16 ? mw__fp16_to_float(((const uint16_t *)entry->data)[index])
                                  : ((const float *)entry->data)[index];
}

/* All parameters, with their second terms if they have any. */
static void read_all(mw_trainer *trainer, float out[ELEMENTS], mw_error *err)
{
    size_t at = 0;
    for (int i = 0; i < PARAMETERS; i++) {
        const size_t count = (size_t)mw_shape_count(shapes[i]);
        char low[16];
        snprintf(low, sizeof low, "p%d#low", i);
        const mw__state_entry *entry = mw__state_find(mw__trainer_state(trainer), low);
        mw_trainer_read(trainer, name_of('p', i), MW_F32, out + at, count, err);
        for (size_t k = 0; entry != NULL && k < count; k++)
            out[at + k] += element_of(entry, k) / 256.0f;
        at += count;
    }
}

/* ---- PyTorch ---- */

static double largest_error(const muon_setting *s, const float *wanted)
{
    mw_error err = {0};
    double off = 0.0;
    mw_trainer *trainer = make_trainer(s, &err);
    for (int step = 0; step < STEPS && trainer != NULL; step++) {
        float got[ELEMENTS];
        take_step(trainer, step, &err);
        read_all(trainer, got, &err);
        for (int i = 0; i < ELEMENTS; i++)
            off = fmax(off, fabs((double)got[i] - (double)wanted[step * ELEMENTS + i]));
    }
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    return trainer != NULL ? off : INFINITY;
}

static mw_optimizer with(mw_optimizer optimizer, mw_optimizer_number number, double value)
{
    CHECK(mw_optimizer_set(&optimizer, number, value));
    return optimizer;
}

static void check_variant(const mw__safetensors *file, const char *name, muon_setting s, double tolerance)
{
    mw_error err = {0};
    float wanted[STEPS * ELEMENTS];
    const mw__safetensors_tensor *tensor = mw__safetensors_find(file, name);
    REQUIRE(tensor != NULL && tensor->size == sizeof wanted);
    mw__safetensors_read(file, tensor, wanted, &err);
    for (int compensated = 0; compensated < 2; compensated++) {
        s.optimizer = with(s.optimizer, MW_OPTIMIZER_COMPENSATED, compensated);
        const double off = largest_error(&s, wanted);
        check_note(off <= tolerance, __FILE__, __LINE__, "%s, compensated %d: off by %.3g", name, compensated, off);
    }
    CHECK_OK(err);
}

static void check_variants(mw_device device, double tolerance)
{
    char path[512];
    mw__safetensors file;
    mw_error err = {0};
    const mw_optimizer usual = mw_muon(0.01f, 0.0f), decay = mw_muon(0.01f, 0.1f);
    mw_optimizer plain = with(usual, MW_OPTIMIZER_NESTEROV, 0);
    plain = with(plain, MW_OPTIMIZER_MOMENTUM, 0.8);
    snprintf(path, sizeof path, "%s/data/torch/muon.safetensors", MW_TESTS_DIR);
    REQUIRE(mw__safetensors_open(&file, mw__allocator_default(), path, &err) == MW_OK);
    CHECK_INT(file.count, 5);
    check_variant(&file, "match_rms", (muon_setting){usual, device, 0.0f, false, 0}, tolerance);
    check_variant(&file, "original", (muon_setting){with(usual, MW_OPTIMIZER_MATCH_RMS, 0), device, 0.0f, false, 0},
                  tolerance);
    check_variant(&file, "decay", (muon_setting){decay, device, 0.0f, false, 0}, tolerance);
    check_variant(&file, "plain", (muon_setting){plain, device, 0.0f, false, 0}, tolerance);
    check_variant(&file, "adamw", (muon_setting){decay, device, 0.0f, true, 0}, tolerance);
    mw__safetensors_close(&file);
}

static void test_every_variant_follows_the_paper_in_fp32(void) { check_variants(MW_DEVICE_CPU, 5e-7); }

/* Ten roundings of weights below 1/2, and a direction whose small singular values are off by more than 2^-11. */
static void test_every_variant_follows_the_paper_in_fp16(void) { check_variants(MW_DEVICE_ANE, 1e-3); }

/* ---- forms of a step ---- */

static void weights_of(const muon_setting *s, float out[ELEMENTS])
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(s, &err);
    for (int step = 0; step < STEPS && trainer != NULL; step++)
        take_step(trainer, step, &err);
    if (trainer != NULL)
        read_all(trainer, out, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

static void test_segments_and_devices_change_no_bit_and_the_loss_scale_little(void)
{
    for (int device = 0; device < 2; device++) {
        float plain[ELEMENTS], cut[ELEMENTS], scaled[ELEMENTS];
        muon_setting s = {.optimizer = mw_muon(0.01f, 0.1f), .device = device == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE};
        weights_of(&s, plain);
        s.segments = 2;
        weights_of(&s, cut);
        CHECK(memcmp(plain, cut, sizeof plain) == 0);
        s.segments = 0;
        s.loss_scale = 1024.0f; /* 1e-7 beside the norm counts less then */
        weights_of(&s, scaled);
        for (int i = 0; i < ELEMENTS; i++)
            CHECK_NEAR(scaled[i], plain[i], device == 0 ? 1e-5 : 2e-3);
    }
}

static void test_a_gradient_of_zeros_moves_no_weight(void)
{
    for (int device = 0; device < 2; device++) {
        mw_error err = {0};
        float before[ELEMENTS], after[ELEMENTS], zeros[ELEMENTS] = {0};
        const muon_setting s = {.optimizer = mw_muon(0.01f, 0.0f),
                                .device = device == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE};
        mw_trainer *trainer = make_trainer(&s, &err);
        REQUIRE(trainer != NULL);
        mw_feed feeds[PARAMETERS];
        char names[PARAMETERS][8];
        for (int i = 0; i < PARAMETERS; i++) {
            snprintf(names[i], sizeof names[i], "g%d", i);
            feeds[i] =
                (mw_feed){.name = names[i], .dtype = MW_F32, .data = zeros, .count = (size_t)mw_shape_count(shapes[i])};
        }
        read_all(trainer, before, &err);
        mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = PARAMETERS, .examples = 1}, NULL, &err);
        read_all(trainer, after, &err);
        CHECK_OK(err);
        CHECK(memcmp(before, after, sizeof before) == 0);
        mw_trainer_destroy(trainer);
    }
}

/* ---- states ---- */

static bool has_state(mw_trainer *trainer, int parameter, const char *state)
{
    char name[24];
    snprintf(name, sizeof name, "p%d#%s", parameter, state);
    return mw__state_find(mw__trainer_state(trainer), name) != NULL;
}

static void test_matrices_keep_one_state_and_vectors_those_of_adamw(void)
{
    for (int device = 0; device < 2; device++) {
        mw_error err = {0};
        const muon_setting s = {.optimizer = mw_muon(0.01f, 0.0f),
                                .device = device == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE};
        mw_trainer *trainer = make_trainer(&s, &err);
        REQUIRE(trainer != NULL);
        for (int i = 0; i < PARAMETERS; i++) {
            CHECK(has_state(trainer, i, "m"));
            CHECK(has_state(trainer, i, device == 0 ? "v" : "root") == (i >= 3));
        }
        mw_trainer_destroy(trainer);
    }
}

/* ---- what is refused ---- */

static void refuse_group(mw_optimizer optimizer, mw_parameter_group group, const char *part)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer_options options = mw_trainer_defaults(make_loss(graph), optimizer);
    options.groups = &group;
    options.group_count = 1;
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, part);
    mw_graph_destroy(graph);
}

static void test_groups_of_adamw_are_for_muon(void)
{
    mw_parameter_group group = mw_parameter_group_defaults("p0");
    CHECK(mw_parameter_group_set(&group, MW_GROUP_ADAMW, 1));
    refuse_group(mw_sgd(0.1f), group, "group \"p0\": adamw is for groups of mw_muon; this optimizer is sgd");
    CHECK(mw_parameter_group_set(&group, MW_GROUP_FROZEN, 1));
    refuse_group(mw_muon(0.1f, 0.0f), group, "is frozen: adamw has no effect");
    group = mw_parameter_group_defaults("p0");
    CHECK(!mw_parameter_group_set(&group, MW_GROUP_ADAMW, 2));
    refuse_group(mw_muon(0.1f, 0.0f), group, "adamw was set to 2; it must be 0 or 1");
}

int main(void)
{
    RUN(test_every_variant_follows_the_paper_in_fp32);
    RUN(test_every_variant_follows_the_paper_in_fp16);
    RUN(test_segments_and_devices_change_no_bit_and_the_loss_scale_little);
    RUN(test_a_gradient_of_zeros_moves_no_weight);
    RUN(test_matrices_keep_one_state_and_vectors_those_of_adamw);
    RUN(test_groups_of_adamw_are_for_muon);
    return check_finish();
}
