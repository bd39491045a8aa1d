/* Four times as much takes about four times as long: functions, outputs, parameters. */
#include "base/text/text.h"
#include "runtime/files.h"
#include "support/build_kind.h"
#include "support/check.h"
#include "support/growth.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

#define HEAD "program(1.0)\n{\n"
#define T    "        tensor<fp32, [2]> "

static void put_functions(mw__text *text, int n)
{
    mw__text_puts(text, HEAD);
    for (int i = 0; i < n; i++)
        mw__text_printf(text,
                        "    func f%d<ios16>(tensor<fp32, [2]> x) {\n" T
                        "y = relu(x = x)[name = tensor<string, []>(\"y\")];\n    } -> (y);\n",
                        i);
    mw__text_puts(text, "}\n");
}

static void put_outputs(mw__text *text, int n)
{
    mw__text_puts(text, HEAD "    func main<ios16>(tensor<fp32, [2]> x) {\n");
    for (int i = 0; i < n; i++)
        mw__text_printf(text, T "y%d = relu(x = x)[name = tensor<string, []>(\"y%d\")];\n", i, i);
    mw__text_puts(text, "    } -> (");
    for (int i = 0; i < n; i++)
        mw__text_printf(text, "%sy%d", i > 0 ? ", " : "", i);
    mw__text_puts(text, ");\n}\n");
}

static mw_graph *parse(growth_times *t, const mw__text *text, mw_error *err)
{
    const double begin = growth_seconds();
    mw_graph *graph = mw_graph_parse_mil(text->data, text->size, NULL, NULL, err);
    growth_note(t, "parse", begin);
    return graph;
}

static growth_times of_functions(int n)
{
    growth_times t = {0};
    mw_error err = {0};
    mw__text text;
    mw__text_init(&text, NULL);
    put_functions(&text, n);
    mw_graph *graph = parse(&t, &text, &err);
    double begin = growth_seconds();
    mw_graph_verify(graph, &err);
    growth_note(&t, "verify", begin);
    begin = growth_seconds();
    mw_string_free(mw_graph_print_mil(graph, NULL, &err));
    growth_note(&t, "print as MIL", begin);
    begin = growth_seconds();
    mw_string_free(mw_graph_print(graph, &err));
    growth_note(&t, "print", begin);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    mw__text_deinit(&text);
    return t;
}

static growth_times of_outputs(int n)
{
    growth_times t = {0};
    mw_error err = {0};
    mw__text text;
    mw__text_init(&text, NULL);
    put_outputs(&text, n);
    mw_graph *graph = parse(&t, &text, &err);
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    double begin = growth_seconds();
    mw_program *program = mw_program_create(graph, &options, &err);
    growth_note(&t, "compile", begin);
    begin = growth_seconds();
    for (int i = 0; i < n; i++) {
        char name[32];
        float y[2];
        snprintf(name, sizeof name, "y%d", i);
        mw_program_read(program, name, MW_F32, y, 2, &err);
    }
    growth_note(&t, "read outputs", begin);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    mw__text_deinit(&text);
    return t;
}

/* ---- training ---- */

static mw_graph *sum_of_parameters(int n, mw_tensor **out_loss)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 3)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(4));
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "w%d", i);
        mw_tensor *w = mw_parameter(graph, name, MW_F32, MW_SHAPE(3), mw_init_constant(0.001f));
        x = mw_add(x, w);
    }
    *out_loss = mw_cross_entropy(x, y);
    return graph;
}

static mw_trainer *create(growth_times *t, int n, mw_device device, mw_error *err)
{
    mw_tensor *loss;
    mw_graph *graph = sum_of_parameters(n, &loss);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_adamw(0.01f, 0.1f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = device;
    options.compile.threads = 1;
    const double begin = growth_seconds();
    mw_trainer *trainer = mw_trainer_create(&options, err);
    growth_note(t, "create a trainer", begin);
    mw_graph_destroy(graph);
    return trainer;
}

static growth_times of_parameters(int n)
{
    growth_times t = {0};
    mw_error err = {0};
    mw_trainer *trainer = create(&t, n, MW_DEVICE_CPU, &err);
    double begin = growth_seconds();
    mw_trainer_save(trainer, scratch("checkpoint"), NULL, &err);
    growth_note(&t, "save", begin);
    begin = growth_seconds();
    mw_trainer_load(trainer, scratch("checkpoint"), NULL, &err);
    growth_note(&t, "load", begin);
    mw_trainer_save_weights(trainer, scratch("weights"), &err);
    begin = growth_seconds();
    mw_trainer_load_weights(trainer, scratch("weights"), NULL, &err);
    growth_note(&t, "load weights", begin);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    return t;
}

/* fp16: beside the update stands the question whether each gradient is finite. */
static growth_times of_half_parameters(int n)
{
    growth_times t = {0};
    mw_error err = {0};
    mw_trainer *trainer = create(&t, n, MW_DEVICE_ANE, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    return t;
}

static void test_functions(void) { growth_check(of_functions, 2000); }
/* So many that neither size fits the caches; under sanitizers that would take minutes. */
enum {
    OUTPUTS = BUILD_IS_PLAIN ? 6000 : 2000,
    PARAMETERS = BUILD_IS_PLAIN ? 2000 : 800,
    HALF_PARAMETERS = BUILD_IS_PLAIN ? 1500 : 400
};

static void test_outputs(void) { growth_check(of_outputs, OUTPUTS); }
static void test_parameters(void) { growth_check(of_parameters, PARAMETERS); }
static void test_half_parameters(void) { growth_check(of_half_parameters, HALF_PARAMETERS); }

int main(void)
{
    RUN(test_functions);
    RUN(test_outputs);
    RUN(test_parameters);
    RUN(test_half_parameters);
    return check_finish();
}
