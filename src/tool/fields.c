/* The table of a recipe's fields. */
#include "tool/fields.h"

#include "tool/tool.h"

#include <assert.h>
#include <string.h>

typedef enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_INTEGER, FIELD_BOOL, FIELD_CHOICE, FIELD_OBJECT } field_kind;

typedef struct field_row {
    const char *path;
    field_kind kind;
    double low, high;
    const char *choices; /* "a, b, c" */
    const char *when;    /* it has an effect; NULL = always */
} field_row;

#define TABLES      "in data of a table (.csv, .tsv, .jsonl)"
#define FITTED      "in data of a table that a network is trained on, with \"normalize\""
#define PICTURES    "for pictures"
#define FOLDERS     "for folders of pictures"
#define SOUNDS      "for folders of sounds"
#define FILES       "for folders of pictures or sounds"
#define LISTED      FILES " with a \"table\""
#define SIZED       "for folders of pictures with a \"size\""
#define CHECKPOINTS "with \"run\" or \"checkpoint\""

/* The range of a number of an optimizer is the library's. */
#define OF_OPTIMIZER 0, 0

static const field_row rows[] = {
    {"loss", FIELD_CHOICE, .choices = RECIPE_LOSSES},
    {"epochs", FIELD_INTEGER, 1, RECIPE_EPOCHS_MAX, .when = NULL},
    {"batch", FIELD_INTEGER, 1, RECIPE_BATCH_MAX, .when = NULL},
    {"seed", FIELD_INTEGER, 0, RECIPE_SEED_MAX, .when = NULL},
    {"threads", FIELD_INTEGER, 0, RECIPE_THREADS_MAX, .when = NULL},
    {"device", FIELD_CHOICE, .choices = RECIPE_DEVICES},
    {"clip_norm", FIELD_NUMBER, 0, 1e9, .when = NULL},
    {"accumulate", FIELD_INTEGER, 1, 1024, .when = NULL},
    {"average_decay", FIELD_NUMBER, 0, 1, .when = NULL},
    {"average_from", FIELD_INTEGER, 1, INT32_MAX, .when = "with \"average_decay\""},
    {"gradient_norms", FIELD_BOOL, .when = "with \"run\" or \"metrics\""},
    {"metrics_steps", FIELD_INTEGER, 0, INT32_MAX, .when = "with \"run\" or \"metrics\""},
    {"checkpoint_steps", FIELD_INTEGER, 0, INT32_MAX, .when = CHECKPOINTS},
    {"keep", FIELD_INTEGER, 0, 1000, .when = CHECKPOINTS},
    {"best", FIELD_CHOICE, .choices = "loss, accuracy, mean_absolute_error", .when = CHECKPOINTS},
    {"class_weights", FIELD_CHOICE, .choices = "balanced", .when = "with the loss cross_entropy"},
    {"class_weights", FIELD_OBJECT, .when = "with the loss cross_entropy"},
    {"sampling", FIELD_CHOICE, .choices = "balanced", .when = "with the loss cross_entropy"},
    {"sampling", FIELD_OBJECT, .when = "with the loss cross_entropy"},
    {"sampling_seed", FIELD_INTEGER, 0, RECIPE_SEED_MAX, .when = "with \"sampling\""},
    {"gamma", FIELD_NUMBER, 1, 10, .when = "with the loss focal"},
    {"quantile", FIELD_NUMBER, 0.001, 0.999, .when = "with the loss quantile"},
    {"scores", FIELD_TEXT, .when = NULL},
    {"ignore", FIELD_INTEGER, -524288, 524287, .when = "with the loss cross_entropy"},
    {"layers", FIELD_OBJECT, .when = "with \"model\""},
    {"last", FIELD_INTEGER, 1, 100000, .when = "with \"model\""},
    {"lora", FIELD_INTEGER, 1, 1024, .when = "with \"model\""},
    {"rate_decay", FIELD_NUMBER, 1e-6, 1, .when = NULL},
    {"rates", FIELD_OBJECT, .when = NULL},
    {"run", FIELD_TEXT, .when = NULL},
    {"checkpoint", FIELD_TEXT, .when = NULL},
    {"metrics", FIELD_TEXT, .when = NULL},
    {"output", FIELD_TEXT, .when = NULL},
    {"model", FIELD_TEXT, .when = NULL},
    {"data", FIELD_OBJECT, .when = NULL},
    {"data.path", FIELD_TEXT, .when = NULL},
    {"data.inputs", FIELD_OBJECT, .when = TABLES},
    {"data.target", FIELD_TEXT, .when = TABLES},
    {"data.target", FIELD_OBJECT, .when = FITTED},
    {"data.fields", FIELD_OBJECT, .when = FITTED},
    {"data.target_scale", FIELD_CHOICE, .choices = "standard, logarithm, none",
     .when = "with a target of values and without \"model\""},
    {"data.split", FIELD_CHOICE, .choices = "random, stratified, group, time, last",
     .when = "with a share for validation"},
    {"data.split_field", FIELD_TEXT, .when = "with \"split\": \"group\", \"time\" or \"last\""},
    {"data.split_seed", FIELD_INTEGER, 0, RECIPE_SEED_MAX,
     .when = FITTED ", with \"split\": \"random\", "
                    "\"stratified\" or \"group\""},
    {"data.window", FIELD_OBJECT, .when = FITTED},
    {"window.length", FIELD_INTEGER, 1, 65536, .when = NULL},
    {"window.stride", FIELD_INTEGER, 1, INT32_MAX, .when = NULL},
    {"window.horizon", FIELD_INTEGER, 0, 65536, .when = NULL},
    {"window.gap", FIELD_INTEGER, 0, 65536, .when = "with a \"horizon\" above 0"},
    {"window.series", FIELD_TEXT, .when = NULL},
    {"data.separator", FIELD_TEXT, .when = "in data of a .csv or .tsv file"},
    {"data.decimal", FIELD_TEXT, .when = FITTED ", of a .csv or .tsv file"},
    {"data.encoding", FIELD_CHOICE, .choices = "found, utf-8, utf-16le, utf-16be, latin1", .when = FITTED},
    {"data.header", FIELD_BOOL, .when = "in data of a .csv or .tsv file"},
    {"data.normalize", FIELD_BOOL, .when = "with \"network\" and without \"model\""},
    {"data.channels", FIELD_INTEGER, 1, 8, .when = FILES},
    {"data.rate", FIELD_INTEGER, 1000, 384000, .when = SOUNDS},
    {"data.seconds", FIELD_NUMBER, 0.001, 4000, .when = SOUNDS},
    {"data.place", FIELD_TEXT, .choices = "begin, middle", .when = SOUNDS},
    {"data.size", FIELD_OBJECT, .when = FOLDERS},
    {"data.fit", FIELD_TEXT, .choices = "crop, stretch, pad", .when = SIZED},
    {"data.crop", FIELD_NUMBER, 0.01, 1, .when = SIZED " and \"fit\": \"crop\""},
    {"data.reduce", FIELD_BOOL, .when = SIZED},
    {"data.blend", FIELD_BOOL, .when = FOLDERS},
    {"data.background", FIELD_OBJECT, .when = "with \"fit\": \"pad\" or \"blend\""},
    {"data.mean", FIELD_OBJECT, .when = FOLDERS},
    {"data.deviation", FIELD_OBJECT, .when = "for folders of pictures with a \"mean\""},
    {"data.table", FIELD_TEXT, .when = FILES},
    {"data.name", FIELD_TEXT, .when = LISTED},
    {"data.label", FIELD_TEXT, .when = LISTED},
    {"data.label_separator", FIELD_TEXT, .when = LISTED},
    {"data.test_table", FIELD_TEXT, .when = LISTED " and a test set"},
    {"data.broken", FIELD_TEXT, .choices = "refuse, skip, late", .when = FILES},
    {"data.memory", FIELD_INTEGER, 0, 1 << 20, .when = FILES},
    {"data.validation", FIELD_NUMBER, 0, 0.9, .when = NULL},
    {"data.test", FIELD_TEXT, .when = NULL},
    {"data.x", FIELD_TEXT, .when = "for files of tensors"},
    {"data.y", FIELD_TEXT, .when = "for files of tensors"},
    {"data.augment", FIELD_OBJECT, .when = "for pictures and sounds"},
    {"augment.seed", FIELD_INTEGER, 0, RECIPE_SEED_MAX, .when = NULL},
    {"augment.gain", FIELD_NUMBER, 0, 60, .when = SOUNDS},
    {"augment.move", FIELD_NUMBER, 0, 4000, .when = SOUNDS},
    {"augment.noise", FIELD_NUMBER, 0, 1, .when = SOUNDS},
    {"augment.pad", FIELD_INTEGER, 0, 4096, .when = PICTURES},
    {"augment.shift", FIELD_INTEGER, 0, 4096, .when = PICTURES},
    {"augment.flip", FIELD_NUMBER, 0, 1, .when = PICTURES},
    {"augment.flip_vertical", FIELD_NUMBER, 0, 1, .when = PICTURES},
    {"augment.brightness", FIELD_NUMBER, 0, 1e6, .when = PICTURES},
    {"augment.contrast", FIELD_NUMBER, 0, 1, .when = PICTURES},
    {"augment.rotate", FIELD_NUMBER, 0, 180, .when = PICTURES},
    {"augment.fill", FIELD_NUMBER, 0, 1e6, .when = PICTURES},
    {"augment.color", FIELD_OBJECT, .when = PICTURES},
    {"color.brightness", FIELD_NUMBER, 0, 100, .when = NULL},
    {"color.contrast", FIELD_NUMBER, 0, 100, .when = NULL},
    {"color.saturation", FIELD_NUMBER, 0, 100, .when = "for pictures of three channels"},
    {"color.hue", FIELD_NUMBER, 0, 0.5, .when = "for pictures of three channels"},
    {"augment.erase", FIELD_OBJECT, .when = PICTURES},
    {"erase.probability", FIELD_NUMBER, 0, 1, .when = NULL},
    {"erase.scale", FIELD_OBJECT, .when = NULL},
    {"erase.ratio", FIELD_OBJECT, .when = NULL},
    {"erase.value", FIELD_NUMBER, 0, 1e6, .when = NULL},
    {"augment.mixup", FIELD_NUMBER, 0, 100, .when = PICTURES " with \"loss\": \"cross_entropy\""},
    {"augment.cutmix", FIELD_NUMBER, 0, 100, .when = PICTURES " with \"loss\": \"cross_entropy\""},
    {"augment.scale", FIELD_OBJECT, .when = SIZED},
    {"augment.ratio", FIELD_OBJECT, .when = "with \"scale\""},
    {"optimizer", FIELD_OBJECT, .when = NULL},
    {"optimizer.name", FIELD_CHOICE, .choices = RECIPE_OPTIMIZERS},
    {"optimizer.learning_rate", FIELD_NUMBER, RECIPE_RATE_MIN, RECIPE_RATE_MAX, .when = NULL},
    {"optimizer.weight_decay", FIELD_NUMBER, OF_OPTIMIZER, .when = NULL},
    {"optimizer.momentum", FIELD_NUMBER, OF_OPTIMIZER, .when = "of sgd, rmsprop and muon"},
    {"optimizer.nesterov", FIELD_BOOL, .when = "of sgd with \"momentum\", and of muon"},
    {"optimizer.beta1", FIELD_NUMBER, OF_OPTIMIZER, .when = "of adam, adamw, lion and muon"},
    {"optimizer.beta2", FIELD_NUMBER, OF_OPTIMIZER, .when = "of adam, adamw, lion and muon"},
    {"optimizer.match_rms", FIELD_BOOL, .when = "of muon"},
    {"schedule", FIELD_OBJECT, .when = NULL},
    {"schedule.name", FIELD_CHOICE, .choices = "constant, linear, cosine, one_cycle, step"},
    {"schedule.end", FIELD_NUMBER, 0, 1, .when = "of linear and cosine"},
    {"schedule.period", FIELD_INTEGER, 1, INT32_MAX, .when = "of step"},
    {"schedule.gamma", FIELD_NUMBER, 0, 1, .when = "of step"},
    {"schedule.warmup_steps", FIELD_INTEGER, 0, INT32_MAX, .when = NULL},
    {"early_stopping", FIELD_OBJECT, .when = NULL},
    {"early_stopping.by", FIELD_CHOICE, .choices = "loss, accuracy, mean_absolute_error"},
    {"early_stopping.patience", FIELD_INTEGER, 1, 100000, .when = NULL},
    {"early_stopping.min_delta", FIELD_NUMBER, 0, 1e9, .when = NULL},
    {"early_stopping.restore_best", FIELD_BOOL, .when = NULL},
    {"plateau", FIELD_OBJECT, .when = NULL},
    {"plateau.patience", FIELD_INTEGER, 1, 100000, .when = NULL},
    {"plateau.factor", FIELD_NUMBER, 1e-9, 0.999999, .when = NULL},
    {"plateau.least", FIELD_NUMBER, 0, 1e9, .when = NULL},
    {"network", FIELD_OBJECT, .when = NULL},
};

static const size_t row_count = sizeof rows / sizeof rows[0];

static const field_row *find_field(const char *path, field_kind kind)
{
    for (size_t i = 0; i < row_count; i++) {
        if (strcmp(rows[i].path, path) == 0 && rows[i].kind == kind)
            return &rows[i];
    }
    assert(false && "a field without a row");
    return &rows[0];
}

static const char *key_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

static bool find_number(const mw_optimizer *optimizer, const char *name, mw_optimizer_number_info *out)
{
    for (size_t i = 0; mw_optimizer_number_at(optimizer, i, out); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

static void find_range(const field_row *row, double *low, double *high)
{
    const mw_optimizer optimizers[] = {mw_adam(1), mw_sgd(1), mw_rmsprop(1), mw_adagrad(1),
                                       mw_lion(1, 0)}; /* muon has none of its own */
    mw_optimizer_number_info number;
    *low = row->low, *high = row->high;
    if (row->low != row->high)
        return;
    for (size_t i = 0; i < sizeof optimizers / sizeof optimizers[0]; i++)
        if (find_number(&optimizers[i], key_of(row->path), &number))
            *low = number.least, *high = number.most;
}

/* ---- asking ---- */

bool field_is_there(const char *path)
{
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].path, path) == 0)
            return true;
    return false;
}

const char *field_text(config *c, const config_node *object, const char *path, const char *otherwise)
{
    find_field(path, FIELD_TEXT);
    const char *text = config_string(c, object, key_of(path), otherwise);
    if (text != NULL && text != otherwise && text[0] == '\0')
        config_fail(c, config_get(object, key_of(path)), "\"%.60s\" is an empty text", key_of(path));
    return text;
}

double field_number(config *c, const config_node *object, const char *path, double otherwise)
{
    double low, high;
    find_range(find_field(path, FIELD_NUMBER), &low, &high);
    return config_number(c, object, key_of(path), otherwise, low, high);
}

int64_t field_integer(config *c, const config_node *object, const char *path, int64_t otherwise)
{
    const field_row *row = find_field(path, FIELD_INTEGER);
    const int64_t value = config_integer(c, object, key_of(path), otherwise, (int64_t)row->low, (int64_t)row->high);
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    if (row->choices != NULL && c->err->status == MW_OK && !tool_is_listed(row->choices, text))
        config_fail(c, config_get(object, key_of(path)), "\"%.60s\" is %s, none of %s", key_of(path), text,
                    row->choices);
    return value;
}

bool field_bool(config *c, const config_node *object, const char *path, bool otherwise)
{
    find_field(path, FIELD_BOOL);
    return config_bool(c, object, key_of(path), otherwise);
}

int field_choice(config *c, const config_node *object, const char *path, int otherwise)
{
    char words[200];
    const char *names[16] = {NULL};
    int count = 0;
    snprintf(words, sizeof words, "%s", find_field(path, FIELD_CHOICE)->choices);
    for (char *word = strtok(words, ", "); word != NULL && count < 15; word = strtok(NULL, ", "))
        names[count++] = word;
    return config_choice(c, object, key_of(path), names, otherwise);
}

const config_node *field_object(config *c, const config_node *object, const char *path)
{
    find_field(path, FIELD_OBJECT);
    return config_object(c, object, key_of(path));
}

/* ---- the table ---- */

const char *field_condition(const char *object, const char *key)
{
    char path[128];
    snprintf(path, sizeof path, "%.60s%s%.60s", object, object[0] != '\0' ? "." : "", key);
    for (size_t i = 0; i < row_count; i++) {
        if (strcmp(rows[i].path, path) == 0)
            return rows[i].when != NULL ? rows[i].when : "with other settings";
    }
    return NULL;
}

/* Whether a row is of a member of this object: "optimizer.name" of "optimizer". */
static bool is_member(const field_row *row, const char *object)
{
    const char *key = key_of(row->path);
    const size_t length = strlen(object);
    if (length == 0)
        return key == row->path;
    return (size_t)(key - row->path) == length + 1 && strncmp(row->path, object, length) == 0;
}

bool field_has_members(const char *object)
{
    for (size_t i = 0; i < row_count; i++)
        if (is_member(&rows[i], object))
            return true;
    return false;
}

void field_offer(const config_node *object, mw__spelling *spelling)
{
    const char *name = object->parent == NULL ? "" : object->key;
    for (size_t i = 0; name != NULL && i < row_count; i++)
        if (is_member(&rows[i], name))
            mw__spelling_offer(spelling, key_of(rows[i].path));
}

const char *field_owner(const char *key)
{
    static char owner[64];
    for (size_t i = 0; i < row_count; i++) {
        const char *own = key_of(rows[i].path);
        if (strcmp(own, key) != 0)
            continue;
        snprintf(owner, sizeof owner, "%.*s", own > rows[i].path ? (int)(own - rows[i].path - 1) : 0, rows[i].path);
        return owner;
    }
    return NULL;
}

void tool_print_fields(void)
{
    static const char *const kinds[] = {"text", "number", "integer", "bool", "choice", "object"};
    for (size_t i = 0; i < row_count; i++) {
        const field_row *row = &rows[i];
        char range[80] = "";
        if (row->kind == FIELD_INTEGER)
            snprintf(range, sizeof range, "%lld .. %lld", (long long)row->low, (long long)row->high);
        double low, high;
        find_range(row, &low, &high);
        if (row->kind == FIELD_NUMBER)
            snprintf(range, sizeof range, "%.9g .. %.9g", low, high);
        printf("%s\t%s\t%s\t%s\t%s\n", row->path, kinds[row->kind], range, row->choices != NULL ? row->choices : "",
               row->when != NULL ? row->when : "");
    }
}
