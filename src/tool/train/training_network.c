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

mw_shape training_input_shape(const training *t)
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

/* Whether the graph has the name, with any of the parts behind it. */
static bool is_taken(const mw_graph *graph, const char *name, const char *const *parts)
{
    char whole[80];
    for (; *parts != NULL; parts++) {
        snprintf(whole, sizeof whole, "%s%s", name, *parts);
        if (mw_graph_find(graph, whole) != NULL)
            return true;
    }
    return false;
}

const char *training_free_name(const mw_graph *graph, const char *wanted, bool is_layer, char *out, size_t size)
{
    static const char *const whole[] = {"", NULL}, *const layer[] = {".weight", ".bias", NULL};
    snprintf(out, size, "%s", wanted);
    for (int i = 2; i < 100000 && is_taken(graph, out, is_layer ? layer : whole); i++)
        snprintf(out, size, "%s_%d", wanted, i);
    return out;
}

/* What the model will call its result. */
static mw_tensor *name_result(const training *t, mw_tensor *out)
{
    char name[32];
    return out != NULL ? mw_name(out, training_free_name(t->graph, "scores", false, name, sizeof name)) : NULL;
}

/* What {"dense": "classes"} has: of values, as many as an example has. */
static int64_t output_count(const training *t)
{
    return t->data.encoder != NULL && t->data.classes == 0 ? mw_shape_count(t->data.y->shape) : t->data.classes;
}

static network_data describe_data(const training *t)
{
    return (network_data){.classes = output_count(t), .rate = t->data.is_sound ? t->data.sound.rate : 0};
}

void training_take_result(training *t, mw_tensor *out)
{
    const bool is_log = t->loss_kind == RECIPE_POISSON; /* of the mean count */
    t->scaled = training_scales_target(t) || is_log ? out : NULL;
    t->out = name_result(t, is_log ? mw_exp(out) : t->scaled != NULL ? training_in_unit(t, out) : out);
}

static bool build_network(training *t)
{
    const config_node *layers = config_get(t->c.root, "network");
    t->graph = mw_graph_create(NULL, t->err);
    t->x = mw_input(t->graph, "x", input_dtype(t), training_input_shape(t));
    mw_tensor *h = t->data.encoder != NULL ? mw_table_encoder_layer(t->data.encoder, t->x, "table")
                   : t->data.normalizes    ? normalize(t, t->x)
                                           : t->x;
    const bool has_places = t->data.is_sound || (t->data.is_image && mw_tensor_shape(h).rank == 4);
    if (layers == NULL && t->data.encoder == NULL && !has_places)
        return training_fail(t, MW_ERROR_FORMAT, "%s has neither \"network\" nor \"model\"", t->c.path);
    const network_data about = describe_data(t);
    mw_tensor *out = layers != NULL ? network_build(&t->c, layers, h, &about)
                     : has_places   ? usual_network_of_places(h, about.rate, about.classes)
                                    : usual_network(t->data.encoder, h, about.classes);
    training_take_result(t, out);
    return t->out != NULL;
}

/* ---- classes ---- */

/* Of an example, or of a place of it. */
static int64_t score_count(const training *t)
{
    const mw_shape shape = mw_tensor_shape(training_is_by_place(t) ? t->out : network_flat(t->out));
    return shape.rank >= 2 ? shape.dim[shape.rank - 1] : 1;
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
    if (!recipe_has_classes(t->loss_kind))
        return true;
    return class_list_of_dataset(&t->classes, t->data.plain, "y", t->err) &&
           (t->model == NULL || t->has_head || pair_with_model(t));
}

/* The columns of the data are called as the inputs that they go to. */
static bool name_columns(training *t)
{
    training_free_name(t->graph, "y", false, t->label, sizeof t->label);
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
    if (!(t->model_path != NULL ? training_take_model(t) : build_network(t)))
        return false;
    if (mw_graph_check(t->graph, t->err) != MW_OK || !training_place_scores(t) || !pair_classes(t) ||
        !training_sample(t, score_count(t)) || !name_columns(t))
        return false;
    return training_make_loss(t) && mw_graph_check(t->graph, t->err) == MW_OK;
}
