/* What is trained: a network of layers, or a model that is there, with its loss. */
#include "tool/train/network.h"
#include "tool/train/training_text.h"
#include "tool/train/usual.h"

#include <math.h>
#include <millwright/summary.h>
#include <stdlib.h>
#include <string.h>

/* A batch is never larger than what there is to learn from; one that was asked for is not cut in silence. */
static void fit_batch(training *t)
{
    const int64_t examples = mw_dataset_examples(t->data.training);
    if (t->batch > examples && (t->over->batch > 0 || config_get(t->c.root, "batch") != NULL))
        tool_complain("a batch has %lld examples, as there are no more to learn from; %lld were asked for",
                      (long long)examples, (long long)t->batch);
    t->batch = t->batch > examples ? examples : t->batch;
}

/* ---- the network ---- */

static mw_dtype input_dtype(const training *t)
{
    const mw_dtype dtype = t->data.x->dtype;
    return dtype == MW_I32 || dtype == MW_I64 || dtype == MW_I16 ? MW_I32 : MW_F32;
}

/* [batch, ..]: pictures get an axis for their channel. */
static mw_shape input_shape(const training *t)
{
    const mw_shape one = t->data.x->shape;
    mw_shape shape = {.rank = 1, .dim = {t->batch}};
    const bool is_number = one.rank == 0 && input_dtype(t) == MW_F32; /* a table of one field; an index stays [batch] */
    if (is_number || (t->data.is_image && one.rank == 2))
        shape.dim[shape.rank++] = 1;
    for (int i = 0; i < one.rank && shape.rank < MW_RANK_MAX; i++)
        shape.dim[shape.rank++] = one.dim[i];
    return shape;
}

/* numbers [2, count]: means, and what a difference to them is multiplied with. */
static mw_shape measure_fields(const data_moments *moments, mw_shape input, float *numbers)
{
    for (size_t i = 0; i < moments->count; i++) {
        numbers[i] = (float)data_moments_mean(moments, i);
        numbers[moments->count + i] = data_moments_factor(moments, i);
    }
    if (input.rank > 0)
        input.dim[0] = 1;
    return input;
}

/* Of pictures each channel is one: [1, C, 1, 1] or [1, 1, 1, C]. */
static mw_shape measure_channels(const training *t, const data_moments *moments, mw_shape input, float *numbers)
{
    const int axis = t->data.x->shape.rank == 2 || t->data.channels_first ? 1 : 3;
    const size_t channels = (size_t)input.dim[axis], pixels = moments->count / channels;
    for (size_t c = 0; c < channels; c++) {
        double mean = 0, square = 0;
        for (size_t k = 0; k < pixels; k++) {
            const size_t i = axis == 1 ? c * pixels + k : k * channels + c;
            const double own = data_moments_mean(moments, i), deviation = data_moments_deviation(moments, i);
            mean += own / (double)pixels;
            square += (own * own + deviation * deviation) / (double)pixels;
        }
        numbers[c] = (float)mean;
        numbers[channels + c] = square > mean * mean ? (float)(1.0 / sqrt(square - mean * mean)) : 1.0f;
    }
    mw_shape shape = MW_SHAPE(1, 1, 1, 1);
    shape.dim[axis] = (int64_t)channels;
    return shape;
}

/* (x - mean) / deviation of each input or channel, as constants: whoever runs the model feeds what the data has. */
static mw_tensor *normalize(training *t, mw_tensor *x)
{
    data_moments moments = {0};
    const bool good = data_moments_take(&moments, t->data.plain, "x", t->err);
    float *numbers = good ? calloc(2 * moments.count + 1, sizeof *numbers) : NULL;
    const mw_shape input = mw_tensor_shape(x);
    if (numbers != NULL) {
        const mw_shape shape = t->data.is_image && input.rank == 4 ? measure_channels(t, &moments, input, numbers)
                                                                   : measure_fields(&moments, input, numbers);
        mw_tensor *mean = mw_constant(t->graph, MW_F32, shape, numbers); /* first: it gives the names */
        x = mw_mul(mw_sub(x, mean), mw_constant(t->graph, MW_F32, shape, numbers + mw_shape_count(shape)));
    }
    free(numbers);
    data_moments_free(&moments);
    return x;
}

/* "scores", or the next of scores_2, scores_3, .. that a graph has not: models bring names of their own. `part` is what
 * follows the name in the graph, ".weight" of a layer. */
static const char *free_name(const mw_graph *graph, const char *wanted, const char *part, char *out, size_t size)
{
    char whole[80];
    snprintf(out, size, "%s", wanted);
    for (int i = 2; i < 100000; i++) {
        snprintf(whole, sizeof whole, "%s%s", out, part);
        if (mw_graph_find(graph, whole) == NULL)
            break;
        snprintf(out, size, "%s_%d", wanted, i);
    }
    return out;
}

/* What the model will call its result. */
static mw_tensor *name_result(const training *t, mw_tensor *out)
{
    char name[32];
    return out != NULL ? mw_name(out, free_name(t->graph, "scores", "", name, sizeof name)) : NULL;
}

/* What {"dense": "classes"} has: of values, as many as an example has. */
static int64_t output_count(const training *t)
{
    return t->data.encoder != NULL && t->data.classes == 0 ? mw_shape_count(t->data.y->shape) : t->data.classes;
}

/* The result of layers, in the unit of the target. */
static void take_result(training *t, mw_tensor *out)
{
    t->scaled = training_scales_target(t) ? out : NULL;
    t->out = name_result(t, t->scaled != NULL ? training_in_unit(t, out) : out);
}

static bool build_network(training *t)
{
    const config_node *layers = config_get(t->c.root, "network");
    t->graph = mw_graph_create(NULL, t->err);
    t->x = mw_input(t->graph, "x", input_dtype(t), input_shape(t));
    mw_tensor *h = t->data.encoder != NULL ? mw_table_encoder_layer(t->data.encoder, t->x, "table")
                   : t->data.normalizes    ? normalize(t, t->x)
                                           : t->x;
    if (layers == NULL && t->data.encoder == NULL)
        return training_fail(t, MW_ERROR_FORMAT, "%s has neither \"network\" nor \"model\"", t->c.path);
    mw_tensor *out = layers != NULL ? network_build(&t->c, layers, h, output_count(t))
                                    : usual_network(t->data.encoder, h, output_count(t));
    take_result(t, out);
    return t->out != NULL;
}

/* ---- a model that is there ---- */

static void say_choice(void *user, const mw_tune_choice *choice)
{
    const training *t = user;
    if (t->call->quiet || t->call->json != NULL)
        return;
    tool_puts(choice->outcome == MW_TUNE_LEFT ? "  left     " : "  trained  ");
    tool_show(choice->weight->name);
    tool_puts("\n");
}

static mw_graph *choose_weights(training *t, const mw_input_shape *shape)
{
    static const char *const all[] = {"*"};
    const bool some = t->over->layer_count > 0;
    const char *const *patterns = some ? t->over->layers : all;
    const size_t count = some ? t->over->layer_count : 1;
    if (t->over->lora > 0) {
        mw_lora_options options = mw_lora_defaults(patterns, count);
        options.rank = (int)t->over->lora;
        options.skip_fixed = true;
        options.dtype = MW_F32;
        options.shapes = shape;
        options.shape_count = 1;
        options.report = say_choice;
        options.report_user = t;
        return mw_graph_lora(t->source, &options, t->err);
    }
    mw_tune_options options = mw_tune_defaults(patterns, count);
    options.skip_fixed = true;
    options.dtype = MW_F32;
    options.shapes = shape;
    options.shape_count = 1;
    options.report = say_choice;
    options.report_user = t;
    return mw_graph_trainable(t->source, &options, t->err);
}

/* Its one input in the batch of this training. */
static bool shape_for_batch(training *t, const mw_tensor *input, mw_input_shape *out)
{
    mw_shape shape = mw_tensor_shape(input);
    *out = (mw_input_shape){mw_tensor_name(input), shape};
    if (shape.rank == 0)
        return training_fail(t, MW_ERROR_SHAPE, "the input \"%.100s\" of the model has no axis for examples",
                             out->input);
    shape.dim[0] = t->batch;
    for (int i = 1; i < shape.rank; i++) /* `?`: as the data has it */
        shape.dim[i] = shape.dim[i] >= 0 ? shape.dim[i] : input_shape(t).dim[i];
    out->shape = shape;
    return true;
}

/* Elements in another order would pass as what the input takes. */
static bool check_pictures(training *t, mw_shape input)
{
    char given[128], taken[128];
    const mw_shape shape = input_shape(t);
    bool same = !t->data.is_image || input.rank != shape.rank;
    for (int i = 1; !same && i < shape.rank && shape.dim[i] == input.dim[i]; i++)
        same = i + 1 == shape.rank;
    return same || training_fail(t, MW_ERROR_SHAPE,
                                 "the pictures are %s in a batch, and the model's input is %s: give them the size and "
                                 "channels that it takes",
                                 tool_shape(given, sizeof given, shape), tool_shape(taken, sizeof taken, input));
}

static bool ends_in_softmax(const mw_graph *graph)
{
    mw_error err = {0};
    mw_summary *summary = mw_summary_create(graph, &err);
    const size_t count = mw_summary_count(summary);
    const bool softmax = count > 0 && strcmp(mw_summary_at(summary, count - 1)->kind, "softmax") == 0;
    mw_summary_destroy(summary);
    return softmax;
}

/* Layers behind the model, which give the classes of the data. */
static bool add_head(training *t)
{
    char name[32];
    const config_node *head = config_get(t->c.root, "network");
    if (head == NULL && !t->over->head)
        return true;
    t->probabilities = false;
    t->has_head = true;
    t->out = head != NULL ? network_build(&t->c, head, t->out, t->data.classes)
                          : mw_dense(network_flat(t->out), t->data.classes,
                                     free_name(t->graph, "head", ".weight", name, sizeof name));
    return t->out != NULL;
}

static bool take_model(training *t)
{
    mw_input_shape shape;
    const mw_tensor *input = mw_graph_input_at(t->source, 0);
    if (mw_graph_input_at(t->source, 1) != NULL)
        return training_fail(t, MW_ERROR_UNSUPPORTED,
                             "%.200s has several inputs; a program in C can train it (docs/finetuning.md)",
                             t->model_path);
    if (!shape_for_batch(t, input, &shape) || !check_pictures(t, shape.shape))
        return false;
    t->graph = choose_weights(t, &shape);
    t->x = t->graph != NULL ? mw_graph_input_at(t->graph, 0) : NULL;
    t->out = t->graph != NULL ? mw_graph_output_at(t->graph, 0) : NULL;
    t->probabilities = t->graph != NULL && ends_in_softmax(t->source);
    if (t->out == NULL || !add_head(t))
        return false;
    if (training_scales_target(t) && !t->has_head)
        t->scaled = training_scale_again(t, t->out);
    if (t->has_head)
        take_result(t, t->out);
    return t->out != NULL;
}

/* ---- the loss ---- */

static bool make_class_loss(training *t)
{
    mw_tensor *scores = network_flat(t->out);
    const mw_shape shape = mw_tensor_shape(scores);
    if (shape.rank != 2 || shape.dim[1] < t->data.classes)
        return training_fail(t, MW_ERROR_SHAPE,
                             "the network gives %lld numbers an example, and there are %lld classes: end it with "
                             "{\"dense\": \"classes\"} (mw finetune: --head)",
                             (long long)(shape.rank == 2 ? shape.dim[1] : 1), (long long)t->data.classes);
    if (data_mixes(&t->data) && t->probabilities)
        return training_fail(t, MW_ERROR_UNSUPPORTED,
                             "mixup and cutmix want scores, and %.200s ends in softmax: --head, or leave them out",
                             t->model_path);
    t->y = data_mixes(&t->data) ? mw_input(t->graph, t->label, MW_F32, MW_SHAPE(t->batch, shape.dim[1]))
                                : mw_input(t->graph, t->label, MW_I32, MW_SHAPE(t->batch));
    if (mw_tensor_dtype(scores) == MW_F16)
        scores = mw_cast(scores, MW_F32);
    mw_tensor *sure = mw_scalar(t->graph, MW_F32, 1e-7);
    float *weights = training_class_weights(t, shape.dim[1]);
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.class_weights = weights;
    options.class_count = weights != NULL ? (size_t)shape.dim[1] : 0;
    t->loss = t->probabilities ? mw_nll(mw_log(mw_maximum(scores, sure), 0.0f), t->y)
                               : mw_cross_entropy_with(scores, t->y, &options);
    free(weights);
    t->metric = mw_accuracy(scores, t->y);
    return true;
}

static bool make_value_loss(training *t)
{
    char name[40];
    mw_tensor *values = network_flat(t->scaled != NULL ? t->scaled : t->out);
    if (mw_tensor_dtype(values) == MW_F16)
        values = mw_cast(values, MW_F32);
    t->y = mw_input(t->graph, t->label, MW_F32, mw_tensor_shape(values));
    mw_tensor *y = training_scaled_target(t);
    t->loss = t->loss_kind == RECIPE_L1      ? mw_l1(values, y)
              : t->loss_kind == RECIPE_HUBER ? mw_huber(values, y, 1.0f)
              : t->loss_kind == RECIPE_MSE   ? mw_mse(values, y)
                                             : mw_binary_cross_entropy(values, t->y, NULL);
    if (t->loss_kind == RECIPE_MSE || t->loss_kind == RECIPE_HUBER)
        t->metric = mw_name(mw_l1(training_in_unit(t, values), training_target_in_unit(t)),
                            free_name(t->graph, "mean_absolute_error", "", name, sizeof name));
    return true;
}

/* ---- classes ---- */

static int64_t score_count(const training *t)
{
    const mw_shape shape = mw_tensor_shape(network_flat(t->out));
    return shape.rank == 2 ? shape.dim[1] : 1;
}

/* A model knows its classes: those of the data are its own by name. What it does not name is named by the data. */
static bool pair_with_model(training *t)
{
    class_list own;
    char names[200];
    class_pairing pairing = {.model = &own,
                             .data = &t->classes,
                             .scores = score_count(t),
                             .model_path = t->model_path,
                             .data_path = t->data_path,
                             .label_count = t->data.classes};
    bool *labels = t->classes.count == 0 ? data_find_labels(&t->data, t->err) : NULL;
    const bool good = class_list_of_model(&own, &pairing, t->model, NULL, t->err);
    pairing.has_label = labels;
    int64_t *map = good ? class_pair(&pairing, t->err) : NULL;
    if (map != NULL && pairing.by_position)
        tool_complain("%.200s does not name its scores; they are taken in this order: %s", t->model_path,
                      class_list_print(names, sizeof names, &t->classes));
    data_map_classes(&t->data, map, pairing.scores);
    if (map != NULL && !pairing.by_position) {
        class_list_free(&t->classes);
        t->classes = own;
        own = (class_list){0};
    }
    class_list_free(&own);
    free(labels);
    return map != NULL;
}

static bool pair_classes(training *t)
{
    if (t->loss_kind != RECIPE_CROSS_ENTROPY)
        return true;
    return class_list_of_dataset(&t->classes, t->data.plain, "y", t->err) &&
           (t->model == NULL || t->has_head || pair_with_model(t));
}

/* The columns of the data are called as the inputs that they go to. */
static bool name_columns(training *t)
{
    free_name(t->graph, "y", "", t->label, sizeof t->label);
    t->data.scores = score_count(t);
    return data_rename(&t->data, mw_tensor_name(t->x), t->label, t->err);
}

/* ---- the whole ---- */

bool training_build(training *t)
{
    if (t->text != NULL)
        return training_text_build(t);
    fit_batch(t);
    if (!training_fit_target(t))
        return false;
    if (!(t->model_path != NULL ? take_model(t) : build_network(t)))
        return false;
    if (mw_graph_check(t->graph, t->err) != MW_OK || !pair_classes(t) || !name_columns(t))
        return false;
    const bool made = t->loss_kind == RECIPE_CROSS_ENTROPY ? make_class_loss(t) : make_value_loss(t);
    return made && mw_graph_check(t->graph, t->err) == MW_OK;
}
