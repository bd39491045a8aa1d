/* Short texts that say much: constants of one number, axes of very many blocks, parts that no tensor holds. */
#include "support/check.h"
#include "support/on_engine.h"

#include <stdlib.h>
#include <string.h>

enum { LONG = 40000 };

#define HEAD "program(1.3)\n[buildInfo = dict<string, string>({})]\n{ func main<ios18>("

static mw_program *compile_for(mw_device device, const char *text, mw_error *err)
{
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    mw_program *program = engine_compile(graph, device, 1, err);
    mw_graph_destroy(graph);
    return program;
}

static mw_program *compile(const char *text, mw_error *err) { return compile_for(MW_DEVICE_ANE, text, err); }

static void test_one_number_for_all_stays_one(void)
{
    static float x[LONG], y[LONG];
    mw_error err = {0};
    mw_program *program = compile(HEAD "tensor<fp32, [40000]> x) { tensor<fp32, [40000]> y = add(x = x, y = "
                                       "tensor<fp32, [40000]>(0x1.8p+1)); } -> (y); }",
                                  &err);
    for (int i = 0; i < LONG; i++)
        x[i] = (float)(i % 50);
    mw_program_write(program, "x", MW_F32, x, LONG, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, LONG, &err);
    if (CHECK_OK(err))
        CHECK(strstr(mw_program_get_info(program).mil, "BLOBFILE") == NULL);
    for (int i = 0; i < LONG; i++)
        CHECK(y[i] == x[i] + 3.0F);
    mw_program_destroy(program);
}

/* As many numbers as the text says: one, or one for each element. */
static void check_short_elements(bool listed)
{
    mw_error err = {0};
    char *text = malloc(LONG * 2 + 1000), *at = text;
    at += sprintf(at,
                  HEAD "fp32 x) { tensor<fp32, [40000]> y = cast(dtype = string(\"fp32\"), x = tensor<uint4, "
                       "[40000]>(%s",
                  listed ? "[1" : "3");
    for (int i = 1; listed && i < LONG; i++)
        at += sprintf(at, ",%d", i % 10);
    sprintf(at, "%s)); } -> (y); }", listed ? "]" : "");
    CHECK(compile(text, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_DTYPE);
    CHECK_CONTAINS(err.message, "uint4");
    free(text);
}

static void test_elements_shorter_than_a_byte_are_refused(void)
{
    check_short_elements(false);
    check_short_elements(true);
}

/* A literal in the argument, of a type that an fp16 port does not hold. */
static void test_one_narrow_integer_for_all_stays_one(void)
{
    enum { COUNT = 5001 };
    static float y[COUNT];
    const float x = 7.0F;
    mw_error err = {0};
    mw_program *program = compile(HEAD "tensor<int8, [1]> x) { tensor<int8, [5001]> y = concat(axis = int32(0), "
                                       "interleave = bool(false), values = (x, tensor<int8, [5000]>(3))); } -> (y); }",
                                  &err);
    mw_program_write(program, "x", MW_F32, &x, 1, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, COUNT, &err);
    if (CHECK_OK(err))
        CHECK(strstr(mw_program_get_info(program).mil, "BLOBFILE") == NULL);
    for (int i = 0; i < COUNT; i++)
        CHECK(y[i] == (i == 0 ? 7.0F : 3.0F));
    mw_program_destroy(program);
}

#define SLICE(count, stride)                                                                                           \
    HEAD "tensor<int32, [1]> b, tensor<int32, [1]> e, tensor<fp32, [7]> x) { tensor<fp32, [" count "]> y = "           \
         "slice_by_index(begin = b, end = e, stride = tensor<int32, [1]>([" stride "]), x = x); } -> (y); }"

static void test_parts_that_no_tensor_holds_are_refused(void)
{
    static const char *const texts[] = {SLICE("1099511627776", "2147483647"), SLICE("8589934592", "-2147483648"),
                                        SLICE("4611686018427387904", "4"), SLICE("4", "3"), SLICE("4", "-3")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int k = 0; k < 2; k++) {
            mw_error err = {0};
            CHECK(compile_for(k == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE, texts[i], &err) == NULL);
            CHECK(err.status != MW_OK && err.message[0] != 0);
        }
}

int main(void)
{
    RUN(test_one_number_for_all_stays_one);
    RUN(test_one_narrow_integer_for_all_stays_one);
    RUN(test_parts_that_no_tensor_holds_are_refused);
    RUN(test_elements_shorter_than_a_byte_are_refused);
    return check_finish();
}
