/* A pre-norm transformer (4 layers, width 128, 4 heads, 128 characters of context) learns to write from a text or a
 * folder of texts, by default Debian's licenses. Prints the loss on the last tenth of the text, and a sample. With
 * --checkpoint it can be stopped and goes on, and a finished one only writes. */
#include "options.h"
#include "text.h"

enum { T = 128, D = 128, HEADS = 4, LAYERS = 4, SAMPLE = 400 };

/* 0 where a character may look (itself and those before), else so low that the softmax leaves nothing of it. */
static mw_tensor *causal_mask(mw_graph *graph)
{
    static float mask[T][T];
    for (int query = 0; query < T; query++)
        for (int key = 0; key < T; key++)
            mask[query][key] = key > query ? -30000.0f : 0.0f; /* fp16 holds it */
    return mw_constant(graph, MW_F32, MW_SHAPE(T, T), mask);
}

/* "layer2.qkv" */
static const char *name_of(char *buffer, int layer, const char *part)
{
    snprintf(buffer, 32, "layer%d.%s", layer, part);
    return buffer;
}

/* x [N, T, D] -> [N, T, D] */
static mw_tensor *attend(mw_tensor *x, mw_tensor *mask, int layer)
{
    char name[32];
    const int64_t n = mw_tensor_shape(x).dim[0];
    mw_tensor *parts[3] = {NULL};
    mw_tensor *heads = mw_dense(x, 3 * D, name_of(name, layer, "qkv"));
    heads = mw_transpose(mw_reshape(heads, MW_SHAPE(n, T, 3, HEADS, D / HEADS)), MW_AXES(2, 0, 3, 1, 4));
    mw_split(heads, 3, 0, parts);
    for (int i = 0; i < 3; i++)
        parts[i] = mw_reshape(parts[i], MW_SHAPE(n, HEADS, T, D / HEADS));
    mw_tensor *mixed =
        mw_transpose(mw_scaled_dot_product_attention(parts[0], parts[1], parts[2], mask), MW_AXES(0, 2, 1, 3));
    return mw_dense(mw_reshape(mixed, MW_SHAPE(n, T, D)), D, name_of(name, layer, "projection"));
}

static mw_tensor *block(mw_tensor *x, mw_tensor *mask, int layer)
{
    char name[32];
    mw_tensor *attended = attend(mw_layer_norm_layer(x, 1, 1e-5f, name_of(name, layer, "norm1")), mask, layer);
    x = mw_add(x, attended);
    mw_tensor *wide = mw_layer_norm_layer(x, 1, 1e-5f, name_of(name, layer, "norm2"));
    wide = mw_gelu(mw_dense(wide, 4 * D, name_of(name, layer, "fc1")), MW_GELU_TANH);
    return mw_add(x, mw_dropout(mw_dense(wide, D, name_of(name, layer, "fc2")), 0.2f, name_of(name, layer, "drop")));
}

/* x [N, T] -> logits [N, T, letters] */
static mw_tensor *network(mw_tensor *x, int64_t letters)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *table = mw_parameter(graph, "letter.weight", MW_F32, MW_SHAPE(letters, D), mw_init_normal(0, 0.02f));
    mw_tensor *place = mw_parameter(graph, "place.weight", MW_F32, MW_SHAPE(T, D), mw_init_normal(0, 0.02f));
    mw_tensor *h = mw_add(mw_gather(table, x, 0), place);
    mw_tensor *mask = causal_mask(graph);
    for (int layer = 0; layer < LAYERS; layer++)
        h = block(h, mask, layer);
    return mw_dense(mw_layer_norm_layer(h, 1, 1e-5f, "norm"), letters, "head");
}

int main(int argc, char **argv)
{
    example_options o = {.data = "/usr/share/common-licenses", .epochs = 6, .batch = 16, .learning_rate = 2e-3f};
    o.schedule = mw_schedule_cosine(0.1);
    o.schedule.warmup_steps = 100;
    options_parse(&o, argc, argv);

    mw_error err = {0};
    text source = text_read(o.data, T, &err);
    mw_dataset *train = text_dataset(&source, true, &err), *test = text_dataset(&source, false, &err);
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(o.batch, T));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o.batch, T));
    mw_tensor *logits = network(x, source.letter_count);

    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adamw(o.learning_rate, 0.05f));
    options.prediction = logits;
    options.clipping.norm = 1.0f;
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    options_fit(&o, trainer, train, test, &err);
    options_report(trainer, test, NULL, &err);
    if (err.status == MW_OK)
        text_sample(&source, trainer, o.batch, SAMPLE, &err);

    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    text_free(&source);
    return options_exit_code(&err);
}
