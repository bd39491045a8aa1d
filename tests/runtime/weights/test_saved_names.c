/* What a graph takes as a name is what a file can hold: asked of the writer and the reader of files themselves. */
#include "base/text/name.h"
#include "format/tensors/safetensors.h"
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"

#include <stdlib.h>

/* True if a file with a tensor of this name can be written, read and searched. */
static bool can_be_saved(const char *name)
{
    const float value = 1.5f;
    const mw__safetensors_item item = {name, MW_F32, MW_SHAPE(1), &value};
    if (mw__safetensors_write(NULL, scratch("names"), NULL, 0, &item, 1, NULL) != MW_OK)
        return false;
    mw__safetensors file;
    const bool found = mw__safetensors_open(&file, NULL, scratch("names"), NULL) == MW_OK && file.count == 1 &&
                       mw__safetensors_find(&file, name) != NULL;
    mw__safetensors_close(&file);
    return found;
}

static uint32_t next(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

/* Short names of bytes that are likely to break something. */
static void test_names_that_are_taken_are_those_that_can_be_saved(void)
{
    static const unsigned char bytes[] = {'a',  '.',  '"',  '\\', '/',  ' ',  0x01, 0x0a, 0x1b, 0x1f, 0x7f,
                                          0x80, 0x85, 0xbf, 0xc2, 0xc3, 0xe2, 0xed, 0xa0, 0xf0, 0x9f, 0xff};
    uint32_t state = 7;
    int taken = 0, refused = 0;
    for (int i = 0; i < 4000; i++) {
        char name[8] = "";
        const size_t length = 1 + (next(&state) >> 16) % 4;
        for (size_t k = 0; k < length; k++)
            name[k] = (char)bytes[(next(&state) >> 16) % sizeof bytes];
        const bool good = mw__name_check("test", name, NULL) == MW_OK;
        taken += good;
        refused += !good;
        check_note(good == can_be_saved(name), __FILE__, __LINE__, "name %d is %s", i, good ? "taken" : "refused");
    }
    CHECK(taken > 200 && refused > 200);
    CHECK(!can_be_saved("__metadata__") && mw__name_check("test", "__metadata__", NULL) == MW_ERROR_ARGUMENT);
}

/* A text of others may hold a name that no call here would take: the trainer refuses it before it trains. */
static void test_parsed_name_that_cannot_be_saved_is_refused_by_the_trainer(void)
{
    static const char text[] =
        "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
        "    func main<ios18>(tensor<fp32, [2, 2]> x) {\n"
        "        tensor<fp32, [2, 2]> __metadata__ = const()[name = string(\"w\"), val = tensor<fp32, [2, 2]>([[1, 2], "
        "[3, 4]])];\n"
        "        tensor<fp32, [2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = "
        "__metadata__)[name = string(\"y\")];\n"
        "    } -> (y);\n}\n";
    mw_error err = {0};
    const char *patterns[] = {"__metadata__"};
    mw_graph *source = mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, &err);
    const mw_tune_options tune = mw_tune_defaults(patterns, 1);
    mw_graph *graph = mw_graph_trainable(source, &tune, &err);
    mw_trainer *trainer = NULL;
    if (graph != NULL) {
        const mw_trainer_options options =
            mw_trainer_defaults(mw_reduce_mean(mw_square(mw_graph_find(graph, "y")), MW_ALL_AXES, false), mw_sgd(0.1f));
        trainer = mw_trainer_create(&options, &err);
    }
    CHECK(trainer == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "safetensors files keep the name \"__metadata__\"");
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* Names with what JSON escapes come back from a checkpoint. */
static void test_strange_names_come_back_from_a_checkpoint(void)
{
    static const char name[] = "\"a\\b\" caf\xc3\xa9 \xf0\x9f\xa6\x80 {}:,";
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 2));
    mw_tensor *w = mw_parameter(graph, name, MW_F32, MW_SHAPE(2, 2), mw_init_constant(3));
    const mw_trainer_options options = mw_trainer_defaults(
        mw_reduce_mean(mw_square(mw_matmul(x, w, MW_TRANSPOSE_NONE)), MW_ALL_AXES, false), mw_adam(0.1f));
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_trainer_save(trainer, scratch("strange"), NULL, &err);
    mw_trainer_load(trainer, scratch("strange"), NULL, &err);
    mw_trainer_save_weights(trainer, scratch("weights"), &err);
    mw_trainer_load_weights(trainer, scratch("weights"), NULL, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_names_that_are_taken_are_those_that_can_be_saved);
    RUN(test_parsed_name_that_cannot_be_saved_is_refused_by_the_trainer);
    RUN(test_strange_names_come_back_from_a_checkpoint);
    return check_finish();
}
