/* What a model that was read takes of memory, beside its graph: at most 1.3 times its weight file and its activations.
 */
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"

#include <millwright/millwright.h>

#include <stdlib.h>
#include <sys/stat.h>

enum { WIDTH = 1536, CHANNELS = 384, TOKENS = 4 };

static mw_tensor *stored(mw_graph *graph, mw_dtype dtype, mw_shape shape)
{
    const size_t size = (size_t)mw_shape_count(shape) * (size_t)mw_dtype_bits(dtype) / 8;
    unsigned char *data = malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)(dtype == MW_F16 && i % 2 == 1 ? 0x20 | (i & 7) : i * 37 + i / 255);
    mw_tensor *tensor = mw_constant(graph, dtype, shape, data);
    free(data);
    return tensor;
}

static mw_tensor *weight(mw_graph *graph, mw_dtype dtype, mw_shape shape)
{
    mw_shape scales = shape;
    for (int i = 1; i < shape.rank; i++)
        scales.dim[i] = 1;
    if (dtype == MW_F16)
        return stored(graph, dtype, shape);
    return mw_constexpr_blockwise_shift_scale(stored(graph, dtype, shape), stored(graph, MW_F16, scales), NULL);
}

static void write_model(void *user)
{
    const mw_dtype dtype = *(const mw_dtype *)user;
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *words = mw_input(graph, "words", MW_I32, MW_SHAPE(TOKENS));
    mw_tensor *h = mw_gather(weight(graph, dtype, MW_SHAPE(2048, WIDTH)), words, 0);
    for (int i = 0; i < 4; i++)
        h = mw_tanh(mw_linear(h, weight(graph, dtype, MW_SHAPE(WIDTH, WIDTH)), NULL));
    h = mw_reshape(h, MW_SHAPE(1, CHANNELS, 4, 4));
    h = mw_conv(h, weight(graph, dtype, MW_SHAPE(CHANNELS, CHANNELS, 3, 3)), NULL, NULL);
    mw_output(mw_cast(h, MW_F32), "y");
    CHECK(mw_graph_write(graph, "model", NULL, &err) == MW_OK);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

/* Linears over rows of which there may be any number, with fp32 weights: those that are used where they lie. */
static void write_open(void *user)
{
    (void)user;
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(MW_DIM_UNKNOWN, WIDTH));
    for (int i = 0; i < 3; i++)
        h = mw_linear(h, stored(graph, MW_F32, MW_SHAPE(WIDTH, WIDTH)), NULL);
    mw_output(h, "y");
    CHECK(mw_graph_write(graph, "model", NULL, &err) == MW_OK);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static mw_program *compile(const mw_graph *graph, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_CPU;
    return mw_program_create(graph, &options, err);
}

/* The library's pages, those of a BLAS and the stacks of threads are no part of a model. */
static void run_something(void)
{
    enum { SIDE = 512 };
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(SIDE, SIDE));
    mw_output(mw_matmul(x, x, MW_TRANSPOSE_NONE), "y");
    mw_program *program = compile(graph, &err);
    CHECK(mw_program_run(program, &err) == MW_OK);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void run_model(void *user)
{
    const mw_dtype dtype = *(const mw_dtype *)user;
    const int32_t words[TOKENS] = {5, 2047, 1};
    struct stat file = {0};
    mw_error err = {0};
    CHECK(stat("model/weights/weight.bin", &file) == 0 && file.st_size > 5 << 20);
    run_something();
    const long long before = child_peak_bytes();
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    mw_program *program = compile(graph, &err);
    mw_program_write(program, "words", MW_I32, words, TOKENS, &err);
    for (int i = 0; i < 2; i++)
        CHECK(mw_program_run(program, &err) == MW_OK);
    CHECK_OK(err);
    const double peak = (double)(child_peak_bytes() - before), most = 1.3 * (double)file.st_size;
    check_note(peak <= most && peak > 0.2 * (double)file.st_size, __FILE__, __LINE__,
               "%s: %.1f MB for a file of %.1f MB", mw_dtype_name(dtype), peak / 1e6, (double)file.st_size / 1e6);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void run_shapes(void *user)
{
    (void)user;
    struct stat file = {0};
    mw_error err = {0};
    CHECK(stat("model/weights/weight.bin", &file) == 0 && file.st_size > 20 << 20);
    run_something();
    const long long before = child_peak_bytes();
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    mw_program *program = compile(graph, &err);
    for (int64_t rows = 1; rows <= 4; rows++) {
        const mw_input_shape shape = {"x", MW_SHAPE(rows, WIDTH)};
        CHECK(mw_program_set_shapes(program, &shape, 1, &err) == MW_OK);
        CHECK(mw_program_run(program, &err) == MW_OK);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    const double peak = (double)(child_peak_bytes() - before);
    check_note(peak <= 1.3 * (double)file.st_size, __FILE__, __LINE__, "%.1f MB for a file of %.1f MB", peak / 1e6,
               (double)file.st_size / 1e6);
}

/* A state of 32 MB that each run replaces: what its next value would have had for itself is never touched. */
static void run_state(void *user)
{
    (void)user;
    enum { ROWS = 2048, COLUMNS = 4096 };
    mw_error err = {0};
    float first = 0.0f;
    run_something();
    const long long before = child_peak_bytes();
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *state = mw_state(graph, "state", MW_F32, MW_SHAPE(ROWS, COLUMNS), mw_init_constant(1.0f));
    mw_output(mw_add_scalar(state, 1.0), "next");
    mw_output(mw_slice_by_size(state, (int64_t[]){0, 0}, (int64_t[]){1, 1}), "first");
    mw_program *program = compile(graph, &err);
    mw_program_alias(program, "next", "state", &err);
    for (int i = 0; i < 3; i++)
        CHECK(mw_program_run(program, &err) == MW_OK);
    mw_program_read(program, "first", MW_F32, &first, 1, &err);
    CHECK_OK(err);
    CHECK(first == 3.0f);
    const double peak = (double)(child_peak_bytes() - before), size = (double)ROWS * COLUMNS * sizeof(float);
    check_note(peak <= 1.3 * size && peak > 0.8 * size, __FILE__, __LINE__, "%.1f MB for a state of %.1f MB",
               peak / 1e6, size / 1e6);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* A cache of 32 MB that starts at zeros and is filled token by token in place, and attention over the tokens that are
 * there: the rest of it is neither written nor read. */
static void run_cache(void *user)
{
    (void)user;
    enum { HEADS = 64, LENGTH = 2048, INNER = 64, STEPS = 3 };
    mw_error err = {0};
    run_something();
    const long long before = child_peak_bytes();
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *row = mw_input(graph, "row", MW_F32, MW_SHAPE(1, HEADS, 1, INNER));
    mw_tensor *begin = mw_input(graph, "begin", MW_I32, MW_SHAPE(4)), *at = mw_input(graph, "at", MW_I32, MW_SHAPE(1));
    mw_tensor *cache = mw_state(graph, "cache", MW_F32, MW_SHAPE(1, HEADS, LENGTH, INNER), mw_init_zeros());
    mw_tensor *next = mw_output(mw_slice_update_at(cache, row, begin), "next");
    mw_tensor *seen = mw_less_equal(mw_range_1d(graph, MW_I32, 0.0, LENGTH, 1.0), at);
    mw_output(mw_scaled_dot_product_attention(row, next, next, mw_reshape(seen, MW_SHAPE(1, 1, 1, LENGTH))), "y");
    mw_program *program = compile(graph, &err);
    mw_program_alias(program, "next", "cache", &err);
    static float tokens[HEADS * INNER], y[HEADS * INNER];
    for (int32_t step = 0; step < STEPS; step++) {
        for (int i = 0; i < HEADS * INNER; i++)
            tokens[i] = (float)(step + 1);
        mw_program_write(program, "row", MW_F32, tokens, HEADS * INNER, &err);
        mw_program_write(program, "begin", MW_I32, (int32_t[]){0, 0, step, 0}, 4, &err);
        mw_program_write(program, "at", MW_I32, &step, 1, &err);
        CHECK(mw_program_run(program, &err) == MW_OK);
    }
    mw_program_read(program, "y", MW_F32, y, HEADS * INNER, &err);
    CHECK_OK(err);
    /* scores 8 * 3 * (1, 2, 3): all but exp(-24) is the last token's */
    CHECK_NEAR(y[0], 3.0, 1e-6);
    CHECK_NEAR(y[HEADS * INNER - 1], 3.0, 1e-6);
    const double peak = (double)(child_peak_bytes() - before), size = (double)HEADS * LENGTH * INNER * sizeof(float);
    check_note(peak <= 0.15 * size, __FILE__, __LINE__, "%.1f MB for 3 of %d tokens of a cache of %.1f MB", peak / 1e6,
               LENGTH, size / 1e6);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_a_cache_takes_memory_as_it_is_filled(void) { child_check(run_cache, NULL); }

static void test_a_state_that_is_replaced_in_place_takes_its_memory_once(void) { child_check(run_state, NULL); }

static void test_plans_of_several_shapes_share_the_weights(void)
{
    child_check(write_open, NULL);
    child_check(run_shapes, NULL);
    folder_empty("model");
}

static void test_a_model_takes_little_more_than_its_weights(void)
{
    static mw_dtype forms[] = {MW_F16, MW_I8, MW_I4};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        child_check(write_model, &forms[i]);
        child_check(run_model, &forms[i]);
        folder_empty("model");
    }
}

int main(void)
{
    char folder[512];
    if (child_is_sanitized() || !child_can_limit_addresses()) {
        check_skip("the peak is not ours under sanitizers and emulators");
        return check_finish();
    }
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_model_takes_little_more_than_its_weights);
    RUN(test_plans_of_several_shapes_share_the_weights);
    RUN(test_a_state_that_is_replaced_in_place_takes_its_memory_once);
    RUN(test_a_cache_takes_memory_as_it_is_filled);
    folder_leave(folder);
    return check_finish();
}
