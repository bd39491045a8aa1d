/* For steps.py: weights of PyTorch in, five steps of training, weights out.
 *
 *     five_steps WEIGHTS sgd|momentum|adam|adamw OUT.safetensors
 *
 * Prints what became of each weight and tensor, and the loss of each step. */
#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 16, IN = 2 * 8 * 8, CLASSES = 5, STEPS = 5 };

static void tell(void *user, const mw_weights_choice *choice)
{
    static const char *const words[] = {"taken", "missing", "shape", "unused"};
    (void)user;
    printf("%s %s\n", words[choice->outcome], choice->parameter != NULL ? choice->parameter : choice->tensor);
}

static mw_optimizer optimizer_of(const char *name)
{
    if (strcmp(name, "momentum") == 0)
        return mw_sgd_momentum(0.05f, 0.9f, false);
    if (strcmp(name, "adam") == 0)
        return mw_adam(1e-3f);
    if (strcmp(name, "adamw") == 0)
        return mw_adamw(1e-3f, 0.01f);
    return mw_sgd(0.1f);
}

/* conv1 without bias, bn1, relu, fc1, gelu, fc2 */
static mw_tensor *build(mw_graph *graph)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    same.bias = false;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(BATCH, 2, 8, 8));
    mw_tensor *h =
        mw_relu(mw_batch_norm_layer(mw_conv_layer(x, 4, MW_SHAPE(3, 3), "conv1", &same), 0.1f, 1e-5f, "bn1"));
    h = mw_gelu(mw_dense(mw_reshape(h, MW_SHAPE(BATCH, 4 * 8 * 8)), 32, "fc1"), MW_GELU_EXACT);
    return mw_dense(h, CLASSES, "fc2");
}

static void fill(int step, float x[BATCH * IN], int32_t y[BATCH])
{
    for (int i = 0; i < BATCH * IN; i++)
        x[i] = (float)((i * 37 + step * 11) % 101 - 50) / 32.0f;
    for (int i = 0; i < BATCH; i++)
        y[i] = (i * 7 + step) % CLASSES;
}

static void train(mw_trainer *trainer, mw_error *err)
{
    static float x[BATCH * IN];
    int32_t y[BATCH];
    float loss = 0;
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = BATCH * IN, .scale = 1},
                             {.name = "y", .dtype = MW_I32, .data = y, .count = BATCH, .scale = 1}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = BATCH};
    for (int step = 0; step < STEPS && err->status == MW_OK; step++) {
        fill(step, x, y);
        mw_trainer_step(trainer, &batch, &loss, err);
        printf("loss %.9g\n", (double)loss);
    }
}

int main(int argc, char **argv)
{
    mw_error err = {0};
    if (argc != 4)
        return 2;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *logits = build(graph), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(BATCH));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), optimizer_of(argv[2]));
    options.compile.device = MW_DEVICE_CPU;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_weights_options load = mw_weights_defaults();
    load.report = tell;
    mw_trainer_load_weights(trainer, argv[1], &load, &err);
    train(trainer, &err);
    mw_trainer_save_weights(trainer, argv[3], &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    return err.status != MW_OK;
}
