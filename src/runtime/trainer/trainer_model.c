/* Copying the model of a trainer, with all values of it that the trainer holds. */
#include "runtime/trainer/trainer_model.h"

#include "graph/ir/admitted.h"
#include "graph/random/noise.h"
#include "graph/transform/clone/clone.h"
#include "graph/transform/extents/specialize.h"
#include "graph/transform/flatten/flatten.h"
#include "runtime/trainer/options/trainer_options.h"
#include "runtime/trainer/watch/trainer_watched.h"

/* ---- values that are held ---- */

/* Value number i, or NULL. */
static mw_tensor **held_at(mw_trainer *t, size_t i)
{
    if (i == 0)
        return &t->model.loss;
    if (i - 1 < t->model.metric_count)
        return &t->model.metrics[i - 1].tensor;
    i -= 1 + t->model.metric_count;
    if (t->model.prediction != NULL && i-- == 0)
        return &t->model.prediction;
    if (t->model.probe != NULL && i-- == 0)
        return &t->model.probe;
    for (size_t k = 0; k < t->watched.count; k++)
        if (t->watched.tensors[k].value != NULL && i-- == 0)
            return &t->watched.tensors[k].value;
    return NULL;
}

mw_status mw__trainer_hold_roots(mw_trainer *t, mw__trainer_roots *out, mw_error *err)
{
    *out = (mw__trainer_roots){0};
    while (held_at(t, out->count) != NULL)
        out->count++;
    out->roots = mw__alloc(t->allocator, 2 * out->count, sizeof *out->roots, err);
    if (out->roots == NULL)
        return MW_ERROR_MEMORY;
    out->copies = out->roots + out->count;
    for (size_t i = 0; i < out->count; i++)
        out->roots[i] = *held_at(t, i);
    return MW_OK;
}

void mw__trainer_take_roots(mw_trainer *t, mw__trainer_roots *held, bool copied)
{
    for (size_t i = 0; copied && i < held->count; i++)
        *held_at(t, i) = held->copies[i];
    mw__free(t->allocator, held->roots);
    *held = (mw__trainer_roots){0};
}

/* ---- the copy ---- */

/* What changes in the trainer's copy: no loops and branches, random numbers that a checkpoint can go on with, and known
 * extents. */
typedef struct model_rules {
    mw__flatten flatten;
    mw__noise_names noises;
    bool open; /* some extent is not known */
} model_rules;

static bool apply_rules(void *user, mw__clone *clone, const mw__op *op)
{
    model_rules *rules = user;
    return mw__noise_rule(&rules->noises, clone, op) || mw__flatten_rule(&rules->flatten, clone, op) ||
           (rules->open && mw__fold_rule(NULL, clone, op));
}

/* The default shape, if the program says one. */
static mw_shape standard_shape(void *user, const mw_tensor *input)
{
    (void)user;
    mw_admitted_shapes admitted;
    const mw__function *function = mw__graph_main(input->graph);
    const bool known = mw__is_fed(input) && mw__admitted_read(function, input, &admitted, NULL) == MW_OK;
    return known && admitted.has_standard ? admitted.standard : mw_tensor_shape(input);
}

static mw_status check_known(const mw_graph *model, mw_error *err)
{
    const mw__function *function = mw__graph_main(model);
    const mw_tensor *deciding[MW__DECIDING_MAX];
    size_t count;
    char text[200];
    for (size_t i = 0; i < function->body->input_count; i++) {
        const mw_tensor *input = function->body->inputs[i];
        if (mw_shape_count(mw_tensor_shape(input)) < 0)
            return mw__fail(
                err, MW_ERROR_SHAPE,
                "trainer: input \"%.96s\" is %s and has no default shape: make the graph of the loss one of "
                "known shapes, with mw_graph_specialize",
                mw_tensor_name(input), mw__shape_print(mw_tensor_shape(input), text, sizeof text));
    }
    MW_TRY(mw__find_deciding(function, deciding, &count, err));
    if (count == 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "trainer: the values of input \"%.96s\" decide extents, and a step has one shape",
                    mw_tensor_name(deciding[0]));
}

static bool copy_input(void *user, mw__clone *clone, const mw_tensor *value)
{
    model_rules *rules = user;
    return mw__flatten_input(&rules->flatten, clone, value);
}

static void finish_copy(void *user, mw__clone *clone)
{
    model_rules *rules = user;
    mw__flatten_finish(&rules->flatten, clone);
}

mw_status mw__trainer_copy_model(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    mw__trainer_roots held;
    MW_TRY(mw__trainer_list_metrics(t, o, err));
    MW_TRY(mw__trainer_list_watched(t, o, err));
    t->model.loss = o->loss;
    t->model.prediction = o->prediction;
    const mw_optimizer_rule *rule = mw__optimizer_of(&o->optimizer).rule;
    t->model.probe = rule != NULL ? rule->probe : NULL;
    MW_TRY(mw__trainer_hold_roots(t, &held, err));
    const mw_graph *source = o->loss->graph;
    model_rules rules = {.open = mw__wants_specializing(mw__graph_main(source))};
    const mw__clone_options options = {.rule = apply_rules,
                                       .shape = rules.open ? standard_shape : NULL,
                                       .input = copy_input,
                                       .finish = finish_copy,
                                       .user = &rules,
                                       .roots = held.roots,
                                       .root_count = held.count};
    mw__noise_names_init(&rules.noises, t->allocator);
    t->model.graph = mw__clone_graph(t->allocator, source, &options, held.copies, err);
    mw__noise_names_deinit(&rules.noises);
    mw__trainer_take_roots(t, &held, t->model.graph != NULL);
    if (t->model.graph == NULL)
        return mw__status_or(err, MW_ERROR_ARGUMENT);
    if (rules.open)
        MW_TRY(check_known(t->model.graph, err));
    return mw__trainer_check_watched(t, err);
}
