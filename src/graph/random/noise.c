/* Between MIL's random_* and noise: a trainer's copy has generators in the state set, as the position of a device's own
 * random numbers is in no checkpoint; what is written has the operations again. */
#include "graph/random/noise.h"

#include "graph/ir/rule.h"
#include <millwright/ops/random.h>

#include <stdio.h>
#include <string.h>

/* ---- to noise ---- */

/* What the operation draws; NONE for one that is no random_* or has a fixed seed. False: a number is not there. */
static bool read_noise(const mw__op *op, mw__noise *out)
{
    *out = (mw__noise){0};
    if (op->row == NULL)
        return true;
    int64_t seed = -1, size = 1;
    switch (op->row->id) {
    case MW__OP_random_normal:
        out->kind = MW__NOISE_NORMAL;
        if (!mw__arg_float(op, "mean", &out->a) || !mw__arg_float(op, "stddev", &out->b))
            return false;
        break;
    case MW__OP_random_uniform:
        out->kind = MW__NOISE_UNIFORM;
        if (!mw__arg_float(op, "low", &out->a) || !mw__arg_float(op, "high", &out->b))
            return false;
        break;
    case MW__OP_random_bernoulli:
        out->kind = MW__NOISE_BERNOULLI;
        if (!mw__arg_float(op, "prob", &out->a))
            return false;
        break;
    case MW__OP_random_categorical: {
        const char *mode = mw__arg_string(op, "mode");
        out->kind = MW__NOISE_CATEGORICAL;
        out->a = mode != NULL && strcmp(mode, "probs") == 0 ? MW_CATEGORICAL_PROBS : MW_CATEGORICAL_LOGITS;
        if (!mw__arg_int(op, "size", &size))
            return false;
        out->b = (double)size;
        break;
    }
    default:
        return true;
    }
    if (!mw__arg_int(op, "seed", &seed))
        return false;
    if (seed >= 0)
        out->kind = MW__NOISE_NONE;
    return true;
}

bool mw__is_unfixed_random(const mw__op *op)
{
    mw__noise noise;
    read_noise(op, &noise);
    return noise.kind != MW__NOISE_NONE;
}

enum { NAME_MAX_BYTES = 200 };

static bool is_free(mw__noise_names *names, const mw_graph *graph, const char *name)
{
    names->tried++;
    char state[NAME_MAX_BYTES + 16];
    snprintf(state, sizeof state, "%s.generator", name);
    return mw_graph_find(graph, state) == NULL;
}

void mw__noise_names_init(mw__noise_names *names, const mw_allocator *allocator)
{
    *names = (mw__noise_names){0};
    mw__map_init(&names->trips, allocator);
}

void mw__noise_names_deinit(mw__noise_names *names) { mw__map_deinit(&names->trips); }

/* The name of the value, or the kind and a counter; the trips of an unrolled loop get _2, _3 .., of which those that
 * were given are not tried again. */
static mw_status make_name(mw__noise_names *names, mw_graph *to, const mw__op *op, char out[NAME_MAX_BYTES])
{
    const char *own = op->results[0]->name;
    char stem[NAME_MAX_BYTES - 24];
    if (own != NULL && own[0] != '\0')
        snprintf(stem, sizeof stem, "%s", own);
    else
        snprintf(stem, sizeof stem, "%s.%zu", op->kind, ++names->count);
    snprintf(out, NAME_MAX_BYTES, "%s", stem);
    size_t trip = (uintptr_t)mw__map_get(&names->trips, stem);
    bool found = trip == 0 && is_free(names, to, out);
    for (trip += trip == 0; !found; found = is_free(names, to, out))
        snprintf(out, NAME_MAX_BYTES, "%s_%zu", stem, ++trip);
    return mw__map_set(&names->trips, stem, (void *)(uintptr_t)trip, &to->error);
}

static void refuse_noise_op(mw_graph *to, const mw__op *op, const char *why)
{
    char subject[160];
    mw__graph_fail(to, MW_ERROR_UNSUPPORTED, "%s: %s, so that a trainer could not go on with its numbers",
                   mw__op_subject(op, subject, sizeof subject), why);
}

bool mw__noise_rule(mw__noise_names *names, mw__clone *clone, const mw__op *op)
{
    char name[NAME_MAX_BYTES];
    mw__noise noise;
    const bool readable = read_noise(op, &noise);
    if (noise.kind == MW__NOISE_NONE)
        return false;
    const mw_tensor *result = op->results[0];
    mw_tensor *x = noise.kind == MW__NOISE_CATEGORICAL ? mw__clone_get(clone, mw__arg(op, "x")) : NULL;
    const mw_shape shape = x != NULL ? mw_tensor_shape(x) : mw_tensor_shape(result);
    if (!readable || mw_shape_count(shape) < 0) {
        refuse_noise_op(clone->to, op, readable ? "its shape is not known" : "its numbers are not known");
        return true;
    }
    if (make_name(names, clone->to, op, name) != MW_OK)
        return true;
    mw_tensor *made = x != NULL ? mw__noise_draw_classes(x, noise, name)
                                : mw__noise_draw(clone->to, op->kind, mw_tensor_dtype(result), shape, noise, name);
    mw__clone_set(clone, result, made);
    return true;
}

/* ---- back ---- */

mw_tensor *mw__noise_restore(mw__clone *clone, const mw_tensor *source)
{
    enum { NOT_FIXED = -1 };
    const mw__noise noise = source->composite->noise;
    const mw_dtype dtype = mw_tensor_dtype(source);
    const mw_shape shape = mw_tensor_shape(source);
    const float a = (float)noise.a, b = (float)noise.b;
    switch (noise.kind) {
    case MW__NOISE_NORMAL:
        return mw_random_normal(clone->to, dtype, shape, a, b, NOT_FIXED);
    case MW__NOISE_UNIFORM:
        return mw_random_uniform(clone->to, dtype, shape, a, b, NOT_FIXED);
    case MW__NOISE_BERNOULLI:
        return mw_random_bernoulli(clone->to, dtype, shape, a, NOT_FIXED);
    default:
        return mw_random_categorical(mw__clone_get(clone, source->composite->inputs[0]),
                                     (mw_categorical_mode)(int)noise.a, (int64_t)noise.b, NOT_FIXED);
    }
}
