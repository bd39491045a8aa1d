/* mw train, mw finetune: training without a program. */
#include "tool/commands/commands.h"

#include "base/text/string.h"
#include "tool/fields.h"
#include "tool/runs/folds.h"
#include "tool/runs/jobs.h"
#include "tool/train/recipe.h"

#include <string.h>
#include <sys/stat.h>

/* ---- options that both have ---- */

static struct {
    recipe_overrides over;
    const char *output, *run, *device, *loss;
    const char **data, **layers, **rates;
    bool head;
    long long folds, jobs;
    const char *text, *chat, *cache, *prompt;
} o = {.over = {.seed = -1, .threads = -1, .segments = -1, .ignore = MW_IGNORE_NOTHING}};

static const tool_option common_options[] = {
    {"data", '\0', TOOL_LIST, &o.data,
     "IDX folder, folder of pictures or sounds by class, .csv, .jsonl, .npz or other tensors x and y; or NAME=FILE for "
     "each",
     .argument = "PATH"},
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
    {"loss", '\0', TOOL_TEXT, &o.loss, "what is learned: mw help losses", .argument = "NAME", .choices = RECIPE_LOSSES},
    {"seed", '\0', TOOL_INTEGER, &o.over.seed, "of first weights and the order of examples", .argument = "N",
     .high = RECIPE_SEED_MAX},
    {"device", 'd', TOOL_TEXT, &o.device, "auto, cpu, gpu or ane", .argument = "DEVICE", .choices = RECIPE_DEVICES},
    {"threads", 't', TOOL_INTEGER, &o.over.threads, "0 = one for each processor", .argument = "N",
     .high = RECIPE_THREADS_MAX},
    TOOL_OPTIONS_END,
};

const tool_option tool_train_options[] = {
    {"find-rate", '\0', TOOL_FLAG, &o.over.find_rate,
     "which learning rate: up to 120 steps with a rising one, and nothing is written", .argument = NULL},
    {"folds", '\0', TOOL_INTEGER, &o.folds,
     "cross-validation: a training for each of K parts, which validates it; mean and deviation of the figures",
     .argument = "K", .low = 2, .high = FOLDS_MAX},
    {"jobs", 'j', TOOL_INTEGER, &o.jobs, "folds at a time, of one thread each (0 = one for each processor)",
     .argument = "N", .high = JOBS_AT_ONCE_MAX, .needs = "folds"},
    TOOL_OPTIONS(common_options),
    TOOL_OPTIONS_END,
};

const tool_option tool_finetune_options[] = {
    {"layers", 'l', TOOL_LIST, &o.layers, "weights that are trained, or layers, as a shell would match ('*')",
     .argument = "PATTERN"},
    {"last", '\0', TOOL_INTEGER, &o.over.last, "the weights of the last layers, so many, are trained", .argument = "N",
     .low = 1, .high = 100000},
    {"rate-decay", '\0', TOOL_NUMBER, &o.over.rate_decay, "learning rate of each layer, of that of the one behind it",
     .argument = "X", .low = 1e-6, .high = 1},
    {"rate", '\0', TOOL_LIST, &o.rates, "factor of the learning rate of weights or layers; may be given several times",
     .argument = "PATTERN=X"},
    {"ignore", '\0', TOOL_INTEGER, &o.over.ignore, "a label that does not count; -100 where each token has one",
     .argument = "N", .low = -524288, .high = 524287},
    {"lora", '\0', TOOL_INTEGER, &o.over.lora, "adapters of this rank, merged at the end, not the weights",
     .argument = "R", .low = 1, .high = 1024},
    {"head", '\0', TOOL_FLAG, &o.head, "a new last layer, dense, for the classes of the data", .argument = NULL},
    {"text", '\0', TOOL_TEXT, &o.text,
     "MODEL is a language model's folder, and learns a text: .txt, .jsonl (\"text\" or \"messages\"), .bin (tokens)",
     .argument = "PATH"},
    {"tokens", '\0', TOOL_INTEGER, &o.over.text.tokens, "of an example (256, or what the model takes)", .argument = "N",
     .low = 1, .high = 1 << 20, .needs = "text"},
    {"padded", '\0', TOOL_FLAG, &o.over.text.padded, "an example is a document, filled up; else windows of all of them",
     .argument = NULL, .needs = "text"},
    {"buckets", '\0', TOOL_FLAG, &o.over.text.buckets,
     "filled up to 32, 64, .. tokens, as far as it is long, not to all of --tokens", .argument = NULL,
     .needs = "padded"},
    {"apart", '\0', TOOL_FLAG, &o.over.text.apart, "documents in one window do not see each other", .argument = NULL,
     .needs = "text"},
    {"chat", '\0', TOOL_TEXT, &o.chat, "template of conversations, where it is not that of the folder",
     .argument = "NAME", .choices = "chatml, llama-2, llama-3, gemma, mistral, zephyr", .needs = "text"},
    {"cache", '\0', TOOL_TEXT, &o.cache, "the file that the tokens are kept in (PATH.tokens)", .argument = "FILE",
     .needs = "text"},
    {"prompt", '\0', TOOL_TEXT, &o.prompt, "of the sample after each epoch (the begin of the text)", .argument = "TEXT",
     .needs = "text"},
    {"no-samples", '\0', TOOL_FLAG, &o.over.text.no_samples, "none is written", .argument = NULL, .needs = "text"},
    {"adapter", '\0', TOOL_FLAG, &o.over.text.adapter, "a folder of the adapters alone is written, as PEFT has them",
     .argument = NULL, .needs = "lora"},
    {"memory-limit", '\0', TOOL_NUMBER, &o.over.memory_limit,
     "that a step may take; what is not kept is computed again", .argument = "MB", .low = 1e-3, .high = 1e9},
    {"segments", '\0', TOOL_INTEGER, &o.over.segments, "programs that a step is cut into; 0 = as the ANE wants it",
     .argument = "N", .high = 4096},
    {"accumulate", '\0', TOOL_INTEGER, &o.over.accumulate, "batches that make one step", .argument = "N", .low = 1,
     .high = 1024},
    TOOL_OPTIONS(common_options),
    TOOL_OPTIONS_END,
};

static size_t count_words(const char *const *words)
{
    size_t count = 0;
    while (words != NULL && words[count] != NULL)
        count++;
    return count;
}

/* One path, or a name and a file for each tensor. */
static void take_data(void)
{
    const size_t count = count_words(o.data);
    if (count == 0)
        return;
    o.over.data = o.data[0];
    if (data_name_length(o.data[0]) == 0)
        return;
    o.over.files = o.data;
    o.over.file_count = count;
}

/* Several paths, or a path beside names. */
static bool refuse_data(void)
{
    for (size_t i = 0; i < count_words(o.data); i++) {
        if (count_words(o.data) > 1 && data_name_length(o.data[i]) == 0) {
            tool_complain("--data %.200s: one path, or NAME=FILE for each tensor", o.data[i]);
            return true;
        }
    }
    return false;
}

static void take_strings(void)
{
    take_data();
    o.over.output = o.output;
    o.over.run = o.run;
    o.over.device = o.device;
    o.over.loss = o.loss;
    o.over.layers = o.layers;
    o.over.head = o.head;
    o.over.text.path = o.text;
    o.over.text.chat = o.chat;
    o.over.text.cache = o.cache;
    o.over.text.prompt = o.prompt;
    o.over.layer_count = count_words(o.layers);
    o.over.rates = o.rates;
    o.over.rate_count = count_words(o.rates);
    o.over.has_ignore = o.over.ignore != MW_IGNORE_NOTHING;
}

/* No recipe: a table, or a folder of pictures or sounds. */
static bool is_data(const char *path)
{
    struct stat entry;
    return tool_is_table(path) || (stat(path, &entry) == 0 && S_ISDIR(entry.st_mode));
}

static int train(const char *path, const tool_call *call)
{
    return o.folds > 0 ? folds_train(path, &o.over, (int)o.folds, jobs_at_once(o.jobs), call)
                       : recipe_train(path, &o.over, call);
}

int tool_train(const tool_call *call)
{
    const char *path = call->arguments[0];
    take_strings();
    if (refuse_data())
        return TOOL_USAGE;
    if (o.over.find_rate && TOOL_REFUSE("the search for a rate trains nothing", "lr", "epochs", "out", "run"))
        return TOOL_USAGE;
    if (o.folds > 0 && TOOL_REFUSE("with --folds, which leaves figures and no model", "out", "find-rate"))
        return TOOL_USAGE;
    if (!is_data(path))
        return train(path, call);
    if (TOOL_REFUSE("beside a table or a folder, which is the data", "data"))
        return TOOL_USAGE;
    o.over.data = path;
    return train(NULL, call);
}

static bool is_output(const char *end) { return o.output != NULL && mw__string_ends(o.output, end); }

/* Forms of a trained model that a language model has not. */
static bool refuse_output(void)
{
    static const char *const others[] = {".onnx", ".safetensors"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (is_output(others[i])) {
            tool_complain("--out %.200s: a language model is written as a folder, .gguf, .bin or .mlpackage", o.output);
            return true;
        }
    }
    if (!o.over.text.adapter || !(is_output(".gguf") || is_output(".bin") || is_output(".mlpackage")))
        return false;
    tool_complain("--adapter has no effect with --out %.200s: adapters are a folder; without --adapter they are merged",
                  o.output);
    return true;
}

/* What a text of this kind has no use for. */
static bool refuse_for_text(void)
{
    const bool raw = mw__string_ends(o.text, ".bin"), is_tokens = raw || mw__string_ends(o.text, ".tokens");
    const bool is_lines = mw__string_ends(o.text, ".jsonl") || mw__string_ends(o.text, ".ndjson");
    if (TOOL_REFUSE("with --text, which is the data", "data") ||
        TOOL_REFUSE("with --text: the words of the model are the classes", "head", "loss", "ignore") ||
        TOOL_REFUSE("with --text, whose layers are told by --layers", "last", "rate", "rate-decay"))
        return true;
    if (is_tokens && TOOL_REFUSE("on a file of tokens, which is read as it is", "chat", "cache"))
        return true;
    if (!is_lines && TOOL_REFUSE("on a plain text: conversations are in .jsonl", "chat"))
        return true;
    if (raw && TOOL_REFUSE("on raw tokens, which do not say where a document ends", "padded", "apart"))
        return true;
    if (!is_lines && !is_tokens && TOOL_REFUSE("on a plain text, which is one document: .jsonl has several", "apart"))
        return true;
    if (o.over.text.padded && TOOL_REFUSE("with --padded, where an example is one document", "apart"))
        return true;
    return (o.over.text.no_samples && TOOL_REFUSE("with --no-samples", "prompt")) || refuse_output();
}

/* Whether options contradict each other, or do nothing. */
static bool refuse_finetune(void)
{
    if (o.text != NULL ? refuse_for_text() : TOOL_REFUSE("without --text", "adapter"))
        return true;
    if (o.over.text.buckets && TOOL_REFUSE("with --buckets, whose programs are whole", "memory-limit", "segments"))
        return true;
    if (o.over.memory_limit > 0.0 && TOOL_REFUSE("with --memory-limit, which keeps a step whole", "segments"))
        return true;
    if (o.over.segments != 1)
        return false;
    tool_complain("--segments 1 has no effect: a step is one program; 2 or more cut it, 0 where the ANE wants it");
    return true;
}

int tool_finetune(const tool_call *call)
{
    take_strings();
    o.over.model = call->arguments[0];
    if ((o.over.data == NULL && o.text == NULL) || (o.over.output == NULL && o.over.run == NULL)) {
        tool_complain("finetune: --data PATH, or --text PATH, and --out PATH (or --run FOLDER) are needed");
        return TOOL_USAGE;
    }
    if (refuse_data() || refuse_finetune())
        return TOOL_USAGE;
    if (o.head && o.loss != NULL && strcmp(o.loss, "cross_entropy") != 0 && strcmp(o.loss, "focal") != 0) {
        tool_complain("finetune: --head is a layer for classes; it has no effect with --loss %.40s", o.loss);
        return TOOL_USAGE;
    }
    return recipe_train(NULL, &o.over, call);
}
