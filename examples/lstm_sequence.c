/* The adding problem: of 50 pairs (number, mark) two are marked, and the sum of their numbers is asked of an LSTM.
 * Always answering 1 has an error of 1/6; the examples are made as they are needed.
 * Source: Hochreiter and Schmidhuber 1997, section 5.4. */
#include "options.h"

enum { T = 50, HIDDEN = 64, TRAINING = 32768, TESTS = 2048 };

/* The same number for the same question: 32 bits of a mixed counter. */
static uint32_t noise(uint64_t seed, uint64_t example, uint64_t index)
{
    uint64_t z = (seed * 0x9e3779b97f4a7c15u + example) * 0xbf58476d1ce4e5b9u + index * 0x94d049bb133111ebu;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* Column 0: x [T, 2]; column 1: y. The marks are in the first and in the second half. */
static mw_status make_example(void *user, int64_t example, size_t column, void *out_data, mw_error *err)
{
    (void)err;
    const uint64_t seed = *(const uint64_t *)user, e = (uint64_t)example;
    const uint32_t first = noise(seed, e, 1000) % (T / 2), second = T / 2 + noise(seed, e, 1001) % (T / 2);
    float *out = out_data, sum = 0;
    for (uint32_t t = 0; t < T; t++) {
        const bool marked = t == first || t == second;
        const float number = (float)(noise(seed, e, t) >> 8) / 16777216.0f;
        sum += marked ? number : 0;
        if (column == 0) {
            out[2 * t] = number;
            out[2 * t + 1] = marked;
        }
    }
    if (column == 1)
        out[0] = sum;
    return MW_OK;
}

static mw_dataset *make_data(int64_t examples, uint64_t *seed, mw_error *err)
{
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(T, 2)},
                                 {.name = "y", .dtype = MW_F32, .shape = MW_SHAPE(1)}};
    return mw_dataset_create_callback(columns, 2, examples, make_example, seed, err);
}

static mw_tensor *network(mw_tensor *x)
{
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.batch_first = true;
    const mw_recurrent lstm = mw_lstm_layer(x, HIDDEN, "lstm", &options);
    return mw_dense(mw_squeeze(lstm.h, MW_AXES(0)), 1, "sum");
}

/* At first everything is remembered: the second of four gates is open. */
static void open_forget_gate(mw_trainer *trainer, mw_error *err)
{
    float bias[4 * HIDDEN] = {0};
    for (int i = HIDDEN; i < 2 * HIDDEN; i++)
        bias[i] = 2.0f;
    mw_trainer_write(trainer, "lstm.bias_hh_l0", MW_F32, bias, 4 * HIDDEN, err);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "made as needed", .epochs = 12, .batch = 64, .seed = 1, .learning_rate = 4e-3f};
    o.schedule = mw_schedule_cosine(0.0);
    options_parse(&o, argc, argv);

    mw_error err = {0};
    uint64_t seeds[2] = {2 * o.seed, 2 * o.seed + 1};
    mw_dataset *train = make_data(TRAINING, &seeds[0], &err), *test = make_data(TESTS, &seeds[1], &err);
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o.batch, T, 2));
    mw_tensor *y = mw_input(graph, "y", MW_F32, MW_SHAPE(o.batch, 1));
    mw_tensor *answer = network(x);

    mw_trainer_options options = mw_trainer_defaults(mw_mse(answer, y), mw_adam(o.learning_rate));
    options.prediction = answer;
    options.clipping.norm = 1.0f; /* through 50 steps gradients can explode */
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    open_forget_gate(trainer, &err);
    options_fit(&o, trainer, train, test, &err);
    options_report(trainer, test, NULL, &err);
    if (o.model != NULL)
        mw_trainer_export(trainer, NULL, o.model, NULL, &err);

    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    return options_exit_code(&err);
}
