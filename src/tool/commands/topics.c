/* mw help TOPIC: what a recipe may name, a row each, from the tables that read it. */
#include "tool/fields.h"
#include "tool/meant.h"
#include "tool/train/network.h"
#include "tool/train/training.h"

#include <millwright/scores.h>
#include <string.h>

typedef struct named_text {
    const char *name, *text;
} named_text;

static const char *find_text(const named_text *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].text;
    return "";
}
#define TEXT_OF(rows, name) find_text((rows), sizeof(rows) / sizeof((rows)[0]), (name))

static void print_named(const char *name, const char *text)
{
    printf(text[0] != '\0' ? "%-22s %s\n" : "%s\n", name, text);
}

/* ---- losses ---- */

static const named_text losses[] = {
    {"cross_entropy", "of classes: -log softmax(scores)[class]; class_weights"},
    {"mse", "of values: mean (y - t)^2"},
    {"l1", "of values: mean |y - t|; outliers count less"},
    {"huber", "of values: (y - t)^2 / 2 up to 1, |y - t| - 1/2 from there on"},
    {"binary_cross_entropy", "of labels, each yes or no by itself: of the sigmoid of each score"},
    {"focal", "of classes: cross_entropy times (1 - p)^gamma, for rare ones; gamma (2)"},
    {"dice", "of labels: how little those of an example overlap, as the pixels of a mask"},
    {"quantile", "of values: as often above as quantile says; quantile (0.5)"},
    {"poisson", "of counts: the result is their mean, and its logarithm is learned"},
    {"cosine", "of vectors in files of tensors: 1 - cos(y, t); their lengths do not count"},
};

static void print_losses(void)
{
    for (size_t i = 0; training_losses[i] != NULL; i++)
        print_named(training_losses[i], TEXT_OF(losses, training_losses[i]));
}

/* ---- metrics ---- */

static const named_text metrics[] = {
    {"accuracy", "share of examples that are right, with labels in all of them"},
    {"top_K", "share whose class is among the K largest: top_5"},
    {"balanced_accuracy", "mean recall of the classes that occur"},
    {"precision", "tp / (tp + fp), of the yes of a single column"},
    {"recall", "tp / (tp + fn), likewise"},
    {"f1", "2 tp / (2 tp + fp + fn), likewise"},
    {"iou", "tp / (tp + fp + fn), likewise"},
    {"dice", "that is f1"},
    {"log_loss", "mean of -log p"},
    {"auc", "area below the ROC curve; of several classes the mean, each against the rest"},
    {"average_precision", "sum of precision times step of recall, likewise"},
    {"calibration_error", "mean distance of confidence and accuracy in 15 bins"},
    {"mae", "mean |y - t|"},
    {"mse", "mean (y - t)^2"},
    {"rmse", "its root, in the unit of the target"},
    {"mape", "mean |y - t| / |t|"},
    {"r2", "1 - sum (y - t)^2 / sum (t - mean t)^2"},
    {"wer", "words to change, put in or leave out, over those of the reference"},
    {"cer", "the same of characters"},
};

/* "f1_macro": what "f1" is, with how it is put together. */
static const char *text_of_metric(const char *name, char *out, size_t size)
{
    static const named_text means[] = {{"_macro", "mean over the classes"},
                                       {"_micro", "of the counts of all classes together"},
                                       {"_weighted", "mean over the classes, weighted by how often each occurs"}};
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        const char *end = strstr(name, means[i].name);
        if (end == NULL)
            continue;
        snprintf(out, size, "%.*s, %s", (int)(end - name), name, means[i].text);
        return out;
    }
    snprintf(out, size, "%s", TEXT_OF(metrics, name));
    return out;
}

static void print_metrics(void)
{
    static const struct {
        mw_score_task task;
        const char *text;
    } tasks[] = {{MW_SCORE_CLASSES, "of classes"},
                 {MW_SCORE_LABELS, "of labels, yes or no each"},
                 {MW_SCORE_VALUES, "of values"},
                 {MW_SCORE_TEXTS, "of texts"}};
    char text[160];
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        printf("%s%s:\n", i > 0 ? "\n" : "", tasks[i].text);
        const char *name;
        for (size_t k = 0; (name = mw_score_name(tasks[i].task, k)) != NULL; k++)
            print_named(name, text_of_metric(name, text, sizeof text));
    }
}

/* ---- optimizers and schedules ---- */

static void print_numbers(const char *name, mw_optimizer optimizer)
{
    mw_optimizer_number_info number;
    printf("%-10s", name);
    for (size_t i = 0, count = 0; mw_optimizer_number_at(&optimizer, i, &number); i++) {
        char path[64];
        snprintf(path, sizeof path, "optimizer.%s", number.name);
        if (!field_is_there(path))
            continue;
        printf("%s%s", count++ > 0 ? ", " : " ", number.name);
        if (number.is_switch)
            printf(" (%s)", number.value != 0 ? "true" : "false");
        else
            printf(" (%.6g)", number.value);
    }
    printf("\n");
}

static void print_optimizers(void)
{
    for (int i = 0; training_optimizers[i] != NULL; i++)
        print_numbers(training_optimizers[i], training_begin_optimizer(i, training_optimizer_rate(i)));
    puts("\nschedules:\n"
         "constant   warmup_steps (0)\n"
         "linear     end (0): the part of the rate that is left; warmup_steps (0)\n"
         "cosine     end (0), warmup_steps (0): what is taken if none is named\n"
         "one_cycle  warmup_steps (0)\n"
         "step       period (1000), gamma (0.1), warmup_steps (0)");
}

/* ---- columns of tables ---- */

static void print_columns(void)
{
    puts("\"data\": {\"fields\": {\"NAME\": {\"kind\": ..}}} says of a field of a table:\n"
         "number     missing (mean; median, constant), constant (0)\n"
         "category   words: one-hot up to 32, from there on learned numbers; width (found)\n"
         "id         whole numbers as words; width (found)\n"
         "date       year, month, weekday, age: 2026-12-01, 1.12.2026 14:30\n"
         "boolean    true, false, yes, no, 1, 0\n"
         "text       words by their hash; width (64)\n"
         "ignored    not read: {\"NAME\": \"ignored\"} alone will do\n"
         "found      by content, as without a word\n"
         "\nmw help recipe has the other keys of \"data\"; mw train --help, how a table is read.");
}

/* ---- the table ---- */

static const struct {
    const char *name, *text;
    void (*print)(void);
} topics[] = {
    {"layers", "layers of a recipe, with their options", tool_print_layers},
    {"losses", "what may be minimized", print_losses},
    {"metrics", "figures of \"scores\", by task", print_metrics},
    {"optimizers", "optimizers with their numbers, and schedules", print_optimizers},
    {"columns", "kinds of fields of a table", print_columns},
    {"recipe", "every key of a recipe: kind, range, choices, when it has an effect", tool_print_fields},
    {"options", "every option of every command, likewise", tool_print_options},
};
enum { TOPICS = sizeof topics / sizeof topics[0] };

const char *tool_topic_at(size_t index) { return index < TOPICS ? topics[index].name : NULL; }

void tool_print_topics(FILE *out)
{
    fputs("\nmw help COMMAND says more of each, and of what a recipe may name:\n", out);
    for (size_t i = 0; i < TOPICS; i++)
        fprintf(out, "  mw help %-11s %s\n", topics[i].name, topics[i].text);
}

static int refuse_topic(const char *name)
{
    char hint[MEANT_BYTES];
    mw__spelling spelling;
    mw__spelling_init(&spelling, name);
    for (size_t i = 0; i < tool_command_count; i++)
        mw__spelling_offer(&spelling, tool_commands[i].name);
    for (size_t i = 0; i < TOPICS; i++)
        mw__spelling_offer(&spelling, topics[i].name);
    mw__spelling_hint(&spelling, "mw help ", hint, sizeof hint);
    tool_complain("there is no help of \"%s\"%s", name, hint[0] != '\0' ? hint : "; mw help lists commands and topics");
    return TOOL_USAGE;
}

int tool_print_help_of(const char *name)
{
    const tool_command *command = tool_find(name);
    if (command != NULL) {
        tool_print_help(command);
        return TOOL_DONE;
    }
    for (size_t i = 0; i < TOPICS; i++) {
        if (strcmp(topics[i].name, name) == 0) {
            topics[i].print();
            return TOOL_DONE;
        }
    }
    return refuse_topic(name);
}
