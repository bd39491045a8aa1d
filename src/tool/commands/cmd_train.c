/* mw train, mw finetune: training without a program. */
#include "tool/commands/commands.h"
#include "tool/fields.h"
#include "tool/train/recipe.h"

#include <string.h>

/* ---- options that both have ---- */

static struct {
    recipe_overrides over;
    const char *data, *output, *run, *device, *loss;
    const char **layers;
    bool head;
} o = {.over = {.seed = -1, .threads = -1}};

static const tool_option common_options[] = {
    {"data", '\0', TOOL_TEXT, &o.data,
     "IDX folder, folder of pictures by class, .csv, .jsonl, .npz or other tensors x and y", .argument = "PATH"},
    {"out", 'o', TOOL_TEXT, &o.output,
     "the trained model: .mlpackage, .onnx, .safetensors (weights), else a folder of MIL", .argument = "PATH"},
    {"run", '\0', TOOL_TEXT, &o.run, "folder for metrics.jsonl and the checkpoint; goes on if it is there",
     .argument = "FOLDER"},
    {"epochs", '\0', TOOL_INTEGER, &o.over.epochs, "through the training set", .argument = "N", .low = 1,
     .high = RECIPE_EPOCHS_MAX},
    {"batch", 'b', TOOL_INTEGER, &o.over.batch, "examples of one step", .argument = "N", .low = 1,
     .high = RECIPE_BATCH_MAX},
    {"lr", '\0', TOOL_NUMBER, &o.over.learning_rate, "learning rate", .argument = "X", .low = RECIPE_RATE_MIN,
     .high = RECIPE_RATE_MAX},
    {"loss", '\0', TOOL_TEXT, &o.loss, "cross_entropy, mse, l1, huber, binary_cross_entropy", .argument = "NAME",
     .choices = RECIPE_LOSSES},
    {"seed", '\0', TOOL_INTEGER, &o.over.seed, "of first weights and the order of examples", .argument = "N",
     .high = RECIPE_SEED_MAX},
    {"device", 'd', TOOL_TEXT, &o.device, "auto, cpu, gpu or ane", .argument = "DEVICE", .choices = RECIPE_DEVICES},
    {"threads", 't', TOOL_INTEGER, &o.over.threads, "0 = one for each processor", .argument = "N",
     .high = RECIPE_THREADS_MAX},
    TOOL_OPTIONS_END,
};

const tool_option tool_train_options[] = {TOOL_OPTIONS(common_options), TOOL_OPTIONS_END};

const tool_option tool_finetune_options[] = {
    {"layers", 'l', TOOL_LIST, &o.layers, "weights that are trained, as a shell would match ('*')",
     .argument = "PATTERN"},
    {"lora", '\0', TOOL_INTEGER, &o.over.lora, "adapters of this rank, merged at the end, not the weights",
     .argument = "R", .low = 1, .high = 1024},
    {"head", '\0', TOOL_FLAG, &o.head, "a new last layer, dense, for the classes of the data", .argument = NULL},
    TOOL_OPTIONS(common_options),
    TOOL_OPTIONS_END,
};

static void take_strings(void)
{
    o.over.data = o.data;
    o.over.output = o.output;
    o.over.run = o.run;
    o.over.device = o.device;
    o.over.loss = o.loss;
    o.over.layers = o.layers;
    o.over.head = o.head;
    while (o.layers != NULL && o.layers[o.over.layer_count] != NULL)
        o.over.layer_count++;
}

int tool_train(const tool_call *call)
{
    take_strings();
    return recipe_train(call->arguments[0], &o.over, call);
}

int tool_finetune(const tool_call *call)
{
    take_strings();
    o.over.model = call->arguments[0];
    if (o.over.data == NULL || (o.over.output == NULL && o.over.run == NULL)) {
        tool_complain("finetune: --data PATH and --out PATH (or --run FOLDER) are needed");
        return TOOL_USAGE;
    }
    if (o.head && o.loss != NULL && strcmp(o.loss, "cross_entropy") != 0) {
        tool_complain("finetune: --head is a layer for classes; it has no effect with --loss %.40s", o.loss);
        return TOOL_USAGE;
    }
    return recipe_train(NULL, &o.over, call);
}
