/* Layers with PyTorch's parameters against PyTorch's own modules, recorded by data/torch/recurrent_layers.py: each
 * parameter is found under its name in the state dict, and results and all gradients agree. */
#include "support/check.h"
#include "support/on_engine.h"

#include "base/number/number.h"
#include "base/text/error.h"
#include "format/tensors/safetensors.h"
#include "graph/ir/ir.h"

#include <stdlib.h>

#define TENSORS 40

/* One case: the graph, its leaves (inputs and parameters) and what their gradients are. */
typedef struct layer_case {
    const mw__safetensors *file;
    long index;
    double tolerance;
    mw_graph *graph;
    mw_tensor *leaves[TENSORS];
    size_t leaf_count;
    mw_tensor *out[3], *seeds[3];
    size_t out_count;
    mw_program *program;
} layer_case;

static const mw__safetensors_tensor *find(const layer_case *c, const char *prefix, const char *name)
{
    char key[96];
    snprintf(key, sizeof key, "%ld.%s%s", c->index, prefix, name);
    return mw__safetensors_find(c->file, key);
}

/* ---- building ---- */

static mw_tensor *input(layer_case *c, const char *name)
{
    const mw__safetensors_tensor *tensor = find(c, "", name);
    return tensor != NULL ? mw_input(c->graph, name, tensor->dtype, tensor->shape) : NULL;
}

static void add_output(layer_case *c, mw_tensor *value, const char *name)
{
    char port[24];
    if (value == NULL)
        return;
    snprintf(port, sizeof port, "out.%s", name);
    c->out[c->out_count] = mw_output(value, port);
    snprintf(port, sizeof port, "seed.%s", name);
    c->seeds[c->out_count++] = mw_input(c->graph, port, MW_F32, mw_tensor_shape(value));
}

static void build_attention(layer_case *c, const char *note)
{
    int heads = 0;
    CHECK_INT(sscanf(note, "attention %d", &heads), 1);
    mw_tensor *query = input(c, "query"), *key = input(c, "key"), *value = input(c, "value"), *mask = input(c, "mask");
    add_output(c, mw_multi_head_attention_layer(query, key, value, heads, mask, "net"), "y");
}

static void build_recurrent(layer_case *c, const char *note)
{
    int hidden, both, first, bias;
    char kind[8];
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    CHECK_INT(sscanf(note, "%7s %d %d %d %d %d", kind, &hidden, &options.layers, &both, &first, &bias), 6);
    options.bidirectional = both != 0;
    options.batch_first = first != 0;
    options.bias = bias != 0;
    mw_tensor *x = input(c, "x");
    options.h = input(c, "h");
    options.c = input(c, "c");
    const mw_recurrent r = strcmp(kind, "lstm") == 0 ? mw_lstm_layer(x, hidden, "net", &options)
                                                     : mw_gru_layer(x, hidden, "net", &options);
    add_output(c, r.y, "y");
    add_output(c, r.h, "h");
    add_output(c, r.c, "c");
}

/* The results, and the gradients of all floats that go in, as "d.<name>". */
static void make(layer_case *c, const char *note, mw_error *err)
{
    mw_tensor *dx[TENSORS];
    char port[96];
    if (strncmp(note, "attention", 9) == 0)
        build_attention(c, note);
    else
        build_recurrent(c, note);
    if (mw_graph_check(c->graph, err) != MW_OK)
        return;
    const mw__block *body = mw__graph_main(c->graph)->body;
    for (size_t i = 0; i < body->input_count && c->leaf_count < TENSORS; i++)
        if (find(c, "d.", mw_tensor_name(body->inputs[i])) != NULL)
            c->leaves[c->leaf_count++] = body->inputs[i];
    const mw_pullback pullback = {.roots = c->out, .seeds = c->seeds, .root_count = c->out_count};
    mw_backward(&pullback, c->leaves, c->leaf_count, dx, err);
    for (size_t i = 0; i < c->leaf_count && !mw__failed(err); i++) {
        snprintf(port, sizeof port, "d.%s", mw_tensor_name(c->leaves[i]));
        mw_output(dx[i], port);
    }
    c->program = engine_compile(c->graph, MW_DEVICE_CPU, 1, err);
}

/* ---- running ---- */

static void *load(const layer_case *c, const mw__safetensors_tensor *tensor, mw_error *err)
{
    void *data = calloc(1, tensor->size + 1);
    if (data != NULL)
        mw__safetensors_read(c->file, tensor, data, err);
    return data;
}

/* Gives every input and parameter what is recorded under its name. */
static void feed(const layer_case *c, mw_error *err)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(c->program, i, &port) && !mw__failed(err); i++) {
        if (port.is_output)
            continue;
        const mw__safetensors_tensor *tensor = find(c, "", port.name);
        if (tensor == NULL || !mw_shape_equal(tensor->shape, port.shape)) {
            mw__fail(err, MW_ERROR_STATE, "the state dict has no \"%s\" of this shape", port.name);
            return;
        }
        void *data = load(c, tensor, err);
        mw_program_write(c->program, port.name, tensor->dtype, data, (size_t)mw_shape_count(tensor->shape), err);
        free(data);
    }
}

/* Every port is compared; returns how many there are. */
static int compare(const layer_case *c, mw_error *err)
{
    mw_port port;
    int count = 0;
    for (size_t i = 0; mw_program_port_at(c->program, i, &port) && !mw__failed(err); i++) {
        const mw__safetensors_tensor *tensor = port.is_output ? find(c, "", port.name) : NULL;
        if (!port.is_output)
            continue;
        float *wanted = tensor != NULL ? load(c, tensor, err) : NULL;
        const float *got = mw_program_view(c->program, port.name, err);
        double apart = 0.0, largest = 0.0;
        for (int64_t k = 0; wanted != NULL && got != NULL && k < mw_shape_count(port.shape); k++) {
            apart = fmax(apart, fabs((double)wanted[k] - (double)got[k]));
            largest = fmax(largest, fabs((double)wanted[k]));
        }
        if (wanted == NULL || got == NULL || !(apart <= c->tolerance * fmax(largest, 0.05)))
            mw__fail(err, MW_ERROR_STATE, "%s is %g off, of %g", port.name, apart, largest);
        free(wanted);
        count++;
    }
    return count;
}

/* How many tensors of the record have that prefix. */
static int count_recorded(const layer_case *c, const char *prefix)
{
    char key[64];
    int count = 0;
    snprintf(key, sizeof key, "%ld.%s", c->index, prefix);
    for (size_t i = 0; i < c->file->count; i++)
        count += strncmp(c->file->tensors[i].name, key, strlen(key)) == 0;
    return count;
}

static void check_case(layer_case *c)
{
    char key[40];
    mw_error err = {0};
    snprintf(key, sizeof key, "layer.%ld", c->index);
    const char *note = mw__safetensors_metadata(c->file, key);
    REQUIRE(note != NULL);
    c->graph = mw_graph_create(NULL, NULL);
    make(c, note, &err);
    if (!mw__failed(&err))
        feed(c, &err);
    if (!mw__failed(&err))
        mw_program_run(c->program, &err);
    if (!mw__failed(&err))
        CHECK_INT(compare(c, &err), count_recorded(c, "d.") + count_recorded(c, "out."));
    check_note(err.status == MW_OK, __FILE__, __LINE__, "case %ld, %s: %s", c->index, note, err.message);
    mw_program_destroy(c->program);
    mw_graph_destroy(c->graph);
}

static void test_layers_agree_with_torch(void)
{
    mw__safetensors file;
    mw_error err = {0};
    double tolerance = 0.0;
    const bool open = mw__safetensors_open(&file, mw__allocator_default(),
                                           MW_TESTS_DIR "/data/torch/recurrent_layers.safetensors", &err) == MW_OK;
    REQUIRE(CHECK_OK(err) && open);
    const char *text = mw__safetensors_metadata(&file, "tolerance"), *number = mw__safetensors_metadata(&file, "count");
    if (text != NULL && number != NULL)
        mw__number_read(text, strlen(text), MW__NUMBER_F64, &tolerance);
    const long count = number != NULL ? strtol(number, NULL, 10) : 0;
    CHECK(tolerance > 0.0 && count >= 40);
    for (long i = 0; i < count; i++)
        check_case(&(layer_case){.file = &file, .index = i, .tolerance = tolerance});
    mw__safetensors_close(&file);
}

int main(void)
{
    RUN(test_layers_agree_with_torch);
    return check_finish();
}
