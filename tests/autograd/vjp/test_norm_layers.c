/* Normalization with run-time weights against PyTorch: values and gradients recorded by data/torch/norm_layers.py. The
 * single operations of MIL are compared in ops/test_torch.c. */
#include "support/check.h"
#include "support/on_engine.h"

#include "base/number/number.h"
#include "base/text/error.h"
#include "format/tensors/safetensors.h"
#include <millwright/millwright.h>
#include <stdlib.h>

#define INPUTS 5

static const char *const names[INPUTS] = {"x", "weight", "bias", "mean", "variance"};

typedef struct layer_case {
    const mw__safetensors *file;
    long index;
    double tolerance;
    mw_tensor *in[INPUTS], *dx[INPUTS]; /* NULL: the layer has no such input */
    mw_program *program;
} layer_case;

static const mw__safetensors_tensor *find(const layer_case *c, const char *prefix, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "%ld.%s%s", c->index, prefix, name);
    return mw__safetensors_find(c->file, key);
}

static float *load(const layer_case *c, const char *prefix, const char *name, int64_t *out_count, mw_error *err)
{
    const mw__safetensors_tensor *tensor = find(c, prefix, name);
    float *data = tensor != NULL ? calloc(1, tensor->size + 1) : NULL;
    if (data != NULL)
        mw__safetensors_read(c->file, tensor, data, err);
    *out_count = data != NULL ? mw_shape_count(tensor->shape) : 0;
    return data;
}

static mw_axes last_axes(int count)
{
    mw_axes axes = {.count = count};
    for (int i = 0; i < count; i++)
        axes.axis[i] = i - count;
    return axes;
}

static mw_tensor *build(const char *layer, int number, float epsilon, mw_tensor *const *in)
{
    if (strcmp(layer, "layer_norm") == 0)
        return mw_layer_norm(in[0], last_axes(number), in[1], in[2], epsilon);
    if (strcmp(layer, "rms_norm") == 0)
        return mw_rms_norm(in[0], last_axes(number), in[1], epsilon);
    if (strcmp(layer, "group_norm") == 0)
        return mw_group_norm(in[0], number, in[1], in[2], epsilon);
    if (strcmp(layer, "instance_norm") == 0)
        return mw_instance_norm(in[0], in[1], in[2], epsilon);
    return mw_batch_norm(in[0], in[3], in[4], in[1], in[2], epsilon);
}

/* The program: y and, seeded with dy, the gradient of every input. */
static void make(layer_case *c, mw_graph *graph, const char *note, mw_error *err)
{
    char layer[32] = "";
    int number = 0;
    double epsilon = 0.0;
    const char *last = strrchr(note, ' ');
    if (sscanf(note, "%31s %d", layer, &number) != 2 || last == NULL ||
        !mw__number_read(last + 1, strlen(last + 1), MW__NUMBER_F32, &epsilon)) {
        mw__fail(err, MW_ERROR_FORMAT, "bad note \"%s\"", note);
        return;
    }
    mw_tensor *wanted[INPUTS], *gradients[INPUTS];
    size_t count = 0;
    for (int i = 0; i < INPUTS; i++) {
        const mw__safetensors_tensor *tensor = find(c, "", names[i]);
        if (tensor != NULL)
            wanted[count++] = c->in[i] = mw_input(graph, names[i], MW_F32, tensor->shape);
    }
    mw_tensor *y = mw_output(build(layer, number, (float)epsilon, c->in), "y");
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(y));
    if (mw_graph_check(graph, err) != MW_OK ||
        mw_backward(&(mw_pullback){.roots = &y, .seeds = &dy, .root_count = 1}, wanted, count, gradients, err) != MW_OK)
        return;
    for (size_t i = 0, k = 0; i < INPUTS; i++) {
        char port[32];
        snprintf(port, sizeof port, "d.%s", names[i]);
        if (c->in[i] != NULL)
            c->dx[i] = mw_output(gradients[k++], port);
    }
    c->program = engine_compile(graph, MW_DEVICE_CPU, 1, err);
}

static void feed(const layer_case *c, const char *name, mw_error *err)
{
    int64_t count;
    float *data = load(c, "", name, &count, err);
    if (data != NULL)
        mw_program_write(c->program, name, MW_F32, data, (size_t)count, err);
    free(data);
}

static void compare(const layer_case *c, const char *port, const char *prefix, const char *name, mw_error *err)
{
    int64_t count;
    float *wanted = load(c, prefix, name, &count, err);
    const float *got = mw_program_view(c->program, port, err);
    double largest = 0.0;
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)wanted[i]));
    CHECK(count > 0);
    for (int64_t i = 0; i < count && got != NULL && !mw__failed(err); i++)
        if (!(fabs((double)got[i] - (double)wanted[i]) <= c->tolerance * largest))
            mw__fail(err, MW_ERROR_STATE, "%s[%lld] is %.9g, PyTorch's %.9g", port, (long long)i, (double)got[i],
                     (double)wanted[i]);
    free(wanted);
}

static void check_case(layer_case *c, const char *note)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    make(c, graph, note, &err);
    for (int i = 0; i < INPUTS && c->program != NULL; i++)
        if (c->in[i] != NULL)
            feed(c, names[i], &err);
    if (c->program != NULL) {
        feed(c, "dy", &err);
        mw_program_run(c->program, &err);
        compare(c, "y", "", "y", &err);
    }
    for (int i = 0; i < INPUTS && c->program != NULL; i++) {
        char port[32];
        snprintf(port, sizeof port, "d.%s", names[i]);
        if (c->in[i] != NULL)
            compare(c, port, "d", names[i], &err);
    }
    check_note(err.status == MW_OK && c->program != NULL, __FILE__, __LINE__, "case %ld, %s: %s", c->index, note,
               err.message);
    mw_program_destroy(c->program);
    mw_graph_destroy(graph);
}

static void test_layers_agree_with_torch(void)
{
    char path[512], key[32];
    mw__safetensors file;
    mw_error err = {0};
    snprintf(path, sizeof path, "%s/data/torch/norm_layers.safetensors", MW_TESTS_DIR);
    REQUIRE(mw__safetensors_open(&file, mw__allocator_default(), path, &err) == MW_OK);
    const char *tolerance = mw__safetensors_metadata(&file, "tolerance"), *note;
    double allowed = 0.0;
    long index = 0;
    CHECK(tolerance != NULL && mw__number_read(tolerance, strlen(tolerance), MW__NUMBER_F64, &allowed));
    while (snprintf(key, sizeof key, "layer.%ld", index) > 0 && (note = mw__safetensors_metadata(&file, key)) != NULL) {
        layer_case c = {.file = &file, .index = index++, .tolerance = allowed};
        check_case(&c, note);
    }
    CHECK_INT(index, 100);
    mw__safetensors_close(&file);
}

int main(void)
{
    RUN(test_layers_agree_with_torch);
    return check_finish();
}
