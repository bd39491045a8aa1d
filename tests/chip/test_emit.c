/* What the encoder writes is what compiler 4 wrote: the public files, byte for byte, given the strings in them that say
 * how they were compiled. */
#include "chip/hwx/hwx_file.h"
#include "chip/hwx/pack.h"
#include "support/check.h"

#include <stdlib.h>

#define FOLDER MW_SHARED_DATA "/hwx/tinygrad_ane_"

/* ---- what a public file carries beside the program ---- */

static uint32_t u32(const uint8_t *at) { return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24; }

static const uint8_t *find_command(const hwx_file *file, uint32_t kind)
{
    const uint8_t *at = file->data + 32;
    for (uint32_t i = 0; i < u32(file->data + 16); i++, at += u32(at + 4))
        if (u32(at) == kind)
            return at;
    return NULL;
}

static const char *ident_of(const hwx_file *file) { return (const char *)find_command(file, 8) + 8; }

/* The digits of the first symbol, K and 64 of them. */
static const char *kernel_of(const hwx_file *file)
{
    return (const char *)file->data + u32(find_command(file, 2) + 16) + 2;
}

static void compare(const hwx_file *file, const uint8_t *made, size_t size)
{
    size_t wrong = 0, first = 0;
    CHECK_INT(size, file->size);
    for (size_t i = 0; i < file->size && i < size; i++)
        if (made[i] != file->data[i] && wrong++ == 0)
            first = i;
    check_note(wrong == 0, __FILE__, __LINE__, "%zu bytes differ, the first at 0x%zx: 0x%08x, not 0x%08x", wrong, first,
               (unsigned)u32(made + first / 4 * 4), (unsigned)u32(file->data + first / 4 * 4));
}

static void check_equal(const char *name, const mw__emit_operation *op)
{
    char path[512];
    hwx_file file;
    snprintf(path, sizeof path, FOLDER "%s.hwx", name);
    if (!hwx_file_open(&file, path))
        SKIP("%s is not there", path);
    const bool kernel = op->kind == MW__EMIT_PRODUCT || op->kind == MW__EMIT_TABLE;
    const mw__hwx_names names = {"net", ident_of(&file), kernel ? kernel_of(&file) : NULL};
    mw__emit_program program;
    void *made = NULL;
    size_t size = 0;
    mw_error err = {0};
    CHECK(mw__emit_task(op, NULL, &program, &err) == MW_OK);
    CHECK_OK(err);
    CHECK(program.sampled);
    CHECK(mw__hwx_pack(op, &program, &names, &made, &size, &err) == MW_OK);
    CHECK_OK(err);
    if (made != NULL)
        compare(&file, made, size);
    mw__free(NULL, made);
    mw__free(NULL, program.constants);
    hwx_file_close(&file);
}

/* ---- element by element ---- */

static mw__emit_operation one_to_one(mw__emit_kind kind, mw__emit_extent extent)
{
    return (mw__emit_operation){
        .kind = kind, .inputs = {{"image", extent}}, .output = {"probs@output", extent}, .input_count = 1};
}

static void test_relu_of_77_is_the_public_file(void)
{
    const mw__emit_operation op = one_to_one(MW__EMIT_RELU, (mw__emit_extent){1, 1, 77});
    check_equal("ops_relu_dc54cc54", &op);
}

static void test_relu_of_16_is_the_public_file(void)
{
    const mw__emit_operation op = one_to_one(MW__EMIT_RELU, (mw__emit_extent){1, 1, 16});
    check_equal("ops_relu_d66a665b", &op);
}

static void test_sigmoid_of_77_is_the_public_file(void)
{
    const mw__emit_operation op = one_to_one(MW__EMIT_TABLE, (mw__emit_extent){1, 1, 77});
    check_equal("ops_sigmoid_7cc79341", &op);
}

static void test_sum_of_64_is_the_public_file(void)
{
    const mw__emit_extent extent = {64, 1, 1};
    const mw__emit_operation op = {.kind = MW__EMIT_PLANAR,
                                   .inputs = {{"image", extent}, {"image2", extent}},
                                   .output = {"probs@output", extent},
                                   .input_count = 2};
    check_equal("ops_sum_1b1855b8", &op);
}

static void check_concat(const char *name, int64_t channels)
{
    const mw__emit_operation op = {.kind = MW__EMIT_CONCAT,
                                   .inputs = {{"input_0", {channels, 1, 1}}, {"input_1", {16, 1, 1}}},
                                   .output = {"output@output", {channels + 16, 1, 1}},
                                   .input_count = 2};
    check_equal(name, &op);
}

static void test_concat_of_32_is_the_public_file(void) { check_concat("ops_concat_fb59e09a", 16); }
static void test_concat_of_16400_is_the_public_file(void) { check_concat("ops_concat_0f988933", 16384); }

/* ---- products ---- */

static void check_product(const char *name, int64_t inputs, int64_t outputs, const uint16_t *weights,
                          const uint16_t *bias)
{
    const mw__emit_operation op = {.kind = MW__EMIT_PRODUCT,
                                   .inputs = {{"image", {inputs, 1, 1}}},
                                   .output = {"probs@output", {outputs, 1, 1}},
                                   .input_count = 1,
                                   .kernel_h = 1,
                                   .kernel_w = 1,
                                   .weights = weights,
                                   .bias = bias};
    check_equal(name, &op);
}

static void check_gemm(const char *name, int64_t side)
{
    uint16_t *none = calloc((size_t)(side * side), sizeof *none);
    check_product(name, side, side, none, NULL);
    free(none);
}

static void test_gemm_of_64_is_the_public_file(void) { check_gemm("ops_gemm_ef7e5c24", 64); }
static void test_gemm_of_512_is_the_public_file(void) { check_gemm("ops_gemm_bc27a277", 512); }

static void test_conv_of_denormals_is_the_public_file(void)
{
    const uint16_t weights[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    check_product("ops_conv_8a6bd427", 3, 3, weights, NULL);
}

/* Its weights are read from the file, by place. */
static void test_conv_is_the_public_file(void)
{
    hwx_file file;
    uint16_t weights[9];
    if (!hwx_file_open(&file, FOLDER "ops_conv_ea5905f3.hwx"))
        SKIP("no ops_conv_ea5905f3.hwx");
    for (int i = 0; i < 9; i++)
        weights[i] = (uint16_t)u32(file.constants + 0x40 * (i / 3) + 2 * (i % 3));
    hwx_file_close(&file);
    check_product("ops_conv_ea5905f3", 3, 3, weights, NULL);
}

static void test_bias_alone_is_the_public_file(void)
{
    const uint16_t weights[6] = {0}, bias[2] = {0x3c00, 0x3c00};
    check_product("compiled_model_ee9d5b1b", 3, 2, weights, bias);
}

int main(void)
{
    RUN(test_relu_of_77_is_the_public_file);
    RUN(test_relu_of_16_is_the_public_file);
    RUN(test_sigmoid_of_77_is_the_public_file);
    RUN(test_sum_of_64_is_the_public_file);
    RUN(test_concat_of_32_is_the_public_file);
    RUN(test_concat_of_16400_is_the_public_file);
    RUN(test_gemm_of_64_is_the_public_file);
    RUN(test_gemm_of_512_is_the_public_file);
    RUN(test_conv_of_denormals_is_the_public_file);
    RUN(test_conv_is_the_public_file);
    RUN(test_bias_alone_is_the_public_file);
    return check_finish();
}
