/* How much an example counts by its class, and how often it is drawn: "class_weights" and "sampling" of a recipe. */
#include "tool/train/training.h"

#include <stdlib.h>
#include <string.h>

/* The index of the score that a label of the data belongs to. */
static int64_t score_of(const training *t, int64_t label)
{
    return t->data.class_map != NULL && label < t->data.class_map_count ? t->data.class_map[label] : label;
}

/* n / (classes that occur * n of the class), as scikit-learn has it: each class counts alike. */
static void balance(training *t, float *weights, int64_t count)
{
    const int64_t labels = t->data.class_map != NULL ? t->data.class_map_count : t->data.classes;
    data_parts own = t->data;
    own.classes = labels;
    int64_t *counts = data_count_labels(&own, t->err), all = 0, occurring = 0;
    for (int64_t i = 0; counts != NULL && i < labels; i++) {
        all += counts[i];
        occurring += counts[i] > 0;
    }
    for (int64_t i = 0; counts != NULL && i < labels; i++) {
        const int64_t at = score_of(t, i);
        if (counts[i] > 0 && at >= 0 && at < count)
            weights[at] = (float)((double)all / ((double)occurring * (double)counts[i]));
    }
    free(counts);
}

/* {"yes": 2, "no": 1}: classes that are not named count 1. Without names they are called by their numbers. */
static bool take_weight(training *t, config_node *node, float *weights, int64_t count)
{
    int64_t at = -1;
    char number[32], list[200];
    for (int64_t i = 0; at < 0 && i < count; i++) {
        snprintf(number, sizeof number, "%lld", (long long)i);
        const char *name = t->classes.count > 0 ? (size_t)i < t->classes.count ? t->classes.names[i] : "" : number;
        at = strcmp(name, node->key) == 0 ? i : -1;
    }
    node->used = true;
    if (at < 0)
        config_fail(&t->c, node, "\"%.60s\" is no class of the data: %s", node->key,
                    t->classes.count > 0 ? class_list_print(list, sizeof list, &t->classes)
                                         : "their names are numbers");
    else if (node->kind != CONFIG_NUMBER || node->number < 0 || node->number > 1e9)
        config_fail(&t->c, node, "the weight of a class is a number in 0 .. 1e9");
    else
        weights[at] = (float)node->number;
    return t->err->status == MW_OK;
}

/* By the index of the score, as `key` of the recipe says: "balanced", or a number of each class. */
static float *weights_of(training *t, const char *key, int64_t count)
{
    const config_node *said = config_get(t->c.root, key);
    float *weights = said != NULL ? malloc((size_t)count * sizeof *weights) : NULL;
    if (said != NULL && weights == NULL)
        t->err->status = MW_ERROR_MEMORY;
    for (int64_t i = 0; weights != NULL && i < count; i++)
        weights[i] = 1.0f;
    if (weights == NULL)
        return NULL;
    if (said->kind == CONFIG_OBJECT)
        for (config_node *node = field_object(&t->c, t->c.root, key)->first; node != NULL; node = node->next)
            take_weight(t, node, weights, count);
    else if (field_choice(&t->c, t->c.root, key, 0) == 0 && t->err->status == MW_OK)
        balance(t, weights, count);
    return weights;
}

float *training_class_weights(training *t, int64_t count)
{
    const config_node *said = config_get(t->c.root, "class_weights");
    if (said != NULL && t->probabilities)
        config_fail(&t->c, said,
                    "\"class_weights\" have no effect on a model that ends in a softmax; begin with one that "
                    "does not, or give it a \"network\" behind");
    return t->err->status == MW_OK ? weights_of(t, "class_weights", count) : NULL;
}

/* The weight of each example of the training part, by its class; NULL with t->err set. */
static double *weigh_examples(training *t, const float *weights, int64_t count)
{
    const int64_t examples = mw_dataset_examples(t->data.plain);
    double *out = calloc((size_t)examples, sizeof *out);
    int64_t *labels = data_read_labels(&t->data, t->err);
    for (int64_t i = 0; out != NULL && labels != NULL && i < examples; i++) {
        const int64_t at = labels[i] >= 0 ? score_of(t, labels[i]) : -1;
        out[i] = at >= 0 && at < count ? (double)weights[at] : 0;
    }
    if (out == NULL || labels == NULL) {
        t->err->status = t->err->status == MW_OK ? MW_ERROR_MEMORY : t->err->status;
        free(out);
        out = NULL;
    }
    free(labels);
    return out;
}

bool training_sample(training *t, int64_t count)
{
    data_parts *d = &t->data;
    const config_node *said = t->loss_kind == RECIPE_CROSS_ENTROPY ? config_get(t->c.root, "sampling") : NULL;
    if (said == NULL)
        return true;
    const uint64_t seed = (uint64_t)field_integer(&t->c, t->c.root, "sampling_seed", 0);
    float *weights = weights_of(t, "sampling", count);
    double *examples = weights != NULL && t->err->status == MW_OK ? weigh_examples(t, weights, count) : NULL, sum = 0;
    for (int64_t i = 0; examples != NULL && i < mw_dataset_examples(d->plain); i++)
        sum += examples[i];
    if (examples != NULL && sum == 0)
        config_fail(&t->c, said, "\"sampling\" leaves no example to learn from");
    mw_dataset *drawn = examples != NULL && t->err->status == MW_OK
                            ? mw_dataset_sample(d->training, examples, mw_dataset_examples(d->training), seed, t->err)
                            : NULL;
    const int threads = d->threads > 1 ? d->threads : 1;
    mw_dataset *ahead = drawn != NULL ? mw_dataset_prefetch_threads(drawn, 2 * threads, threads, t->err) : NULL;
    mw_dataset_destroy(drawn);
    mw_dataset_destroy(d->training);
    d->training = ahead;
    free(examples);
    free(weights);
    return ahead != NULL;
}
