/* Tables with more rows than fp16 counts to, looked up by indices that were offset, limited or counted from the end
 * first, as imported programs do it: the model of the ANE finds the rows that the CPU finds, and trains them. */
#include "support/check.h"
#include "support/on_engine.h"

#include <stdlib.h>

enum { ROWS = 5000, COUNT = 12 };

#define I(text) "tensor<int32, [12]> " text ";"

typedef struct form {
    const char *name, *indices; /* makes j of i and k */
} form;

static const form forms[] = {
    {"as it is", I("j = identity(x = i)")},
    {"negative ones", "tensor<bool, [12]> n = less(x = i, y = int32(0));" I("a = add(x = i, y = int32(5000))")
                          I("j = select(a = a, b = i, cond = n)")},
    {"not negative", "tensor<bool, [12]> n = greater_equal(x = i, y = int32(0));" I("a = add(x = i, y = int32(5000))")
                         I("j = select(a = i, b = a, cond = n)")},
    {"offset", I("a = maximum(x = i, y = int32(0))") I("b = minimum(x = a, y = int32(4000))")
                   I("j = add(x = b, y = int32(777))")},
    {"limits", I("a = maximum(x = i, y = int32(255))") I("j = minimum(x = a, y = int32(4242))")},
    {"difference", I("a = maximum(x = i, y = int32(1000))") I("j = sub(x = a, y = int32(999))")},
    {"two inputs",
     I("a = maximum(x = i, y = int32(0))") I("b = minimum(x = a, y = int32(2600))") I("j = add(x = b, y = k)")},
    {"a table of several", "tensor<int32, [12]> o = const()[val = tensor<int32, [12]>([0, 400, 800, 1200, 1600, 2000, "
                           "2400, 2800, 3200, 3600, "
                           "4000, 4400])];" I("a = maximum(x = i, y = int32(0))")
                               I("b = minimum(x = a, y = int32(599))") I("j = add(x = b, y = o)")},
    {"the smaller", I("a = minimum(x = i, y = k)") I("j = maximum(x = a, y = int32(3))")},
    {"above", "tensor<bool, [12]> n = greater(x = i, y = k);" I("a = select(a = i, b = k, cond = n)")
                  I("j = maximum(x = a, y = int32(0))")},
    {"not above", "tensor<bool, [12]> n = less_equal(x = i, y = k);" I("a = select(a = i, b = k, cond = n)")
                      I("j = maximum(x = a, y = int32(0))")},
};
enum { FORMS = sizeof forms / sizeof *forms };

static const int32_t inputs[2][COUNT] = {{0, 1, -1, 255, 256, 257, 2047, 2048, 4999, -5000, -2049, 4096},
                                         {256, 1, 300, 255, 511, 0, 2300, 2047, 512, 1280, 2048, 2399}};

/* y = x[j] + 0 w, with a table that is 1, 2, 3 .. modulo 1021 in fp16's whole numbers. */
static mw_graph *make(const form *f, mw_error *err)
{
    char *text = malloc((size_t)ROWS * 12 + 4096);
    size_t at = (size_t)sprintf(text, "program(1.3)\n{func main<ios18>(tensor<int32, [12]> i, tensor<int32, [12]> k) {"
                                      "tensor<fp32, [5000, 1]> x = const()[val = tensor<fp32, [5000, 1]>([");
    for (int r = 0; r < ROWS; r++)
        at += (size_t)sprintf(text + at, r > 0 ? ", [%d]" : "[%d]", r % 1021 + 1);
    at +=
        (size_t)sprintf(text + at,
                        "])]; %s tensor<fp32, [12, 1]> y = gather(axis = int32(0), batch_dims = int32(0), indices = j, "
                        "validate_indices = bool(false), x = x);} -> (y);}",
                        f->indices);
    mw_graph *graph = mw_graph_parse_mil(text, at, NULL, NULL, err);
    free(text);
    return graph;
}

static void run(const mw_graph *graph, bool uses_k, mw_device device, float out[COUNT], mw_error *err)
{
    mw_program *program = engine_compile(graph, device, 1, err);
    mw_program_write(program, "i", MW_I32, inputs[0], COUNT, err);
    if (uses_k)
        mw_program_write(program, "k", MW_I32, inputs[1], COUNT, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, out, COUNT, err);
    mw_program_destroy(program);
}

static void test_the_ane_finds_the_rows_that_the_cpu_finds(void)
{
    for (size_t f = 0; f < FORMS; f++) {
        mw_error err = {0};
        float cpu[COUNT] = {0}, ane[COUNT] = {0};
        mw_graph *graph = make(&forms[f], &err);
        if (graph != NULL) {
            const bool uses_k = strstr(forms[f].indices, "= k") != NULL;
            run(graph, uses_k, MW_DEVICE_CPU, cpu, &err);
            run(graph, uses_k, MW_DEVICE_ANE, ane, &err);
        }
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", forms[f].name, err.message);
        for (int i = 0; i < COUNT; i++)
            check_note(cpu[i] == ane[i], __FILE__, __LINE__, "%s: of %d and %d %g, not %g", forms[f].name, inputs[0][i],
                       inputs[1][i], (double)ane[i], (double)cpu[i]);
        mw_graph_destroy(graph);
    }
}

/* One step of SGD on the sum of squares of what was looked up. */
static void train(const mw_graph *source, mw_device device, float *rows, mw_error *err)
{
    static const char *const patterns[] = {"x"};
    const mw_tune_options tune = mw_tune_defaults(patterns, 1);
    mw_graph *graph = mw_graph_trainable(source, &tune, err);
    mw_tensor *y = mw_graph_output_at(graph, 0);
    mw_tensor *loss = y != NULL ? mw_reduce_mean(mw_mul_scalar(mw_square(y), 0x1p-10), (mw_axes){0}, false) : NULL;
    mw_trainer *trainer = engine_trainer(loss, mw_sgd(0.5f), device, 1, err);
    const mw_feed feeds[] = {{"i", MW_I32, inputs[0], COUNT, 1.0f, 0.0f}, {"k", MW_I32, inputs[1], COUNT, 1.0f, 0.0f}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2};
    float out = 0;
    mw_trainer_step(trainer, &batch, &out, err);
    mw_trainer_read(trainer, "x", MW_F32, rows, ROWS, err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void test_the_ane_trains_the_rows_that_the_cpu_trains(void)
{
    float *rows = malloc(2 * ROWS * sizeof *rows);
    for (size_t f = 1; f < FORMS; f++) { /* as it is, an index below 0 is no row of the table */
        mw_error err = {0};
        mw_graph *graph = make(&forms[f], &err);
        memset(rows, 0, 2 * ROWS * sizeof *rows);
        if (graph != NULL) {
            train(graph, MW_DEVICE_CPU, rows, &err);
            train(graph, MW_DEVICE_ANE, rows + ROWS, &err);
        }
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", forms[f].name, err.message);
        for (int r = 0; r < ROWS; r++)
            check_note(fabsf(rows[r] - rows[ROWS + r]) <= 2e-3f * rows[r], __FILE__, __LINE__, "%s: row %d %g, not %g",
                       forms[f].name, r, (double)rows[ROWS + r], (double)rows[r]);
        mw_graph_destroy(graph);
    }
    free(rows);
}

int main(void)
{
    RUN(test_the_ane_finds_the_rows_that_the_cpu_finds);
    RUN(test_the_ane_trains_the_rows_that_the_cpu_trains);
    return check_finish();
}
