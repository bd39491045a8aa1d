/* mw train, mw finetune: training without a program. */
#include "tool/commands.h"
#include "tool/recipe.h"

/* ---- options that both have ---- */

static struct {
    recipe_overrides over;
    char *data, *output, *run, *device, *loss;
    const char **layers;
    int head;
} o;

#define COMMON_ROWS                                                                                                    \
    {"data",  '\0', POPT_ARG_STRING,                                                                                   \
     &o.data, 0,    "IDX folder, folder of pictures by class, .csv, .jsonl, .npz or other tensors x and y",            \
     "PATH"},                                                                                                          \
        {"out",     'o', POPT_ARG_STRING,                                                                              \
         &o.output, 0,   "the trained model: .mlpackage, .onnx, .safetensors (weights), else a folder of MIL",         \
         "PATH"},                                                                                                      \
        {"run",   '\0', POPT_ARG_STRING,                                                                               \
         &o.run,  0,    "folder for metrics.jsonl and the checkpoint; goes on if it is there",                         \
         "FOLDER"},                                                                                                    \
        {"epochs", '\0', POPT_ARG_LONGLONG, &o.over.epochs, 0, "through the training set", "N"},                       \
        {"batch", 'b', POPT_ARG_LONGLONG, &o.over.batch, 0, "examples of one step", "N"},                              \
        {"lr", '\0', POPT_ARG_DOUBLE, &o.over.learning_rate, 0, "learning rate", "X"},                                 \
        {"loss", '\0', POPT_ARG_STRING, &o.loss, 0, "cross_entropy, mse, l1, huber, binary_cross_entropy", "NAME"},    \
        {"seed", '\0', POPT_ARG_LONGLONG, &o.over.seed, 0, "of first weights and the order of examples", "N"},         \
        {"device", 'd', POPT_ARG_STRING, &o.device, 0, "auto, cpu or ane", "DEVICE"},                                  \
    {                                                                                                                  \
        "threads", 't', POPT_ARG_LONGLONG, &o.over.threads, 0, "0 = one for each processor", "N"                       \
    }

const struct poptOption tool_train_options[] = {COMMON_ROWS, POPT_TABLEEND};

const struct poptOption tool_finetune_options[] = {
    {"layers", 'l', POPT_ARG_ARGV, &o.layers, 0, "weights that are trained, as a shell would match ('*')", "PATTERN"},
    {"lora", '\0', POPT_ARG_LONGLONG, &o.over.lora, 0, "adapters of this rank, merged at the end, not the weights",
     "R"},
    {"head", '\0', POPT_ARG_NONE, &o.head, 0, "a new last layer, dense, for the classes of the data", NULL},
    COMMON_ROWS,
    POPT_TABLEEND,
};

static bool in_range(void)
{
    return tool_in_range("epochs", o.over.epochs, 0, 1000000) && tool_in_range("batch", o.over.batch, 0, 1 << 20) &&
           tool_in_range("seed", o.over.seed, 0, INT64_MAX / 2048) &&
           tool_in_range("threads", o.over.threads, 0, 1024) && tool_in_range("lora", o.over.lora, 0, 1024);
}

static void take_strings(void)
{
    o.over.data = o.data;
    o.over.output = o.output;
    o.over.run = o.run;
    o.over.device = o.device;
    o.over.loss = o.loss;
    o.over.layers = o.layers;
    o.over.head = o.head != 0;
    while (o.layers != NULL && o.layers[o.over.layer_count] != NULL)
        o.over.layer_count++;
}

int tool_train(const tool_call *call)
{
    if (!in_range())
        return TOOL_USAGE;
    take_strings();
    return recipe_train(call->arguments[0], &o.over, call);
}

int tool_finetune(const tool_call *call)
{
    if (!in_range())
        return TOOL_USAGE;
    take_strings();
    o.over.model = call->arguments[0];
    if (o.over.data == NULL || (o.over.output == NULL && o.over.run == NULL)) {
        tool_complain("finetune: --data PATH and --out PATH (or --run FOLDER) are needed");
        return TOOL_USAGE;
    }
    return recipe_train(NULL, &o.over, call);
}
