/* The step program: forward, backward and update in one MIL function, as a golden that a reviewer can read.
 * MW_UPDATE_GOLDENS=1 writes it anew. */
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>

static const char golden_path[] = MW_TESTS_DIR "/data/mil/step_mlp.mil";

static mw_trainer *make_trainer(mw_device device, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 3));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(4));
    mw_tensor *h = mw_gelu(mw_dense(x, 5, "fc1"), MW_GELU_TANH);
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(mw_dense(h, 2, "fc2"), y), mw_adam(1e-3f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = device;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (file != NULL) {
        size_t size = fread(text, 1, (1 << 20) - 1, file);
        text[size] = '\0';
        fclose(file);
    }
    return text;
}

static void write_all(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

static void test_step_program_is_the_golden(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(MW_DEVICE_ANE, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const char *text = mw_program_get_info(mw_trainer_program(trainer)).mil;
    if (getenv("MW_UPDATE_GOLDENS") != NULL)
        write_all(golden_path, text);
    char *golden = read_all(golden_path);
    CHECK_STR(text, golden);
    free(golden);
    mw_trainer_destroy(trainer);
}

static void test_golden_reads_back_to_the_identical_text(void)
{
    mw_error err = {0};
    char *golden = read_all(golden_path);
    mw_graph *graph = mw_graph_parse_mil(golden, strlen(golden), NULL, NULL, &err);
    mw_graph_verify(graph, &err);
    char *again = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    CHECK_OK(err);
    if (again != NULL)
        CHECK_STR(again, golden);
    mw_string_free(again);
    mw_graph_destroy(graph);
    free(golden);
}

/* 4 parameters, each with m and v, make 12 states; the loss and the ok flag come on top. */
static void check_ports(mw_device device)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(device, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const mw_program *program = mw_trainer_program(trainer);
    int outputs = 0, parameters = 0;
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        outputs += port.is_output;
        parameters += port.is_parameter && !port.is_output;
    }
    CHECK_INT(outputs, 14);
    CHECK_INT(parameters, 4);
    const char *text = mw_program_get_info(program).mil, *first = strstr(text, "func ");
    CHECK(first != NULL && strstr(first + 1, "func ") == NULL);
    mw_trainer_destroy(trainer);
}

static void test_step_is_one_function_with_every_state_as_output(void)
{
    check_ports(MW_DEVICE_CPU);
    check_ports(MW_DEVICE_ANE);
}

int main(void)
{
    RUN(test_step_is_one_function_with_every_state_as_output);
    RUN(test_step_program_is_the_golden);
    RUN(test_golden_reads_back_to_the_identical_text);
    return check_finish();
}
