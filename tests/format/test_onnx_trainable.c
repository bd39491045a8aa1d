/* Every layer and operation with weights, written as MIL, as a package and as ONNX and read back: the pattern "*" finds
 * all elements of its weights again, and no other, whatever operations the file spells the layer with. */
#include "base/number/fp16.h"
#include "base/number/random.h"
#include "graph/transform/tune/trainable.h"
#include "support/check.h"
#include "support/folder.h"

#include <millwright/millwright.h>
#include <stdlib.h>

/* ---- layers ---- */

typedef struct maker {
    mw_graph *graph;
    mw_dtype dtype;
    bool constant;     /* what operations take is a constant, not a parameter */
    int64_t constants; /* their elements */
    uint64_t stream;
} maker;

static void *draw(maker *m, mw_dtype dtype, size_t count)
{
    mw__random random = {.seed = 5, .stream = m->stream++};
    float *floats = calloc(count + 1, sizeof *floats);
    mw__random_uniforms(&random, mw__random_widest(), floats, count);
    if (dtype != MW_F16)
        return floats;
    uint16_t *halves = calloc(count + 1, sizeof *halves);
    mw__fp16_from_float_n(halves, floats, count);
    free(floats);
    return halves;
}

static mw_tensor *weight(maker *m, const char *name, mw_shape shape)
{
    if (!m->constant)
        return mw_parameter(m->graph, name, m->dtype, shape, mw_init_uniform(-0.5F, 0.5F));
    void *data = draw(m, m->dtype, (size_t)mw_shape_count(shape));
    mw_tensor *made = mw_name(mw_constant(m->graph, m->dtype, shape, data), name);
    m->constants += mw_shape_count(shape);
    free(data);
    return made;
}

static mw_tensor *input(const maker *m, const char *name, mw_shape shape)
{
    return mw_input(m->graph, name, m->dtype, shape);
}

static mw_tensor *sequence(const maker *m) { return input(m, "x", MW_SHAPE(2, 3, 4)); }
static mw_tensor *image(const maker *m) { return input(m, "x", MW_SHAPE(2, 4, 5, 6)); }
static mw_tensor *volume(const maker *m) { return input(m, "x", MW_SHAPE(2, 4, 3, 5, 4)); }

static mw_tensor *dense(maker *m) { return mw_dense(input(m, "x", MW_SHAPE(2, 4)), 3, "layer"); }
static mw_tensor *dense_rank_3(maker *m) { return mw_dense(sequence(m), 3, "layer"); }
static mw_tensor *dense_of_one(maker *m) { return mw_dense(mw_tanh(mw_dense(sequence(m), 1, "a")), 1, "b"); }
static mw_tensor *embedding(maker *m)
{
    return mw_embedding(mw_input(m->graph, "x", MW_I32, MW_SHAPE(2, 3)), 7, 4, "layer");
}

static mw_conv_options conv_numbers(int64_t groups, int64_t dilation, int64_t stride)
{
    mw_conv_options o = mw_conv_defaults();
    o.groups = groups;
    for (int i = 0; i < 3; i++) {
        o.dilation[i] = dilation;
        o.stride[i] = stride;
    }
    o.pad_type = MW_PAD_SAME;
    return o;
}

static mw_tensor *conv_1d(maker *m) { return mw_conv_layer(sequence(m), 4, MW_SHAPE(3), "layer", NULL); }
static mw_tensor *conv_2d(maker *m)
{
    const mw_conv_options o = conv_numbers(2, 2, 1);
    return mw_conv_layer(image(m), 4, MW_SHAPE(3, 3), "layer", &o);
}
static mw_tensor *conv_3d(maker *m)
{
    mw_conv_options o = conv_numbers(1, 2, 1);
    o.bias = false;
    return mw_conv_layer(volume(m), 4, MW_SHAPE(2, 3, 2), "layer", &o);
}
static mw_tensor *conv_depthwise(maker *m)
{
    const mw_conv_options o = conv_numbers(4, 1, 2);
    return mw_conv_layer(image(m), 4, MW_SHAPE(3, 3), "layer", &o);
}
static mw_tensor *transposed_1d(maker *m)
{
    return mw_conv_transpose_layer(sequence(m), 4, MW_SHAPE(3), "layer", NULL);
}
static mw_tensor *transposed_2d(maker *m)
{
    const mw_conv_options o = conv_numbers(2, 2, 1);
    return mw_conv_transpose_layer(image(m), 4, MW_SHAPE(3, 3), "layer", &o);
}
static mw_tensor *transposed_3d(maker *m)
{
    const mw_conv_options o = conv_numbers(1, 1, 2);
    return mw_conv_transpose_layer(volume(m), 2, MW_SHAPE(2, 3, 2), "layer", &o);
}

static mw_tensor *layer_norm(maker *m) { return mw_layer_norm_layer(sequence(m), 1, 1e-3F, "layer"); }
static mw_tensor *layer_norm_2(maker *m) { return mw_layer_norm_layer(sequence(m), 2, 1e-3F, "layer"); }
static mw_tensor *layer_norm_deep(maker *m)
{
    return mw_dense(mw_layer_norm_layer(mw_dense(sequence(m), 4, "a"), 1, 1e-3F, "norm"), 4, "b");
}
static mw_tensor *rms_norm(maker *m) { return mw_rms_norm_layer(sequence(m), 1, 1e-3F, "layer"); }
static mw_tensor *rms_norm_2(maker *m) { return mw_rms_norm_layer(sequence(m), 2, 1e-3F, "layer"); }
static mw_tensor *group_norm(maker *m) { return mw_group_norm_layer(image(m), 2, 1e-3F, "layer"); }
static mw_tensor *instance_norm_3(maker *m) { return mw_instance_norm_layer(sequence(m), 1e-3F, "layer"); }
static mw_tensor *instance_norm_4(maker *m) { return mw_instance_norm_layer(image(m), 1e-3F, "layer"); }
static mw_tensor *batch_norm_2(maker *m)
{
    return mw_batch_norm_layer(input(m, "x", MW_SHAPE(4, 3)), 0.1F, 1e-3F, "layer");
}
static mw_tensor *batch_norm_4(maker *m) { return mw_batch_norm_layer(image(m), 0.1F, 1e-3F, "layer"); }
static mw_tensor *batch_norm_5(maker *m) { return mw_batch_norm_layer(volume(m), 0.1F, 1e-3F, "layer"); }

static mw_tensor *attention(maker *m)
{
    return mw_multi_head_attention_layer(sequence(m), NULL, NULL, 2, NULL, "layer");
}
static mw_tensor *attention_across(maker *m)
{
    mw_tensor *other = input(m, "other", MW_SHAPE(2, 5, 4)), *mask = input(m, "mask", MW_SHAPE(3, 5));
    return mw_multi_head_attention_layer(sequence(m), other, NULL, 2, mask, "layer");
}

static mw_recurrent_layer_options recurrent_numbers(int layers, bool bidirectional, bool bias)
{
    mw_recurrent_layer_options o = mw_recurrent_layer_defaults();
    o.layers = layers;
    o.bidirectional = bidirectional;
    o.bias = bias;
    o.batch_first = true;
    return o;
}

static mw_tensor *lstm(maker *m) { return mw_lstm_layer(sequence(m), 3, "layer", NULL).y; }
static mw_tensor *lstm_both_ways(maker *m)
{
    const mw_recurrent_layer_options o = recurrent_numbers(2, true, true);
    return mw_lstm_layer(sequence(m), 3, "layer", &o).y;
}
static mw_tensor *lstm_without_bias(maker *m)
{
    const mw_recurrent_layer_options o = recurrent_numbers(1, false, false);
    return mw_lstm_layer(sequence(m), 3, "layer", &o).y;
}
static mw_tensor *gru(maker *m) { return mw_gru_layer(sequence(m), 3, "layer", NULL).y; }
static mw_tensor *gru_both_ways(maker *m)
{
    const mw_recurrent_layer_options o = recurrent_numbers(2, true, true);
    return mw_gru_layer(sequence(m), 3, "layer", &o).y;
}
static mw_tensor *gru_without_bias(maker *m)
{
    const mw_recurrent_layer_options o = recurrent_numbers(1, false, false);
    return mw_gru_layer(sequence(m), 3, "layer", &o).y;
}

static mw_tensor *applied(mw_layer *layer, mw_tensor *x)
{
    return mw_layer_apply_one(layer, mw_tanh(mw_layer_apply_one(layer, x)));
}
static mw_tensor *shared_dense(maker *m) { return applied(mw_layer_dense(m->graph, 4, "layer"), sequence(m)); }
static mw_tensor *shared_conv(maker *m)
{
    const mw_conv_options o = conv_numbers(1, 1, 1);
    return applied(mw_layer_conv(m->graph, 4, MW_SHAPE(3, 3), "layer", &o), image(m));
}
static mw_tensor *shared_norm(maker *m)
{
    return applied(mw_layer_layer_norm(m->graph, 1, 1e-3F, "layer"), sequence(m));
}
static mw_tensor *shared_batch_norm(maker *m)
{
    return applied(mw_layer_batch_norm(m->graph, 0.1F, 1e-3F, "layer"), image(m));
}

/* ---- operations ---- */

static mw_tensor *of_linear(maker *m)
{
    return mw_linear(sequence(m), weight(m, "weight", MW_SHAPE(3, 4)), weight(m, "bias", MW_SHAPE(3)));
}
static mw_tensor *of_matmul(maker *m)
{
    return mw_matmul(sequence(m), weight(m, "weight", MW_SHAPE(4, 5)), MW_TRANSPOSE_NONE);
}
static mw_tensor *of_matmul_left(maker *m)
{
    return mw_matmul(weight(m, "weight", MW_SHAPE(3, 5)), sequence(m), MW_TRANSPOSE_X);
}
static mw_tensor *of_einsum(maker *m)
{
    return mw_einsum(image(m), weight(m, "weight", MW_SHAPE(2, 6, 5, 3)), "nchw,nwhu->nchu");
}
static mw_tensor *of_conv(maker *m)
{
    const mw_conv_options o = conv_numbers(2, 2, 1);
    return mw_conv(image(m), weight(m, "weight", MW_SHAPE(4, 2, 3, 3)), weight(m, "bias", MW_SHAPE(4)), &o);
}
static mw_tensor *of_conv_transpose(maker *m)
{
    const mw_conv_options o = conv_numbers(2, 1, 2);
    return mw_conv_transpose(image(m), weight(m, "weight", MW_SHAPE(4, 2, 3, 3)), weight(m, "bias", MW_SHAPE(4)), &o);
}
static mw_tensor *of_layer_norm(maker *m)
{
    return mw_layer_norm(sequence(m), MW_AXES(1, 2), weight(m, "gamma", MW_SHAPE(3, 4)),
                         weight(m, "beta", MW_SHAPE(3, 4)), 1e-3F);
}
static mw_tensor *of_instance_norm(maker *m)
{
    return mw_instance_norm(image(m), weight(m, "gamma", MW_SHAPE(4)), weight(m, "beta", MW_SHAPE(4)), 1e-3F);
}
static mw_tensor *of_group_norm(maker *m)
{
    return mw_group_norm(image(m), 2, weight(m, "gamma", MW_SHAPE(4)), weight(m, "beta", MW_SHAPE(4)), 1e-3F);
}
static mw_tensor *of_rms_norm(maker *m)
{
    return mw_rms_norm(sequence(m), MW_AXES(2), weight(m, "gamma", MW_SHAPE(4)), 1e-3F);
}
static mw_tensor *of_batch_norm(maker *m)
{
    mw_tensor *mean = mw_state(m->graph, "mean", m->dtype, MW_SHAPE(4), mw_init_zeros());
    mw_tensor *variance = mw_state(m->graph, "variance", m->dtype, MW_SHAPE(4), mw_init_constant(1.0F));
    return mw_batch_norm(image(m), mean, variance, weight(m, "gamma", MW_SHAPE(4)), weight(m, "beta", MW_SHAPE(4)),
                         1e-3F);
}
static mw_tensor *of_prelu(maker *m) { return mw_prelu(image(m), weight(m, "alpha", MW_SHAPE(4))); }
static mw_tensor *of_softplus(maker *m)
{
    return mw_softplus_parametric(image(m), weight(m, "alpha", MW_SHAPE(4)), weight(m, "beta", MW_SHAPE(4)));
}
static mw_tensor *of_gather(maker *m)
{
    return mw_gather(weight(m, "table", MW_SHAPE(7, 4)), mw_input(m->graph, "x", MW_I32, MW_SHAPE(2, 3)), 0);
}
static mw_tensor *of_gather_nd(maker *m)
{
    return mw_gather_nd(weight(m, "table", MW_SHAPE(7, 4)), mw_input(m->graph, "x", MW_I32, MW_SHAPE(2, 3, 2)), 0);
}

static mw_recurrent_weights recurrent_weights(maker *m, const char *prefix, int64_t gates, bool peephole)
{
    char names[5][32];
    static const char *const parts[] = {"weight_ih", "weight_hh", "bias", "peephole", "input_bias"};
    for (int i = 0; i < 5; i++)
        snprintf(names[i], sizeof names[i], "%s%s", prefix, parts[i]);
    mw_recurrent_weights w = {.weight_ih = weight(m, names[0], MW_SHAPE(gates * 3, 4)),
                              .weight_hh = weight(m, names[1], MW_SHAPE(gates * 3, 3)),
                              .bias = weight(m, names[2], MW_SHAPE(gates * 3))};
    w.peephole = peephole ? weight(m, names[3], MW_SHAPE(9)) : NULL;
    w.input_bias = gates == 3 ? weight(m, names[4], MW_SHAPE(9)) : NULL;
    return w;
}

static mw_tensor *of_lstm(maker *m)
{
    const mw_recurrent_weights w = recurrent_weights(m, "", 4, true);
    return mw_lstm(sequence(m), NULL, NULL, &w, NULL).y;
}
static mw_tensor *of_lstm_both_ways(maker *m)
{
    mw_recurrent_options o = mw_recurrent_defaults();
    const mw_recurrent_weights w = recurrent_weights(m, "", 4, true);
    o.direction = MW_BIDIRECTIONAL;
    o.back = recurrent_weights(m, "back_", 4, true);
    return mw_lstm(sequence(m), NULL, NULL, &w, &o).y;
}
static mw_tensor *of_gru(maker *m)
{
    const mw_recurrent_weights w = recurrent_weights(m, "", 3, false);
    return mw_gru(sequence(m), NULL, &w, NULL).y;
}
static mw_tensor *of_gru_reset_after(maker *m)
{
    mw_recurrent_options o = mw_recurrent_defaults();
    const mw_recurrent_weights w = recurrent_weights(m, "", 3, false);
    o.reset_after = true;
    return mw_gru(sequence(m), NULL, &w, &o).y;
}
static mw_tensor *of_rnn(maker *m)
{
    const mw_recurrent_weights w = recurrent_weights(m, "", 1, false);
    return mw_rnn(sequence(m), NULL, &w, NULL).y;
}

/* ---- in blocks ---- */

static void yes(void *user, mw_tensor **out, size_t count)
{
    (void)count;
    out[0] = mw_layer_norm_layer(mw_dense(user, 4, "yes"), 1, 1e-3F, "norm");
}

static void no(void *user, mw_tensor **out, size_t count)
{
    (void)count;
    out[0] = mw_dense(user, 4, "no");
}

static mw_tensor *in_branches(maker *m)
{
    mw_tensor *x = sequence(m), *out = NULL, *mean = mw_reduce_mean(x, MW_ALL_AXES, false);
    mw_cond(mw_greater(mean, mw_scalar(m->graph, m->dtype, 0.0371)), yes, no, x, &out, 1);
    return out;
}

static mw_tensor *goes_on(void *user, mw_tensor *const *vars, size_t count)
{
    (void)count;
    return mw_less(vars[0], mw_scalar(user, MW_I32, 3));
}

static void trip(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    mw_recurrent_layer_options o = recurrent_numbers(1, false, true);
    (void)count;
    out[0] = mw_add(vars[0], mw_scalar(user, MW_I32, 1));
    out[1] = mw_dense(mw_lstm_layer(vars[1], 3, "inner", &o).y, 4, "dense");
}

static mw_tensor *in_a_loop(maker *m)
{
    mw_tensor *vars[2] = {mw_scalar(m->graph, MW_I32, 0), sequence(m)}, *out[2] = {NULL};
    mw_while_loop(vars, 2, goes_on, trip, m->graph, out);
    return out[1];
}

/* ---- all of them ---- */

enum { MIL, PACKAGE, ONNX, FORMATS };
static const char *const formats[] = {"MIL", "a package", "ONNX"};

typedef struct row {
    const char *name;
    mw_tensor *(*make)(maker *m);
    bool takes_constants;
    int64_t merged; /* elements of constants that ONNX's reader adds to others: two biases become one */
} row;

#define LAYER(function) .name = #function, .make = (function)
#define TAKES(function) .name = #function, .make = (function), .takes_constants = true
static const row rows[] = {
    {LAYER(dense)},
    {LAYER(dense_rank_3)},
    {LAYER(dense_of_one)},
    {LAYER(embedding)},
    {LAYER(conv_1d)},
    {LAYER(conv_2d)},
    {LAYER(conv_3d)},
    {LAYER(conv_depthwise)},
    {LAYER(transposed_1d)},
    {LAYER(transposed_2d)},
    {LAYER(transposed_3d)},
    {LAYER(layer_norm)},
    {LAYER(layer_norm_2)},
    {LAYER(layer_norm_deep)},
    {LAYER(rms_norm)},
    {LAYER(rms_norm_2)},
    {LAYER(group_norm)},
    {LAYER(instance_norm_3)},
    {LAYER(instance_norm_4)},
    {LAYER(batch_norm_2)},
    {LAYER(batch_norm_4)},
    {LAYER(batch_norm_5)},
    {LAYER(attention)},
    {LAYER(attention_across)},
    {LAYER(lstm)},
    {LAYER(lstm_both_ways)},
    {LAYER(lstm_without_bias)},
    {LAYER(gru)},
    {LAYER(gru_both_ways)},
    {LAYER(gru_without_bias)},
    {LAYER(shared_dense)},
    {LAYER(shared_conv)},
    {LAYER(shared_norm)},
    {LAYER(shared_batch_norm)},
    {LAYER(in_branches)},
    {LAYER(in_a_loop)},
    {TAKES(of_linear)},
    {TAKES(of_matmul)},
    {TAKES(of_matmul_left)},
    {TAKES(of_einsum)},
    {TAKES(of_conv)},
    {TAKES(of_conv_transpose)},
    {TAKES(of_layer_norm)},
    {TAKES(of_instance_norm)},
    {TAKES(of_group_norm)},
    {TAKES(of_rms_norm)},
    {TAKES(of_batch_norm)},
    {TAKES(of_prelu)},
    {TAKES(of_softplus)},
    {TAKES(of_gather)},
    {TAKES(of_gather_nd)},
    {TAKES(of_lstm)},
    {TAKES(of_lstm_both_ways)},
    {TAKES(of_gru), .merged = 9},
    {TAKES(of_gru_reset_after)},
    {TAKES(of_rnn)},
};

/* ---- through files ---- */

typedef struct baker {
    maker *m;
    const mw_graph *graph;
    void *kept[64];
    int count;
} baker;

static const void *bake(void *user, const char *name)
{
    baker *b = user;
    const mw_tensor *value = mw_graph_find(b->graph, name);
    if (value == NULL || b->count == 64)
        return NULL;
    return b->kept[b->count++] = draw(b->m, mw_tensor_dtype(value), (size_t)mw_shape_count(mw_tensor_shape(value)));
}

static mw_graph *through_package(const mw_graph *graph, baker *b, mw_error *err)
{
    mw_write_options o = mw_write_defaults();
    o.bake = bake;
    o.bake_user = b;
    mw_graph_write(graph, "layer.mlpackage", &o, err);
    mw_coreml *package = mw_coreml_open("layer.mlpackage", NULL, err);
    const mw_graph *inside = mw_coreml_graph(package, err);
    mw_graph *copy = inside != NULL ? mw_graph_function(inside, NULL, err) : NULL;
    mw_coreml_destroy(package);
    return copy;
}

static mw_graph *through_mil(const mw_graph *graph, baker *b, mw_error *err)
{
    mw_write_options o = mw_write_defaults();
    o.bake = bake;
    o.bake_user = b;
    mw_graph_write(graph, "layer", &o, err);
    return mw_graph_open_mil("layer/model.mil", NULL, err);
}

static mw_graph *through_onnx(const mw_graph *graph, baker *b, mw_error *err)
{
    mw_write_options o = mw_write_defaults();
    o.bake = bake;
    o.bake_user = b;
    mw_graph_write(graph, "layer.onnx", &o, err);
    return mw_graph_open_onnx("layer.onnx", NULL, err);
}

static mw_graph *through_file(maker *m, const mw_graph *graph, int format, mw_error *err)
{
    baker b = {.m = m, .graph = graph};
    mw_graph *read = format == MIL       ? through_mil(graph, &b, err)
                     : format == PACKAGE ? through_package(graph, &b, err)
                                         : through_onnx(graph, &b, err);
    for (int i = 0; i < b.count; i++)
        free(b.kept[i]);
    return read;
}

/* ---- counting ---- */

typedef struct found {
    int64_t elements;
    char left[600];
} found;

static void note(void *user, const mw_tune_choice *choice)
{
    found *f = user;
    const size_t used = strlen(f->left);
    if (choice->outcome == MW_TUNE_TRAINED)
        f->elements += mw_shape_count(choice->weight->shape);
    snprintf(f->left + used, sizeof f->left - used, "\n      %s of %lld: %s", choice->weight->name,
             (long long)mw_shape_count(choice->weight->shape),
             choice->reason != NULL ? choice->reason : mw__tune_role_name(choice->weight->role));
}

static int64_t count_parameters(const mw_graph *graph, mw_error *err)
{
    mw_weight weights[64];
    size_t count = 0;
    int64_t elements = 0;
    mw_graph_weights(graph, weights, 64, &count, err);
    for (size_t i = 0; i < count && i < 64; i++)
        elements += weights[i].is_parameter ? mw_shape_count(weights[i].shape) : 0;
    return elements;
}

static void check_format(const row *r, maker *m, const mw_graph *graph, int format)
{
    static const char *const all[] = {"*"};
    mw_error err = {0};
    found f = {0};
    const bool merges = format == ONNX && m->constant && m->dtype == MW_F32;
    const int64_t wanted = m->constants + count_parameters(graph, &err) - (merges ? r->merged : 0);
    mw_graph *read = through_file(m, graph, format, &err);
    mw_tune_options o = mw_tune_defaults(all, 1);
    o.report = note;
    o.report_user = &f;
    mw_graph *tuned = err.status == MW_OK ? mw_graph_trainable(read, &o, &err) : NULL;
    check_note(tuned != NULL && f.elements == wanted && count_parameters(tuned, &err) == wanted, __FILE__, __LINE__,
               "%s%s in %s by %s: %lld of %lld elements are found%s %s", r->name, m->constant ? " of constants" : "",
               mw_dtype_name(m->dtype), formats[format], (long long)f.elements, (long long)wanted, f.left, err.message);
    mw_graph_destroy(tuned);
    mw_graph_destroy(read);
}

static void check_row(const row *r, mw_dtype dtype, bool constant)
{
    mw_error err = {0};
    maker m = {.graph = mw_graph_create(NULL, NULL), .dtype = dtype, .constant = constant};
    mw_output(r->make(&m), "y");
    mw_graph *graph = mw_graph_check(m.graph, &err) == MW_OK ? mw_graph_evaluation(m.graph, &err) : NULL;
    check_note(graph != NULL, __FILE__, __LINE__, "%s: %s", r->name, err.message);
    for (int format = 0; graph != NULL && format < FORMATS; format++)
        check_format(r, &m, graph, format);
    mw_graph_destroy(graph);
    mw_graph_destroy(m.graph);
}

static void test_a_star_finds_the_weights_of_what_was_written(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int half = 0; half < 2; half++) {
            check_row(&rows[i], half ? MW_F16 : MW_F32, false);
            if (rows[i].takes_constants)
                check_row(&rows[i], half ? MW_F16 : MW_F32, true);
        }
    folder_leave(folder);
}

int main(void)
{
    RUN(test_a_star_finds_the_weights_of_what_was_written);
    return check_finish();
}
