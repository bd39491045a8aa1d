/* Tensors of files as constants of a graph: quantized blocks stay compressed, in forms whose numbers are those of the
 * expansion, to the last bit or within a bound that docs/tensors.md names; everything else is dense. */
#include "base/number/fp16.h"
#include "format/tensors/tensors.h"
#include "graph/constants/compressed.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/gguf_file.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 3, MOST = ROWS * 256 };

/* What each kind of blocks becomes. */
static const struct {
    const char *name;
    mw_dtype code;
    int part, columns;
    bool offsets;
    size_t bytes; /* of a block's worth of a fp32 constant */
} kinds[] = {
    {"Q4_0", MW_I4, 32, 32, false, 20},  {"Q4_1", MW_U4, 32, 32, true, 24},    {"Q5_0", MW_I8, 32, 32, false, 36},
    {"Q5_1", MW_I8, 32, 32, true, 40},   {"Q8_0", MW_I8, 32, 32, false, 36},   {"Q4_K", MW_U4, 32, 256, true, 192},
    {"Q5_K", MW_I8, 32, 256, true, 320}, {"Q6_K", MW_I8, 16, 256, false, 320},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *data_file(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/data/tensors/%s", MW_TESTS_DIR, name);
    return path;
}

static mw_graph *graph_of(mw_opset opset)
{
    mw_graph_options options = mw_graph_defaults();
    options.opset = opset;
    return mw_graph_create(&options, NULL);
}

static const mw__payload *operand(const mw_tensor *constant, const char *arg)
{
    const mw_tensor *value = mw__arg(constant->op, arg);
    return value != NULL ? value->payload : NULL;
}

/* ---- the numbers ---- */

/* The largest magnitude of the part that element i is in, of its minimum too: where q is 0. */
static double largest_of(const float *want, const mw__payload *offset, const mw__payload *scale, int part, int i)
{
    const int first = i / part * part;
    double largest = 0;
    for (int k = first; k < first + part; k++)
        largest = fmax(largest, fabs((double)want[k]));
    if (offset == NULL)
        return largest;
    const size_t at = (size_t)(i / part);
    return fmax(largest, fabs(mw__payload_float(offset, at) * mw__payload_float(scale, at)));
}

/* Elements against the expansion of the script that wrote the file; `relative` 0: equal bits. */
static void check_elements(const mw_tensor *constant, int k, const float *want, double relative, double absolute)
{
    mw_error err = {0};
    const mw__payload *all = mw__constant_payload(constant, &err);
    const mw__payload *offset = operand(constant, "offset"), *scale = operand(constant, "scale");
    REQUIRE(CHECK_OK(err) && all != NULL);
    for (int i = 0; i < ROWS * kinds[k].columns; i++) {
        const double got = mw__payload_float(all, (size_t)i);
        const double bound = relative * largest_of(want, offset, scale, kinds[k].part, i) + absolute;
        if (fabs(got - (double)want[i]) > bound) {
            check_note(false, __FILE__, __LINE__, "%s[%d] is %.9g, not %.9g", kinds[k].name, i, got, (double)want[i]);
            return;
        }
    }
}

static void check_form(const mw_tensor *constant, int k, mw_dtype dtype)
{
    const mw__payload *data = operand(constant, "data"), *scale = operand(constant, "scale");
    const mw__payload *offset = operand(constant, "offset");
    CHECK_STR(constant->op->kind, "constexpr_blockwise_shift_scale");
    CHECK(mw_tensor_dtype(constant) == dtype);
    CHECK(mw_shape_equal(mw_tensor_shape(constant), MW_SHAPE(ROWS, kinds[k].columns)));
    CHECK_INT(data->type->dtype, kinds[k].code);
    CHECK_INT(scale->type->dtype, dtype);
    CHECK(mw_shape_equal(scale->type->shape, MW_SHAPE(ROWS, kinds[k].columns / kinds[k].part)));
    CHECK((offset != NULL) == kinds[k].offsets);
    if (dtype == MW_F32)
        CHECK_INT(data->size + scale->size + (offset != NULL ? offset->size : 0), ROWS * kinds[k].bytes);
}

static bool is_rounded_scale(const char *name) { return strchr(name, 'K') != NULL; }

static void check_kinds(mw_dtype dtype)
{
    static float want[MOST];
    mw_error err = {0};
    FILE *floats = fopen(data_file("blocks.f32"), "rb");
    mw_tensors *tensors = mw_tensors_open(data_file("blocks.gguf"), &err);
    mw_graph *graph = graph_of(MW_IOS18);
    REQUIRE(CHECK_OK(err) && floats != NULL);
    for (int k = 0; k < KINDS; k++) {
        const size_t count = (size_t)(ROWS * kinds[k].columns);
        CHECK(fread(want, sizeof *want, count, floats) == count);
        const mw_tensor *constant = mw_tensors_constant(tensors, kinds[k].name, dtype, graph, &err);
        REQUIRE(CHECK_OK(err) && constant != NULL);
        check_form(constant, k, dtype);
        if (dtype == MW_F32) /* with a minimum: the offset, the sum and the product are rounded, 2^-24 each */
            check_elements(constant, k, want, kinds[k].offsets ? 3.01 * 0x1p-24 : 0.0, 0.0);
        else /* the element; and the scale, if it is a product (2^-11 each), times at most 32 codes of a subnormal */
            check_elements(constant, k, want, is_rounded_scale(kinds[k].name) ? 0x1.01p-10 : 0x1.01p-11,
                           is_rounded_scale(kinds[k].name) ? 32 * 0x1p-25 : 0x1p-25);
    }
    fclose(floats);
    mw_graph_destroy(graph);
    mw_tensors_destroy(tensors);
}

static void test_blocks_stay_compressed_with_the_numbers_of_the_expansion(void) { check_kinds(MW_F32); }

static void test_blocks_as_fp16_are_rounded_within_the_documented_bound(void) { check_kinds(MW_F16); }

/* ---- blocks by hand ---- */

static void put_half(unsigned char *at, float value)
{
    const uint16_t half = mw__fp16_from_float(value);
    at[0] = (unsigned char)(half & 255);
    at[1] = (unsigned char)(half >> 8);
}

/* The elements of one block as a constant; false with the error. */
static bool load_block(uint32_t type, const unsigned char *block, size_t size, int elements, mw_dtype dtype, float *out,
                       mw_error *err)
{
    const gguf_tensor_bytes tensor = {"w", type, 1, (uint64_t)elements, block, size};
    CHECK(put_gguf("block.gguf", &tensor, 1));
    mw_tensors *tensors = mw_tensors_open("block.gguf", err);
    mw_graph *graph = graph_of(MW_IOS18);
    const mw_tensor *constant = mw_tensors_constant(tensors, "w", dtype, graph, err);
    const mw__payload *all = constant != NULL ? mw__constant_payload(constant, err) : NULL;
    for (int i = 0; all != NULL && i < elements; i++)
        out[i] = (float)mw__payload_float(all, (size_t)i);
    CHECK((constant == NULL) == (err->status != MW_OK));
    CHECK_INT(mw_graph_check(graph, NULL), err->status);
    mw_graph_destroy(graph);
    mw_tensors_destroy(tensors);
    return all != NULL;
}

static void test_a_scale_of_zero_leaves_the_minimum(void)
{
    unsigned char block[144];
    float got[256];
    mw_error err = {0};
    memset(block, 0x5a, sizeof block);
    put_half(block, 0.0f);
    put_half(block + 2, 0.375f);
    if (CHECK(load_block(3, block, 20, 32, MW_F32, got, &err)))
        for (int i = 0; i < 32; i++)
            CHECK(got[i] == 0.375f);
    put_half(block, 0.5f);
    put_half(block + 2, 0.25f);
    memset(block + 4, 0, 12);
    block[4] = 0; /* scale and minimum of the first 32 */
    block[8] = 3;
    if (CHECK(load_block(12, block, 144, 256, MW_F32, got, &err)))
        for (int i = 0; i < 256; i++)
            CHECK(got[i] == (i < 32 ? -0.75f : 0.0f));
    /* fp16 rounds this scale to 0: 2^-24 times 0.4 */
    put_half(block, 0.0f);
    CHECK(load_block(2, block, 18, 32, MW_F16, got, &err));
    CHECK_OK(err);
    for (int i = 0; i < 32; i++)
        CHECK(got[i] == 0.0f);
}

static void test_numbers_that_are_not_finite_or_too_large_are_refused(void)
{
    unsigned char block[210] = {0};
    float got[256];
    mw_error err = {0};
    put_half(block, NAN);
    CHECK(!load_block(8, block, 34, 32, MW_F32, got, &err));
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "block.gguf\": element 0 of \"w\" is not finite");
    err = (mw_error){0};
    put_half(block, 1.0f);
    put_half(block + 2, INFINITY);
    CHECK(!load_block(3, block, 20, 32, MW_F32, got, &err));
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "element 0 of \"w\" is not finite");
    err = (mw_error){0};
    put_half(block, 600.0f);
    memset(block + 2, 0, 32);
    block[2 + 7] = 120;
    CHECK(load_block(8, block, 34, 32, MW_F32, got, &err) && got[7] == 72000.0f);
    CHECK(!load_block(8, block, 34, 32, MW_F16, got, &err));
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "element 7 of \"w\" is too large for fp16 (up to 65504)");
    /* a scale that fp16 does not hold, of codes that are all 0 */
    err = (mw_error){0};
    memset(block, 0, sizeof block);
    memset(block + 128, 0xaa, 64); /* q = 32 - 32 */
    memset(block + 192, 100, 16);
    put_half(block + 208, 1000.0f);
    CHECK(load_block(14, block, 210, 256, MW_F32, got, &err) && got[9] == 0.0f);
    CHECK(!load_block(14, block, 210, 256, MW_F16, got, &err));
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "element 0 of \"w\" is not finite");
}

/* ---- what is no block, and what is refused ---- */

static void test_other_tensors_become_dense_constants(void)
{
    static const char *const names[] = {"F32", "F16", "BF16", "I8"};
    mw_error err = {0};
    mw_tensors *tensors = mw_tensors_open(data_file("blocks.gguf"), &err);
    mw_graph *graph = graph_of(MW_IOS15);
    for (int k = 0; k < 4; k++) {
        float want[6];
        const mw_tensor *constant = mw_tensors_constant(tensors, names[k], MW_F32, graph, &err);
        mw_tensors_read(tensors, names[k], MW_F32, want, 6, &err);
        REQUIRE(CHECK_OK(err) && constant != NULL);
        CHECK_STR(constant->op->kind, "const");
        CHECK(memcmp(constant->payload->data, want, sizeof want) == 0);
    }
    mw_graph_destroy(graph);
    mw_tensors_destroy(tensors);
}

static void expect_refused(const char *name, mw_dtype dtype, mw_opset opset, mw_status status, const char *part)
{
    mw_error err = {0}, of_graph = {0};
    mw_tensors *tensors = mw_tensors_open(data_file("blocks.gguf"), &err);
    mw_graph *graph = graph_of(opset);
    CHECK(mw_tensors_constant(tensors, name, dtype, graph, &err) == NULL);
    CHECK_ERROR(err, status, part);
    mw_graph_check(graph, &of_graph);
    CHECK_STR(of_graph.message, err.message);
    mw_graph_destroy(graph);
    mw_tensors_destroy(tensors);
}

static void test_what_cannot_be_kept_is_refused_by_name(void)
{
    expect_refused("Q4_0", MW_F32, MW_IOS17, MW_ERROR_UNSUPPORTED,
                   "\"Q4_0\" (Q4_0) stays compressed from ios18 on, and the program is of ios17");
    expect_refused("Q6_K", MW_I32, MW_IOS18, MW_ERROR_DTYPE, "\"Q6_K\" (Q6_K) becomes a constant of fp32 or fp16");
    expect_refused("nothing", MW_F32, MW_IOS18, MW_ERROR_ARGUMENT, "has no tensor \"nothing\"");
    expect_refused(NULL, MW_F32, MW_IOS18, MW_ERROR_ARGUMENT, "has no tensor \"\"");
    mw_error err = {0};
    CHECK(mw_tensors_constant(NULL, "a", MW_F32, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the graph is NULL");
}

/* ---- in a program ---- */

/* y = x W' with a packed W against sums in double of what the script expanded. */
static void test_a_program_computes_with_blocks_that_stay(void)
{
    static float want[MOST];
    float x[2 * 256], y[2 * ROWS];
    FILE *floats = fopen(data_file("blocks.f32"), "rb");
    mw_error err = {0};
    REQUIRE(floats != NULL);
    mw_tensors *tensors = mw_tensors_open(data_file("blocks.gguf"), &err);
    for (int i = 0; i < 2 * 256; i++)
        x[i] = (float)(i * 37 % 19 - 9) / 8.0f;
    for (int k = 0; k < KINDS; k++) {
        const int columns = kinds[k].columns;
        mw_graph *graph = graph_of(MW_IOS18);
        mw_tensor *in = mw_input(graph, "x", MW_F32, MW_SHAPE(2, columns));
        mw_tensor *weight = mw_tensors_constant(tensors, kinds[k].name, MW_F32, graph, &err);
        mw_output(mw_matmul(in, weight, MW_TRANSPOSE_Y), "y");
        mw_compile_options options = mw_compile_defaults();
        options.provider = MW_PROVIDER_ENGINE;
        options.device = MW_DEVICE_CPU;
        mw_program *program = mw_program_create(graph, &options, &err);
        mw_program_write(program, "x", MW_F32, x, (size_t)(2 * columns), &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, 2 * ROWS, &err);
        CHECK_OK(err);
        CHECK(fread(want, sizeof *want, (size_t)(ROWS * columns), floats) == (size_t)(ROWS * columns));
        for (int n = 0; n < 2; n++)
            for (int o = 0; o < ROWS; o++) {
                double sum = 0, size = 0;
                for (int i = 0; i < columns; i++) {
                    sum += (double)x[n * columns + i] * (double)want[o * columns + i];
                    size += fabs((double)x[n * columns + i] * (double)want[o * columns + i]);
                }
                CHECK_NEAR((double)y[n * ROWS + o], sum, 1e-6 * size); /* sums of 256 products in fp32 */
            }
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
    fclose(floats);
    mw_tensors_destroy(tensors);
}

/* ---- memory ---- */

static void test_constants_survive_failing_allocations(void)
{
    bool finished = false;
    for (long n = 0; !finished && n < 500; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        mw_error err = {0};
        options.allocator = &allocator;
        mw_tensors *tensors = mw__tensors_open(&allocator, data_file("blocks.gguf"), &err);
        mw_graph *graph = err.status == MW_OK ? mw_graph_create(&options, NULL) : NULL;
        for (int k = 0; graph != NULL && k < KINDS; k++)
            CHECK((mw_tensors_constant(tensors, kinds[k].name, MW_F32, graph, &err) == NULL) == (err.status != MW_OK));
        finished = !failing.failed;
        CHECK(finished ? err.status == MW_OK : err.status == MW_ERROR_MEMORY || graph == NULL);
        mw_graph_destroy(graph);
        mw_tensors_destroy(tensors);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_blocks_stay_compressed_with_the_numbers_of_the_expansion);
    RUN(test_blocks_as_fp16_are_rounded_within_the_documented_bound);
    RUN(test_a_scale_of_zero_leaves_the_minimum);
    RUN(test_numbers_that_are_not_finite_or_too_large_are_refused);
    RUN(test_other_tensors_become_dense_constants);
    RUN(test_what_cannot_be_kept_is_refused_by_name);
    RUN(test_a_program_computes_with_blocks_that_stay);
    RUN(test_constants_survive_failing_allocations);
    folder_leave(folder);
    return check_finish();
}
