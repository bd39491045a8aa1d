/* The small classifier of small.h, as a graph and as loops in double. */
#include "small.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

small_net small_create(const mw_allocator *allocator)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    small_net net = {.graph = mw_graph_create(&options, NULL)};
    net.x = mw_input(net.graph, "x", MW_F32, MW_SHAPE(SMALL_N, SMALL_D));
    net.y = mw_input(net.graph, "y", MW_I32, MW_SHAPE(SMALL_N));
    mw_tensor *hidden = mw_tanh(mw_dense(net.x, SMALL_H, "fc1"));
    net.logits = mw_dense(hidden, SMALL_C, "fc2");
    net.loss = mw_cross_entropy(net.logits, net.y);
    net.accuracy = mw_accuracy(net.logits, net.y);
    return net;
}

small_net small_create_stateful(const mw_allocator *allocator)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    small_net net = {.graph = mw_graph_create(&options, NULL)};
    net.x = mw_input(net.graph, "x", MW_F32, MW_SHAPE(SMALL_N, SMALL_D));
    net.y = mw_input(net.graph, "y", MW_I32, MW_SHAPE(SMALL_N));
    mw_tensor *mean = mw_state(net.graph, "x_mean", MW_F32, MW_SHAPE(SMALL_D), mw_init_zeros());
    mw_tensor *sum = mw_add(mean, mw_reduce_mean(net.x, MW_AXES(0), false));
    mw_state_assign(mean, mw_mul_scalar(sum, 0.5));
    mw_tensor *hidden = mw_batch_norm_layer(mw_dense(mw_sub(net.x, mean), SMALL_H, "fc1"), 0.25f, 1e-3f, "bn");
    net.logits = mw_dense(mw_dropout(mw_tanh(hidden), 0.3f, "drop"), SMALL_C, "fc2");
    net.loss = mw_cross_entropy(net.logits, net.y);
    net.accuracy = mw_accuracy(net.logits, net.y);
    return net;
}

small_data small_make_data(void)
{
    small_data data;
    uint32_t state = 12345;
    for (int i = 0; i < SMALL_EXAMPLES * SMALL_D; i++) {
        state = state * 1664525u + 1013904223u;
        data.x[i] = (float)(int32_t)(state >> 16) / 32768.0f - 1.0f;
    }
    for (int n = 0; n < SMALL_EXAMPLES; n++) {
        const float *x = &data.x[n * SMALL_D];
        data.y[n] = x[0] + x[1] > 0.4f ? 2 : x[2] > x[3] ? 1 : 0;
    }
    return data;
}

mw_dataset *small_open_data(const small_data *data, int64_t examples, mw_error *err)
{
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data->x},
                                 {.name = "y", .dtype = MW_I32, .shape = {0}, .data = data->y}};
    return mw_dataset_create(columns, 2, examples, false, err);
}

void small_fill_batch(small_batch *out, const small_data *data, int first)
{
    for (int i = 0; i < SMALL_N; i++)
        out->ids[i] = first + i;
    out->feeds[0] = (mw_feed){
        .name = "x", .dtype = MW_F32, .data = &data->x[first * SMALL_D], .count = SMALL_N * SMALL_D, .scale = 1.0f};
    out->feeds[1] = (mw_feed){.name = "y", .dtype = MW_I32, .data = &data->y[first], .count = SMALL_N, .scale = 1.0f};
    out->batch = (mw_batch){.feeds = out->feeds, .feed_count = 2, .examples = SMALL_N, .ids = out->ids};
}

/* ---- parameters ---- */

static const struct {
    const char *name;
    int offset, count;
} places[] = {{"fc1.weight", 0, SMALL_H *SMALL_D},
              {"fc1.bias", SMALL_H *SMALL_D, SMALL_H},
              {"fc2.weight", SMALL_H *SMALL_D + SMALL_H, SMALL_C *SMALL_H},
              {"fc2.bias", SMALL_H *SMALL_D + SMALL_H + SMALL_C *SMALL_H, SMALL_C}};

const char *small_name(int tensor) { return places[tensor].name; }
int small_offset(int tensor) { return places[tensor].offset; }
int small_count(int tensor) { return places[tensor].count; }

small_weights small_read(mw_trainer *trainer, mw_error *err)
{
    small_weights weights = {{0}};
    float values[SMALL_PARAMETERS];
    for (int t = 0; t < 4; t++) {
        mw_trainer_read(trainer, places[t].name, MW_F32, values, (size_t)places[t].count, err);
        for (int i = 0; err->status == MW_OK && i < places[t].count; i++)
            weights.value[places[t].offset + i] = (double)values[i];
    }
    return weights;
}

/* ---- the network in double ---- */

void small_logits(const small_weights *weights, const float *x, double *out_logits)
{
    const double *w1 = weights->value + places[0].offset, *b1 = weights->value + places[1].offset;
    const double *w2 = weights->value + places[2].offset, *b2 = weights->value + places[3].offset;
    double hidden[SMALL_H];
    for (int h = 0; h < SMALL_H; h++) {
        double sum = b1[h];
        for (int d = 0; d < SMALL_D; d++)
            sum += w1[h * SMALL_D + d] * (double)x[d];
        hidden[h] = tanh(sum);
    }
    for (int c = 0; c < SMALL_C; c++) {
        out_logits[c] = b2[c];
        for (int h = 0; h < SMALL_H; h++)
            out_logits[c] += w2[c * SMALL_H + h] * hidden[h];
    }
}

double small_loss(const small_weights *weights, const small_data *data, int first, int count)
{
    double total = 0;
    for (int n = first; n < first + count; n++) {
        double logits[SMALL_C], sum = 0;
        small_logits(weights, &data->x[n * SMALL_D], logits);
        for (int c = 0; c < SMALL_C; c++)
            sum += exp(logits[c]);
        total += log(sum) - logits[data->y[n]];
    }
    return total / count;
}

double small_accuracy(const small_weights *weights, const small_data *data, int first, int count)
{
    int right = 0;
    for (int n = first; n < first + count; n++) {
        double logits[SMALL_C];
        int best = 0;
        small_logits(weights, &data->x[n * SMALL_D], logits);
        for (int c = 1; c < SMALL_C; c++)
            best = logits[c] > logits[best] ? c : best;
        right += best == data->y[n];
    }
    return (double)right / count;
}

small_snapshot small_take(mw_trainer *trainer)
{
    small_snapshot s = {.size = 0};
    const mw_program *program = mw_trainer_program(trainer);
    mw_port port;
    mw_error err = {0};
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        if (port.is_output || (!port.is_parameter && strchr(port.name, '#') == NULL))
            continue;
        const size_t size = (size_t)mw_shape_count(port.shape) * (size_t)mw_dtype_bits(port.dtype) / 8;
        const void *data = mw_program_view((mw_program *)program, port.name, &err);
        if (data != NULL && s.size + size <= sizeof s.bytes) {
            memcpy(s.bytes + s.size, data, size);
            s.size += size;
        }
    }
    CHECK_OK(err);
    return s;
}

void small_check_same(const small_snapshot *a, const small_snapshot *b)
{
    CHECK(a->size > 0 && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0);
}

mw_trainer *small_trainer(mw_device device, mw_optimizer optimizer, float loss_scale, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, optimizer);
    options.metric = net.accuracy;
    options.prediction = net.logits;
    options.precision.loss_scale = loss_scale;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = 3;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph); /* the trainer has its copy */
    return trainer;
}
