/* What is watched: the list of it, and its outputs while a step is built. Nothing of the step reads these, so that its
 * results keep their bits. Reading them is in trainer_watched_read.c. */
#include "runtime/trainer/watch/trainer_watched.h"

#include "base/text/name.h"
#include "graph/ir/ir_make.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"

#include <fnmatch.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

/* ---- the list ---- */

static mw_status add_watched(mw_trainer *t, const mw__watched_tensor *watched, mw_error *err)
{
    for (size_t i = 0; i < t->watched.count; i++)
        if (strcmp(t->watched.tensors[i].name, watched->name) == 0)
            return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: \"%.200s\" is watched twice", watched->name);
    MW_TRY(mw__grow(t->allocator, &t->watched.tensors, &t->watched.capacity, t->watched.count + 1,
                    sizeof *t->watched.tensors, err));
    t->watched.tensors[t->watched.count++] = *watched;
    return MW_OK;
}

static mw_status copy_watches(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    t->watched.patterns = mw__arena_alloc(&t->arena, o->watch.count + 1, sizeof *t->watched.patterns, err);
    if (t->watched.patterns == NULL)
        return MW_ERROR_MEMORY;
    if (o->watch.gradient_norms)
        t->watched.patterns[t->watched.pattern_count++] =
            (mw__watch){.of = MW_WATCH_GRADIENT, .kind = MW_WATCH_NORM, .text = "*"};
    for (size_t i = 0; i < o->watch.count; i++) {
        mw__watch watch = mw__watch_of_value(&o->watch.values[i]);
        if (watch.of == MW_WATCH_TENSOR)
            continue;
        watch.text = mw__arena_string(&t->arena, watch.text, strlen(watch.text), err);
        t->watched.patterns[t->watched.pattern_count++] = watch;
        if (watch.text == NULL)
            return MW_ERROR_MEMORY;
    }
    return MW_OK;
}

mw_status mw__trainer_list_watched(mw_trainer *t, const mw_trainer_options *o, mw_error *err)
{
    for (size_t i = 0; i < o->watch.count; i++) {
        const mw__watch watch = mw__watch_of_value(&o->watch.values[i]);
        if (watch.of != MW_WATCH_TENSOR)
            continue;
        const char *name = mw__arena_string(&t->arena, mw__watch_name(&watch), strlen(mw__watch_name(&watch)), err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        const mw__watched_tensor watched = {.name = name, .of = watch.of, .kind = watch.kind, .value = watch.tensor};
        MW_TRY(add_watched(t, &watched, err));
    }
    return copy_watches(t, o, err);
}

static mw_status add_of_parameter(mw__trainer_build *b, const mw__watch *watch, const mw_tensor *parameter,
                                  mw_error *err)
{
    static const char *const words[] = {"", "gradient", "parameter", "update"};
    mw_trainer *t = b->trainer;
    char name[MW_NAME_MAX + 32];
    snprintf(name, sizeof name, "%s%s/%s", words[watch->of], watch->kind == MW_WATCH_NORM ? "_norm" : "",
             mw_tensor_name(parameter));
    mw__watched_tensor watched = {.of = watch->of,
                                  .kind = watch->kind,
                                  .name = mw__arena_string(&t->arena, name, strlen(name), err),
                                  .elements = mw_shape_count(mw_tensor_shape(parameter)),
                                  .behind = b->kind == MW__PASS_EXCHANGE};
    watched.parameter = watched.name != NULL ? strchr(watched.name, '/') + 1 : NULL;
    if (watched.name == NULL)
        return MW_ERROR_MEMORY;
    return watched.elements > 0 ? add_watched(t, &watched, err) : MW_OK;
}

mw_status mw__trainer_name_watched(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    for (size_t i = 0; i < t->watched.pattern_count; i++) {
        const size_t before = t->watched.count;
        for (size_t k = 0; k < b->count; k++)
            if (fnmatch(t->watched.patterns[i].text, mw_tensor_name(b->parameters[k]), 0) == 0)
                MW_TRY(add_of_parameter(b, &t->watched.patterns[i], b->parameters[k], err));
        if (t->watched.count == before)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "trainer: the pattern \"%.100s\" of a watch matches no parameter that is trained",
                            t->watched.patterns[i].text);
    }
    t->watched.pattern_count = 0; /* they are watched tensors now */
    return MW_OK;
}

/* ---- what may be watched ---- */

/* Marks what the marked values are computed from. */
static void mark_back(const mw__block *body, bool *marks)
{
    for (size_t i = body->op_count; i-- > 0;) {
        const mw__op *op = body->ops[i];
        bool needed = false;
        for (size_t k = 0; k < op->result_count; k++)
            needed = needed || marks[op->results[k]->id];
        for (size_t k = 0; needed && k < op->slot_count; k++)
            for (size_t n = 0; n < op->slots[k].count; n++)
                if (op->slots[k].operands[n].value != NULL)
                    marks[op->slots[k].operands[n].value->id] = true;
    }
}

/* The loss and the next values of states need it. */
static void mark_step(const mw_trainer *t, const mw__block *body, bool *marks)
{
    marks[t->model.loss->id] = true;
    if (t->model.probe != NULL)
        marks[t->model.probe->id] = true;
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->next != NULL)
            marks[body->inputs[i]->next->id] = marks[body->inputs[i]->id] = true;
    mark_back(body, marks);
}

/* Else it would be a parameter of the step, or a state that steps move. */
mw_status mw__trainer_check_watched(const mw_trainer *t, mw_error *err)
{
    const mw__block *body = mw__graph_main(t->model.graph)->body;
    mw_status status = MW_OK;
    for (size_t i = 0; status == MW_OK && i < t->watched.count; i++) {
        bool *step = mw__alloc(t->allocator, 2 * t->model.graph->value_count, sizeof *step, err);
        if (step == NULL)
            return MW_ERROR_MEMORY;
        bool *own = step + t->model.graph->value_count;
        mark_step(t, body, step);
        own[t->watched.tensors[i].value->id] = true;
        mark_back(body, own);
        for (size_t k = 0; status == MW_OK && k < body->input_count; k++)
            if (own[body->inputs[k]->id] && !step[body->inputs[k]->id] && mw__is_resident(body->inputs[k]))
                status = mw__fail(err, MW_ERROR_ARGUMENT,
                                  "trainer: \"%.100s\" cannot be watched: it needs \"%.100s\", which the loss does not",
                                  t->watched.tensors[i].name, mw_tensor_name(body->inputs[k]));
        mw__free(t->allocator, step);
    }
    return status;
}

/* ---- outputs ---- */

static mw_tensor *as_vector(mw_tensor *x) { return mw_tensor_shape(x).rank == 0 ? mw_expand_dims(x, MW_AXES(0)) : x; }

static mw_tensor *norm_of(mw_tensor *x) { return mw_reduce_l2_norm(as_vector(x), MW_ALL_AXES, false); }

/* The share of elements for which it is true. */
static mw_tensor *share(mw_tensor *condition, mw_tensor *when, mw_tensor *otherwise)
{
    return mw_reduce_mean(mw_select(condition, when, otherwise), MW_ALL_AXES, false);
}

static mw_tensor *statistics_of(const mw__trainer_build *b, mw_tensor *value)
{
    mw_tensor *x = as_vector(value), *numbers[MW__WATCHED_NUMBERS];
    const mw_dtype dtype = mw_tensor_dtype(x);
    mw_tensor *one = mw__scalar(b->graph, dtype, 1.0, "one"), *zero = mw__scalar(b->graph, dtype, 0.0, "zero");
    mw_tensor *largest = mw__scalar(b->graph, dtype, mw__trainer_largest(b->trainer, x), "largest");
    numbers[MW__WATCHED_MIN] = mw_reduce_min(x, MW_ALL_AXES, false);
    numbers[MW__WATCHED_MAX] = mw_reduce_max(x, MW_ALL_AXES, false);
    numbers[MW__WATCHED_MEAN] = mw_reduce_mean(x, MW_ALL_AXES, false);
    mw_tensor *squares = mw_square(mw_sub(x, numbers[MW__WATCHED_MEAN]));
    numbers[MW__WATCHED_DEVIATION] = mw_sqrt(mw_reduce_mean(squares, MW_ALL_AXES, false));
    numbers[MW__WATCHED_NORM] = norm_of(x);
    numbers[MW__WATCHED_ZEROS] = share(mw_equal(x, zero), one, zero);
    numbers[MW__WATCHED_NON_FINITE] = share(mw_less_equal(mw_abs(x), largest), zero, one);
    for (int i = 0; i < MW__WATCHED_NUMBERS; i++)
        numbers[i] = mw_expand_dims(numbers[i], MW_AXES(0));
    return mw_concat(numbers, MW__WATCHED_NUMBERS, 0);
}

/* A norm waits for its group. */
static mw_status show(mw__trainer_build *b, mw__watched_tensor *watched, mw_tensor *value, mw_error *err)
{
    watched->elements = mw_shape_count(mw_tensor_shape(value));
    if (watched->kind == MW_WATCH_NORM) {
        mw_tensor *norm = norm_of(value);
        watched->put =
            mw_tensor_dtype(norm) == mw_tensor_dtype(b->loss) ? norm : mw_cast(norm, mw_tensor_dtype(b->loss));
        return mw_graph_check(b->graph, err);
    }
    snprintf(watched->port_name, sizeof watched->port_name, "step#watch.%zu",
             (size_t)(watched - b->trainer->watched.tensors));
    mw_output(watched->kind == MW_WATCH_VALUES ? mw_identity(value) : statistics_of(b, value), watched->port_name);
    return mw_graph_check(b->graph, err);
}

mw_status mw__trainer_show_values(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    for (size_t i = 0, k = 0; b->kind != MW__PASS_SUM && i < t->watched.count; i++)
        if (t->watched.tensors[i].value != NULL)
            MW_TRY(show(b, &t->watched.tensors[i], b->shown[k++], err));
    return MW_OK;
}

static mw_status show_of(mw__trainer_build *b, mw_watch_of of, size_t index, mw_tensor *value, mw_error *err)
{
    mw_trainer *t = b->trainer;
    for (size_t i = 0; b->kind != MW__PASS_SUM && i < t->watched.count; i++)
        if (t->watched.tensors[i].of == of &&
            strcmp(t->watched.tensors[i].parameter, mw_tensor_name(b->parameters[index])) == 0)
            MW_TRY(show(b, &t->watched.tensors[i], value, err));
    return MW_OK;
}

mw_status mw__trainer_show_parameters(mw__trainer_build *b, mw_error *err)
{
    for (size_t i = 0; b->trainer->watched.count > 0 && i < b->count; i++) {
        MW_TRY(show_of(b, MW_WATCH_GRADIENT, i, b->raw[i], err));
        MW_TRY(show_of(b, MW_WATCH_PARAMETER, i, b->parameters[i], err));
    }
    return MW_OK;
}

static bool is_watched(const mw_trainer *t, mw_watch_of of)
{
    for (size_t i = 0; i < t->watched.count; i++)
        if (t->watched.tensors[i].of == of)
            return true;
    return false;
}

mw_status mw__trainer_show_update(mw__trainer_build *b, size_t index, mw_tensor *old, mw_tensor *next, mw_error *err)
{
    if (b->kind == MW__PASS_SUM || !is_watched(b->trainer, MW_WATCH_UPDATE))
        return MW_OK;
    return show_of(b, MW_WATCH_UPDATE, index, mw_sub(next, old), err);
}

mw_status mw__trainer_show_norms(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    mw_tensor *group[MW__WATCHED_GROUP];
    size_t count = 0, groups = 0;
    for (size_t i = 0; i <= t->watched.count; i++) {
        if (count > 0 && (i == t->watched.count || count == MW__WATCHED_GROUP)) {
            char name[40];
            snprintf(name, sizeof name, "step#norms.%zu", groups++);
            mw_output(count > 1 ? mw_concat(group, count, 0) : mw_identity(group[0]), name);
            count = 0;
        }
        if (i == t->watched.count || t->watched.tensors[i].put == NULL)
            continue;
        t->watched.tensors[i].offset = count;
        snprintf(t->watched.tensors[i].port_name, sizeof t->watched.tensors[i].port_name, "step#norms.%zu", groups);
        group[count++] = mw_expand_dims(t->watched.tensors[i].put, MW_AXES(0));
        t->watched.tensors[i].put = NULL;
    }
    return mw_graph_check(b->graph, err);
}

/* ---- programs ---- */

mw_status mw__trainer_find_watched(mw_trainer *t, mw_error *err)
{
    for (size_t i = 0; i < t->watched.count; i++) {
        mw__watched_tensor *watched = &t->watched.tensors[i];
        const mw_program *program = watched->behind ? t->watched.update_pass->program : t->step.program;
        watched->port = mw__program_find(program, watched->port_name);
        if (watched->port == program->port_count)
            return mw__fail(err, MW_ERROR_STATE, "the step program lost \"%.100s\", which is watched", watched->name);
    }
    return MW_OK;
}
