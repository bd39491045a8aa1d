/* How much an example counts by its class: "class_weights" of a recipe. */
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

float *training_class_weights(training *t, int64_t count)
{
    const config_node *said = config_get(t->c.root, "class_weights");
    float *weights = said != NULL ? malloc((size_t)count * sizeof *weights) : NULL;
    if (said != NULL && weights == NULL)
        t->err->status = MW_ERROR_MEMORY;
    for (int64_t i = 0; weights != NULL && i < count; i++)
        weights[i] = 1.0f;
    if (weights == NULL)
        return NULL;
    if (t->probabilities)
        config_fail(&t->c, said,
                    "\"class_weights\" have no effect on a model that ends in a softmax; begin with one that "
                    "does not, or give it a \"network\" behind");
    else if (said->kind == CONFIG_OBJECT)
        for (config_node *node = field_object(&t->c, t->c.root, "class_weights")->first; node != NULL;
             node = node->next)
            take_weight(t, node, weights, count);
    else if (field_choice(&t->c, t->c.root, "class_weights", 0) == 0 && t->err->status == MW_OK)
        balance(t, weights, count);
    return weights;
}
