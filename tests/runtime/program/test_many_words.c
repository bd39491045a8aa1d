/* Rows of tables with more words than fp16 counts to, and longer than an axis of the chip: found, and trained. */
#include "runtime/model/words.h"
#include "support/check.h"

#include <millwright/inspect.h>
#include <stdlib.h>

enum { J = 15, D = 4 };

static float *make_table(int64_t words)
{
    float *table = malloc((size_t)words * D * sizeof *table);
    for (int64_t i = 0; table != NULL && i < words * D; i++)
        table[i] = words_value(i);
    return table;
}

/* ---- rows ---- */

static void check_rows(int64_t words, mw_chip chip)
{
    mw_error err = {0};
    int32_t ids[J];
    float rows[J * D] = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *input = mw_input(graph, "ids", MW_I32, MW_SHAPE(3, J / 3));
    mw_output(mw_embedding(input, words, D, "word"), "rows");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, chip);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    float *table = make_table(words);
    REQUIRE(CHECK_OK(err) && program != NULL && table != NULL);
    CHECK(words_longest_axis(mw_program_mil(program)) <= words_axis_max(chip));
    words_choose(words, ids, J, 0);
    mw_program_write(program, "word.weight", MW_F32, table, (size_t)words * D, &err);
    mw_program_write(program, "ids", MW_I32, ids, J, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "rows", MW_F32, rows, J * D, &err);
    CHECK_OK(err);
    for (int i = 0; i < J * D; i++)
        CHECK_NEAR(rows[i], table[(int64_t)ids[i / D] * D + i % D], 0.0);
    free(table);
    mw_program_destroy(program);
}

static void test_an_embedding_finds_every_row(void)
{
    for (int s = 0; s < WORDS_SIZES; s++)
        for (int c = 0; c < WORDS_CHIPS; c++)
            check_rows(words_sizes[s], words_chips[c]);
}

/* Every index around each digit, one by one: nothing but its own row. */
static void test_each_number_is_told_from_its_neighbors(void)
{
    enum { COUNT = 4096 + 3, ROWS = 4096 + 3 };
    static float table[ROWS], found[COUNT];
    static int32_t ids[COUNT];
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *input = mw_input(graph, "ids", MW_I32, MW_SHAPE(COUNT));
    mw_output(mw_gather(mw_parameter(graph, "t", MW_F32, MW_SHAPE(ROWS, 1), mw_init_zeros()), input, 0), "rows");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, MW_CHIP_AUTO);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    REQUIRE(CHECK_OK(err) && program != NULL);
    for (int i = 0; i < ROWS; i++) {
        table[i] = (float)(i % 2039) - 1000.0f; /* a prime: neighbors, and numbers a digit apart, differ */
        ids[i] = i;
    }
    mw_program_write(program, "t", MW_F32, table, ROWS, &err);
    mw_program_write(program, "ids", MW_I32, ids, COUNT, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "rows", MW_F32, found, COUNT, &err);
    CHECK_OK(err);
    CHECK_INT(memcmp(table, found, sizeof found), 0);
    mw_program_destroy(program);
}

/* ---- ports ---- */

static void test_a_port_of_digits_is_one_port_of_integers(void)
{
    mw_error err = {0};
    mw_port port;
    int32_t ids[2] = {50256, 7}, back[2] = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_embedding(mw_input(graph, "ids", MW_I32, MW_SHAPE(2)), 50257, D, "word"), "rows");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, MW_CHIP_H13);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    REQUIRE(CHECK_OK(err) && program != NULL);
    CHECK_INT(mw_program_port_count(program), 3);
    CHECK(mw_program_port_at(program, 0, &port) && port.dtype == MW_I32 && !port.is_output && !port.is_parameter);
    CHECK_STR(port.name, "ids");
    CHECK(mw_program_port_at(program, 1, &port) && port.dtype == MW_F16 && port.is_parameter);
    CHECK_STR(port.name, "word.weight");
    CHECK(mw_shape_equal(port.shape, MW_SHAPE(50257, D)));
    mw_program_write(program, "ids", MW_I32, ids, 2, &err);
    mw_program_read(program, "ids", MW_I32, back, 2, &err);
    CHECK_OK(err);
    CHECK_INT(memcmp(ids, back, sizeof ids), 0);
    ((int32_t *)mw_program_view(program, "ids", &err))[0] = 255; /* the memory itself, as for any other port */
    mw_program_run(program, &err);
    CHECK_OK(err);
    float rows[2 * D], table[D];
    mw_program_read(program, "rows", MW_F32, rows, 2 * D, &err);
    memcpy(table, mw_program_view(program, "rows", &err), sizeof(uint16_t) * D);
    const uint16_t *weight = mw_program_view(program, "word.weight", &err);
    REQUIRE(CHECK_OK(err) && weight != NULL);
    CHECK_INT(memcmp(table, weight + 255 * D, sizeof(uint16_t) * D), 0);
    mw_program_destroy(program);
}

static void test_a_word_that_there_is_not_is_refused_by_name(void)
{
    mw_error err = {0};
    const int32_t wrong[] = {50257, -1, 70000, 600000};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_embedding(mw_input(graph, "ids", MW_I32, MW_SHAPE(1)), 50257, D, "word"), "rows");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, MW_CHIP_AUTO);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    REQUIRE(CHECK_OK(err) && program != NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char number[32];
        snprintf(number, sizeof number, "is %d", (int)wrong[i]);
        err = (mw_error){0};
        CHECK_INT(mw_program_write(program, "ids", MW_I32, &wrong[i], 1, &err), MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"ids\" element 0");
        CHECK_CONTAINS(err.message, number);
    }
    mw_program_destroy(program);
}

/* A gather takes any number, and gives zeros for one outside; but two digits end somewhere. */
static void test_a_number_that_two_digits_cannot_hold_is_refused_by_name(void)
{
    mw_error err = {0};
    const int32_t most = 2048 * 256;
    float row[D] = {1.0f, 1.0f, 1.0f, 1.0f};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *table = mw_parameter(graph, "t", MW_F32, MW_SHAPE(5000, D), mw_init_constant(1.0f));
    mw_output(mw_gather(table, mw_input(graph, "ids", MW_I32, MW_SHAPE(1)), 0), "rows");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, MW_CHIP_AUTO);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    REQUIRE(CHECK_OK(err) && program != NULL);
    for (int sign = -1; sign <= 1; sign += 2) {
        const int32_t outside = sign * most, beyond = sign * (most + 1);
        mw_program_write(program, "ids", MW_I32, &outside, 1, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "rows", MW_F32, row, D, &err);
        CHECK_OK(err);
        CHECK_NEAR(row[0], 0.0, 0.0);
        mw_program_write(program, "ids", MW_I32, &beyond, 1, &err);
        CHECK_INT(mw_program_run(program, &err), MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"ids\" element 0");
        CHECK_CONTAINS(err.message, "two fp16 digits");
        err = (mw_error){0};
    }
    mw_program_destroy(program);
}

/* ---- the gradient ---- */

/* dtable[i] = sum of u[j] over j with ids[j] == i: repeated words add up. */
static void check_gradient(const mw_program *program, const float *gradient, int64_t words, const int32_t *ids,
                           const float *u, mw_chip chip)
{
    double *expected = calloc((size_t)words * D, sizeof *expected);
    size_t wrong = 0;
    REQUIRE(expected != NULL);
    for (int j = 0; j < J; j++)
        for (int d = 0; d < D; d++)
            expected[(int64_t)ids[j] * D + d] += (double)u[j * D + d];
    for (int64_t i = 0; i < words * D; i++)
        wrong += (double)gradient[i] != words_half(expected[i]); /* a sum of few bits is exact in fp16 */
    CHECK_INT(wrong, 0);
    CHECK(words_longest_axis(mw_program_mil(program)) <= words_axis_max(chip));
    free(expected);
}

static void check_gradient_of(int64_t words, mw_chip chip)
{
    mw_error err = {0};
    int32_t ids[J];
    float u[J * D];
    mw_tensor *gradient = NULL;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *rows = mw_embedding(mw_input(graph, "ids", MW_I32, MW_SHAPE(J)), words, D, "word");
    mw_tensor *weight = mw_graph_find(graph, "word.weight"), *seed = mw_input(graph, "u", MW_F32, MW_SHAPE(J, D));
    mw_vjp(&rows, &seed, 1, &weight, 1, &gradient, &err);
    mw_output(gradient, "gradient");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, chip);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    float *found = calloc((size_t)words * D, sizeof *found);
    REQUIRE(CHECK_OK(err) && program != NULL && found != NULL);
    words_choose(words, ids, J, 0);
    ids[1] = ids[J - 1] = ids[0];
    for (int i = 0; i < J * D; i++)
        u[i] = words_value(i * 5 + 3);
    mw_program_write(program, "ids", MW_I32, ids, J, &err);
    mw_program_write(program, "u", MW_F32, u, J * D, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "gradient", MW_F32, found, (size_t)words * D, &err);
    CHECK_OK(err);
    check_gradient(program, found, words, ids, u, chip);
    free(found);
    mw_program_destroy(program);
}

static void test_the_gradient_of_a_table_adds_up_at_its_rows(void)
{
    for (int s = 0; s < WORDS_SIZES; s++)
        for (int c = 0; c < WORDS_CHIPS; c++)
            check_gradient_of(words_sizes[s], words_chips[c]);
}

static void test_the_gradient_agrees_with_differences(void)
{
    mw_error err = {0};
    int32_t ids[J];
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *rows = mw_embedding(mw_input(graph, "ids", MW_I32, MW_SHAPE(3, J / 3)), 50257, D, "word");
    mw_tensor *y = mw_reduce_sum(mw_tanh(rows), MW_AXES(0, 1), false), *weight = mw_graph_find(graph, "word.weight");
    words_choose(50257, ids, J, 0);
    const mw_feed feed = words_feed_ints("ids", ids, J);
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 3};
    mw_gradcheck_options options = mw_gradcheck_defaults(y, &weight, 1);
    options.batch = &batch;
    options.elements = 8;
    options.directions = 2;
    options.compile = words_compile(MW_DEVICE_ANE, MW_CHIP_H13);
    mw_gradcheck_run(&options, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

/* ---- ports that stay on the device ---- */

/* x' = x + 1 in the memory of x, which the chip holds in pieces. */
static void test_an_output_may_be_the_next_input(void)
{
    enum { LONG = 16385, RUNS = 3 };
    static float x[LONG * 2];
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_add_scalar(mw_input(graph, "x", MW_F32, MW_SHAPE(LONG, 2)), 1.0), "y");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, MW_CHIP_H13);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    REQUIRE(CHECK_OK(err) && program != NULL);
    mw_program_alias(program, "y", "x", &err);
    for (int i = 0; i < LONG * 2; i++)
        x[i] = words_value(i);
    mw_program_write(program, "x", MW_F32, x, LONG * 2, &err);
    for (int i = 0; i < RUNS; i++)
        mw_program_run(program, &err);
    mw_program_read(program, "x", MW_F32, x, LONG * 2, &err);
    CHECK_OK(err);
    for (int i = 0; i < LONG * 2; i++)
        REQUIRE(CHECK_NEAR(x[i], words_value(i) + RUNS, 0.0));
    mw_program_destroy(program);
}

/* Blocks of a later axis are copies. */
static void test_ports_that_are_copied_are_not_shared(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_add_scalar(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 16385)), 1.0), "y");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, MW_CHIP_H13);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    REQUIRE(CHECK_OK(err) && program != NULL);
    CHECK_INT(mw_program_alias(program, "y", "x", &err), MW_ERROR_UNSUPPORTED);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "let the long axis be the first");
    mw_program_destroy(program);
}

static void test_a_chip_that_there_is_not_is_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_input(graph, "x", MW_F32, MW_SHAPE(2)), "y");
    mw_compile_options options = words_compile(MW_DEVICE_ANE, MW_CHIP_AUTO);
    options.chip = (mw_chip)10;
    CHECK(mw_program_create(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "unknown chip 10");
    mw_error_clear(&err);
    options.chip = MW_CHIP_H12;
    CHECK(mw_program_create(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "chip h12 runs no MIL");
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_an_embedding_finds_every_row);
    RUN(test_each_number_is_told_from_its_neighbors);
    RUN(test_a_port_of_digits_is_one_port_of_integers);
    RUN(test_a_word_that_there_is_not_is_refused_by_name);
    RUN(test_a_number_that_two_digits_cannot_hold_is_refused_by_name);
    RUN(test_the_gradient_of_a_table_adds_up_at_its_rows);
    RUN(test_the_gradient_agrees_with_differences);
    RUN(test_an_output_may_be_the_next_input);
    RUN(test_ports_that_are_copied_are_not_shared);
    RUN(test_a_chip_that_there_is_not_is_refused);
    return check_finish();
}
