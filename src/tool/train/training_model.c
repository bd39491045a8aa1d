/* A model that is trained on: which of its weights, in which shapes, and what stands behind it. */
#include "tool/train/network.h"
#include "tool/train/training.h"

#include <millwright/summary.h>
#include <stdlib.h>
#include <string.h>

/* ---- which weights ---- */

static bool list_patterns(training *t, const config_node *layers)
{
    if (layers->kind != CONFIG_ARRAY || layers->first == NULL) {
        config_fail(&t->c, layers, "\"layers\" is a list of names of weights or layers, with \"*\" for any characters");
        return false;
    }
    t->tune.listed = calloc(config_count(layers) + 1, sizeof *t->tune.listed);
    for (const config_node *node = layers->first; node != NULL && t->tune.listed != NULL; node = node->next) {
        if (node->kind != CONFIG_STRING || node->text[0] == '\0') {
            config_fail(&t->c, node, "\"layers\" is a list of names of weights or layers");
            return false;
        }
        t->tune.listed[t->tune.pattern_count++] = node->text;
    }
    t->tune.patterns = t->tune.listed;
    return t->tune.listed != NULL || training_fail(t, MW_ERROR_MEMORY, "there is no memory");
}

/* Those of the command before those of the settings; all weights if neither says any. */
static bool take_selection(training *t)
{
    static const char *const all[] = {"*"};
    config *c = &t->c;
    training_tune *tune = &t->tune;
    const config_node *layers = config_get(c->root, "layers");
    const int64_t last = field_integer(c, c->root, "last", 0), lora = field_integer(c, c->root, "lora", 0);
    tune->last = t->over->last > 0 ? t->over->last : last;
    tune->lora = t->over->lora > 0 ? t->over->lora : lora;
    tune->patterns = t->over->layers;
    tune->pattern_count = t->over->layer_count;
    if (layers != NULL && tune->pattern_count == 0 && !list_patterns(t, layers))
        return false;
    if (tune->pattern_count == 0 && tune->last == 0) {
        tune->patterns = all;
        tune->pattern_count = 1;
    }
    return t->err->status == MW_OK;
}

/* ---- what became of them ---- */

static bool is_shown(const training *t) { return !t->call->quiet && t->call->json == NULL; }

/* The selector by its text; the last one if there are too many. */
static training_taken *find_taken(training_tune *tune, const char *pattern)
{
    for (size_t i = 0; i < tune->taken_count; i++)
        if (strcmp(tune->taken[i].pattern, pattern) == 0)
            return &tune->taken[i];
    if (tune->taken_count < TRAINING_SELECTORS_MAX)
        tune->taken[tune->taken_count++] = (training_taken){.pattern = pattern};
    return &tune->taken[tune->taken_count - 1];
}

static void say_choice(void *user, const mw_tune_choice *choice)
{
    training *t = user;
    const bool left = choice->outcome == MW_TUNE_LEFT;
    training_taken *taken = find_taken(&t->tune, choice->pattern);
    taken->weights += !left;
    taken->left += left;
    taken->numbers += left ? 0 : mw_shape_count(choice->weight->shape);
    if (!is_shown(t))
        return;
    tool_puts(left ? "  left     " : "  trained  ");
    tool_show(choice->weight->name);
    if (choice->weight->layer[0] != '\0') {
        tool_puts("  of ");
        tool_show(choice->weight->layer);
    }
    tool_puts("\n");
}

/* What each selector took. */
static void say_selectors(const training *t)
{
    mw__json_writer *json = t->call->json;
    if (json != NULL)
        mw__json_open(json, "selectors", '[');
    for (size_t i = 0; i < t->tune.taken_count; i++) {
        const training_taken *taken = &t->tune.taken[i];
        if (json != NULL) {
            mw__json_open(json, NULL, '{');
            mw__json_add_string(json, "pattern", taken->pattern);
            mw__json_add_integer(json, "weights", (int64_t)taken->weights);
            mw__json_add_integer(json, "numbers", taken->numbers);
            mw__json_add_integer(json, "left", (int64_t)taken->left);
            mw__json_close(json, '}');
        } else if (!t->call->quiet) {
            tool_show(taken->pattern);
            tool_print(": %zu weights of %lld numbers", taken->weights, (long long)taken->numbers);
            tool_print(taken->left > 0 ? ", %zu left\n" : "\n", taken->left);
        }
    }
    if (json != NULL)
        mw__json_close(json, ']');
}

static mw_graph *choose_weights(training *t, const mw_input_shape *shapes, size_t count)
{
    const training_tune *tune = &t->tune;
    if (tune->lora > 0) {
        mw_lora_options options = mw_lora_defaults(tune->patterns, tune->pattern_count);
        options.last = (int)tune->last;
        options.rank = (int)tune->lora;
        options.skip_fixed = true;
        options.dtype = MW_F32;
        options.shapes = shapes;
        options.shape_count = count;
        options.report = say_choice;
        options.report_user = t;
        return mw_graph_lora(t->source, &options, t->err);
    }
    mw_tune_options options = mw_tune_defaults(tune->patterns, tune->pattern_count);
    options.last = (int)tune->last;
    options.skip_fixed = true;
    options.dtype = MW_F32;
    options.shapes = shapes;
    options.shape_count = count;
    options.report = say_choice;
    options.report_user = t;
    return mw_graph_trainable(t->source, &options, t->err);
}

/* ---- its inputs ---- */

/* Elements in another order would pass as what the input takes. */
static bool check_pictures(training *t, mw_shape input)
{
    char given[128], taken[128];
    const mw_shape shape = training_input_shape(t);
    bool same = !t->data.is_image || input.rank != shape.rank;
    for (int i = 1; !same && i < shape.rank && shape.dim[i] == input.dim[i]; i++)
        same = i + 1 == shape.rank;
    return same || training_fail(t, MW_ERROR_SHAPE,
                                 "the pictures are %s in a batch, and the model's input is %s: give them the size and "
                                 "channels that it takes",
                                 tool_shape(given, sizeof given, shape), tool_shape(taken, sizeof taken, input));
}

/* [batch, ..] of the data for an input behind the first. */
static bool given_shape(training *t, const char *input, mw_shape *out)
{
    const mw_column *column = data_find_column(t->data.plain, input);
    if (column == NULL)
        return training_fail(t, MW_ERROR_ARGUMENT,
                             "%.150s has several inputs, and the data has nothing for \"%.80s\": give tensors by name, "
                             "as an .npz or as --data NAME=FILE for each",
                             t->model_path, input);
    *out = (mw_shape){.rank = 1, .dim = {t->batch}};
    for (int i = 0; i < column->shape.rank && out->rank < MW_RANK_MAX; i++)
        out->dim[out->rank++] = column->shape.dim[i];
    return true;
}

static bool check_given(training *t, const mw_input_shape *taken, mw_shape given)
{
    char a[128], b[128];
    return mw_shape_count(given) == mw_shape_count(taken->shape) ||
           training_fail(t, MW_ERROR_SHAPE, "the input \"%.80s\" of the model takes %s in a batch, and the data has %s",
                         taken->input, tool_shape(a, sizeof a, taken->shape), tool_shape(b, sizeof b, given));
}

/* An input in the batch of this training; `?` are as the data has them. */
static bool shape_for_batch(training *t, size_t index, mw_input_shape *out)
{
    const mw_tensor *input = mw_graph_input_at(t->source, index);
    mw_shape given = training_input_shape(t);
    *out = (mw_input_shape){mw_tensor_name(input), mw_tensor_shape(input)};
    if (out->shape.rank == 0)
        return training_fail(t, MW_ERROR_SHAPE, "the input \"%.100s\" of the model has no axis for examples",
                             out->input);
    if (index > 0 && !given_shape(t, out->input, &given))
        return false;
    out->shape.dim[0] = t->batch;
    for (int i = 1; i < out->shape.rank; i++)
        if (out->shape.dim[i] < 0)
            out->shape.dim[i] = i < given.rank ? given.dim[i] : 1;
    return index == 0 ? check_pictures(t, out->shape) : check_given(t, out, given);
}

/* ---- behind it ---- */

static bool ends_in_softmax(const mw_graph *graph)
{
    mw_error err = {0};
    mw_summary *summary = mw_summary_create(graph, &err);
    const size_t count = mw_summary_count(summary);
    const bool softmax = count > 0 && strcmp(mw_summary_at(summary, count - 1)->kind, "softmax") == 0;
    mw_summary_destroy(summary);
    return softmax;
}

/* Layers behind the model, which give the classes of the data: of each place, if the labels are by place. */
static bool add_head(training *t)
{
    char name[32];
    const config_node *head = config_get(t->c.root, "network");
    if (head == NULL && !t->over->head)
        return true;
    t->probabilities = false;
    t->has_head = true;
    mw_tensor *from = training_is_by_place(t) ? t->out : network_flat(t->out);
    t->out = head != NULL
                 ? network_build(&t->c, head, t->out, &(network_data){.classes = t->data.classes})
                 : mw_dense(from, t->data.classes, training_free_name(t->graph, "head", true, name, sizeof name));
    return t->out != NULL;
}

/* ---- the whole ---- */

/* A package for apps takes bytes; what it was made of takes numbers. */
static bool check_features(training *t)
{
    const mw_description *d = mw_model_get_info(t->model).description;
    const mw_function_description *f = d != NULL && d->function_count > 0 ? &d->functions[d->standard] : NULL;
    for (size_t i = 0; f != NULL && i < f->input_count; i++)
        if (f->inputs[i].kind == MW_FEATURE_IMAGE)
            return training_fail(t, MW_ERROR_UNSUPPORTED,
                                 "%.200s is a package for apps: its input \"%.60s\" is an image of bytes, and pictures "
                                 "are learned as numbers; take the run or file that it was made of, or a package with "
                                 "--arrays",
                                 t->model_path, f->inputs[i].name);
    return true;
}

bool training_take_model(training *t)
{
    mw_input_shape shapes[DATA_COLUMNS_MAX];
    size_t count = 0;
    if (!check_features(t))
        return false;
    for (; mw_graph_input_at(t->source, count) != NULL && count < DATA_COLUMNS_MAX; count++)
        if (!shape_for_batch(t, count, &shapes[count]))
            return false;
    t->graph = take_selection(t) ? choose_weights(t, shapes, count) : NULL;
    t->x = t->graph != NULL ? mw_graph_input_at(t->graph, 0) : NULL;
    t->out = t->graph != NULL ? mw_graph_output_at(t->graph, 0) : NULL;
    t->probabilities = t->graph != NULL && ends_in_softmax(t->source);
    if (t->out == NULL || !add_head(t)) {
        mw_graph_check(t->graph, t->err);
        return false;
    }
    say_selectors(t);
    if (t->loss_kind == RECIPE_POISSON && !t->has_head)
        t->scaled = mw_log(mw_maximum(t->out, mw_scalar(t->graph, mw_tensor_dtype(t->out), 1e-7)), 0.0f);
    else if (training_scales_target(t) && !t->has_head)
        t->scaled = training_scale_again(t, t->out);
    if (t->has_head)
        training_take_result(t, t->out);
    return t->out != NULL;
}
